"""A U-Net (Ronneberger et al. 2015) that finds the class of each pixel, whose images have sizes that 4 divides."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float, Int

import moonxi as mx
from moonxi import nn
from moonxi.losses import Logits, cross_entropy


@dataclass(frozen=True, eq=False)
class Scenes[T: mx.Tensor]:
    """A batch: images, and the class of each pixel."""

    images: Float[T, "batch channels height width"]
    classes: Int[mx.Labels[T], "batch height width"]

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Scenes[U]":
        """The same scenes in another interpreter."""
        return Scenes(f(self.images), self.classes.map(f))


@dataclass(frozen=True)
class Double[T: mx.ImageModelTensor](nn.Module[T]):
    """Two convolutions of 3 x 3 that keep the size of the image, each normalised."""

    first: nn.Conv2d[T]
    first_norm: nn.BatchNorm2d[T]
    second: nn.Conv2d[T]
    second_norm: nn.GroupNorm[T]

    @classmethod
    def init(cls, inputs: int, outputs: int, /, *, like: T, key: mx.Key) -> "Double[T]":
        """Random weights where ``like`` lives."""
        first, second = key.split(2)
        return cls(
            nn.Conv2d.init(inputs, outputs, 3, like=like, key=first, padding=1),
            nn.BatchNorm2d.init(outputs, like=like),
            nn.Conv2d.init(outputs, outputs, 3, like=like, key=second, padding=1),
            nn.GroupNorm.init(2, outputs, like=like),
        )

    def forward(
        self, x: Float[T, "batch {self.first.inputs} height width"], mode: nn.Mode
    ) -> Float[T, "batch {self.second.outputs} height width"]:
        """Both, with ReLU."""
        h = self.first_norm.forward(self.first.forward(x), mode).relu()
        return self.second_norm.forward(self.second.forward(h), mode).relu()


@dataclass(frozen=True)
class UNet[T: mx.ImageModelTensor](nn.Module[T]):
    """Down twice and up again, with what was there at each size put beside what comes up."""

    wide: Double[T]
    middle: Double[T]
    deep: Double[T]
    up_middle: nn.ConvTranspose2d[T]
    join_middle: Double[T]
    narrow: nn.Conv2d[T]
    join_wide: Double[T]
    out: nn.Conv2d[T]

    @classmethod
    def init(cls, channels: int, classes: int, /, *, like: T, key: mx.Key) -> "UNet[T]":
        """A network with random weights where ``like`` lives."""
        keys = key.split(8)
        return cls(
            Double.init(channels, 8, like=like, key=keys[0]),
            Double.init(8, 16, like=like, key=keys[1]),
            Double.init(16, 32, like=like, key=keys[2]),
            nn.ConvTranspose2d.init(32, 16, 2, like=like, key=keys[3], stride=2),
            Double.init(32, 16, like=like, key=keys[4]),
            nn.Conv2d.init(16, 8, 1, like=like, key=keys[5]),
            Double.init(16, 8, like=like, key=keys[6]),
            nn.Conv2d.init(8, classes, 1, like=like, key=keys[7]),
        )

    def features(
        self, x: Float[T, "batch {self.wide.first.inputs} height width"], mode: nn.Mode
    ) -> Float[T, "batch 8 height width"]:
        """What is known of each pixel."""
        wide = self.wide.forward(x, mode)
        middle = self.middle.forward(wide.max_pool2d(2), mode)
        deep: Float[T, "batch 32 height//4 width//4"] = self.deep.forward(middle.max_pool2d(2), mode)
        up: Float[T, "batch 16 height//2 width//2"] = self.up_middle.forward(deep)
        joined = self.join_middle.forward(up.concatenate(middle, axis=1), mode)
        larger = joined.upsample_nearest2d((wide.shape[2], wide.shape[3]))
        return self.join_wide.forward(self.narrow.forward(larger).concatenate(wide, axis=1), mode)

    def scores(
        self, x: Float[T, "batch {self.wide.first.inputs} height width"], mode: nn.Mode
    ) -> Float[T, "batch height width {self.out.outputs}"]:
        """A number for each class of each pixel, with the classes last."""
        return self.out.forward(self.features(x, mode)).permute((0, 2, 3, 1))

    def forward(self, x: Float[T, "batch {self.wide.first.inputs} height width"], mode: nn.Mode) -> Logits[T]:
        """The same as logits."""
        return Logits(self.scores(x, mode))


def dice[T: mx.Tensor](
    scores: Float[T, "batch height width classes"], target: Float[T, "batch height width classes"]
) -> Float[T, ""]:
    """1 less the overlap of prediction and target, the mean over images and classes (Milletari et al. 2016)."""
    probabilities = scores.softmax(-1)
    both: Float[T, "batch classes"] = (probabilities * target).sum((1, 2))
    either: Float[T, "batch classes"] = (probabilities + target).sum((1, 2))
    return 1.0 - (2.0 * both / (either + 1e-3)).mean()


def loss[T: mx.ImageModelTensor](model: UNet[T], batch: Scenes[T], mode: nn.Mode) -> T:
    """Cross-entropy and overlap together."""
    scores = model.scores(batch.images, mode)
    target = scores.one_hot(batch.classes, scores.shape[-1])
    return cross_entropy(Logits(scores), batch.classes) + dice(scores, target)
