"""A transformer that learns to write, character by character, from a text of yours.

    python examples/text.py --data FILE                        a plain text file (UTF-8); a megabyte is a good size
    ... --checkpoints DIR --resume                             after a crash, the same again goes on where it was
    ... --write 500 --start "Once upon"                        what it writes at the end, and from what

Ends with the loss on the last tenth of the text, which is not learned from, in nats a character, and with a sample.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Indices
from moonxi.losses import Logits, cross_entropy
from moonxi.train import Checkpoints


@dataclass(frozen=True, eq=False)
class Texts[T: mx.Tensor]:
    """A batch: characters by number, and the character after each."""

    tokens: Int[mx.Labels[T], "batch time"]
    following: Int[mx.Labels[T], "batch time"]

    @property
    def size(self) -> int:
        """How many texts there are."""
        return self.tokens.shape[0]

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Texts[U]":
        """The same texts in another interpreter."""
        return Texts(self.tokens.map(f), self.following.map(f))


@dataclass(frozen=True, eq=False)
class Windows[T: mx.Tensor]:
    """A text as a data set of windows of ``time`` characters, each beginning ``stride`` after the one before it."""

    like: T
    tokens: NDArray[np.int64]
    time: int
    stride: int

    def __len__(self) -> int:
        """How many windows there are."""
        return max(0, (len(self.tokens) - self.time - 1) // self.stride + 1)

    def batch(self, indices: Indices, /) -> Texts[T]:
        """The windows with these numbers."""
        places = np.asarray(indices)[:, None] * self.stride + np.arange(self.time)
        return Texts(self.like.labels(self.tokens[places]), self.like.labels(self.tokens[places + 1]))


@dataclass(frozen=True)
class Attention[T: mx.MlpTensor](nn.Module[T]):
    """Self-attention with several heads, each of which sees a part of the width (Vaswani et al. 2017)."""

    inputs: nn.Linear[T]
    out: nn.Linear[T]
    heads: int

    @classmethod
    def init(cls, width: int, heads: int, /, *, like: T, key: mx.Key) -> "Attention[T]":
        """Random weights where ``like`` lives."""
        first, second = key.split(2)
        return cls(
            nn.Linear.init(width, 3 * width, like=like, key=first, bias=False),
            nn.Linear.init(width, width, like=like, key=second),
            heads,
        )

    def forward(
        self, x: Float[T, "batch time {self.out.inputs}"], hidden: Bool[mx.Mask[T], "time time"]
    ) -> Float[T, "batch time {self.out.outputs}"]:
        """Each character gets what it sees in those before it."""
        batch, time, width = x.shape
        depth = width // self.heads
        parts = self.inputs.forward(x).reshape((batch, time, 3, self.heads, depth)).permute((2, 0, 3, 1, 4))
        query, key, value = parts[0], parts[1], parts[2]
        scores = query @ key.transpose() / depth**0.5
        seen = scores.masked_fill(hidden, -1e9).softmax(-1) @ value
        return self.out.forward(seen.permute((0, 2, 1, 3)).reshape((batch, time, width)))


@dataclass(frozen=True)
class Block[T: mx.MlpTensor](nn.Module[T]):
    """Attention and two linear layers, each around a shortcut."""

    attention_norm: nn.LayerNorm[T]
    attention: Attention[T]
    wide_norm: nn.LayerNorm[T]
    wide: nn.Linear[T]
    narrow: nn.Linear[T]
    dropout: nn.Dropout

    @classmethod
    def init(cls, width: int, heads: int, dropout: float, /, *, like: T, key: mx.Key) -> "Block[T]":
        """Random weights where ``like`` lives."""
        attention, wide, narrow = key.split(3)
        return cls(
            nn.LayerNorm.init(width, like=like),
            Attention.init(width, heads, like=like, key=attention),
            nn.LayerNorm.init(width, like=like),
            nn.Linear.init(width, 4 * width, like=like, key=wide),
            nn.Linear.init(4 * width, width, like=like, key=narrow),
            nn.Dropout(dropout),
        )

    def forward(
        self, x: Float[T, "batch time {self.wide.inputs}"], hidden: Bool[mx.Mask[T], "time time"], mode: nn.Mode
    ) -> Float[T, "batch time {self.wide.inputs}"]:
        """Through both."""
        x = nn.residual(self.attention.forward(self.attention_norm.forward(x), hidden), x)
        between = nn.gelu(self.wide.forward(self.wide_norm.forward(x)))
        return nn.residual(self.dropout.forward(self.narrow.forward(between), mode), x)


@dataclass(frozen=True)
class Writer[T: mx.MlpTensor](nn.Module[T]):
    """Characters and their places as vectors, blocks, and a score for each character that may follow."""

    tokens: nn.Embedding[T]
    places: Float[T, "longest width"]
    blocks: tuple[Block[T], ...]
    norm: nn.LayerNorm[T]
    out: nn.Linear[T]

    if TYPE_CHECKING:  # for other checkers: mypy's plugin adds it by itself

        def map[U: mx.MlpTensor](self, f: Callable[[T], U], /) -> "Writer[U]": ...

    @classmethod
    def init(
        cls, tokens: int, width: int, heads: int, depth: int, longest: int, dropout: float, *, like: T, key: mx.Key
    ) -> "Writer[T]":
        """Random weights where ``like`` lives."""
        table, places, out, *blocks = key.split(3 + depth)
        return cls(
            nn.Embedding(like.normal((tokens, width), table) * 0.02),
            like.normal((longest, width), places) * 0.02,
            tuple(Block.init(width, heads, dropout, like=like, key=one) for one in blocks),
            nn.LayerNorm.init(width, like=like),
            nn.Linear.init(width, tokens, like=like, key=out),
        )

    def forward(self, tokens: Int[mx.Labels[T], "batch time"], mode: nn.Mode) -> Logits[T]:
        """Scores, ``(batch, time, characters)``."""
        time = tokens.shape[1]
        x = self.tokens.forward(tokens) + self.places[:time]
        order = x.from_host(np.arange(time, dtype=np.float32))
        hidden = order[:, None] < order[None, :]
        for block in self.blocks:
            x = block.forward(x, hidden, mode)
        return Logits(self.out.forward(self.norm.forward(x)))


def loss[T: mx.MlpTensor](model: Writer[T], batch: Texts[T], mode: nn.Mode) -> T:
    """The cross-entropy of the character that follows, in nats."""
    return cross_entropy(model.forward(batch.tokens, mode), batch.following)


def write[T: mx.MlpTensor](model: Writer[T], like: T, start: list[int], count: int, seed: int) -> list[int]:
    """So many characters after the start, each drawn as probable as the model thinks it is."""
    written, random = list(start), np.random.default_rng(seed)
    longest = model.places.shape[0]
    for _ in range(count):
        seen = np.array([written[-longest:]])
        scores = model.forward(like.labels(seen), nn.Eval()).probs().value[0, -1].to_host()
        written.append(int(random.choice(len(scores), p=scores / scores.sum())))
    return written


def read(file: Path) -> str:
    """A text of UTF-8, or the end of the program."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{file}: expected a text file in UTF-8: {error}")


