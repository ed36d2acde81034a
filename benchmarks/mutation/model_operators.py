"""Changes to models: the sizes and options of layers, their order, annotations, and what a loss is given."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from benchmarks.mutation.source import Source
from benchmarks.mutation.tensor_operators import Change, is_tensor, method_calls, number, tensor_names

_LOSSES = frozenset({"cross_entropy", "nll", "mse", "l1", "huber", "smooth_l1", "binary_cross_entropy"})
_POOLS = frozenset({"max_pool2d", "avg_pool2d"})
_OPTIONS = frozenset({"stride", "padding", "dilation", "output_padding"})


def resized_layer(source: Source) -> Iterator[Change]:
    """``Linear.init(784, 128)`` with another size."""
    for call, function in method_calls(source, frozenset({"init"})):
        for place, one in enumerate(call.args):
            value = number(one)
            if value is not None and not _is_kernel(function, place):
                yield one, str(value + 1)
                if value % 2 == 0:
                    yield one, str(value // 2)
            elif isinstance(one, ast.Name):
                others = [other.id for other in call.args if isinstance(other, ast.Name) and other.id != one.id]
                for other in dict.fromkeys(others):
                    yield one, other
                yield one, f"2 * {one.id}"


def swapped_sizes(source: Source) -> Iterator[Change]:
    """``Linear.init(128, 784)`` for ``Linear.init(784, 128)``: inputs and outputs exchanged."""
    for call, function in method_calls(source, frozenset({"init"})):
        for place, (left, right) in enumerate(pairwise(call.args)):
            if source.code(left) != source.code(right) and not _is_kernel(function, place + 1):
                parts = [source.code(one) for one in call.args]
                parts[place : place + 2] = parts[place + 1], parts[place]
                rest = [source.code(one) for one in call.keywords]
                yield call, f"{source.code(function)}({', '.join([*parts, *rest])})"


def changed_window(source: Source) -> Iterator[Change]:
    """Another kernel, stride or padding of a convolution or of pooling."""
    for call, function in method_calls(source, frozenset({"init"}) | _POOLS):
        for keyword in call.keywords:
            value = number(keyword.value)
            if keyword.arg in _OPTIONS and value is not None:
                yield keyword, f"{keyword.arg}={value + 1}"
                if value > 1 or (value == 1 and keyword.arg == "padding"):
                    yield keyword, f"{keyword.arg}={value - 1}"
        for place, one in enumerate(call.args):
            value = number(one)
            if value is not None and (function.attr in _POOLS or _is_kernel(function, place)):
                yield one, str(value + 1)
                if value > 2:
                    yield one, str(value - 1)


def swapped_layers(source: Source) -> Iterator[Change]:
    """Two layers in the wrong order: in a ``Sequential``, in ``cls(...)``, or one field called for another."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and (_called(node) == "Sequential" or source.code(node.func) == "cls"):
            for (first, left), (second, right) in pairwise(enumerate(node.args)):
                if source.code(left) != source.code(right):
                    parts = source.arguments(node)
                    parts[first], parts[second] = parts[second], parts[first]
                    yield node, f"{source.code(node.func)}({', '.join(parts)})"
    for call, function in method_calls(source, frozenset({"forward"})):
        match function.value:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                for other in _fields_like(source, call, name):
                    yield function.value, f"self.{other}"
        match call.args:
            case [ast.Call(func=ast.Attribute(attr="forward")) as inner, *_] if len(inner.args) == len(call.args):
                inner_function = source.code(inner.func)
                rest = [source.code(one) for one in inner.args]
                within = f"{source.code(function)}({', '.join(rest)})"
                outer_rest = [source.code(one) for one in call.args[1:]]
                yield call, f"{inner_function}({', '.join([within, *outer_rest])})"


def dropped_layer(source: Source) -> Iterator[Change]:
    """A layer or pooling left out: what it would get goes on as it is."""
    for call, _ in method_calls(source, frozenset({"forward"})):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"))), args=[argument, *_]):
                if is_tensor(source, argument):
                    yield call, source.atom(argument)
    for call, function in method_calls(source, _POOLS):
        yield call, source.atom(function.value)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and _called(node) == "Sequential" and len(node.args) > 1:
            for place in range(len(node.args)):
                parts = [source.code(one) for number_, one in enumerate(node.args) if number_ != place]
                yield node, f"{source.code(node.func)}({', '.join(parts)})"


def wrong_variable(source: Source) -> Iterator[Change]:
    """Another tensor of the function where one is used: as the input of a layer, or as an operand."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        parent = source.parents[node]
        is_input = isinstance(parent, ast.Call) and node in parent.args[:1] and _called(parent) == "forward"
        is_operand = isinstance(parent, ast.BinOp)
        is_receiver = isinstance(parent, ast.Attribute) and isinstance(source.parents[parent], ast.Call)
        if is_input or is_operand or is_receiver:
            names = tensor_names(source, node)
            if node.id in names:
                for other in names:
                    if other != node.id:
                        yield node, other


def changed_annotation(source: Source) -> Iterator[Change]:
    """An annotation of a shape with another number, two axes exchanged, or one axis less."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        parent = source.parents.get(node)
        around = source.parents.get(parent) if parent is not None else None
        if not isinstance(parent, ast.Tuple) or not isinstance(around, ast.Subscript):
            continue
        words = node.value.split()
        if not words or source.code(around.value) not in ("Float", "Int", "Bool"):
            continue
        for place, word in enumerate(words):
            if word.isdecimal():
                yield node, _text([*words[:place], str(int(word) + 1), *words[place + 1 :]])
            if len(words) > 1:
                yield node, _text([*words[:place], *words[place + 1 :]])
        for place, (left, right) in enumerate(pairwise(words)):
            if left != right:
                yield node, _text([*words[:place], right, left, *words[place + 2 :]])


def misfitting_target(source: Source) -> Iterator[Change]:
    """A prediction or target with an axis too many or too few, and a loss that is not reduced to a number."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or _called(node) not in _LOSSES:
            continue
        for argument in node.args[:2]:
            text = source.code(argument)
            if isinstance(argument, ast.Attribute) and argument.attr == "labels":
                for index in ("[:, None]", "[1:]", "[0]"):
                    yield argument, f"{text}{index}"
            elif is_tensor(source, argument) and not text.startswith("Logits"):
                for index in (".unsqueeze(-1)", ".mean(-1)", "[1:]", "[..., 1:]"):
                    yield argument, f"{source.atom(argument)}{index}"
            elif isinstance(argument, ast.Call) and _called(argument) in ("Logits", "BinaryLogits"):
                yield argument.args[0], f"{source.atom(argument.args[0])}.mean(0)"
        parts = source.arguments(node)
        if not any(one.arg == "reduction" for one in node.keywords):
            yield node, f'{source.code(node.func)}({", ".join(parts)}, reduction="none")'


def _is_kernel(function: ast.Attribute, place: int) -> bool:
    """Whether an argument of ``init`` is the size of a kernel."""
    match function.value:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return place == 2 and (name.startswith("Conv"))
    return False


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _fields_like(source: Source, node: ast.AST, name: str) -> list[str]:
    """The other fields of the class around a node that are declared as this one is."""
    cls = next((one for one in source.around(node) if isinstance(one, ast.ClassDef)), None)
    fields = {
        one.target.id: source.code(one.annotation)
        for one in (cls.body if cls is not None else [])
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    return [other for other, declared in fields.items() if other != name and declared == fields.get(name)]


def _text(words: list[str]) -> str:
    return f'" {words[0]}"' if len(words) == 1 else f'"{" ".join(words)}"'
