"""The skeleton of self-contained HTML pages: text, sections, tables, pictures, the whole page.

In: texts and pieces of HTML. Out: one page with style and script inside; it opens from disk, asks
no server for anything, and its own policy forbids it to. Whatever comes from a user goes through
`escape`. Jax-free.
"""

import html
import json
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""Content security policy: nothing is loaded from anywhere."""


class Section(NamedTuple):
    """A part of a page: `anchor` is its id, `title` is text, `body` is HTML."""

    anchor: str
    title: str
    body: str


class Tile(NamedTuple):
    """One figure in large letters. All are text; `note` stands below and may be empty."""

    name: str
    figure: str
    note: str = ""


def escape(value: object) -> str:
    """Text that is safe in HTML, also in attributes; what is no character or unprintable is `?`."""
    shown = "".join(
        letter if letter.isprintable() or letter in "\n\t" else "?" for letter in str(value)
    )
    return html.escape(shown, quote=True)


def part(name: str) -> str:
    """The text of a style sheet or script of the pages."""
    return (files("factorio_rl") / "pages" / name).read_text(encoding="utf-8")


def data_script(anchor: str, value: Any) -> str:
    """JSON that a script of the page finds by its id; nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" id="{escape(anchor)}">{text}</script>'


def page(
    title: str, subtitle: str, head: str, sections: Sequence[Section], scripts: Sequence[str] = ()
) -> str:
    """A whole page.

    Args:
        title, subtitle: text.
        head: HTML above the sections.
        scripts: names of `part`s to run, after the one that all pages have.
    """
    links = "".join(f'<a href="#{escape(one.anchor)}">{escape(one.title)}</a>' for one in sections)
    bodies = "\n".join(
        f'<section id="{escape(one.anchor)}"><h2>{escape(one.title)}</h2>\n{one.body}</section>'
        for one in sections
    )
    code = "\n".join(f"<script>\n{part(name)}</script>" for name in ("page.js", *scripts))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{part("page.css")}</style>
</head>
<body>
<header><h1>{escape(title)}</h1>
<p class="subtitle">{escape(subtitle)}</p></header>
{head}
<nav>{links}</nav>
<main>
{bodies}
</main>
{code}
</body>
</html>
"""


def tiles(found: Iterable[Tile]) -> str:
    """Figures beside each other."""
    boxes = (
        f'<div class="tile"><span>{escape(one.name)}</span><b>{escape(one.figure)}</b>'
        f"<small>{escape(one.note)}</small></div>"
        for one in found
    )
    return f'<div class="tiles">{"".join(boxes)}</div>'


def panels(bodies: Iterable[str]) -> str:
    """Pieces of HTML in as many columns as there is room for."""
    boxes = "".join(f'<div class="panel">{body}</div>' for body in bodies)
    return f'<div class="panels">{boxes}</div>'


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of text; `kind` is a class of the style sheet."""
    return f'<p class="{escape(kind)}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    caption: str = "",
    *,
    words: Collection[int] = (0,),
    attributes: Sequence[Mapping[str, object]] = (),
) -> str:
    """A table of texts; the columns `words` hold words, the others figures.

    `attributes`, one mapping a row, become data attributes of the rows.
    """

    def cells(tag: str, values: Sequence[object]) -> str:
        kinds = ("" if number in words else ' class="n"' for number in range(len(values)))
        pairs = zip(kinds, values, strict=True)
        return "".join(f"<{tag}{kind}>{escape(value)}</{tag}>" for kind, value in pairs)

    lines = []
    for number, row in enumerate(rows):
        data = attributes[number] if attributes else {}
        given = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
        lines.append(f"<tr{given}>{cells('td', row)}</tr>")
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table>{title}<thead><tr>{cells("th", columns)}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def details(summary: str, body: str) -> str:
    """HTML that is folded away under a text."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def embed_picture(data: bytes, kind: str, words: str, *, is_large: bool = False) -> str:
    """A picture inside the page.

    Args:
        kind: its format, such as "png".
        words: what it shows.
        is_large: on a telephone it is moved about rather than made too small to read.
    """
    code = b64encode(data).decode("ascii")
    caption = f"<figcaption>{escape(words)}</figcaption>"
    source = f"data:image/{escape(kind)};base64,{code}"
    size = ' class="large"' if is_large else ""
    return f'<figure{size}><img src="{source}" alt="{escape(words)}">{caption}</figure>'