def run[T: mx.MlpTensor](like: T, arguments: argparse.Namespace) -> None:
    """Train, evaluate and write."""
    text, time = read(arguments.data), arguments.time
    characters = sorted(set(text))
    number = {character: at for at, character in enumerate(characters)}
    tokens = np.array([number[character] for character in text], np.int64)
    cut = len(tokens) * 9 // 10
    learnt, judged = Windows(like, tokens[:cut], time, arguments.stride), Windows(like, tokens[cut:], time, time)
    if min(len(learnt), len(judged)) == 0:
        sys.exit(
            f"{arguments.data}: expected at least {10 * (time + 1)} characters for --time {time}, found {len(text)}"
        )
    train = DataLoader(learnt, batch_size=arguments.batch, seed=arguments.seed)
    test = DataLoader(judged, batch_size=arguments.batch)
    print(f"{len(text):,} characters, {len(characters)} different ones; {train.steps(epochs=1)} steps an epoch")

    sizes = (len(characters), arguments.width, arguments.heads, arguments.depth, time, arguments.dropout)
    model = Writer.init(*sizes, like=like, key=mx.Key(arguments.seed))
    print(f"{sum(one.to_host().size for one in model.parameters()):,} parameters")
    steps = train.steps(epochs=arguments.epochs)
    rising = optim.warm_up(1.0, optim.Steps(max(1, steps // 20)))
    optimizer = optim.AdamW(lr=optim.chain(rising, optim.cosine(arguments.lr, steps)), weight_decay=0.1, clip_norm=1.0)
    trainer = mx.Trainer(model, loss, optimizer, key=mx.Key(arguments.seed), compile=arguments.compile)
    folder: Path | None = arguments.checkpoints
    checkpoints = None if folder is None else Checkpoints(folder)
    trainer.fit(train, epochs=arguments.epochs, test=test, checkpoints=checkpoints, resume=arguments.resume)

    start = [number[character] for character in arguments.start if character in number] or [0]
    written = write(trainer.model, like, start, arguments.write, arguments.seed)
    print("".join(characters[one] for one in written))
    print(f"test loss: {trainer.evaluate(test)['loss']:.4f}")


def main() -> None:
    """Choose where to compute, and how precisely."""
    parser = argparse.ArgumentParser(description="Train a small transformer on the characters of a text.")
    parser.add_argument("--data", metavar="FILE", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--time", type=int, default=64, metavar="N", help="characters that it sees at most (64)")
    parser.add_argument("--stride", type=int, default=16, metavar="N", help="from one window to the next (16)")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--depth", type=int, default=4, help="blocks (4)")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=int, default=300, metavar="N", help="characters to write at the end (300)")
    parser.add_argument("--start", default="\n", metavar="TEXT", help="what it goes on from")
    parser.add_argument("--checkpoints", type=Path, metavar="DIR")
    parser.add_argument("--resume", action="store_true", help="go on from the newest checkpoint in --checkpoints")
    parser.add_argument(
        "--no-compile", dest="compile", action="store_false", help="compute one operation after the other"
    )
    parser.add_argument("--gpu", action="store_true", help="compute on an NVIDIA GPU")
    parser.add_argument("--precision", choices=("fp32", "tf32", "bf16"), default="fp32", help="of the GPU")
    arguments = parser.parse_args()

    if arguments.resume and arguments.checkpoints is None:
        parser.error("--resume: name the folder of the run with --checkpoints DIR")
    for name in ("epochs", "batch", "time", "stride", "width", "heads", "depth"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name}: expected a number from 1, got {getattr(arguments, name)}")
    if arguments.width % arguments.heads:
        parser.error(f"--width {arguments.width} is to be a multiple of --heads {arguments.heads}")
    if not arguments.gpu:
        run(mx.numpy(), arguments)
    elif arguments.precision == "bf16":
        run(mx.gpu(mx.BF16), arguments)
    else:
        run(mx.gpu(tf32=arguments.precision == "tf32"), arguments)


if __name__ == "__main__":
    try:
        main()
    except mx.errors.MoonxiError as error:
        sys.exit(str(error))
