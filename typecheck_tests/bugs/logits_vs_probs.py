"""Scores before and after the softmax, in place of each other."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

import moonxi as mx
from moonxi import F32, Labels, NpArray, nn
from moonxi.losses import (
    BinaryLogits,
    BinaryProbs,
    Logits,
    LogProbs,
    binary_cross_entropy,
    cross_entropy,
    kl_divergence,
    nll,
)

type Host = NpArray[F32]


def classes() -> Labels[Host]:
    return mx.numpy().labels(np.array([1, 2]))


def scores() -> Host:
    return mx.numpy().from_host(np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 2.0]]))


def linear(inputs: int, outputs: int) -> nn.Linear[Host]:
    return nn.Linear.init(inputs, outputs, like=mx.numpy(), key=mx.Key(0))


def wrong_b039_softmax_before_cross_entropy[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T]) -> T:
    """The softmax is applied to the scores, and once more by the loss: training hardly moves.

    PyTorch notices: never
    """
    probabilities = model.forward(batch.x).softmax(1)
    return cross_entropy(probabilities, batch.labels)  # E: [arg-type] "Logits[T]"


def right_b039_softmax_before_cross_entropy() -> None:
    def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T]) -> T:
        return cross_entropy(Logits(model.forward(batch.x)), batch.labels)

    assert loss(linear(3, 3), mx.Labelled(scores(), classes())).shape == ()


def wrong_b040_softmax_as_the_last_layer(like: Host) -> None:
    """The last layer of the network is a softmax, and its output goes into cross-entropy.

    PyTorch notices: never
    """
    first, second = mx.Key(0).split(2)
    net = nn.Sequential[Host](
        nn.Linear.init(4, 8, like=like, key=first),
        nn.Relu(),
        nn.Linear.init(8, 3, like=like, key=second),
        nn.Softmax(),  # E: [arg-type] "Softmax"; expected "Step[NpArray[F32]]"
    )
    print(cross_entropy(Logits(net.forward(like.ones((2, 4)), nn.Eval())), classes()).item())


def right_b040_softmax_as_the_last_layer() -> None:
    like = mx.numpy()
    first, second = mx.Key(0).split(2)
    net = nn.Sequential(
        nn.Linear.init(4, 8, like=like, key=first),
        nn.Relu(),
        nn.Linear.init(8, 3, like=like, key=second),
    )
    logits = Logits(net.forward(like.ones((2, 4)), nn.Eval()))
    print(cross_entropy(logits, classes()).item(), logits.probs().value)


def wrong_b042_log_softmax_before_cross_entropy() -> None:
    """The network ends in a log-softmax, and cross-entropy takes that of its output.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        hidden: nn.Linear[T]
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch features"]) -> LogProbs[T]:
            x = self.hidden.forward(x).relu()
            x = self.out.forward(x)
            return LogProbs(x.log_softmax(1))

    out = Net(linear(3, 4), linear(4, 3)).forward(scores())
    print(cross_entropy(out, classes()).item())  # E: [arg-type] "LogProbs[NpArray[F32]]"; expected "Logits


def right_b042_log_softmax_before_cross_entropy() -> None:
    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        hidden: nn.Linear[T]
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch features"]) -> Logits[T]:
            x = self.hidden.forward(x).relu()
            return Logits(self.out.forward(x))

    logits = Net(linear(3, 4), linear(4, 3)).forward(scores())
    twice = Logits(logits.log_probs().value)  # said to be scores, logarithms of probabilities are harmless
    losses = [cross_entropy(one, classes()).item() for one in (logits, twice)]
    assert np.isclose(losses[0], losses[1], rtol=1e-6)


