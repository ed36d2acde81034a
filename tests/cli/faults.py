"""Faults as people make them, each seeded into a copy of a file that is right.

A fault is one replacement of text. ``line`` is on the line that must be reported, and ``error`` in what is said there.
"""

from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Fault:
    """One replacement in a file."""

    title: str
    before: str
    after: str
    line: str
    error: str

    def seeded(self, text: str) -> str:
        """The text with the fault in it."""
        assert text.count(self.before) >= 1, f"{self.title}: the file has no longer {self.before!r}"
        return text.replace(self.before, self.after, 1)

    def place(self, seeded: str) -> int:
        """The number of the line that must be reported."""
        numbers = [number for number, line in enumerate(seeded.splitlines(), 1) if self.line in line]
        assert len(numbers) == 1, f"{self.title}: {self.line!r} is on the lines {numbers}"
        return numbers[0]


MLP = (
    Fault(
        "width of the input",
        "Linear.init(784, 128",
        "Linear.init(783, 128",
        "h = self.first.forward(x)",
        'first (Linear).forward: argument x: expected Float[T, "*batch 783"], got ShapeTensor[F32] (batch, 784)',
    ),
    Fault(
        "width of a hidden layer",
        "Linear.init(128, 64",
        "Linear.init(120, 64",
        "h = self.second.forward(h)",
        'expected Float[T, "*batch 120"], got ShapeTensor[F32] (batch, 128)',
    ),
    Fault(
        "width before the last layer",
        "Linear.init(64, 10",
        "Linear.init(32, 10",
        "return Logits(self.out.forward(h))",
        'expected Float[T, "*batch 32"], got ShapeTensor[F32] (batch, 64)',
    ),
    Fault(
        "images that are not flat",
        '"batch 784"',
        '"batch 28 28"',
        "h = self.first.forward(x)",
        "got ShapeTensor[F32] (batch, 28, 28)",
    ),
    Fault(
        "swapped axes",
        "self.first.forward(x)",
        "self.first.forward(x.permute((1, 0)))",
        "x.permute((1, 0))",
        "got ShapeTensor[F32] (784, batch)",
    ),
    Fault(
        "a sum with a tensor of another width",
        "h = self.second.forward(h).relu()",
        "h = self.second.forward(h).relu() + h",
        ".relu() + h",
        "Mlp: add: (batch, 64) and (batch, 128): axis -1 has sizes 64 and 128, which are not equal or 1",
    ),
    Fault(
        "the size of the batch written down",
        "h = self.first.forward(x)",
        "h = self.first.forward(x.reshape((64, 784)))",
        "x.reshape((64, 784))",
        "Mlp: reshape: (batch, 784) to (64, 784): 784*batch elements cannot become 50176",
    ),
    Fault(
        "rows of a wrong length",
        "self.first.forward(x)",
        "self.first.forward(x.reshape((x.shape[0], -1, 10)))",
        "x.reshape((x.shape[0], -1, 10))",
        "784*batch elements cannot be split into rows of 10*batch",
    ),
    Fault(
        "a slice along the wrong axis",
        "self.first.forward(x)",
        "self.first.forward(x[:, 1:])",
        "x[:, 1:]",
        "got ShapeTensor[F32] (batch, 783)",
    ),
    Fault(
        "a sum over the wrong axis",
        "h = self.second.forward(h).relu()",
        "h = self.second.forward(h).sum(1)",
        "return Logits(self.out.forward(h))",
        "got ShapeTensor[F32] (batch,)",
    ),
    Fault(
        "an axis that is not there",
        "self.out.forward(h))",
        "self.out.forward(h).softmax(2))",
        "softmax(2)",
        "Mlp: softmax: (batch, 10), axis 2: axes run from -2 to 1",
    ),
    Fault(
        "a product that is not transposed",
        "h = self.second.forward(h).relu()",
        "h = h @ h @ self.second.weight",
        "h @ h",
        "matmul: (batch, 128) @ (batch, 128): inner dimensions differ (128 and batch)",
    ),
    Fault(
        "layers in the wrong order",
        "self.out.forward(h))",
        "self.out.forward(self.first.forward(h)))",
        "self.first.forward(h)",
        'expected Float[T, "*batch 784"], got ShapeTensor[F32] (batch, 64)',
    ),
    Fault(
        "classes along the wrong axis",
        "logits.predicted()",
        "logits.value.argmax(0)",
        "argmax(0)",
        "equal: (10,) and (batch,): axis -1 has sizes 10 and batch, which are not equal or 1",
    ),
    Fault(
        "labels of other samples",
        "cross_entropy(logits, batch.labels)",
        "cross_entropy(logits, batch.labels[1:])",
        "batch.labels[1:]",
        "pick: (batch, 10), labels (batch-1,): labels must have the shape without its last axis",
    ),
    Fault(
        "a loss for each sample",
        "return cross_entropy(logits, batch.labels)",
        "return -logits.log_probs().value.pick(batch.labels)",
        "def loss",
        "value_and_grad: the loss has shape (batch,): expected one number",
    ),
)

