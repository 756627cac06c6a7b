from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from app.gui.chat.answer_text import AnswerText
from app.gui.compare.plain_places import PlainPlaces
from app.gui.markdown.colouring import Lexers

TEXT = """# Title

The **sky** is *blue* and `code` is [link](http://x.org).

- one
- two **x**

```python
print("p")
```

| a | b |
|---|---|
| c | d |
"""


def read(places: PlainPlaces, source: str, part: str) -> list[str]:
    start = source.index(part)
    return [places.text[first:end] for first, end in places.find(start, start + len(part)).ranges]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("Title", ["Title"]),
        ("**sky** is", ["sky is"]),
        ("blue", ["blue"]),
        ("code", ["code"]),
        ("two **x", ["two x"]),
        ("print", ["print"]),
        ("c | d", ["c\td"]),
        ("**", []),
    ],
)
def test_a_stretch_of_markdown_is_found_in_what_is_read_of_it(part: str, expected: list[str]) -> None:
    places = PlainPlaces(TEXT)
    assert read(places, TEXT, part) == expected
    assert places.find(TEXT.index(part), TEXT.index(part) + len(part)).is_certain


def test_what_is_read_is_what_the_answer_says(qapp: QApplication) -> None:
    answer = AnswerText(Lexers(), 20)
    answer.set_text(TEXT, is_open=False)
    answer.lay_out(400)
    assert PlainPlaces(TEXT).text == "".join(answer.texts())


@pytest.mark.parametrize("source", ["See [link](http://link.org) now", "3 &lt; 4 and more", r"a \\ b"])
def test_where_several_ways_are_possible_nothing_is_claimed(source: str) -> None:
    places = PlainPlaces(source)
    doubtful = next(place for place in range(len(source)) if not places.find(place, place + 1).is_certain)
    assert places.find(doubtful, doubtful + 1).ranges == ()
    assert 0 <= places.find(doubtful, doubtful + 1).near <= len(places.text)


@given(st.text(alphabet="ab *_`[]()<&;\\\n-#>1.|~", max_size=60))
def test_whatever_is_claimed_says_the_same_in_both(source: str) -> None:
    places = PlainPlaces(source)
    for place, letter in enumerate(source):
        for start, end in places.find(place, place + 1).ranges:
            assert places.text[start:end] == letter
