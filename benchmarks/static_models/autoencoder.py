"""A variational autoencoder (Kingma and Welling 2014) of images, convolutional on the outside."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float

import moonxi as mx
from moonxi import nn
from moonxi.losses import mse


@dataclass(frozen=True, eq=False)
class Images[T: mx.Tensor]:
    """A batch of images of one channel."""

    x: Float[T, "batch 1 28 28"]

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Images[U]":
        """The same images in another interpreter."""
        return Images(f(self.x))


@dataclass(frozen=True)
class Encoder[T: mx.ImageModelTensor](nn.Module[T]):
    """From an image to the mean and the logarithm of the variance of its code."""

    convolutions: nn.Sequential[T]
    hidden: nn.Linear[T]
    mean: nn.Linear[T]
    log_variance: nn.Linear[T]

    @classmethod
    def init(cls, code: int, /, *, like: T, key: mx.Key) -> "Encoder[T]":
        """Random weights where ``like`` lives."""
        first, second, hidden, mean, log_variance = key.split(5)
        return cls(
            nn.Sequential(
                nn.Conv2d.init(1, 12, 3, like=like, key=first, stride=2, padding=1),
                nn.BatchNorm2d.init(12, like=like),
                nn.Relu(),
                nn.Conv2d.init(12, 20, 3, like=like, key=second, stride=2, padding=1),
                nn.Relu(),
                nn.Flatten(),
            ),
            nn.Linear.init(20 * 7 * 7, 100, like=like, key=hidden),
            nn.Linear.init(100, code, like=like, key=mean),
            nn.Linear.init(100, code, like=like, key=log_variance),
        )

    def forward(
        self, x: Float[T, "batch 1 28 28"], mode: nn.Mode
    ) -> tuple[Float[T, "batch {self.mean.outputs}"], Float[T, "batch {self.mean.outputs}"]]:
        """Both, for each image."""
        flat: Float[T, "batch 980"] = self.convolutions.forward(x, mode)
        h = self.hidden.forward(flat).tanh()
        return self.mean.forward(h), self.log_variance.forward(h)


@dataclass(frozen=True)
class Decoder[T: mx.ImageModelTensor](nn.Module[T]):
    """From a code to an image."""

    hidden: nn.Linear[T]
    wide: nn.Linear[T]
    larger: nn.ConvTranspose2d[T]
    largest: nn.ConvTranspose2d[T]
    last: nn.Conv2d[T]

    @classmethod
    def init(cls, code: int, /, *, like: T, key: mx.Key) -> "Decoder[T]":
        """Random weights where ``like`` lives."""
        keys = key.split(5)
        return cls(
            nn.Linear.init(code, 100, like=like, key=keys[0]),
            nn.Linear.init(100, 980, like=like, key=keys[1]),
            nn.ConvTranspose2d.init(20, 12, 4, like=like, key=keys[2], stride=2, padding=1),
            nn.ConvTranspose2d.init(12, 6, 4, like=like, key=keys[3], stride=2, padding=1),
            nn.Conv2d.init(6, 1, 3, like=like, key=keys[4], padding=1),
        )

    def forward(self, code: Float[T, "batch {self.hidden.inputs}"]) -> Float[T, "batch 1 28 28"]:
        """The image."""
        h = self.wide.forward(self.hidden.forward(code).relu()).relu()
        small = h.reshape((h.shape[0], 20, 7, 7))
        middle: Float[T, "batch 12 14 14"] = self.larger.forward(small).relu()
        large = self.largest.forward(middle).relu()
        return self.last.forward(large).sigmoid()


@dataclass(frozen=True)
class Autoencoder[T: mx.ImageModelTensor](nn.Module[T]):
    """Both, with noise between them."""

    encoder: Encoder[T]
    decoder: Decoder[T]

    @classmethod
    def init(cls, code: int, /, *, like: T, key: mx.Key) -> "Autoencoder[T]":
        """A network with random weights where ``like`` lives."""
        encoder, decoder = key.split(2)
        return cls(Encoder.init(code, like=like, key=encoder), Decoder.init(code, like=like, key=decoder))

    def forward(self, x: Float[T, "batch 1 28 28"], mode: nn.Mode) -> Float[T, "batch 1 28 28"]:
        """An image made of the most likely code of each image."""
        mean, _ = self.encoder.forward(x, mode)
        return self.decoder.forward(mean)


def divergence[T: mx.Tensor](mean: Float[T, "batch code"], log_variance: Float[T, "batch code"]) -> Float[T, "batch"]:
    """From the standard normal distribution, in nats."""
    terms = mean.square() + log_variance.exp() - log_variance - 1.0
    return 0.5 * terms.sum(1)


def sampled[T: mx.Tensor](
    mean: Float[T, "batch code"], log_variance: Float[T, "batch code"], noise: Float[T, "batch code"]
) -> Float[T, "batch code"]:
    """A code drawn for each image."""
    deviation = (0.5 * log_variance).exp()
    return mean + deviation * noise


def loss[T: mx.ImageModelTensor](model: Autoencoder[T], batch: Images[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
    """How far the images that come out are from those that go in, and how far the codes are from noise."""
    mean, log_variance = model.encoder.forward(batch.x, mode)
    code = mean
    if isinstance(mode, nn.Train):
        code = sampled(mean, log_variance, mean.normal(mean.shape, mode.key))
    image = model.decoder.forward(code)
    distance = mse(image, batch.x)
    information = divergence(mean, log_variance).mean()
    return distance + 0.1 * information, {"distance": distance, "information": information}
