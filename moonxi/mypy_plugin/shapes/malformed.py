"""Annotations that state no shape: jaxtyping refuses them where the module is imported, or cannot read them later."""

from functools import lru_cache


@lru_cache(maxsize=1024)
def problem_of(text: str) -> str | None:
    """What is wrong with the text of an annotation, if anything is."""
    from jaxtyping import Shaped  # takes a moment, and many runs meet no annotation

    for opening, closing in ("()", "{}"):
        if text.count(opening) != text.count(closing):
            return f'"{text}" is no shape: "{opening}" and "{closing}" do not match'
    try:
        Shaped[object, text]
    except ValueError as error:
        return f'"{text}" is no shape: {error}'
    return None
