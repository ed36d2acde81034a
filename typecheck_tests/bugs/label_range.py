"""Labels that are no classes. Which they are is known only when they are there."""

import numpy as np

import moonxi as mx
from moonxi.losses import Logits, cross_entropy


def wrong_b082_grey_values_for_classes() -> None:
    """A mask read from a picture holds 255 where a class was meant, and there are two classes.

    PyTorch notices: at run time, later and elsewhere
    """
    like = mx.numpy()
    scores = like.ones((1, 2, 2, 2))
    mask = like.labels(np.array([[[0, 255], [255, 0]]], np.uint8))
    loss = cross_entropy(Logits(scores), mask)  # R: LabelError: label 255 at [0, 0, 1] is not a class from 0 to 1
    print(loss.item())


def right_b082_grey_values_for_classes() -> None:
    like = mx.numpy()
    scores = like.ones((1, 2, 2, 2))
    mask = like.labels(np.array([[[0, 255], [255, 0]]], np.uint8) // 255)
    loss = cross_entropy(Logits(scores), mask)
    print(loss.item())


def wrong_b083_classes_counted_from_1() -> None:
    """There are three channels of scores, and labels from 1 to 3.

    PyTorch notices: at run time, later and elsewhere
    """
    like = mx.numpy()
    logits, labels = Logits(like.ones((2, 3))), like.labels(np.array([1, 3]))
    print(cross_entropy(logits, labels).item())  # R: LabelError: label 3 at [1] is not a class from 0 to 2


def right_b083_classes_counted_from_1() -> None:
    like = mx.numpy()
    logits, labels = Logits(like.ones((2, 3))), like.labels(np.array([1, 3]) - 1)
    print(cross_entropy(logits, labels).item())
