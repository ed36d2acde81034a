"""Tensors of two classes in lists, tuples, dicts, and beside their labels and masks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict, Unpack

import numpy as np

import moonxi as mx
from moonxi import F32, GpuTensor, Labels, Mask, NpArray, Tensor

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def one() -> Host:
    return mx.numpy().ones((2,))


def added_to_all[T: Tensor](xs: Sequence[T], y: T) -> list[T]:
    return [x + y for x in xs]


def wrong_sequence_beside_a_tensor(hosts: Sequence[Host], device: Device) -> None:
    added_to_all(hosts, device)  # E: [tensor-mix] NpArray[F32] (xs) and GpuTensor[F32] (y)


def right_sequence_beside_a_tensor() -> None:
    assert len(added_to_all((one(), one()), one())) == 2


def replaced[T: Tensor](xs: list[T], y: T) -> list[T]:
    return [y for _ in xs]


def wrong_list_beside_a_tensor(hosts: list[Host], device: Device) -> None:
    replaced(hosts, device)  # E: [misc] Cannot infer # E: [tensor-mix] NpArray[F32] (xs) and GpuTensor[F32] (y)


def right_list_beside_a_tensor() -> None:
    assert len(replaced([one()], one())) == 1


def longest[T: Tensor](xs: Iterable[T]) -> T:
    return max(xs, key=lambda x: x.shape[0])


def wrong_literal_list(host: Host, device: Device) -> None:
    longest([host, host, device])  # E: [type-var] # E: [tensor-mix] NpArray[F32] (xs) and GpuTensor[F32] (xs)


def right_literal_list() -> None:
    assert longest([one(), one()]).shape == (2,)


def wrong_list_of_two_levels(lifted: mx.BlasGrad[Host], host: Host) -> None:
    both = [lifted, host]
    both[0] + both[1]  # E: [tensor-mix] "__add__" gets Tensor for Self


def right_list_of_two_levels() -> None:
    both = [mx.variable(one()), mx.constant(one())]
    assert (both[0] + both[1]).shape == (2,)


def wrong_list_that_is_returned(host: Host, device: Device) -> list[Host]:
    return [host, host.exp(), device]  # E: [list-item]


def right_list_that_is_returned() -> list[Host]:
    return [one(), one().exp()]


def wrong_append(device: Device) -> None:
    history = [one()]
    history.append(device)  # E: [arg-type]


def right_append() -> None:
    history = [one()]
    history.append(one())
    assert len(history) == 2


def norms[T: Tensor](parameters: Mapping[str, T], scale: T) -> dict[str, float]:
    return {name: (one * scale).square().sum().item() for name, one in parameters.items()}


def wrong_dict_beside_a_tensor(parameters: dict[str, Host], device: Device) -> None:
    norms(parameters, scale=device)  # E: [tensor-mix] NpArray[F32] (parameters) and GpuTensor[F32] (scale)


def right_dict_beside_a_tensor() -> None:
    assert norms({"weight": one()}, scale=mx.numpy().ones(())) == {"weight": 2.0}


def wrong_value_of_a_dict(parameters: dict[str, Host], device: Device) -> None:
    parameters["bias"] = device  # E: [assignment]


def right_value_of_a_dict() -> None:
    parameters = {"weight": one()}
    parameters["bias"] = one()
    assert len(parameters) == 2


def swapped[T: Tensor](both: tuple[T, T]) -> tuple[T, T]:
    return both[1], both[0]


def wrong_tuple(host: Host, device: Device) -> None:
    swapped((host, device))  # E: [tensor-mix] NpArray[F32] (both) and GpuTensor[F32] (both)


def right_tuple() -> None:
    assert len(swapped((one(), one()))) == 2


def nested_total[T: Tensor](rows: Sequence[Sequence[T]], start: T) -> T:
    for row in rows:
        for x in row:
            start = start + x
    return start


def wrong_nested_sequences(rows: list[list[Device]], host: Host) -> None:
    nested_total(rows, start=host)  # E: [tensor-mix] GpuTensor[F32] (rows) and NpArray[F32] (start)


def right_nested_sequences() -> None:
    assert nested_total([[one()], [one()]], start=one()).shape == (2,)


def wrong_sum_of_a_loop(hosts: list[Host], device: Device) -> None:
    total = device.zeros((2,))
    for x in hosts:
        total = total + x  # E: [operator]


def right_sum_of_a_loop() -> None:
    total = one().zeros((2,))
    for x in [one(), one()]:
        total = total + x
    assert total.sum().item() == 4.0


class Options[T: Tensor](TypedDict, total=False):
    weight: T
    shift: T


def adjusted[T: Tensor](x: T, **options: Unpack[Options[T]]) -> T:
    return x * options.get("weight", 1.0) + options.get("shift", 0.0)


def wrong_typed_options(host: Host, device: Device) -> None:
    adjusted(host, weight=device)  # E: [tensor-mix] NpArray[F32] (x) and GpuTensor[F32] (weight)


def right_typed_options() -> None:
    assert adjusted(one(), shift=one()).sum().item() == 4.0


def accuracy[T: Tensor](scores: T, labels: Labels[T]) -> float:
    return scores.argmax(-1).equal(labels).to_tensor(scores).mean().item()


def wrong_labels_beside_scores(scores: Host, labels: Labels[Device]) -> None:
    accuracy(scores, labels)  # E: [misc] # E: [tensor-mix] NpArray[F32] (scores) and GpuTensor[F32] (labels)


def right_labels_beside_scores() -> None:
    assert accuracy(mx.numpy().ones((1, 3)), mx.numpy().labels(np.array([0]))) == 1.0


def wrong_mask_of_another_class(mask: Mask[Device], host: Host) -> None:
    mask.select(host, 0.0)  # E: [arg-type]


def right_mask_of_another_class() -> None:
    assert (one() > 0.0).select(one(), 0.0).sum().item() == 2.0


def wrong_masks_combined(host: Host, device: Device) -> None:
    (host > 0.0) & (device > 0.0)  # E: [operator]


def right_masks_combined() -> None:
    both = (one() > 0.0) & (one() < 2.0)
    assert both.to_host().all()


def centred[T: Tensor](x: T, keep: Mask[T]) -> T:
    return (x - x.mean()).where(keep, 0.0)


def wrong_mask_of_another_level(x: mx.BlasGrad[Host], keep: Mask[Host]) -> None:
    centred(x, keep=keep)  # E: [misc] # E: [tensor-mix] BlasGrad[NpArray[F32]] (x) and NpArray[F32] (keep)


def right_mask_of_another_level() -> None:
    x = mx.variable(one())
    assert centred(x, keep=x > 0.0).shape == (2,)