RESNET = (
    Fault(
        "channels of the second convolution",
        "ConvNorm.init(outputs, outputs, 3",
        "ConvNorm.init(inputs, outputs, 3",
        "h = self.second.forward(h, mode)",
        'blocks[2].second (ConvNorm).forward: argument x: expected Float[T, "batch 64 height width"]',
    ),
    Fault(
        "a shortcut without a projection",
        "if stride != 1 or inputs != outputs:",
        "if False:",
        "return residual(",
        (
            "blocks[2] (BasicBlock): residual (branch and shortcut): (batch, 128, (height-1)//8+1, (width-1)//8+1) and "
            "(batch, 64, (height-1)//4+1, (width-1)//4+1)"
        ),
    ),
    Fault(
        "a shortcut without the stride",
        "1, like=like, key=short, stride=stride,",
        "1, like=like, key=short,",
        "return residual(",
        "(batch, 128, (height-1)//8+1, (width-1)//8+1) and (batch, 128, (height-1)//4+1, (width-1)//4+1)",
    ),
    Fault(
        "a stride in the branch alone",
        "inputs, outputs, 3, like=like, key=first, stride=stride, bias=bias",
        "inputs, outputs, 3, like=like, key=first, stride=2, bias=bias",
        "return residual(",
        "residual (branch and shortcut)",
    ),
    Fault(
        "no padding",
        "padding=kernel // 2",
        "padding=0",
        "return residual(",
        "(batch, outputs, height-4, width-4) and (batch, outputs, height, width)",
    ),
    Fault(
        "swapped height and width",
        "residual(h, x if",
        "residual(h.permute((0, 1, 3, 2)), x if",
        "h.permute((0, 1, 3, 2))",
        "(batch, outputs, width, height) and (batch, outputs, height, width)",
    ),
    Fault(
        "channels last",
        "self.norm.forward(self.conv.forward(x), mode)",
        "self.norm.forward(self.conv.forward(x).permute((0, 2, 3, 1)), mode)",
        "permute((0, 2, 3, 1))",
        "norm (BatchNorm2d).forward: argument x",
    ),
    Fault(
        "normalised by the channels before",
        "BatchNorm2d.init(outputs",
        "BatchNorm2d.init(inputs",
        "return self.norm.forward(",
        'stem.norm (BatchNorm2d).forward: argument x: expected Float[T, "batch 3 height width"]',
    ),
    Fault(
        "channels between stages",
        "widths = (64, 64, 128",
        "widths = (32, 64, 128",
        "h = block.forward(h, mode)",
        'blocks[0] (BasicBlock).forward: argument x: expected Float[T, "batch 32 height width"]',
    ),
    Fault(
        "a flatten without the mean",
        "h.mean((2, 3))",
        "h.reshape((h.shape[0], -1))",
        "h.reshape((h.shape[0], -1))",
        'head (Linear).forward: argument x: expected Float[T, "*batch 512"]',
    ),
    Fault(
        "a mean over the wrong axes",
        "h.mean((2, 3))",
        "h.mean((1, 2))",
        "h.mean((1, 2))",
        "got ShapeTensor[F32] (batch, (width-1)//32+1)",
    ),
    Fault(
        "width of the head",
        "Linear.init(512,",
        "Linear.init(256,",
        "self.head.forward(",
        'expected Float[T, "*batch 256"], got ShapeTensor[F32] (batch, 512)',
    ),
    Fault(
        "padding wider than the window",
        "max_pool2d(3, stride=2, padding=1)",
        "max_pool2d(3, stride=2, padding=2)",
        "padding=2)",
        "with kernel 3, padding 2: padding must be at most half of the window, 1",
    ),
    Fault(
        "a result that is not what the annotation says",
        "return self.norm.forward(self.conv.forward(x), mode)",
        "return self.norm.forward(self.conv.forward(x), mode).mean(3)",
        "mean(3)",
        'ConvNorm.forward: result: expected Float[T, "batch norm.channels _ _"], got ShapeTensor[F32] (batch, ',
    ),
)

