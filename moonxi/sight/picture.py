"""Figures of matplotlib as files: PNG, or SVG whose bytes depend on what is drawn alone."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from moonxi.errors import DataError, OptionError
from moonxi.whole_file import reason, replace_whole, try_writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

type Format = Literal["png", "svg"]


def new_figure(what: str, width: float, height: float, /) -> "Figure":
    """An empty figure of so many inches. Raises `DataError`, as ``what``, if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise DataError(
            f"{what}: the package matplotlib, which draws, is not installed: pip install 'moonxi[plot]'"
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def drawn(figure: "Figure", form: Format, /) -> bytes:
    """The content of a file of that format."""
    from matplotlib import rc_context

    content = BytesIO()
    # Text stays text: it can be searched, and is small. Names within the file are not drawn by lot.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "moonxi"}):
        figure.savefig(content, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
    return content.getvalue()


def format_of(what: str, path: Path, /) -> Format:
    """By the end of the name. Raises `OptionError`, as ``what``, for any other."""
    match path.suffix.lower():
        case ".png":
            return "png"
        case ".svg":
            return "svg"
        case _:
            raise OptionError(f"{what}: {path}: a picture is a .png or a .svg")


def check_can_draw(what: str, path: Path, /) -> None:
    """Raise `DataError`, as ``what``, if matplotlib is missing or nothing can be written there: before a run, not after
    it."""
    new_figure(what, 1.0, 1.0)
    try:
        try_writing(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{what}: {path}: cannot be written: {reason(error)}") from error


def write_picture(what: str, path: Path, content: bytes, /) -> None:
    """Write a file: whoever looks at it sees the old one or the new one, whole. Raises `DataError`, as ``what``."""
    try:
        replace_whole(path, content)
    except (OSError, ValueError) as error:
        raise DataError(f"{what}: {path}: cannot be written: {reason(error)}") from error
