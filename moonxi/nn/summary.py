"""The table that `Module.summary` prints."""

from math import prod

from moonxi import shapes
from moonxi.nn import tree


def table(model: object) -> str:
    """One line for each layer that has parameters or state of its own, and the totals."""
    layers = {"": type(model).__name__, **{path: type(one).__name__ for path, one in tree.layers(model)}}
    rows: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    seen: dict[int, str] = {}
    total = state = size = 0
    for leaf in tree.walk(model):
        owner = max((path for path in layers if _inside(leaf.path, path)), key=len)
        count = prod(leaf.tensor.shape)
        name = leaf.path[len(owner) :].lstrip(".")
        text = f"{name} {shapes.show(leaf.tensor.shape)}{' state' if leaf.holder else ''}"
        first = seen.setdefault(id(leaf.holder or leaf.tensor), leaf.path)
        if first != leaf.path:
            text += f" = {first}"
        else:
            size += count * leaf.tensor.dtype.itemsize
            if leaf.holder:
                state += count
            else:
                total += count
                counts[owner] = counts.get(owner, 0) + count
        rows.setdefault(owner, []).append(text)
    lines = [("layer", "class", "tensors", "parameters")]
    for path, kind in layers.items():
        if path in rows or path:
            lines.append((path or ".", kind, ", ".join(rows.get(path, [])), f"{counts.get(path, 0):,}"))
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    body = "\n".join(
        "  ".join((a.ljust(widths[0]), b.ljust(widths[1]), c.ljust(widths[2]), d.rjust(widths[3])))
        for a, b, c, d in lines
    )
    return f"{body}\n{total:,} parameters, {state:,} elements of state, {size:,} bytes"


def _inside(path: str, owner: str) -> bool:
    return not owner or path.startswith((f"{owner}.", f"{owner}["))