MODELS = (
    Fault(
        "heads that are not exchanged with the sequence",
        ".permute((0, 2, 1, 3))\n\n    def forward",
        "\n\n    def forward",
        "return x.reshape((batch, seq, self.heads, width // self.heads))",
        "Attention.split: result: expected",
    ),
    Fault(
        "keys that are not transposed",
        "(q @ k.transpose())",
        "(q @ k)",
        "(q @ k)",
        "matmul: (batch, 8, seq, 16) @ (batch, 8, seq, 16): inner dimensions differ (16 and seq)",
    ),
    Fault(
        "a softmax over an axis too many",
        "scores.softmax(-1) @ v",
        "scores.softmax(4) @ v",
        "scores.softmax(4)",
        "softmax: (batch, 8, seq, seq), axis 4: axes run from -4 to 3",
    ),
    Fault(
        "the width of a feed-forward layer",
        "nn.Linear.init(4 * width, width",
        "nn.Linear.init(2 * width, width",
        "self.down.forward(self.up.",
        "down (Linear).forward: argument x",
    ),
    Fault(
        "positions of every text",
        "self.positions[: x.shape[1]]",
        "self.positions[:, : x.shape[1]]",
        "self.positions[:, : x.shape[1]]",
        "add: (batch, 64, 128) and (64, 64)",
    ),
    Fault(
        "a state of another width",
        "self.inner.inputs))",
        "self.outer.inputs))",
        "self.inner.forward(state)",
        'inner (Linear).forward: argument x: expected Float[T, "*batch 32"], got ShapeTensor[F32] (batch, 12)',
    ),
    Fault(
        "time and batch exchanged",
        "x[:, step]",
        "x[step]",
        "x[step]",
        "",
    ),
    Fault(
        "an image that grows by too little",
        "key=c, stride=2",
        "key=c, stride=1",
        "self.up.forward(b)",
        "residual (branch and shortcut): (batch, 16, h//2+1, w//2+1) and (batch, 16, h, w)",
    ),
    Fault(
        "channels of the way down",
        "nn.Conv2d.init(16, 32, 3",
        "nn.Conv2d.init(32, 32, 3",
        "self.middle.forward(",
        'middle (Conv2d).forward: argument x: expected Float[T, "batch 32 height width"]',
    ),
    Fault(
        "channels that come out",
        "nn.Conv2d.init(16, channels, 1",
        "nn.Conv2d.init(16, 1, 1",
        "return self.out.forward(nn.residual",
        'expected Float[T, "batch c h w"] where c=3, got ShapeTensor[F32] (batch, 1, 2*(h//2), 2*(w//2))',
    ),
    Fault(
        "a decoder for another code",
        "nn.Linear.init(code, 128",
        "nn.Linear.init(2 * code, 128",
        "return self.decoder.forward(",
        'decoder.layers[0] (Linear).forward: argument x: expected Float[T, "*batch 64"]',
    ),
    Fault(
        "the degree of each node in a row",
        "edges.sum(1, keepdims=True)",
        "edges.sum(1)",
        "edges @ nodes / degree",
        "divide: (nodes, features) and (nodes,)",
    ),
    Fault(
        "edges on the wrong side",
        "edges @ nodes",
        "nodes @ edges",
        "nodes @ edges",
        "matmul: (nodes, features) @ (nodes, nodes): inner dimensions differ (features and nodes)",
    ),
    Fault(
        "the other half",
        "x[:, half : 2 * half]",
        "x[half : 2 * half]",
        "x[half : 2 * half]",
        "halves: result: expected tuple",
    ),
    Fault(
        "similarities of features",
        "(a @ b.transpose()) / temperature",
        "(a.transpose() @ b) / temperature",
        "pick(diagonal)",
        "pick: (d, d), labels (8,)",
    ),
    Fault(
        "a matrix of Gram the wrong way round",
        "flat @ flat.transpose()",
        "flat.transpose() @ flat",
        "flat.transpose() @ flat",
        "grams: result: expected",
    ),
    Fault(
        "patches with the rows left out",
        "(batch, c * size * size, -1)",
        "(batch, c * size, -1)",
        "(batch, c * size, -1)",
        "patches: result: expected",
    ),
)

FILES: dict[str, tuple[Fault, ...]] = {
    "examples/mnist.py": MLP,
    "moonxi/nn/models/resnet.py": RESNET,
    "tests/cli/models.py": MODELS,
}
"""The files, from the root of the project, and their faults. A new file is a new line here."""
