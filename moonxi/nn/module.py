"""`Module[T]`: a layer or model with parameters, generic in the tensor class that they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self, cast

from moonxi.errors import ModuleError
from moonxi.nn import tree
from moonxi.nn.layer import Layer
from moonxi.nn.summary import table
from moonxi.traits import Tensor


class Module[T: Tensor](Layer):
    """Base of layers and models with parameters; subclasses are frozen dataclasses.

    A field that is a tensor is a parameter, one that is a `State` is not trained, and anything else is a setting.
    Lists, tuples, dicts and dataclasses are looked into. A model is a value: training makes new ones.

    Every subclass has ``map(f)``, the same model in another interpreter. For type checkers moonxi's mypy plugin adds
    its type to each dataclass; without the plugin a subclass ``Net[T: Bound]`` states it itself::

        def map[U: Bound](self, f: Callable[[T], U], /) -> "Net[U]":
            return Net(self.hidden.map(f), self.out.map(f))
    """

    if not TYPE_CHECKING:

        def map(self, f, /):
            """The same model with ``f`` of each tensor; tied tensors stay tied."""
            return tree.mapped(self, f)

        def __call__(self, *args, **options):
            """Refused, with advice: what a checker does not know is not checked."""
            name = type(self).__name__
            raise ModuleError(f"{name}(...): a model is not called; its method is, and has types: {name}.forward(...)")

    def named_parameters(self) -> dict[str, T]:
        """The trainable tensors by path, such as ``blocks[0].weight``; a tied one once, at its first place."""
        return cast("dict[str, T]", tree.parameters(self))  # fields of a Module[T] are declared as T

    def parameters(self) -> tuple[T, ...]:
        """The trainable tensors, in the order of the fields; a tied one once."""
        return tuple(self.named_parameters().values())

    def with_parameters(self, new: Sequence[T], /) -> Self:
        """This model with other values of its parameters, in the order of `parameters`.

        Raises `ModuleError` if their number differs, or a class or an element type; `ShapeError` if a shape does."""
        named = self.named_parameters()
        if len(new) != len(named):
            raise ModuleError(f"with_parameters: {type(self).__name__} has {len(named)} parameters, not {len(new)}")
        tree.expect_alike("with_parameters", named, new)
        return cast(Self, tree.replaced(self, new, None))  # the structure comes out as it went in

    def named_states(self) -> dict[str, T]:
        """The tensors that are state, by path; a shared one once, at its first place."""
        return {path: cast(T, state.value) for path, state in tree.states(self).items()}  # declared as State[T]

    def with_states(self, new: Sequence[T], /) -> Self:
        """This model with other values of its state, in the order of `named_states`.

        Raises `ModuleError` if their number differs, or a class or an element type; `ShapeError` if a shape does."""
        named = self.named_states()
        if len(new) != len(named):
            raise ModuleError(f"with_states: {type(self).__name__} has {len(named)} state fields, not {len(new)}")
        tree.expect_alike("with_states", named, new)
        return cast(Self, tree.replaced(self, None, new))  # the structure comes out as it went in

    def named_tensors(self) -> tuple[dict[str, T], dict[str, T]]:
        """What `named_parameters` and `named_states` give, found in one walk of the model."""
        return cast("tuple[dict[str, T], dict[str, T]]", tree.tensors(self))  # both are declared as T

    def with_tensors(self, parameters: Sequence[T], states: Sequence[T], /) -> Self:
        """This model with other values of its parameters and its state, in the order of `named_tensors`.

        They are of the class, element type and shape of the old ones: unlike `with_parameters` this does not check
        that."""
        return cast(Self, tree.replaced(self, parameters, states))  # the structure comes out as it went in

    def with_state(self, updates: Self, /) -> Self:
        """This model with the state of ``updates``, a model of the same structure; the parameters stay.

        Raises `ModuleError` if the two do not have the same state fields."""
        own, new = self.named_states(), updates.named_states()
        if own.keys() != new.keys():
            differing = ", ".join(sorted(own.keys() ^ new.keys()))
            raise ModuleError(f"with_state: {type(self).__name__}: only one of the two models has {differing}")
        return self.with_states([new[path] for path in own])

    def summary(self) -> str:
        """A table of the layers: path, class, shapes of the tensors, number of parameters; and the totals."""
        return table(self)
