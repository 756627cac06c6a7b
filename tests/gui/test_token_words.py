"""Stages, shares and tokens are called the same wherever they are shown, and every unit can be translated."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

from app.core.sampling import STAGES
from app.gui.compare import divergence_words
from app.gui.inside import card_words
from app.gui.inside.shades import COLOURINGS, words_of
from app.gui.inside.token_sentences import in_nats
from app.gui.widgets.stage_words import cutter_words, stage_heading, stage_words
from app.gui.widgets.token_words import known_per_cent, quoted
from app.services.lane_analysis import Contender, Share


class Marked(QTranslator):
    """A language in which each text is the same between brackets."""

    def translate(self, _context: str, text: str, _remark: str | None = None, _count: int = -1) -> str:
        return f"[{text}]"

    def isEmpty(self) -> bool:  # noqa: N802  Qt's name
        return False


@pytest.fixture
def marked(qapp: QCoreApplication) -> Iterator[None]:
    translator = Marked()
    assert qapp.installTranslator(translator)
    yield
    qapp.removeTranslator(translator)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_has_one_name(stage: str) -> None:
    name = stage_words(stage)
    assert stage_heading(stage) == card_words.stage_title(stage) == name[0].upper() + name[1:]
    said = "temp. 0" if stage == "temperature" else name
    assert cutter_words(stage) == said
    assert divergence_words.share_words(Share(0.0, stage)) == f"cut by {said}"


def test_typical_is_written_as_everywhere_else() -> None:
    assert (stage_words("typical"), card_words.stage_title("typical")) == ("typical-p", "Typical-p")
    assert cutter_words("grammar") == "grammar"


@pytest.mark.parametrize(
    ("share", "said"), [(1.0, "100"), (0.0995, "10"), (0.0123, "1.2"), (0.0001, "<0.1"), (0.0, "0")]
)
def test_a_share_is_written_the_same_in_the_laboratory(share: float, said: str) -> None:
    assert card_words.per_cent(share) == known_per_cent(share) == f"{said}\u00a0%"


@pytest.mark.parametrize("text", ["a b", "", None, "\u05d0", "x" * 24])
def test_a_token_is_quoted_the_same_in_all_pages(text: str | None) -> None:
    texts = {} if text is None else {7: text}
    contender = Contender(7, text, None, None, Share(None), Share(None))
    assert card_words.token_words(7, texts) == quoted(text, 7) == divergence_words.token_words(contender)


def test_a_long_token_is_cut_inside_its_quotation_marks() -> None:
    assert card_words.token_words(7, {7: "\u05d0" * 30}) == f"“\u2068{chr(0x5D0) * 24}…\u2069”"


@pytest.mark.usefixtures("marked")
def test_units_and_the_steps_of_a_legend_can_be_translated() -> None:
    assert in_nats(1.234) == "[1.23 nats]"
    for colouring in COLOURINGS:
        assert all(words.isdigit() or words.startswith("[") for words in words_of(colouring))
    assert sum(len(words_of(each)) for each in COLOURINGS) == 18
