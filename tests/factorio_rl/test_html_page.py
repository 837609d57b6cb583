"""Pages show the text of others as text, hold all that they need, and ask for nothing."""

import json
import re

import pytest
from page_reader import read_page

from factorio_rl.html_page import (
    Section,
    Tile,
    data_script,
    embed_picture,
    escape,
    page,
    paragraph,
    table,
    tiles,
)

HOSTILE = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x00\ud800"


def whole(body: str) -> str:
    return page(HOSTILE, HOSTILE, "", [Section(HOSTILE, HOSTILE, body)])


def test_hostile_text_is_shown_and_makes_no_element() -> None:
    body = paragraph(HOSTILE, HOSTILE) + tiles([Tile(HOSTILE, HOSTILE, HOSTILE)])
    body += table([HOSTILE], [[HOSTILE]], HOSTILE) + embed_picture(b"x", "png", HOSTILE)
    read = read_page(whole(body))
    assert sum(tag == "script" for tag, _ in read.tags) == 1  # the page's own
    assert all("onerror" not in attributes for _, attributes in read.tags)
    assert "<img src=x onerror=alert(1)>" in read.text


def test_a_page_can_be_written_whatever_text_it_shows() -> None:
    assert "\ud800" not in whole("")
    whole("").encode("utf-8")


@pytest.mark.parametrize("value", [HOSTILE[:-1], {"a": [1, 2.5, None, "</script><!--"]}, []])
def test_data_comes_back_from_its_script(value: object) -> None:
    script = data_script("facts", value)
    inner = script.removeprefix('<script type="application/json" id="facts">')
    inner = inner.removesuffix("</script>")
    assert "<" not in inner
    assert json.loads(inner) == value


def test_the_policy_forbids_to_load_anything() -> None:
    read = read_page(whole(""))
    (policy,) = [
        attributes["content"]
        for tag, attributes in read.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert not re.search("https?:", policy)


def test_figures_are_told_from_words_in_tables() -> None:
    html = table(("name", "note", "figure"), [("a", "b", 3)], words=(0, 1))
    assert '<td>a</td><td>b</td><td class="n">3</td>' in html


def test_lines_and_tabs_stay_and_other_control_letters_do_not() -> None:
    assert escape("a\tb\nc\x07\x1b[31m") == "a\tb\nc??[31m"
