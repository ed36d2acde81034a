"""What the plugin does to the traits, to make mypy quick, lets no class through that lacks a part of one.

Classes are made from the text of the trait `Tensor`: complete, without a method, with another signature."""

import ast
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import moonxi.traits.tensor
from tests.mypy_plugin.checking import Project

SOURCE = ast.parse(Path(moonxi.traits.tensor.__file__).read_text(encoding="utf-8"))
[TRAIT] = [node for node in SOURCE.body if isinstance(node, ast.ClassDef) and node.name == "Tensor"]
IMPORTS = "\n".join(ast.unparse(node) for node in SOURCE.body if isinstance(node, (ast.Import, ast.ImportFrom)))
METHODS = [node.name for node in TRAIT.body if isinstance(node, ast.FunctionDef)]
HEAD = f"""# mypy: disable-error-code="empty-body,override,misc"
{IMPORTS}
from moonxi.traits.tensor import Axes, Index, Shape, Tensor
import moonxi as mx


def joined[T: Tensor](x: T, y: T) -> T:
    return x + y


def one[T: Tensor](x: T) -> None: ...

"""

CALLS = ("    joined(x, y)", "    one(x)")

type Change = Callable[[ast.FunctionDef], ast.FunctionDef | None]


def without(method: ast.FunctionDef) -> None:
    """No such method."""


def giving_text(method: ast.FunctionDef) -> ast.FunctionDef:
    method.returns = ast.Name("str")
    return method


def taking_bytes(method: ast.FunctionDef) -> ast.FunctionDef:
    (method.args.posonlyargs + method.args.args)[1].annotation = ast.Name("bytes")
    return method


def taking_one_more(method: ast.FunctionDef) -> ast.FunctionDef:
    method.args.kwonlyargs.append(ast.arg("more", ast.Name("int")))
    method.args.kw_defaults.append(None)
    return method


def taking_none(method: ast.FunctionDef) -> ast.FunctionDef:
    method.args = ast.arguments([], [ast.arg("self")], None, [], [], None, [])
    return method


CHANGES: dict[str, tuple[Change, tuple[str, ...]]] = {
    "Without": (without, tuple(name for name in METHODS if name != "__bool__")),
    "GivingText": (giving_text, ("__add__", "__lt__", "shape", "exp", "sum", "to_host", "pick", "__getitem__")),
    "TakingBytes": (taking_bytes, ("__add__", "__rsub__", "where", "full", "sum", "reshape", "put", "maximum")),
    "TakingOneMore": (taking_one_more, ("exp", "item", "equal", "max", "stop_gradient")),
    "TakingNone": (taking_none, ("__mul__", "mean", "one_hot", "permute", "softmax")),
}


def written(name: str, member: str = "", change: Change = without) -> str:
    """The trait as a class, with one member changed."""
    made = deepcopy(TRAIT)
    made.name, made.bases, made.decorator_list = name, [], []
    body: list[ast.stmt] = []
    for node in made.body:
        if isinstance(node, ast.FunctionDef) and node.name == member:
            changed = change(node)
            body += [] if changed is None else [changed]
        elif not isinstance(node, ast.Expr):
            body.append(node)
    made.body = body
    return ast.unparse(ast.fix_missing_locations(made))


def test_a_class_with_all_methods_is_taken_and_one_that_lacks_any_is_not(project: Project) -> None:
    classes = {"Complete": written("Complete")}
    for kind, (change, members) in CHANGES.items():
        assert set(members) <= set(METHODS)
        classes |= {
            f"{kind}_{member.strip('_')}": written(f"{kind}_{member.strip('_')}", member, change) for member in members
        }
    calls = [f"def of_{name}(x: {name}, y: {name}) -> None:\n" + "\n".join(CALLS) + "\n" for name in classes]
    text = HEAD + "\n\n".join([*classes.values(), *calls])
    project.write(program=text)
    lines, refused = text.strip().splitlines(), set[str]()
    for error in project.check().errors:
        number = int(error.split(":", 2)[1]) - 1
        if lines[number] in CALLS:  # and not inside a class, whose labels are not those of a tensor any more
            header = next(line for line in lines[number::-1] if line.startswith("def of_"))
            refused.add(f"{header.removeprefix('def of_').partition('(')[0]}: {lines[number].strip()}")
    assert refused == {f"{name}: {call.strip()}" for name in classes if name != "Complete" for call in CALLS}


def test_a_subclass_that_spoils_a_method_is_no_tensor_class_any_more(project: Project) -> None:
    project.write(
        program="""
            # mypy: disable-error-code="override"
            from typing import Self

            import moonxi as mx
            from moonxi import F32, NpArray, nn


            def joined[T: mx.Tensor](x: T, y: T) -> T:
                return x + y


            class Right(NpArray[F32]):
                def exp(self) -> Self:
                    return self


            class Plain(NpArray[F32]):
                def exp(self) -> NpArray[F32]:
                    return self


            class Text(NpArray[F32]):
                def exp(self) -> str:
                    return ""


            class Narrow(NpArray[F32]):
                def __add__(self, other: int) -> Self:
                    return self


            def run(right: Right, plain: Plain, text: Text, narrow: Narrow) -> None:
                joined(right, right)
                joined(plain, plain)
                joined(text, text)
                joined(narrow, narrow)
                right_model: nn.Linear[Right]
                wrong_model: nn.Linear[Text]
        """
    )
    assert project.check().brief == [
        "program.py:34: [type-var]",
        "program.py:35: [type-var]",
        "program.py:36: [type-var]",
        "program.py:38: [type-var]",
    ]
