"""What is said of a reproduction, by what the engine found."""

from __future__ import annotations

import msgspec
import pytest

from app.core.metrics import KVUse, StopReason
from app.core.model import LoadOptions
from app.core.replay_events import Difference, Reproduced
from app.services.reproduction import NEARNESS, QUANTISED_NEARNESS, Phase, Reproduction, nearness, outcome

SAME = Reproduced(1, 0, 57, None, "length", KVUse(100, 4096, None))
PIECES = {1: " blue", 2: " sky", 3: "a\n\tb", 4: "\u202ex"}


def of(found: Reproduced, stop_reason: StopReason = "length", near: float = NEARNESS) -> Reproduction:
    return outcome(5, found, 57, stop_reason, near, PIECES.get)


def said(found: Reproduction) -> str:
    return " ".join(sentence.english() for sentence in found.sentences)


def other(**changes: object) -> Reproduced:
    found = Difference(12, 1, 2, gap=0.006, stored_gap=0.004, draw_distance=None)
    return msgspec.structs.replace(SAME, compared=12, difference=msgspec.structs.replace(found, **changes))


@pytest.mark.parametrize("reason", ["length", "cancelled", "context_full"])
def test_an_answer_that_was_ended_is_the_same_up_to_there(reason: StopReason) -> None:
    assert (of(SAME, reason).phase, said(of(SAME, reason))) == ("same", "Identical: all 57 tokens.")


@pytest.mark.parametrize("reason", ["end", "stop_string"])
def test_an_answer_that_ended_by_itself_must_end_again(reason: StopReason) -> None:
    ended = msgspec.structs.replace(SAME, stop_reason=reason)
    assert of(ended, reason).phase == "same"
    assert of(msgspec.structs.replace(SAME, stop_reason=None), reason).phase == "same"
    goes_on = of(SAME, reason)
    assert goes_on.phase == "different" and "it would go on here now" in said(goes_on)
    assert "the version of the program may be another one" in said(goes_on)


def test_given_words_are_not_counted_among_those_that_the_model_wrote() -> None:
    given = msgspec.structs.replace(SAME, first=50)
    assert said(of(given)) == "Identical: all 7 tokens that the model wrote."
    one = msgspec.structs.replace(SAME, first=56)
    assert said(of(one)) == "Identical: the one token that the model wrote."


def test_the_first_difference_is_told_as_people_count() -> None:
    assert said(of(other())).startswith(
        "First difference at token 13 of 57: “ blue” then, “ sky” now; 0.004 apart in log-probability then, 0.006 now."
    )
    unknown = said(of(other(stored_gap=None)))
    assert "0.006 apart in log-probability now, and how far they were apart then was not kept." in unknown


def test_what_tokens_say_is_shown_without_turning_the_sentence_around() -> None:
    assert "“a↵⇥b” then, “\ufffdx” now" in said(of(other(stored=3, drawn=4)))
    assert "“#99” then" in said(of(other(stored=99)))


@pytest.mark.parametrize(
    ("changes", "near", "phase"),
    [
        ({}, NEARNESS, "tie"),
        ({"gap": 0.021}, NEARNESS, "different"),
        ({"stored_gap": 0.021}, NEARNESS, "different"),
        ({"gap": 0.09, "stored_gap": 0.09}, QUANTISED_NEARNESS, "tie"),
        ({"gap": 0.11}, QUANTISED_NEARNESS, "different"),
        ({"draw_distance": 0.003}, NEARNESS, "tie"),
        ({"stored_gap": None}, NEARNESS, "near"),
        ({"gap": 0.021, "stored_gap": None}, NEARNESS, "different"),
        ({"gap": 0.09, "stored_gap": None}, QUANTISED_NEARNESS, "near"),
        ({"gap": 1.5, "stored_gap": 1.5, "draw_distance": 0.003}, NEARNESS, "near"),
        ({"gap": 1.5, "stored_gap": None, "draw_distance": 0.003}, NEARNESS, "near"),
        ({"gap": 0.004, "stored_gap": 1.5, "draw_distance": 0.003}, NEARNESS, "near"),
        ({"gap": 1.5, "stored_gap": 1.5, "draw_distance": 0.03}, NEARNESS, "different"),
    ],
)
def test_what_is_as_close_as_a_tie_is_told_from_a_real_difference(
    changes: dict[str, object], near: float, phase: Phase
) -> None:
    found = of(other(**changes), near=near)
    assert found.phase == phase
    assert ("as close as a tie" in said(found)) == (phase == "tie")
    assert ("a real difference" in said(found)) == (phase == "different")


def test_an_answer_that_found_a_part_of_its_prompt_in_the_cache_may_differ_for_that_reason() -> None:
    found = outcome(5, other(gap=0.3, stored_gap=0.1), 57, "length", NEARNESS, PIECES.get, then="warm")
    assert found.phase == "different"
    assert "may have been read in batches of other shapes" in said(found) and "a real difference" not in said(found)
    near = outcome(5, other(), 57, "length", NEARNESS, PIECES.get, then="warm")
    assert near.phase == "tie"


def test_a_draw_at_a_border_is_told_with_its_distance() -> None:
    found = said(of(other(gap=1.5, stored_gap=None, draw_distance=0.003)))
    assert "This is not a tie of the two, but the draw fell within 0.003 of the border" in found
    assert "1.500 apart in log-probability now" in found and "may have rounded" in found


def test_a_gap_of_one_run_is_called_that() -> None:
    found = said(of(other(stored_gap=None)))
    assert "only this run's distance is known" in found and "tie" not in found


@pytest.mark.parametrize("reason", ["end", "stop_string"])
def test_an_end_before_the_end_is_told(reason: StopReason) -> None:
    early = of(msgspec.structs.replace(SAME, compared=20, stop_reason=reason))
    assert early.phase == "different"
    assert said(early) == (
        "Identical up to token 20 of 57. There it ended now: the version of the program may be another one than then."
    )


def test_a_context_that_is_full_before_the_end_is_no_difference() -> None:
    full = of(msgspec.structs.replace(SAME, compared=20, stop_reason="context_full"))
    assert (full.phase, full.offer, full.done) == ("failed", "larger_context", 20)
    assert said(full).startswith("Identical up to token 20 of 57.") and "the context was full" in said(full)


def test_a_quantised_cache_makes_more_of_a_difference_as_good_as_none() -> None:
    assert nearness(LoadOptions()) == NEARNESS
    assert nearness(LoadOptions(kv_type_k="q8_0", kv_type_v="q8_0")) == QUANTISED_NEARNESS
    assert nearness(LoadOptions(kv_type_v="q4_0")) == QUANTISED_NEARNESS
