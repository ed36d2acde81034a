"""What a trainer is given, looked at before it is used: each error says what was expected, what came and what to do."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Final

from moonxi.errors import OperandError
from moonxi.key import Key
from moonxi.nn.findings import brief
from moonxi.nn.loss_function import expect_loss, expect_mapped
from moonxi.optim import Ema
from moonxi.settings import flags
from moonxi.train.checkpoints import Checkpoints

_CALLBACK: Final = ("on_start", "on_step", "on_epoch", "on_end")


def expect_parts(
    model: object, loss: object, optimizer: object, *, key: object, ema: object, frozen: object, compile: Any
) -> None:
    """Raise `OperandError` or `OptionError` unless these are what a `Trainer` is made of."""
    if not _has(model, "named_tensors", "with_tensors", "map"):
        raise OperandError(f"Trainer: {brief(model)}: expected a model, a Module such as nn.Linear.init(...)")
    expect_loss("Trainer", loss)
    if not _has(optimizer, "init", "update"):
        advice = f"{optimizer.__name__}(...)" if isinstance(optimizer, type) else "such as optim.Adam(lr=1e-3)"
        raise OperandError(f"Trainer: {brief(optimizer)}: expected an optimizer: {advice}")
    if not isinstance(key, Key):
        raise OperandError(f"Trainer: key: {brief(key)}: expected a key: key=mx.Key(0)")
    if ema is not None and not isinstance(ema, Ema):
        raise OperandError(f"Trainer: ema: {brief(ema)}: expected the rule of an average: ema=optim.Ema(decay=0.999)")
    if frozen is not None and not callable(frozen):
        raise OperandError(
            f"Trainer: frozen: {brief(frozen)}: expected a function of a parameter's path and shape: "
            "optim.within(model, model.stem) or optim.named('stem')"
        )
    flags("Trainer", compile=compile)


def expect_batches(where: str, data: object) -> None:
    """Raise `OperandError` unless ``data`` has a length and epochs, as a `DataLoader` has."""
    if _has(data, "__len__", "epoch"):
        return
    if _has(data, "__len__", "batch") or _has(data, "__len__", "drawn"):
        advice = "a data set becomes batches by one: DataLoader(data, batch_size=64, seed=0)"
    elif isinstance(data, Iterator):
        advice = "an iterator is used up after one epoch: give the loader itself, not loader.epoch(0)"
    elif _has(data, "map", "size"):
        advice = f"a single batch is for step: trainer.step({type(data).__name__}(...))"
    else:
        advice = "it has a length and gives the batches of an epoch: len(data), data.epoch(0)"
    raise OperandError(f"{where}: {brief(data)}: expected a loader of batches; {advice}")


def expect_batch(where: str, batch: object) -> None:
    """Raise `OperandError` unless a batch can be mapped and counted."""
    expect_mapped(where, batch)
    if not hasattr(batch, "size"):
        raise OperandError(f"{where}: {brief(batch)}: expected a batch with a size, the number of its samples")


def expect_around(*, callbacks: object, checkpoints: object, after_epoch: object) -> None:
    """Raise `OperandError` unless these are what ``fit`` does around the steps."""
    if not isinstance(callbacks, Sequence):
        raise OperandError(f"fit: callbacks: {brief(callbacks)}: expected a list of callbacks: callbacks=[...]")
    for number, one in enumerate(callbacks):
        if not _has(one, *_CALLBACK):
            advice = f"{one.__name__}(...)" if isinstance(one, type) else "a class of yours derives from Callback"
            if inspect.isroutine(one):
                advice += "; a function of an epoch's record is after_epoch="
            raise OperandError(f"fit: callbacks[{number}]: {brief(one)}: expected a callback: {advice}")
    if checkpoints is not None and not isinstance(checkpoints, Checkpoints):
        advice = f"Checkpoints({checkpoints!r})" if isinstance(checkpoints, str) else "Checkpoints(folder)"
        raise OperandError(f"fit: checkpoints: {brief(checkpoints)}: expected checkpoints={advice}")
    if after_epoch is not None and not callable(after_epoch):
        raise OperandError(f"fit: after_epoch: {brief(after_epoch)}: expected a function of an EpochRecord")


def _has(value: object, *names: str) -> bool:
    """Whether it is an object, not a class, with these attributes."""
    return not isinstance(value, type) and all(hasattr(value, name) for name in names)
