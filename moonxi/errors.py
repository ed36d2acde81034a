"""The errors moonxi raises on purpose.

Each message reads ``operation: operands: rule``, and says what to do where that is not plain from the rule.
Every class also derives from the built-in that a Python programmer would expect to catch.
"""


class MoonxiError(Exception):
    """Base of every deliberate error of moonxi."""


class ShapeError(MoonxiError, ValueError):
    """The shapes of the operands do not fit the operation."""


class AxisError(ShapeError, IndexError):
    """An axis or an index lies outside the tensor."""


class OperandError(MoonxiError, TypeError):
    """An operand has the wrong class, element type, device or level of differentiation."""


class OptionError(MoonxiError, ValueError):
    """An option or a setting lies outside of what it can be."""


class NoElementsError(OperandError):
    """The value of an element was asked for where only shapes are computed."""


class LabelError(MoonxiError, ValueError):
    """A class index lies outside the classes that exist."""


class GradientError(MoonxiError, RuntimeError):
    """A gradient was asked for where there is none, or is wrong."""


class ModuleError(MoonxiError, TypeError):
    """A model is built, mapped or updated in a way its structure does not allow."""


class DeviceError(MoonxiError, RuntimeError):
    """A device, its driver or the package that drives it is missing."""


class DataError(MoonxiError, ValueError):
    """A data file cannot be read, is damaged, or is not what it should be."""


class CheckpointError(MoonxiError, ValueError):
    """A file of weights cannot be read, or belongs to another model."""


class NonFiniteError(MoonxiError, ArithmeticError):
    """A loss or a parameter became NaN or infinite."""


class CompileError(MoonxiError, RuntimeError):
    """A step does what cannot be compiled, such as reading an element while it is traced."""


class GraphLimitError(CompileError):
    """A step needs another graph, and has as many as it may have: those that it has stay good."""


class CompileWarning(UserWarning):
    """Something was to be compiled, cannot be, and runs eagerly."""
