"""`Trainer`: model, loss and optimizer, and the loop that brings them together."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Unpack, overload, override

from moonxi.autodiff import BlasGrad, Grad, ImageGrad, variable
from moonxi.compiled import CompileReport
from moonxi.errors import OptionError
from moonxi.json_fields import Json
from moonxi.key import Key
from moonxi.nn import Mode, check_writable, save
from moonxi.optim import Ema, EmaState, MlpOptimizer, Optimizer, OptimizerState, Predicate, mean_gradients
from moonxi.settings import flags, whole
from moonxi.train.batches import Batches, BatchOf, Loss, Settings, TrainableModel
from moonxi.train.callback import Callback
from moonxi.train.checkpoints import Checkpoints
from moonxi.train.expected import expect_around, expect_batch, expect_batches, expect_parts
from moonxi.train.guard import not_finite
from moonxi.train.history import Average, EpochRecord, History
from moonxi.train.loop import Loop
from moonxi.train.place import Place
from moonxi.train.precision import other_precision
from moonxi.train.resuming import resumable, resumed
from moonxi.train.settings import described, described_data
from moonxi.train.steps import FirstStep, Steps, trained
from moonxi.train.values import values_of
from moonxi.traits import ImageModelTensor, MlpTensor, Tensor


class Trainer[T: Tensor, M, B]:
    """Trains a model of class ``M`` on batches that are a ``B``.

    The loss gives a scalar, or a scalar and a dict of named scalars, such as ``{"accuracy": ...}``, which are averaged
    and shown."""

    @overload
    def __init__[U: ImageModelTensor, N, LossModel, LossBatch](
        self: "Trainer[U, N, BatchOf[U, ImageGrad[U], LossBatch]]",
        model: TrainableModel[U, ImageGrad[U], N, LossModel],
        loss: Loss[LossModel, LossBatch, ImageGrad[U]],
        optimizer: MlpOptimizer,
        /,
        **settings: Unpack[Settings],
    ) -> None: ...
    @overload
    def __init__[U: MlpTensor, N, LossModel, LossBatch](
        self: "Trainer[U, N, BatchOf[U, BlasGrad[U], LossBatch]]",
        model: TrainableModel[U, BlasGrad[U], N, LossModel],
        loss: Loss[LossModel, LossBatch, BlasGrad[U]],
        optimizer: MlpOptimizer,
        /,
        **settings: Unpack[Settings],
    ) -> None: ...
    @overload
    def __init__[U: Tensor, N, LossModel, LossBatch](
        self: "Trainer[U, N, BatchOf[U, Grad[U], LossBatch]]",
        model: TrainableModel[U, Grad[U], N, LossModel],
        loss: Loss[LossModel, LossBatch, Grad[U]],
        optimizer: Optimizer,
        /,
        **settings: Unpack[Settings],
    ) -> None: ...
    @overload
    def __init__[U: Tensor, G: Tensor, N, LossModel, LossBatch](
        self: "Trainer[U, N, BatchOf[U, G, LossBatch]]",
        model: TrainableModel[U, G, N, LossModel],
        loss: Callable[[LossModel, LossBatch, Mode], G],
        optimizer: Optimizer,
        /,
        *,
        variable: Callable[[U], G],
        **settings: Unpack[Settings],
    ) -> None: ...
    @overload
    def __init__[U: Tensor, G: Tensor, N, LossModel, LossBatch](
        self: "Trainer[U, N, BatchOf[U, G, LossBatch]]",
        model: TrainableModel[U, G, N, LossModel],
        loss: Callable[[LossModel, LossBatch, Mode], tuple[G, Mapping[str, G]]],
        optimizer: Optimizer,
        /,
        *,
        variable: Callable[[U], G],
        **settings: Unpack[Settings],
    ) -> None: ...
    @overload
    def __init__[U: ImageModelTensor, C: ImageModelTensor, N, LossModel, LossBatch](
        self: "Trainer[U, N, BatchOf[U, ImageGrad[C], LossBatch]]",
        model: TrainableModel[U, ImageGrad[C], N, LossModel],
        loss: Loss[LossModel, LossBatch, ImageGrad[C]],
        optimizer: MlpOptimizer,
        /,
        *,
        passes: C,
        **settings: Unpack[Settings],
    ) -> None: ...
    def __init__(
        self,
        model: Any,
        loss: Any,
        optimizer: Any,
        /,
        *,
        key: Key,
        ema: Ema | None = None,
        frozen: Predicate | None = None,
        compile: bool = False,
        variable: Any = variable,
        passes: Any = None,
    ) -> None:
        """``key`` is for everything random within the steps; it is folded with the number of the step.

        With ``ema`` the weights are averaged over the steps, and `evaluate`, `predict` and ``save_to`` use the
        averages. Parameters that ``frozen`` picks by path and shape are not trained: of these no gradient is computed.
        Raises `OptionError` if it picks none or all.

        With ``compile`` the steps and the evaluation are compiled, as `moonxi.compile` does it, with the same numbers
        up to rounding. Where that cannot be, a `CompileWarning` says why, once, and the training is eager.

        With ``passes``, a tensor of another element type, forward and backward pass and evaluation are in that type,
        while weights, updates, averages and running statistics stay in the model's: ``passes=mx.gpu(mx.BF16)`` for a
        model in F32. For F16 take the optimizer in `optim.LossScaled`. Raises `OptionError` unless it is of the model's
        class.

        For operations of your own, ``variable`` is that of your class of tensors under differentiation."""
        expect_parts(model, loss, optimizer, key=key, ema=ema, frozen=frozen, compile=compile)
        self._frozen = frozen
        self._ema = ema
        state, average = optimizer.init(trained(model, frozen)), None if ema is None else ema.init(model)
        # One object, exchanged as a whole: an interrupt never leaves a model beside another step's state.
        self._now: tuple[M, OptimizerState[T, M], int, EmaState[T, M] | None] = (model, state, 0, average)
        self._loss = loss
        self._optimizer = optimizer
        self._passes = None if passes is None else other_precision(model, passes)
        self._compute = Steps(loss, optimizer, variable, frozen, ema, self._passes, compiled=compile)
        self._key = key
        self._epochs = 0
        self._records: tuple[EpochRecord, ...] = ()

    @override
    def __repr__(self) -> str:
        return f"Trainer({type(self.model).__name__}, {self._optimizer}, {self.steps} steps, {self._epochs} epochs)"

    @property
    def model(self) -> M:
        """The model after the last whole step."""
        return self._now[0]

    @property
    def averaged(self) -> M:
        """The model with the averages of its weights; without ``ema`` the model itself."""
        model, _, _, average = self._now
        own: Any = model
        return model if self._ema is None or average is None else self._ema.averaged(own, average)

    @property
    def state(self) -> OptimizerState[T, M]:
        """What the optimizer remembers after the last whole step."""
        return self._now[1]

    @property
    def steps(self) -> int:
        """The number of steps made."""
        return self._now[2]

    def step(self, batch: B, /, *more: B) -> dict[str, float]:
        """One update from one batch; the loss and the named scalars before it.

        From several batches it is one update too, by the mean of their gradients over all samples: that of one large
        batch, with the memory of a small one. Raises `NonFiniteError` if the loss is NaN or infinite; model and state
        are then those before the step."""
        model, state, steps, average = self._now
        key = self._key.fold(steps)
        for one in (batch, *more):
            expect_batch("step", one)
        if not more:
            value, after = self._compute.update(model, state, average, batch, key)
            values = self._checked(value, model, batch, key)
        else:
            seen = Average()
            gradients = mean_gradients(self._parts((batch, *more), key, seen))
            values = seen.values()
            after = self._compute.advance(model, gradients, state, average)
        model, state, average = after
        self._now = (model, state, steps + 1, average)
        return values

    def _parts(self, batches: Sequence[B], key: Key, average: Average) -> Iterator[tuple[Any, int]]:
        """The gradients of batches and their sizes; running statistics go on from one to the next."""
        model: Any = self.model
        for number, batch in enumerate(batches):
            one: Any = batch
            folded = key.fold(number)
            value, gradients = self._compute.gradients(model, self.state, one, folded)
            average.add(self._checked(value, model, one, folded), one.size)
            model = model.with_state(gradients)
            yield gradients, one.size

    def _checked(self, result: Any, model: Any, batch: Any, key: Key) -> dict[str, float]:
        """The loss and the named scalars as numbers; where the loss is none, the gradients are looked at for why."""
        values = values_of(result)
        if not isfinite(values["loss"]):
            _, gradients = self._compute.eager_gradients(model, self.state, batch, key)
            raise not_finite(self.steps, values["loss"], model.named_parameters(), gradients.named_parameters())
        return values

    def compile_reports(self) -> Mapping[str, CompileReport]:
        """With ``compile``, what it came to for the update, the evaluation and so on; what is eager is left out."""
        return self._compute.reports()

    def evaluate(self, data: Batches[B], /) -> dict[str, float]:
        """The loss and the named scalars over all of the data, in evaluation mode."""
        expect_batches("evaluate", data)
        average = Average()
        model = self.averaged
        for batch in data.epoch(0):
            expect_batch("evaluate", batch)
            one: Any = batch
            average.add(values_of(self._compute.evaluate(model, one)), one.size)
        return average.values()

    def predict[X, Y](self, data: Batches[X], forward: Callable[[M, X], Y], /) -> Iterator[Y]:
        """What ``forward(model, batch)`` gives for each batch of the data, in order, with the model of now, `averaged`.

        Each is computed when it is asked for. Nothing is recorded for differentiation, and no label is needed. With
        ``compile`` the function is compiled, or runs eagerly with a `CompileWarning`; give the same one each time."""
        expect_batches("predict", data)
        model, made = self.averaged, self._compute.predict(forward)
        return (made(model, batch) for batch in data.epoch(0))

    def fit(
        self,
        data: Batches[B],
        /,
        *,
        epochs: int,
        test: Batches[B] | None = None,
        save_to: str | os.PathLike[str] | None = None,
        progress: bool = True,
        after_epoch: Callable[[EpochRecord], None] | None = None,
        callbacks: Sequence[Callback[M]] = (),
        accumulate: int = 1,
        checkpoints: Checkpoints | None = None,
        resume: bool = False,
    ) -> History:
        """Train for a number of epochs, and after each evaluate on ``test``. A second call goes on with the next epoch.

        With ``progress`` there is a bar for each epoch on a terminal and a line after it. Ctrl-C ends the run cleanly:
        the history says so, and the model is that after the last whole step. With ``save_to`` the weights are written
        there at the end, and then too. ``after_epoch`` is given the record of each epoch at its end, and then each of
        the ``callbacks`` in turn. With ``accumulate`` each update is from so many batches: see `step`.

        With ``checkpoints`` the run is written there after each epoch and as these say. With ``resume`` as well it goes
        on from the last one, if there is any, and ``epochs`` counts from the very beginning: the same program started
        again after a crash ends, on the same machine with the same number of threads, with the same bits.

        Raises `NonFiniteError` as `step` does, and before the first step `CheckpointError` if nothing can be written,
        or the folder has checkpoints of another run, and `OptionError` for a negative number of epochs, ``accumulate``
        < 1 and ``resume`` without checkpoints."""
        whole("fit", 0, epochs=epochs)
        whole("fit", 1, accumulate=accumulate)
        flags("fit", progress=progress, resume=resume)
        expect_batches("fit", data)
        if test is not None:
            expect_batches("fit: test", test)
        expect_around(callbacks=callbacks, checkpoints=checkpoints, after_epoch=after_epoch)
        if resume and checkpoints is None:
            raise OptionError("fit: resume=True without checkpoints: name the folder, checkpoints=Checkpoints(folder)")
        if save_to is not None:
            check_writable(save_to)
        settings: Json = {
            "model": described(self.model),
            "loss": described(self._loss),
            "optimizer": described(self._optimizer),
            "ema": described(self._ema),
            "frozen": described(self._frozen),
            "passes": None if self._passes is None else self._passes.inner.name,
            "key": [self._key.low, self._key.high],
            "accumulate": accumulate,
            "data": described_data(data),
        }
        place = Place(epoch=self._epochs, steps=self.steps, records=self._records)
        history = History()
        if checkpoints is not None:
            last = resumable(checkpoints, settings, self.steps, resume=resume)
            if last is not None:
                place = last.manifest.place
                model: Any = self.model
                average = None if self._now[3] is None else last.average(self._now[3])
                self._now = (*last.restored(model, self.state), place.steps, average)
                history.epochs.extend(place.records)
                if progress:
                    print(resumed(last, epochs), flush=True)

        def write(place: Place, metrics: Mapping[str, float]) -> None:
            model: Any = self.model
            if checkpoints is not None:
                checkpoints.save(
                    model, self.state, average=self._now[3], place=place, settings=settings, metrics=metrics
                )

        loop = Loop(
            self,
            data,
            test=test,
            until=epochs if resume else self._epochs + epochs,
            accumulate=accumulate,
            progress=progress,
            callbacks=[FirstStep(self._compute), *callbacks] if progress and self._compute.waits else callbacks,
            waits=self._compute.waits,
            after_epoch=after_epoch,
            save=None if checkpoints is None else write,
            every=None if checkpoints is None else checkpoints.every,
            place=place,
            history=history,
            settings=settings,
        )
        try:
            loop.run()
        finally:
            self._epochs, self._records = loop.place.epoch, loop.place.records
        if save_to is not None:
            trained: Any = self.averaged
            save(trained, save_to)
            if progress:
                print(f"weights saved to {os.fspath(save_to)}", flush=True)
        loop.finish()  # whatever a callback makes of it, the weights are saved
        return history
