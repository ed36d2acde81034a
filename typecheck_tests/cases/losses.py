"""Losses given what they are not about."""

import numpy as np

import moonxi as mx
from moonxi import F32, F64, BlasGrad, GpuTensor, Labels, Mask, NpArray, losses
from moonxi.losses import BinaryLogits, Logits, LogProbs, Probs

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def scores() -> Host:
    return mx.numpy().from_host(np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 2.0]]))


def classes() -> Labels[Host]:
    return mx.numpy().labels(np.array([1, 2]))


def wrong_prediction_on_the_device(x: Device, y: Host) -> None:
    losses.l1(x, y)  # E: [tensor-mix] GpuTensor[F32] and NpArray[F32]


def right_prediction_on_the_device() -> None:
    assert losses.l1(scores(), scores()).item() == 0.0


def wrong_target_without_its_level(x: BlasGrad[Host], y: Host) -> None:
    losses.huber(x, y, delta=0.5)  # E: [tensor-mix] BlasGrad[NpArray[F32]] and NpArray[F32]


def right_target_without_its_level() -> None:
    x = mx.variable(scores())
    assert losses.huber(x, mx.constant(scores()), delta=0.5).item() == 0.0


def wrong_target_of_double_precision(x: Host, y: NpArray[F64]) -> None:
    print(losses.smooth_l1(x, y).item())  # E: [tensor-mix] NpArray[F32] and NpArray[F64]


def right_target_of_double_precision() -> None:
    print(losses.smooth_l1(scores(), scores()).item())


def wrong_reduction_of_another_library(x: Host, y: Host) -> None:
    losses.mse(x, y, reduction="batchmean")  # E: [arg-type]


def right_reduction_of_another_library() -> None:
    assert losses.mse(scores(), scores(), reduction="none").shape == (2, 3)


def wrong_ndarray_as_a_target(x: Host) -> None:
    losses.l1(x, np.zeros((2, 3), np.float32), reduction="sum")  # E: [type-var]


def right_ndarray_as_a_target() -> None:
    losses.l1(scores(), mx.numpy().from_host(np.zeros((2, 3), np.float32)), reduction="sum")


def wrong_scores_that_say_nothing(x: Host, y: Host) -> None:
    losses.binary_cross_entropy(x, y)  # E: [arg-type]


def right_scores_that_say_nothing() -> None:
    assert losses.binary_cross_entropy(BinaryLogits(scores()), scores().sigmoid()).shape == ()


def wrong_probabilities_for_binary_logits(x: BinaryLogits[Host], y: Host) -> None:
    print(losses.binary_cross_entropy(x.probs(), y, positive_weight=2.0))  # E: [arg-type]


def right_probabilities_for_binary_logits() -> None:
    x = BinaryLogits(scores())
    print(losses.binary_cross_entropy(x, x.probs().value, positive_weight=2.0))


def wrong_probabilities_called_logits(x: BinaryLogits[Host]) -> None:
    BinaryLogits(x.probs())  # E: [type-var]


def right_probabilities_called_logits() -> None:
    assert BinaryLogits(scores()).probs().shape == (2, 3)


def wrong_logits_of_classes_for_yes_or_no(x: Logits[Host], y: Host) -> None:
    loss = losses.binary_cross_entropy(x, y)  # E: [arg-type]
    print(loss.item())


def right_logits_of_classes_for_yes_or_no() -> None:
    loss = losses.binary_cross_entropy(BinaryLogits(scores()), scores().ones((2, 3)))
    print(loss.item())


def wrong_answers_on_the_device(x: BinaryLogits[Host], y: Device) -> Host:
    return losses.binary_cross_entropy(x, y)  # E: [arg-type]


def right_answers_on_the_device() -> Host:
    return losses.binary_cross_entropy(BinaryLogits(scores()), mx.numpy().ones((2, 3)))


def wrong_logits_for_the_likelihood(x: Logits[Host], labels: Labels[Host]) -> None:
    losses.nll(x, labels)  # E: [arg-type]


def right_logits_for_the_likelihood() -> None:
    assert losses.nll(Logits(scores()).log_probs(), classes()).item() > 0.0


def wrong_probabilities_for_the_likelihood(x: Probs[Host], labels: Labels[Host]) -> Host:
    return losses.nll(x, labels) * 2.0  # E: [arg-type]


def right_probabilities_for_the_likelihood() -> Host:
    return losses.nll(LogProbs(scores().log_softmax(-1)), classes()) * 2.0


def wrong_tensor_as_labels(x: LogProbs[Host], labels: Host) -> None:
    print(losses.nll(x, labels, reduction="none"))  # E: [arg-type]


def right_tensor_as_labels() -> None:
    print(losses.nll(Logits(scores()).log_probs(), scores().argmax(-1), reduction="none"))


