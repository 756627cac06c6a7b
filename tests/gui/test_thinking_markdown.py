"""Thinking is Markdown like an answer: read once it is unfolded, used, copied and grown like one."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication

from app.core.conversation import Thinking
from app.gui.chat.answer_text import AnswerText
from app.gui.chat.copied_source import source_pieces
from app.gui.chat.selection import Place, Selection
from app.gui.chat.thinking_view import ThinkingView
from app.gui.chat.thoughtful_text import ThoughtfulText
from app.gui.chat.transcript import Transcript
from app.gui.markdown.colouring import Lexers
from app.gui.markdown.document import Document
from app.services.turns import Turn
from tests.gui.test_thinking import kept
from tests.gui.transcripts import click, spots, themes, transcript

__all__ = ["themes", "transcript"]
MARKED = "# Plan\n\nSome **bold** and `code`:\n\n- one\n- [two](https://example.org)\n\n```python\nx = 1\n```"
UNMARKED = "Plan\n\nSome bold and code:\n\n• one\n• two\n\nx = 1"


def marked_turn() -> Turn:
    return kept(text=f"<think>\n{MARKED}\n</think>\n\nYes **it is**.")


def test_thinking_is_read_as_markdown_only_once_it_is_unfolded(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    take = Document._take

    def noted(document: Document, text: str) -> int:
        read.append(text)
        return take(document, text)

    monkeypatch.setattr(Document, "_take", noted)
    transcript.add(marked_turn())
    assert "Plan" not in "".join(read)
    click(transcript, spots(transcript, "think")[0])
    assert transcript.turns.blocks[0].text == f"{UNMARKED}\n\nYes it is."
    assert "Plan" in "".join(read)


def test_links_and_code_in_thinking_are_used_like_those_of_an_answer(transcript: Transcript) -> None:
    answer = "Yes:\n\n```\ny = 2\n```\n\n[there](https://example.com)"
    transcript.add(kept(text=f"<think>\n{MARKED}\n</think>\n\n{answer}"))
    assert [spot.value for spot in spots(transcript, "link")] == ["https://example.com"]
    click(transcript, spots(transcript, "think")[0])
    transcript.resize(700, 900)
    assert [spot.value for spot in spots(transcript, "link")] == ["https://example.org", "https://example.com"]
    copies = spots(transcript, "copy")
    assert [spot.value for spot in copies] == ["x = 1", "y = 2"]
    keys = [each.spot.key for each in transcript._spots_in_view()]
    assert len(set(keys)) == len(keys)
    QGuiApplication.clipboard().clear()
    click(transcript, copies[0])
    assert QGuiApplication.clipboard().text() == "x = 1"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_thinking_that_grew_unfolded_is_what_is_read_at_once_and_closed_blocks_are_not_read_again(size: int) -> None:
    text = MARKED + "\n\n" + "More **words** of it.\n\n" * 30
    views = [ThinkingView(AnswerText(Lexers(), 23), is_folded=False) for _ in range(2)]
    figures = Thinking(tokens=1)
    for end in range(size, len(text) + size, size):
        views[0].show(text[:end], figures, is_open=True)
        views[0].lay_out(500)
    assert views[0]._read._document.open_length < 40
    for view in views:
        view.show(text, figures, is_open=False)
        view.lay_out(500)
        while view.is_unread:
            view.lay_out(500)
    assert views[0].text == views[1].text
    assert views[0].height == views[1].height
    assert views[0].length == len(views[0].text)


def test_of_thinking_that_is_selected_its_markdown_is_copied(transcript: Transcript) -> None:
    transcript.add(marked_turn())
    click(transcript, spots(transcript, "think")[0])
    body = transcript.turns.blocks[0].body
    assert isinstance(body, ThoughtfulText)
    transcript.select_all()
    assert "".join(source_pieces(transcript._selection, transcript.turns.blocks)) == f"{MARKED}\n\nYes **it is**."
    part = Selection()
    part.start(Place(0, 0))
    part.extend(Place(0, len("Plan\n\nSome bold and code:")))
    pieces = "".join(source_pieces(part, transcript.turns.blocks))
    assert pieces == "# Plan\n\nSome **bold** and `code`:"
    rest = Selection()
    rest.start(Place(0, len("Plan\n\nSome bold and code:\n\n")))
    rest.extend(Place(0, body.lead + len("Yes it is.")))
    assert (
        "".join(source_pieces(rest, transcript.turns.blocks))
        == MARKED[MARKED.index("- one") :] + "\n\nYes **it is**."
    )


def test_code_that_is_copied_together_with_thinking_keeps_its_fence(transcript: Transcript) -> None:
    transcript.add(kept(text="<think>\nhm\n</think>\n\n```python\ny = 2\n```"))
    click(transcript, spots(transcript, "think")[0])
    body = transcript.turns.blocks[0].body
    assert isinstance(body, ThoughtfulText)
    both = Selection()
    both.start(Place(0, 0))
    both.extend(Place(0, body.lead + len("y = 2")))
    assert "```python\ny = 2" in "".join(source_pieces(both, transcript.turns.blocks))
    alone = Selection()
    alone.start(Place(0, body.lead))
    alone.extend(Place(0, body.lead + len("y = 2")))
    assert "".join(source_pieces(alone, transcript.turns.blocks)) == "y = 2"


def test_the_answer_keeps_its_characters_where_the_lines_of_the_thinking_go(transcript: Transcript) -> None:
    transcript.add(marked_turn())
    click(transcript, spots(transcript, "think")[0])
    body = transcript.turns.blocks[0].body
    assert isinstance(body, ThoughtfulText)
    lead = body.lead
    body.release()
    assert body.lead == lead == len(UNMARKED) + 2


def test_what_is_in_the_same_block_of_thinking_and_answer_is_told_apart(transcript: Transcript) -> None:
    transcript.add(kept(text="<think>\n[one](https://example.org)\n</think>\n\n[two](https://example.com)"))
    click(transcript, spots(transcript, "think")[0])
    keys = [spot.key for spot in spots(transcript, "link")]
    assert len(keys) == len(set(keys)) == 2
