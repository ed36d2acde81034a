"""Settings of the optimizers that make no sense are refused with a text."""

from collections.abc import Callable
from math import nan

import pytest

import moonxi as mx
from moonxi import optim
from moonxi.errors import OptionError

REFUSED: dict[str, Callable[[], object]] = {
    "RmsProp: alpha=1.0: must be at least 0 and less than 1": lambda: optim.RmsProp(lr=0.1, alpha=1.0),
    "RmsProp: epsilon=0.0: must be positive and finite": lambda: optim.RmsProp(lr=0.1, epsilon=0.0),
    "RmsProp: momentum=-0.1: must lie between 0 and 1": lambda: optim.RmsProp(lr=0.1, momentum=-0.1),
    "Adagrad: initial=-1.0: must be finite and not negative": lambda: optim.Adagrad(lr=0.1, initial=-1.0),
    "Adagrad: epsilon=nan: must be positive and finite": lambda: optim.Adagrad(lr=0.1, epsilon=nan),
    "NAdam: beta1=1.0: must be at least 0 and less than 1": lambda: optim.NAdam(lr=0.1, beta1=1.0),
    "NAdam: momentum_decay=-1.0: must be finite and not negative": lambda: optim.NAdam(lr=0.1, momentum_decay=-1.0),
    "Lion: beta2=1.0: must be at least 0 and less than 1": lambda: optim.Lion(lr=0.1, beta2=1.0),
    "Lamb: epsilon=0.0: must be positive and finite": lambda: optim.Lamb(lr=0.1, epsilon=0.0),
    "AdamW: weight_decay=-0.1: must be finite and not negative": lambda: optim.AdamW(lr=0.1, weight_decay=-0.1),
    "Sgd: clip_value=-1.0: must be positive": lambda: optim.Sgd(lr=0.1, clip_value=-1.0),
    "clip_by_value: limit=0.0: must be positive": lambda: optim.clip_by_value([mx.numpy().ones(())], 0.0),
}


@pytest.mark.parametrize("text", REFUSED)
def test_settings_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(OptionError) as caught:
        REFUSED[text]()
    assert str(caught.value) == text
