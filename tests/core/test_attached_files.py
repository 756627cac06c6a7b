"""Files in the text of a message are read back as they went in, whatever they say."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.attached_files import (
    AttachedFile,
    as_markdown,
    file_of,
    framed,
    frames_in,
    in_words,
    joined,
    lifted,
    unframed,
)
from app.core.chat import clean_text

FRAME = framed("a.txt", "one\ntwo")
TEXTS = st.text() | st.lists(st.sampled_from([FRAME, "\n</file>", "\n", "</file>", "<file", "x"])).map("".join)


@given(text=TEXTS, name=st.text())
@example(text=FRAME, name='a"b>\n')
@example(text="\n</file>\n\nno\x00w \ud800", name="")
def test_a_file_comes_back_as_it_went_in(text: str, name: str) -> None:
    file = file_of(framed(name, text))
    assert file is not None
    assert file.text == clean_text(text)
    assert file.name.strip()


@given(files=st.lists(st.tuples(st.sampled_from(["a.txt", "b c.md"]), TEXTS)), said=st.text(alphabet="abc \n<>"))
def test_files_and_what_is_said_of_them_come_apart_and_together(files: list[tuple[str, str]], said: str) -> None:
    frames = tuple(framed(*each) for each in files)
    message = joined((*frames, said))
    apart = lifted(message)
    assert apart.framed == frames
    assert apart.text.strip() == said.strip()
    assert joined((*apart.framed, apart.text)) == message


@pytest.mark.parametrize(
    "text",
    [
        FRAME.replace('"7"', '"6"'),
        FRAME.replace('"7"', '"999999999"'),
        FRAME.replace("\n</file>", ""),
        "see " + FRAME,
        FRAME + "!",
        '<file name="" characters="0">\n\n</file>',
        "",
    ],
)
def test_a_frame_that_does_not_hold_is_plain_text(text: str) -> None:
    assert not list(frames_in(text))
    assert lifted(text).text == text


def test_a_file_in_the_middle_is_lifted_out_too() -> None:
    apart = lifted(f"before\n\n{FRAME}\n\nafter")
    assert apart.framed == (FRAME,)
    assert [each for each in apart.text.split("\n") if each] == ["before", "after"]
    assert file_of(apart.framed[0]) == AttachedFile("a.txt", "one\ntwo")


TWO = joined((FRAME, framed("b_c.md", "```\nx\n```"), "What are they?"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TWO, "a.txt, b_c.md: What are they?"),
        (FRAME, "a.txt"),
        ("no file\n", "no file\n"),
    ],
)
def test_where_there_is_room_for_words_alone_files_have_their_names(text: str, expected: str) -> None:
    assert in_words(text) == expected


def test_without_frames_all_is_said_that_the_files_say() -> None:
    assert unframed(TWO) == "a.txt\none\ntwo\n\nb_c.md\n```\nx\n```\n\nWhat are they?"
    assert unframed(" plain ") == " plain "


def test_as_markdown_each_file_is_a_block_that_it_cannot_end() -> None:
    assert as_markdown(TWO) == (
        "**a.txt**\n\n```\none\ntwo\n```\n\n**b\\_c.md**\n\n````\n```\nx\n```\n````\n\nWhat are they?"
    )
    assert as_markdown("# plain") == "# plain"
