"""A sentence says which head looked most at a token, with a button to that head; what was looked at most is in sight."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from app.core.model import ModelRef
from app.services.attention_rows import AttentionRows, Seeker
from app.services.attention_text import AttentionText, asked_of_example
from tests.gui.conftest import Stage
from tests.gui.inside.test_attention import (
    EXAMPLE_IDS,
    LAYERS,
    bare,
    flow,
    inside,
    opened,
    part,
    read,
    say_example,
    told,
)
from tests.made_up_attention import HEADS, attention, row

__all__ = ["bare", "inside"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def best(token: int, tokens: int, layers: int = LAYERS) -> Seeker:
    """Return which head looks most at a token, worked out from its rows one by one."""
    found = [(row(layer, head, tokens)[token], -layer, -head) for layer in range(layers) for head in range(HEADS)]
    share, layer, head = max(found)
    return Seeker(-layer, -head, pytest.approx(share, abs=1e-6))  # type: ignore[arg-type]


@pytest.mark.parametrize("token", range(9))
def test_the_head_is_the_one_that_looked_most_at_the_token(token: int) -> None:
    assert AttentionRows(attention(1, 9, LAYERS), 9).most_at(token) == best(token, 9)


def test_layers_stand_for_their_heads_where_only_those_are_known_and_none_where_there_is_none() -> None:
    rows = AttentionRows(attention(1, 9, LAYERS, averaged=True, recurrent=(0,)), 9)
    shares = {layer: rows.row(layer) for layer in range(1, LAYERS)}
    layer = max(shares, key=lambda each: shares[each][4])  # type: ignore[index]
    found = rows.most_at(4)
    assert found is not None and (found.layer, found.head) == (layer, None)
    assert rows.most_at(9) is None is rows.most_at(-1)
    assert AttentionRows(attention(1, 9, 2, recurrent=(0, 1)), 9).most_at(4) is None


@pytest.mark.parametrize(
    ("texts", "place"), [(("The", " server", " it"), 1), (("ser", "ver", " it"), 1), (("a",), None)]
)
def test_the_example_knows_where_its_answer_ends(texts: tuple[str, ...], place: int | None) -> None:
    text = AttentionText(tuple(range(len(texts))), texts, ModelRef(1, "a"), "m", len(texts), is_example=True)
    assert asked_of_example(text) == place


def test_the_head_that_looked_most_is_said_and_shown_by_a_button(inside: Stage) -> None:
    read(inside)
    shown, button = part(inside), inside.find_as(QPushButton, "attention_seeker")
    shown.look_at(7)
    shown.look_at(None)  # on the way to the button
    tokens = len(shown._shown[0].ids) if shown._shown[0] is not None else 0
    found = best(7, tokens)
    assert f"head {(found.head or 0) + 1} of layer {found.layer + 1} looked most at" in told(
        inside, "attention_seeker_words"
    )
    assert button.text() == f"Show head {(found.head or 0) + 1} of layer {found.layer + 1}"
    inside.clicks("attention_seeker")
    assert (shown._layer, shown._head) == (found.layer, found.head)
    assert "Layer" in told(inside, "attention_layer_words")
    assert shown.seeker.token == 7, "the same token, in another head"


def test_another_token_that_is_selected_is_asked_anew(inside: Stage) -> None:
    read(inside)
    part(inside).look_at(3)
    read(inside, 5)
    seeker = part(inside).seeker
    assert seeker.token != 3 and (seeker.token is None or 0 < seeker.token < 5)
    seeker.seek(6)
    assert seeker.token != 6, "it comes later"


def test_nothing_is_said_before_it_is_read(inside: Stage) -> None:
    assert not inside.find_as(QWidget, "attention_seeker_words").isVisible()


def test_the_example_asks_for_what_its_word_means(bare: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.gui.inside.attention.seeker.asked_of_example", lambda _text: 4)
    bare.clicks("attention_empty_example")
    say_example(bare)
    shown = part(bare)
    assert shown.seeker.token == 4
    tokens = (shown._shown[2] or 0) + 1
    assert tokens <= len(EXAMPLE_IDS)
    found = best(4, tokens)
    assert f"of layer {found.layer + 1} looked most at" in told(bare, "attention_seeker_words")


def test_what_was_looked_at_most_comes_in_sight(ready: Stage) -> None:
    ready.desk.program.conversations.start()
    ready.settle()
    assert ready.desk.program.chat.send("Why?")
    ready.engine.prompt(tokens=900)
    ready.engine.write("a", 2)
    ready.engine.finish()
    ready.settle()
    opened(ready)
    strip = flow(ready)
    strip.resize(strip.width(), 80)
    read(ready, 901)
    most = part(ready).strongest.found[0][0]
    for layer, head in ((None, None), (1, 2), (0, 1), (3, 0)):
        part(ready)._choose(layer, head)
        most = part(ready).strongest.found[0][0]
        place = strip.place_of(most)
        assert place.top() >= 0 and place.bottom() <= strip.viewport().height() + 1, (layer, head, most)
