"""Reads an HTML page as a browser would: elements that are closed, texts, scripts, addresses."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "img", "input", "br"}
ADDRESSES = ("src", "href", "action", "data", "poster", "xlink:href", "srcset")


@dataclass
class Page(HTMLParser):
    """What a page holds; reading fails where an element is not closed in its turn."""

    texts: list[str] = field(default_factory=list)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "script":
            self.scripts.append(data)
        elif inside != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All that is shown."""
        return " ".join(self.texts)

    @property
    def cells(self) -> list[str]:
        """Texts alone in their elements, such as cells of tables."""
        return [text.strip() for text in self.texts]


def read_page(html: str) -> Page:
    """Reads a page and makes sure that it is closed and asks for nothing outside of itself."""
    page = Page()
    page.feed(html)
    page.close()
    assert page._open == []
    for _, attributes in page.tags:
        for name in ADDRESSES:
            address = attributes.get(name)
            assert address is None or address.startswith(("#", "data:image/")), address
    assert "url(" not in html
    assert "@import" not in html
    return page
