"""What a trainer computes, eagerly or compiled."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, override

from moonxi.autodiff import Grad
from moonxi.autodiff.lift import constants_beside
from moonxi.compiled import CompileReport, compile, compile_report
from moonxi.errors import CompileWarning, GraphLimitError
from moonxi.nn import Eval, Train
from moonxi.nn.differentiate import in_narrow_passes
from moonxi.nn.loss_function import called
from moonxi.optim import LossScaled, Predicate, Unfrozen
from moonxi.train.callback import Callback, Run
from moonxi.train.precision import Precision, cast_all

_FORWARDS: Final = 4
"""How many functions to predict by are kept compiled: one that is written anew at each call is not kept for ever."""


class Steps:
    """The functions of a trainer: an update, gradients alone, an evaluation, and predictions.

    Compiled they stay as long as that works: where one cannot be compiled, all run eagerly from then on, and a
    `CompileWarning` says why. Where one would need too many graphs, calls that fit those that it has are compiled, and
    the others eager. That model, loss, optimizer and batches fit was checked where the trainer was made."""

    def __init__(
        self,
        loss: Any,
        optimizer: Any,
        variable: Any,
        frozen: Any,
        ema: Any,
        precision: Precision | None,
        /,
        *,
        compiled: bool,
    ) -> None:
        inner = None if precision is None else precision.inner
        scaled = isinstance(optimizer, LossScaled)

        # None of these calls another: what compiling compares from call to call are the variables of the function.
        def gradients(model: Any, state: Any, batch: Any, key: Any) -> Any:
            low, data = cast_all(model, inner), cast_all(batch, inner)
            scale = optimizer.scale(state) if scaled else 1.0
            options = {"variable": variable, "frozen": frozen, "scale": scale}
            return in_narrow_passes(loss, model, low, data, Train(key), **options)

        def update(model: Any, state: Any, average: Any, batch: Any, key: Any) -> Any:
            low, data = cast_all(model, inner), cast_all(batch, inner)
            scale = optimizer.scale(state) if scaled else 1.0
            options = {"variable": variable, "frozen": frozen, "scale": scale}
            value, found = in_narrow_passes(loss, model, low, data, Train(key), **options)
            return value, _advanced(model, found, state, average, optimizer, frozen, ema)

        def advance(model: Any, found: Any, state: Any, average: Any) -> Any:
            return _advanced(model, found, state, average, optimizer, frozen, ema)

        def evaluate(model: Any, batch: Any) -> Any:
            constant = constants_beside(variable)  # the loss is written for tensors under differentiation
            low, data = cast_all(model, inner), cast_all(batch, inner)
            value, named = called("evaluate", loss, low.map(constant), data.map(constant), Eval())
            if named is None:
                return _value(value)
            return _value(value), {name: _value(one) for name, one in named.items()}

        self.eager_gradients = gradients
        self._compiled = compiled
        self._asked = compiled
        self._made: dict[str, Callable[..., object]] = {}
        self.eager_because: str | None = None
        self._forwards: list[tuple[object, Callable[..., Any]]] = []
        self.gradients = self._chosen("gradients", gradients)
        self.update = self._chosen("update", update)
        self.advance = self._chosen("advance", advance)
        self.evaluate = self._chosen("evaluate", evaluate)

    def reports(self) -> Mapping[str, CompileReport]:
        """What compiling came to, for each function that was called and is compiled."""
        return {name: compile_report(one) for name, one in self._made.items()}

    @property
    def waits(self) -> bool:
        """Whether the next step is the first one that is compiled, which takes its time."""
        return self._compiled and not {"gradients", "update"} & self._made.keys()

    def predict(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        """The function, compiled if steps were asked to be; one that cannot be changes nothing for these."""
        if not self._asked:
            return forward
        for own, chosen in self._forwards:
            if own is forward:
                return chosen
        chosen = self._chosen("predict", forward, alone=True)
        self._forwards = [*self._forwards[1 - _FORWARDS :], (forward, chosen)]
        return chosen

    def _chosen(self, name: str, function: Callable[..., Any], *, alone: bool = False) -> Callable[..., Any]:
        """The function, compiled at its first call if it is to be, with itself to fall back on."""
        made: Callable[..., Any] | None = None
        works, is_full = True, False

        def run(*arguments: Any) -> Any:
            nonlocal made, works, is_full
            if not works or not (alone or self._compiled):
                return function(*arguments)
            if made is None:
                made = compile(function)
                self._made[name] = made
            try:
                return made(*arguments)
            except GraphLimitError as error:
                if not is_full:
                    is_full = True
                    warnings.warn(
                        f"Trainer(compile=True): {name}: calls that need another graph run eagerly: {error}",
                        CompileWarning,
                        stacklevel=2,
                    )
                return function(*arguments)
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
            result = function(*arguments)  # a mistake of the user's is raised here, as it would be eagerly
            works = False
            if alone:
                self._made.pop(name, None)
            else:
                self._compiled = False
                self.eager_because = reason
                self._made.clear()
            warnings.warn(
                f"Trainer(compile=True): {name} cannot be compiled, {'it' if alone else 'training'} goes on eagerly: "
                f"{reason}",
                CompileWarning,
                stacklevel=2,
            )
            return result

        return run


class FirstStep(Callback[object]):
    """Says after the first step what compiling it came to."""

    def __init__(self, steps: Steps) -> None:
        self._steps: Steps | None = steps

    @override
    def on_step(self, run: Run[object], values: Mapping[str, float], /) -> None:
        """A line after the first step, nothing later."""
        if self._steps is None:
            return
        steps = [report for name, report in self._steps.reports().items() if name != "predict"]
        traces = [trace for report in steps for trace in report.traces]
        if self._steps.eager_because is not None:
            print(f"the step is not compiled and runs eagerly: {self._steps.eager_because}", flush=True)
        self._steps = None
        if traces:
            before, after = (
                sum(counts) for counts in zip(*((one.nodes_traced, one.nodes_left) for one in traces), strict=True)
            )
            seconds = sum(one.seconds for one in traces)
            print(f"the step is compiled: {before} operations, {after} of them left, {seconds:.1f} s", flush=True)


def trained(model: Any, frozen: Predicate | None, /) -> Any:
    """A model, or gradients, as the optimizer sees it."""
    return model if frozen is None else Unfrozen(model, frozen)


def _advanced(model: Any, found: Any, state: Any, average: Any, optimizer: Any, frozen: Any, ema: Any) -> Any:
    """The model, the optimizer's state and the averaged weights after an update."""
    after, state = optimizer.update(trained(model, frozen), trained(found, frozen), state)
    return after, state, average if ema is None else ema.update(after, average)


def _value(result: Any) -> Any:
    return result.value if isinstance(result, Grad) else result