def wrong_b043_softmax_in_the_output_of_a_model() -> None:
    """A network for segmentation applies a softmax to what it returns; the loss takes it for scores.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Segmentation[T: mx.ImageModelTensor](nn.Module[T]):
        features: nn.Conv2d[T]
        out: nn.Conv2d[T]

        def forward(self, x: Float[T, "batch 3 h w"]) -> Logits[T]:
            per_pixel = self.out.forward(self.features.forward(x).relu()).permute((0, 2, 3, 1))
            return Logits(per_pixel.softmax(-1))  # E: [tensor-scores] softmax gives probabilities


def right_b043_softmax_in_the_output_of_a_model() -> None:
    @dataclass(frozen=True)
    class Segmentation[T: mx.ImageModelTensor](nn.Module[T]):
        features: nn.Conv2d[T]
        out: nn.Conv2d[T]

        def forward(self, x: Float[T, "batch 3 h w"]) -> Logits[T]:
            per_pixel = self.out.forward(self.features.forward(x).relu()).permute((0, 2, 3, 1))
            return Logits(per_pixel)

    like = mx.numpy()
    features = nn.Conv2d.init(3, 4, 3, padding=1, like=like, key=mx.Key(0))
    net = Segmentation(features, nn.Conv2d.init(4, 5, 1, like=like, key=mx.Key(1)))
    assert net.forward(like.ones((1, 3, 6, 7))).probs().shape == (1, 6, 7, 5)


def wrong_b045_likelihood_of_raw_scores[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T]) -> T:
    """The negative log-likelihood gets the scores of the last layer: the loss falls below 0.

    PyTorch notices: never
    """
    return nll(LogProbs(model.forward(batch.x)), batch.labels)  # E: [tensor-scores] logarithms of probabilities


def right_b045_likelihood_of_raw_scores() -> None:
    def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: mx.Labelled[T]) -> T:
        return nll(Logits(model.forward(batch.x)).log_probs(), batch.labels)

    assert loss(linear(3, 3), mx.Labelled(scores(), classes())).item() > 0.0


def wrong_b046_softmax_before_the_likelihood() -> None:
    """A network ends in softmax where log-softmax was meant, and the likelihood takes probabilities for logarithms.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch features"]) -> Float[T, "batch classes"]:
            return self.out.forward(x).softmax(1)

    def loss[T: mx.MlpTensor](model: Net[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
        return nll(LogProbs(model.forward(batch.x)), batch.labels)  # E: [tensor-scores] softmax, in Net.forward, gives


def right_b046_softmax_before_the_likelihood() -> None:
    @dataclass(frozen=True)
    class Net[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch features"]) -> Float[T, "batch classes"]:
            return self.out.forward(x).log_softmax(1)

    def loss[T: mx.MlpTensor](model: Net[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
        return nll(LogProbs(model.forward(batch.x)), batch.labels)

    assert loss(Net(linear(3, 3)), mx.Labelled(scores(), classes()), nn.Eval()).item() > 0.0


def wrong_b048_divergence_of_probabilities[T: mx.Tensor](student: Logits[T], teacher: Logits[T]) -> T:
    """A divergence that wants the logarithms of one side gets the probabilities of both.

    PyTorch notices: never
    """
    p, q = teacher.probs(), student.probs()
    return kl_divergence(q, p)  # E: [arg-type] Argument 1  # E: [arg-type] Argument 2


def right_b048_divergence_of_probabilities() -> None:
    p, q = Logits(scores()).log_probs(), Logits(scores() * 0.5).log_probs()
    assert kl_divergence(q, p).item() > 0.0


def wrong_b049_prior_without_its_logarithm[T: mx.Tensor](anchors: T, prior: LogProbs[T]) -> T:
    """A mean of probabilities is held against a prior by a divergence that wants logarithms.

    PyTorch notices: never
    """
    q = anchors.softmax(-1)
    return kl_divergence(LogProbs(q), prior, reduction="sum")  # E: [tensor-scores] softmax gives probabilities


def right_b049_prior_without_its_logarithm() -> None:
    def loss[T: mx.Tensor](anchors: T, prior: LogProbs[T]) -> T:
        q = anchors.log_softmax(-1)
        return kl_divergence(LogProbs(q), prior, reduction="sum")

    assert loss(scores(), Logits(scores()).log_probs()).item() == 0.0


def wrong_b051_sigmoid_before_binary_cross_entropy() -> None:
    """A sigmoid at the end of the network, and another within the loss: it does not converge.

    PyTorch notices: never
    """

    @dataclass(frozen=True)
    class Detector[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch features"]) -> Float[T, " batch"]:
            return self.out.forward(x).sigmoid().squeeze(1)

    def loss[T: mx.MlpTensor](model: Detector[T], x: Float[T, "batch features"], y: Float[T, " batch"]) -> T:
        answers = BinaryLogits(model.forward(x))  # E: [tensor-scores] sigmoid, in Detector.forward, gives
        return binary_cross_entropy(answers, y)


def right_b051_sigmoid_before_binary_cross_entropy() -> None:
    @dataclass(frozen=True)
    class Detector[T: mx.MlpTensor](nn.Module[T]):
        out: nn.Linear[T]

        def forward(self, x: Float[T, "batch features"]) -> Float[T, " batch"]:
            return self.out.forward(x).squeeze(1)

    def loss[T: mx.MlpTensor](model: Detector[T], x: Float[T, "batch features"], y: Float[T, " batch"]) -> T:
        answers = BinaryLogits(model.forward(x))
        return binary_cross_entropy(answers, y)

    assert loss(Detector(linear(3, 1)), scores(), mx.numpy().ones((2,))).item() > 0.0


def wrong_b052_sigmoid_as_the_last_layer(like: Host) -> None:
    """The part of a model that says how sure it is ends in a sigmoid, and its loss takes that of logits.

    PyTorch notices: never
    """
    first, second = mx.Key(0).split(2)
    confidence = nn.Sequential[Host](
        nn.Linear.init(8, 8, like=like, key=first),
        nn.Relu(),
        nn.Linear.init(8, 1, like=like, key=second),
        nn.Sigmoid(),  # E: [arg-type] "Sigmoid"; expected "Step[NpArray[F32]]"
    )
    answers = BinaryLogits(confidence.forward(like.ones((2, 8)), nn.Eval()))
    print(binary_cross_entropy(answers, like.ones((2, 1))).item())


def right_b052_sigmoid_as_the_last_layer() -> None:
    like = mx.numpy()
    first, second = mx.Key(0).split(2)
    confidence = nn.Sequential(
        nn.Linear.init(8, 8, like=like, key=first),
        nn.Relu(),
        nn.Linear.init(8, 1, like=like, key=second),
    )
    answers = BinaryLogits(confidence.forward(like.ones((2, 8)), nn.Eval()))
    print(binary_cross_entropy(answers, like.ones((2, 1))).item(), answers.probs().value)


def wrong_b054_loss_of_a_library_for_logits[T: mx.Tensor](predicted: BinaryProbs[T], target: T) -> T:
    """A library's usual loss is for logits, and the model that a user brings gives probabilities.

    PyTorch notices: never
    """
    return binary_cross_entropy(predicted, target)  # E: [arg-type] "BinaryLogits[T]"


def right_b054_loss_of_a_library_for_logits() -> None:
    def loss[T: mx.Tensor](predicted: BinaryLogits[T], target: T) -> T:
        return binary_cross_entropy(predicted, target)

    assert loss(BinaryLogits(scores()), scores().sigmoid()).item() > 0.0