def wrong_weights_that_are_a_list(x: Logits[Host], labels: Labels[Host]) -> None:
    losses.cross_entropy(x, labels, weight=[1.0, 2.0, 1.0])  # E: [arg-type]


def right_weights_that_are_a_list() -> None:
    weight = mx.numpy().from_host(np.array([1.0, 2.0, 1.0]))
    losses.cross_entropy(Logits(scores()), classes(), weight=weight)


def wrong_weights_on_the_device(x: Logits[Host], labels: Labels[Host], weight: Device) -> None:
    losses.cross_entropy(x, labels, weight=weight, smoothing=0.1)  # E: [misc]
    # E: [tensor-mix] NpArray[F32] and GpuTensor[F32] (weight)


def right_weights_on_the_device() -> None:
    losses.cross_entropy(Logits(scores()), classes(), weight=mx.numpy().ones((3,)), smoothing=0.1)


def wrong_ignored_label_that_is_a_tensor(x: LogProbs[Host], labels: Labels[Host]) -> None:
    losses.nll(x, labels, ignore=labels)  # E: [arg-type]


def right_ignored_label_that_is_a_tensor() -> None:
    losses.nll(Logits(scores()).log_probs(), classes(), ignore=2)


def wrong_probabilities_in_a_divergence(p: Probs[Host], q: LogProbs[Host]) -> None:
    losses.kl_divergence(q, p)  # E: [arg-type]


def right_probabilities_in_a_divergence() -> None:
    p = Logits(scores()).log_probs()
    assert losses.kl_divergence(p, p).item() == 0.0


def wrong_logits_in_a_divergence(p: LogProbs[Host], x: Logits[Host]) -> Host:
    return losses.kl_divergence(x, p, reduction="sum")  # E: [arg-type]


def right_logits_in_a_divergence() -> Host:
    p = Logits(scores()).log_probs()
    return losses.kl_divergence(p, Logits(-scores()).log_probs(), reduction="sum")


def wrong_signs_for_a_hinge(score: Host, sign: Host) -> None:
    losses.hinge(score, sign)  # E: [arg-type]


def right_signs_for_a_hinge() -> None:
    sign = scores()
    assert losses.hinge(sign * 2.0, sign > 0.0).shape == ()


def wrong_mask_on_the_device(score: Host, positive: Mask[Device]) -> None:
    print(losses.hinge(score, positive, margin=0.5).item())  # E: [misc]
    # E: [tensor-mix] NpArray[F32] and GpuTensor[F32]


def right_mask_on_the_device() -> None:
    print(losses.hinge(scores(), scores() >= 0.0, margin=0.5).item())


def wrong_tensor_for_a_hinge_of_classes(x: Host, labels: Labels[Host]) -> None:
    losses.multiclass_hinge(x, labels)  # E: [arg-type]


def right_tensor_for_a_hinge_of_classes() -> None:
    assert losses.multiclass_hinge(Logits(scores()), classes()).shape == ()


def wrong_vectors_of_two_backends(x: Host, y: Device) -> None:
    losses.cosine_similarity(x, y).relu()  # E: [tensor-mix] NpArray[F32] and GpuTensor[F32]


def right_vectors_of_two_backends() -> None:
    assert losses.cosine_similarity(scores(), -scores()).relu().shape == (2,)


def wrong_targets_of_1_and_minus_1(x: Host, y: Host, target: Host) -> None:
    losses.cosine_embedding(x, y, target, margin=0.1)  # E: [arg-type]


def right_targets_of_1_and_minus_1() -> None:
    losses.cosine_embedding(scores(), scores(), mx.numpy().ones((2,)) > 0.0, margin=0.1)


def wrong_negative_on_the_device(anchor: Host, positive: Host, negative: Device) -> None:
    losses.triplet_margin(anchor, positive, negative, swap=True)  # E: [tensor-mix] NpArray[F32] and GpuTensor[F32]


def right_negative_on_the_device() -> None:
    assert losses.triplet_margin(scores(), scores(), -scores(), swap=True).shape == ()


def wrong_scores_of_an_array() -> None:
    losses.Logits(np.ones((2, 3)))  # E: [type-var] "ndarray


def right_scores_of_an_array() -> None:
    assert losses.Logits(mx.numpy().from_host(np.ones((2, 3)))).shape == (2, 3)


def wrong_weights_in_a_list(scores: Logits[Host], labels: Labels[Host]) -> None:
    losses.cross_entropy(scores, labels, weight=[1.0, 2.0, 3.0])  # E: [arg-type] "list[float]"


def right_weights_in_a_list() -> None:
    weight = mx.numpy().from_host(np.array([1.0, 2.0, 3.0]))
    losses.cross_entropy(Logits(scores()), classes(), weight=weight)
