"""`Trainer`: model, loss and optimizer, and the loop that brings them together."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import isfinite
from typing import Any, Protocol, overload

from moonxi.autodiff import BlasGrad, Grad, ImageGrad, variable
from moonxi.autodiff.lift import constant_beside
from moonxi.errors import OptionError
from moonxi.key import Key
from moonxi.nn import Eval, Mode, Train, check_writable, save, value_and_grad
from moonxi.optim import MlpOptimizer, Optimizer, OptimizerState, Trainable
from moonxi.shapes import fail
from moonxi.train.guard import not_finite
from moonxi.train.history import Average, EpochRecord, History
from moonxi.train.progress import epoch_bar, line
from moonxi.traits import ImageModelTensor, MlpTensor, Tensor


class BatchOf[T, G, Lifted](Protocol):
    """A batch of ``T`` that is of class ``Lifted`` under differentiation: `Labelled`, or a dataclass of yours."""

    @property
    def size(self) -> int: ...
    def map(self, f: Callable[[T], G], /) -> Lifted: ...


class Batches[B](Protocol):
    """What gives the batches of an epoch: a `DataLoader`, or a class of yours."""

    def __len__(self) -> int: ...
    def epoch(self, epoch: int, /) -> Iterator[B]: ...


class TrainableModel[T: Tensor, G, M, Up](Trainable[T, M], Protocol):
    """A model of class ``M`` that is of class ``Up`` under differentiation: every `Module`."""

    def map(self, f: Callable[[T], G], /) -> Up: ...


class Trainer[T: Tensor, M, B]:
    """Trains a model of class ``M`` on batches that are a ``B``.

    The loss gives a scalar, or a scalar and a dict of named scalars, such as ``{"accuracy": ...}``, which are averaged
    and shown."""

    @overload
    def __init__[U: ImageModelTensor, N, Up, Lifted](
        self: "Trainer[U, N, BatchOf[U, ImageGrad[U], Lifted]]",
        model: TrainableModel[U, ImageGrad[U], N, Up],
        loss: Callable[[Up, Lifted, Mode], tuple[ImageGrad[U], Mapping[str, ImageGrad[U]]]],
        optimizer: MlpOptimizer,
        /,
        *,
        key: Key,
    ) -> None: ...
    @overload
    def __init__[U: ImageModelTensor, N, Up, Lifted](
        self: "Trainer[U, N, BatchOf[U, ImageGrad[U], Lifted]]",
        model: TrainableModel[U, ImageGrad[U], N, Up],
        loss: Callable[[Up, Lifted, Mode], ImageGrad[U]],
        optimizer: MlpOptimizer,
        /,
        *,
        key: Key,
    ) -> None: ...
    @overload
    def __init__[U: MlpTensor, N, Up, Lifted](
        self: "Trainer[U, N, BatchOf[U, BlasGrad[U], Lifted]]",
        model: TrainableModel[U, BlasGrad[U], N, Up],
        loss: Callable[[Up, Lifted, Mode], tuple[BlasGrad[U], Mapping[str, BlasGrad[U]]]],
        optimizer: MlpOptimizer,
        /,
        *,
        key: Key,
    ) -> None: ...
    @overload
    def __init__[U: MlpTensor, N, Up, Lifted](
        self: "Trainer[U, N, BatchOf[U, BlasGrad[U], Lifted]]",
        model: TrainableModel[U, BlasGrad[U], N, Up],
        loss: Callable[[Up, Lifted, Mode], BlasGrad[U]],
        optimizer: MlpOptimizer,
        /,
        *,
        key: Key,
    ) -> None: ...
    @overload
    def __init__[U: Tensor, N, Up, Lifted](
        self: "Trainer[U, N, BatchOf[U, Grad[U], Lifted]]",
        model: TrainableModel[U, Grad[U], N, Up],
        loss: Callable[[Up, Lifted, Mode], tuple[Grad[U], Mapping[str, Grad[U]]]],
        optimizer: Optimizer,
        /,
        *,
        key: Key,
    ) -> None: ...
    @overload
    def __init__[U: Tensor, N, Up, Lifted](
        self: "Trainer[U, N, BatchOf[U, Grad[U], Lifted]]",
        model: TrainableModel[U, Grad[U], N, Up],
        loss: Callable[[Up, Lifted, Mode], Grad[U]],
        optimizer: Optimizer,
        /,
        *,
        key: Key,
    ) -> None: ...
    @overload
    def __init__[U: Tensor, G: Tensor, N, Up, Lifted](
        self: "Trainer[U, N, BatchOf[U, G, Lifted]]",
        model: TrainableModel[U, G, N, Up],
        loss: Callable[[Up, Lifted, Mode], tuple[G, Mapping[str, G]]],
        optimizer: Optimizer,
        /,
        *,
        key: Key,
        variable: Callable[[U], G],
    ) -> None: ...
    @overload
    def __init__[U: Tensor, G: Tensor, N, Up, Lifted](
        self: "Trainer[U, N, BatchOf[U, G, Lifted]]",
        model: TrainableModel[U, G, N, Up],
        loss: Callable[[Up, Lifted, Mode], G],
        optimizer: Optimizer,
        /,
        *,
        key: Key,
        variable: Callable[[U], G],
    ) -> None: ...
    def __init__(self, model: Any, loss: Any, optimizer: Any, /, *, key: Key, variable: Any = variable) -> None:
        """``key`` is for everything random within the steps; it is folded with the number of the step.

        For operations of your own, ``variable`` is that of your class of tensors under differentiation."""
        # One object, exchanged as a whole: an interrupt never leaves a model beside another step's state.
        self._now: tuple[M, OptimizerState[T, M], int] = (model, optimizer.init(model), 0)
        self._loss = loss
        self._optimizer = optimizer
        self._variable = variable
        self._key = key
        self._epochs = 0

    @property
    def model(self) -> M:
        """The model after the last whole step."""
        return self._now[0]

    @property
    def state(self) -> OptimizerState[T, M]:
        """What the optimizer remembers after the last whole step."""
        return self._now[1]

    @property
    def steps(self) -> int:
        """The number of steps made."""
        return self._now[2]

    def step(self, batch: B, /) -> dict[str, float]:
        """One update from one batch; the loss and the named scalars before it.

        Raises `NonFiniteError` if the loss is NaN or infinite; model and state are then those before the step."""
        model: Any
        model, state, steps = self._now
        one: Any = batch  # that model, loss and batch fit was checked at construction
        value, gradients = value_and_grad(self._loss, model, one, Train(self._key.fold(steps)), variable=self._variable)
        values = _values(value)
        if not isfinite(values["loss"]):
            raise not_finite(steps, values["loss"], model.named_parameters(), gradients.named_parameters())
        self._now = (*self._optimizer.update(model, gradients, state), steps + 1)
        return values

    def evaluate(self, data: Batches[B], /) -> dict[str, float]:
        """The loss and the named scalars over all of the data, in evaluation mode."""
        average = Average()
        model: Any = self.model
        constant = partial(constant_beside, self._variable)
        lifted = model.map(constant)  # the loss is written for tensors under differentiation; constants record nothing
        for batch in data.epoch(0):
            one: Any = batch
            average.add(_values(self._loss(lifted, one.map(constant), Eval())), one.size)
        return average.values()

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
    ) -> History:
        """Train for a number of epochs, and after each evaluate on ``test``. A second call goes on with the next epoch.

        With ``progress`` there is a bar for each epoch on a terminal and a line after it. Ctrl-C ends the run cleanly:
        the history says so, and the model is that after the last whole step. With ``save_to`` the weights are written
        there at the end, and then too. ``after_epoch`` is given the record of each epoch at its end.

        Raises `NonFiniteError` as `step` does, and before the first step `CheckpointError` if nothing can be written
        there and `OptionError` for a negative number of epochs."""
        if epochs < 0:
            raise OptionError(f"fit: epochs={epochs}: the number of epochs is not negative")
        if save_to is not None:
            check_writable(save_to)
        history = History()
        try:
            last = self._epochs + epochs
            while self._epochs < last:
                record = self._epoch(data, self._epochs, last, test, progress)
                self._epochs += 1
                history.epochs.append(record)
                if progress:
                    print(line(record, last), flush=True)
                if after_epoch is not None:
                    after_epoch(record)
        except KeyboardInterrupt:
            history.interrupted = True
            if progress:
                print(f"\ninterrupted after step {self.steps}", flush=True)
        if save_to is not None:
            model: Any = self.model
            save(model, save_to)
            if progress:
                print(f"weights saved to {os.fspath(save_to)}", flush=True)
        return history

    def _epoch(self, data: Batches[B], epoch: int, epochs: int, test: Batches[B] | None, progress: bool) -> EpochRecord:
        average = Average()
        start = time.perf_counter()
        with epoch_bar(f"epoch {epoch + 1}/{epochs}", len(data), shown=progress) as bar:
            for batch in data.epoch(epoch):
                values = self.step(batch)
                one: Any = batch
                average.add(values, one.size)
                bar.advance(average.values(), average.samples / (time.perf_counter() - start))
        seconds = time.perf_counter() - start
        after = {} if test is None else self.evaluate(test)
        return EpochRecord(epoch, self.steps, average.values(), after, seconds, average.samples)


def _values(result: Any) -> dict[str, float]:
    """The loss and the named scalars as numbers."""
    value, named = result if isinstance(result, tuple) else (result, {})
    for name, tensor in named.items():
        if tensor.shape != ():
            fail(f"loss ({name})", str(tensor.shape), "the named values beside a loss are scalars; use .mean()")
    return {"loss": value.item(), **{name: tensor.item() for name, tensor in named.items()}}
