"""A page of HTML that needs nothing besides itself."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

_STYLE: Final = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2530; background: #f5f6f8; margin: 0; }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 0 0 .8rem; }
.state { color: #536072; margin: .2rem 0 1.2rem; }
section { background: #fff; border: 1px solid #dfe3e8; border-radius: 8px; padding: 1rem 1.2rem; margin: 0 0 1rem;
  overflow-x: auto; }
.figures { display: flex; flex-wrap: wrap; gap: .6rem 2.4rem; }
.figures div { min-width: 6rem; }
.figures b { display: block; font-size: 1.5rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.figures span { color: #536072; font-size: .85rem; }
svg { max-width: 100%; height: auto; display: block; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { text-align: right; padding: .25rem .8rem; border-bottom: 1px solid #e8ebef; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th { color: #536072; font-weight: 600; }
.facts td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
.facts td:first-child { color: #536072; white-space: nowrap; vertical-align: top; }
pre { margin: 0; font: .82rem/1.45 ui-monospace, monospace; }
.samples { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.2rem, 1fr)); gap: .8rem; }
figure { margin: 0; border: 1px solid #dfe3e8; border-top: 4px solid #3a7d44; border-radius: 6px; padding: .5rem; }
figure.wrong { border-top-color: #b3372c; }
figure img { width: 100%; image-rendering: pixelated; display: block; background: #eceff2; }
figcaption { font-size: .85rem; margin-top: .3rem; overflow-wrap: anywhere; }
figcaption .truth { color: #b3372c; }
figcaption .sure { color: #536072; }
"""


def page(title: str, state: str, sections: Iterable[str], /, *, refresh: int | None = None) -> str:
    """The whole page; ``state`` is a line under the title. Sections are HTML, the others are text.

    A browser reads it anew every ``refresh`` seconds."""
    again = "" if refresh is None else f'<meta http-equiv="refresh" content="{refresh}">\n'
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{again}"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{escape(title)}</h1>\n<p class="state">{escape(state)}</p>\n'
        f"{''.join(sections)}</main>\n</body>\n</html>\n"
    )


def section(heading: str, content: str, /) -> str:
    """A part of the page; the content is HTML."""
    return f"<section>\n<h2>{escape(heading)}</h2>\n{content}</section>\n"


def figures(values: Iterable[tuple[str, str]], /) -> str:
    """Few numbers, large, each with its name."""
    cells = "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>\n" for name, value in values)
    return f'<div class="figures">\n{cells}</div>\n'


def table(header: Sequence[str], rows: Iterable[Sequence[str]], /) -> str:
    """A table of texts under a header."""
    head = "".join(f"<th>{escape(one)}</th>" for one in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(one)}</td>" for one in row) + "</tr>\n" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def facts(rows: Iterable[tuple[str, str]], /) -> str:
    """Names and what they are."""
    body = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>\n" for name, value in rows)
    return f'<table class="facts">\n<tbody>\n{body}</tbody>\n</table>\n'


def preformatted(text: str, /) -> str:
    """A text whose lines and spaces matter."""
    return f"<pre>{escape(text)}</pre>\n"


def inline_svg(content: bytes, name: str, /) -> str:
    """An SVG file as a part of a page, in which ``name`` sets its identifiers apart from those of others."""
    text = content.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    return re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
