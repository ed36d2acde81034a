"""The files that are mutated, and how each is run: on shapes that its own annotations allow.

Sizes that the annotations leave open are primes, another for each name; labels are all 0, which is a class whatever the
number of classes."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_origin

import numpy as np

import moonxi as mx
from moonxi import nn
from moonxi.nn.annotations import shape_annotation
from moonxi.shapes import specification
from moonxi.shapes.specification import Names
from moonxi.traits import Labels, Mask

_PRIMES = (7, 5, 11, 13, 17, 3, 19, 23, 29, 31)


@dataclass
class Inputs:
    """Makes tensors for annotations; a name of a size is one size in all that one object makes."""

    like: Any
    """The tensors are like this one."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """The sizes of some names, for images that must not be too small."""
    _names: Names = field(default_factory=Names)

    def of(self, function: Callable[..., Any], owner: Any = None) -> list[Any]:
        """For each parameter that is annotated with a shape; ``owner`` is the object that has the method."""
        arguments = {"self": owner}
        found = []
        for name, one in inspect.signature(function).parameters.items():
            if (value := self.value(one.annotation, arguments)) is not None:
                arguments[name] = value
                found.append(value)
        return found

    def batch(self, cls: Any) -> Any:
        """A dataclass of tensors, from the annotations of its fields."""
        return cls(*(self.value(annotation, {}) for annotation in inspect.get_annotations(cls).values()))

    def labelled(self, model: Any) -> Any:
        """What the forward of a model takes, and a label for each of the first axis."""
        x = self.of(model.forward, model)[0]
        return mx.Labelled(x, self._labels(x.shape[:1]))

    def value(self, annotation: Any, arguments: Mapping[str, Any]) -> Any:
        """A tensor or labels of this shape; None for what is annotated otherwise."""
        array = shape_annotation(annotation)
        if array is None:
            return None
        shape = specification.sizes_for(
            array.dim_str, self._names, arguments, size=self._size, anonymous=lambda place: _PRIMES[-place - 1]
        )
        numbers = tuple(size for size in shape if isinstance(size, int))
        kind = get_origin(array.array_type) or array.array_type
        if kind is Labels:
            return self._labels(numbers)
        x = self.like.normal(numbers, mx.Key(2))
        return x > 0.0 if kind is Mask else x

    def _size(self, name: str) -> int:
        return self.sizes.get(name) or next(one for one in _PRIMES if one not in self._names.sizes.values())

    def _labels(self, shape: tuple[int, ...]) -> Any:
        return self.like.labels(np.zeros(shape, np.int64))


type Trial = Callable[[Any, Any], Iterable[object]]
"""Is given the module and a tensor to be like, and gives the results of what it runs."""


def _linear(module: Any, like: Any) -> Iterable[object]:
    model = nn.Linear.init(1, 1, like=like, key=mx.Key(0))
    yield from _steps(module.loss, model, Inputs(like).batch(module.Points))


def _mnist(module: Any, like: Any) -> Iterable[object]:
    yield from _trained(module.loss, module.Mlp.init(like, mx.Key(0)), like)


def _mnist_cnn(module: Any, like: Any) -> Iterable[object]:
    yield from _trained(module.loss, module.LeNet.init(like=like, key=mx.Key(0), channels=3, classes=11), like)


def _cifar10(module: Any, like: Any) -> Iterable[object]:
    for block in (
        module.Block.init(3, 5, like=like, key=mx.Key(0), stride=2),
        module.Block.init(5, 5, like=like, key=mx.Key(0)),
    ):
        yield from _forwards(block, like)
    yield from _trained(module.loss, module.SmallResNet.init(like=like, key=mx.Key(0)), like)


def _lenet(module: Any, like: Any) -> Iterable[object]:
    yield from _forwards(module.LeNet.init(like=like, key=mx.Key(0), channels=3, classes=11), like)


def _mlp(module: Any, like: Any) -> Iterable[object]:
    model = module.Mlp.init(13, 11, 5, 3, like=like, key=mx.Key(0))
    yield model.inputs, model.outputs
    yield from _forwards(model, like)


def _resnet(module: Any, like: Any) -> Iterable[object]:
    for part in (
        module.ConvNorm.init(3, 5, 3, like=like, key=mx.Key(0)),
        module.BasicBlock.init(3, 5, like=like, key=mx.Key(0), stride=2),
        module.BasicBlock.init(5, 5, like=like, key=mx.Key(0), bias=False),
    ):
        yield from _forwards(part, like)
    for small in (False, True):
        model = module.ResNet18.init(like=like, key=mx.Key(0), classes=11, small=small)
        yield model.forward(*Inputs(like, {"batch": 2, **_IMAGE}).of(model.forward, model), nn.Eval())


def _recurrent(module: Any, like: Any) -> Iterable[object]:
    yield from _parts(like, module.Elman.init(3, 5, like=like, key=mx.Key(0)), "step")
    yield from _parts(like, module.Gated.init(3, 5, like=like, key=mx.Key(0)), "step")
    model = module.Tagger.init(13, 11, like=like, key=mx.Key(0))
    yield model.forward(*Inputs(like).of(model.forward, model))
    yield from _steps(module.loss, model, Inputs(like).batch(module.Sentences))


def _unet(module: Any, like: Any) -> Iterable[object]:
    yield from _forwards(module.Double.init(3, 4, like=like, key=mx.Key(0)), like)
    yield module.dice(*Inputs(like).of(module.dice))
    model = module.UNet.init(3, 11, like=like, key=mx.Key(0))
    sizes = {"height": 12, "width": 20, "channels": 3}
    yield model.forward(*Inputs(like, sizes).of(model.forward, model), nn.Eval())
    yield from _steps(module.loss, model, Inputs(like, sizes).batch(module.Scenes))


def _attention(module: Any, like: Any) -> Iterable[object]:
    yield module.causal(like, 5)
    yield module.attend(*Inputs(like).of(module.attend))
    attention = module.Attention.init(6, 2, like=like, key=mx.Key(0))
    yield from _parts(like, attention, "merge")
    yield attention.split(*Inputs(like, {"width": 6}).of(attention.split, attention))
    for layer in (attention, module.Block.init(6, 2, like=like, key=mx.Key(0))):
        yield from _parts(like, layer)
    model = module.Transformer.init(13, like=like, key=mx.Key(0), longest=17)
    yield model.forward(*Inputs(like).of(model.forward, model))
    yield from _steps(module.loss, model, Inputs(like).batch(module.Texts))


def _autoencoder(module: Any, like: Any) -> Iterable[object]:
    for function in (module.divergence, module.sampled):
        yield function(*Inputs(like).of(function))
    model = module.Autoencoder.init(11, like=like, key=mx.Key(0))
    yield from _forwards(model, like)
    yield from _steps(module.loss, model, Inputs(like).batch(module.Images))


def _graph(module: Any, like: Any) -> Iterable[object]:
    for function in (module.normalised, module.distances):
        yield function(*Inputs(like).of(function))
    sizes = {"inputs": 3, "outputs": 5, "features": 11}
    for cls in (module.Convolution, module.Attention):
        layer = cls.init(3, 5, like=like, key=mx.Key(0))
        yield layer.forward(*Inputs(like, sizes).of(layer.forward, layer))
    model = module.GraphNet.init(11, 13, like=like, key=mx.Key(0))
    yield model.forward(*Inputs(like, sizes).of(model.forward, model))
    yield from _steps(module.loss, model, Inputs(like, sizes).batch(module.Graphs))


_IMAGE = {"height": 17, "width": 19}


def _parts(like: Any, layer: Any, *others: str) -> Iterable[object]:
    """The forward of a layer, if all that it takes is annotated, and other methods of it."""
    for name in ("forward", *others):
        method = getattr(layer, name)
        if len(given := _given(like, method, layer)) == len(inspect.signature(method).parameters):
            yield method(*given)


def _given(like: Any, method: Callable[..., Any], layer: Any) -> list[Any]:
    return Inputs(like, {"inputs": 3, "width": 5}).of(method, layer)


def _forwards(model: Any, like: Any) -> Iterable[object]:
    given = Inputs(like, _IMAGE).of(model.forward, model)
    yield model.forward(*given, nn.Train(mx.Key(1)))
    yield model.forward(*given, nn.Eval())


def _trained(loss: Any, model: Any, like: Any) -> Iterable[object]:
    yield from _steps(loss, model, Inputs(like).labelled(model))


def _steps(loss: Any, model: Any, batch: Any) -> Iterable[object]:
    """The loss, and a step of training."""
    yield loss(model, batch, nn.Eval())
    value, gradients = nn.value_and_grad(loss, model, batch, nn.Train(mx.Key(1)))
    optimizer = mx.Sgd(lr=0.1)
    yield value, optimizer.update(model, gradients, optimizer.init(model))[0]


TRIALS: Mapping[str, Trial] = {
    "benchmarks/static_models/attention.py": _attention,
    "benchmarks/static_models/autoencoder.py": _autoencoder,
    "benchmarks/static_models/graph.py": _graph,
    "benchmarks/static_models/recurrent.py": _recurrent,
    "benchmarks/static_models/unet.py": _unet,
    "examples/cifar10.py": _cifar10,
    "examples/linear.py": _linear,
    "examples/mnist.py": _mnist,
    "examples/mnist_cnn.py": _mnist_cnn,
    "moonxi/nn/models/lenet.py": _lenet,
    "moonxi/nn/models/mlp.py": _mlp,
    "moonxi/nn/models/resnet.py": _resnet,
}
"""By the path of the file, from the root of the repository. ``examples/tutorial.py`` is not among them: it has tensors
of its own, whose shapes nothing states."""
