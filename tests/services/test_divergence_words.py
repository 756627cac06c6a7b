"""Every reason is a sentence that says no more than what was found."""

from __future__ import annotations

import pytest

from app.services.divergence_words import Found, draws_of, reason_of


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Found("cut", "top_p", in_lane=True), "top-p cut the baseline's token in B."),
        (Found("cut", "xtc"), "XTC cut B's token in the baseline."),
        (
            Found("reshaped", "temperature", in_lane=True),
            "Both tokens were left in both lanes; the temperature reshaped their probabilities.",
        ),
        (
            Found("reshaped", "min_p", in_lane=True),
            "Both tokens were left in both lanes; min-p reshaped their probabilities.",
        ),
        (
            Found("reshaped", in_lane=True),
            "Both tokens were left in both lanes; the stages that differ reshaped their probabilities.",
        ),
        (
            Found("made_cut", "top_k", in_lane=True, cutter="top_p"),
            "top-p cut the baseline's token in B, because top-k before it differs.",
        ),
        (
            Found("made_cut", "penalties", cutter="xtc"),
            "XTC cut B's token in the baseline, because the penalties before it differ.",
        ),
        (
            Found("made_cut", "order", in_lane=True, cutter="top_p"),
            "top-p cut the baseline's token in this lane, because the order of the stages differs.",
        ),
        (
            Found("made_cut", "order", cutter="xtc"),
            "XTC cut this lane's token in the baseline, because the order of the stages differs.",
        ),
        (
            Found("reshaped", "order", in_lane=True),
            "Both tokens were left in both lanes; the order of the stages reshaped their probabilities.",
        ),
        (
            Found("most_likely", "order", draws="none"),
            "Both lanes take the most likely token without a draw; the order of the stages made it another one.",
        ),
        (
            Found("unknown", "order"),
            "The order of the stages decided it; which tokens were left lies outside of what was kept.",
        ),
        (
            Found("made_cut", in_lane=True, cutter="min_p"),
            "min-p cut the baseline's token in B, because stages before it differ.",
        ),
        (
            Found("most_likely", "penalties", in_lane=True, draws="none"),
            "Both lanes take the most likely token without a draw; the penalties made it another one.",
        ),
        (
            Found("most_likely", in_lane=True, draws="none"),
            "Both lanes take the most likely token without a draw; the penalties and DRY made it another one.",
        ),
        (
            Found("most_likely", "dry", in_lane=True, draws="other"),
            "B takes the most likely token without a draw; DRY made it another one.",
        ),
        (
            Found("most_likely", "penalties", draws="other"),
            "The baseline takes the most likely token without a draw; the penalties made it another one.",
        ),
        (
            Found("either", draws="other"),
            "The draws differ, and so do the tokens' probabilities: each alone would have parted the two lanes.",
        ),
        (
            Found("together", draws="other"),
            "The draws differ, and so do the tokens' probabilities: only both together parted the two lanes.",
        ),
        (
            Found("rounding", draws="none", differs=False),
            (
                "Both lanes take the most likely token with the same settings, so it was rounding: "
                "batches of other shapes round a little differently."
            ),
        ),
        (
            Found("rounding"),
            (
                "What differs between the lanes did not decide it, so it was rounding: "
                "batches of other shapes round a little differently."
            ),
        ),
        (Found("unknown", draws="unknown"), "Not known: with which number a lane drew was not kept."),
        (
            Found("greedy", "temperature"),
            "The baseline takes the most likely token without a draw; B draws.",
        ),
        (Found("draw", differs=False), "Just the draw: the seeds differ."),
        (Found("draw"), "Just the draw: the seeds differ, and that alone parted the two lanes."),
        (
            Found("rounding", differs=False),
            "Settings and draw are the same, so it was rounding: batches of other shapes round a little differently.",
        ),
        (Found("forced"), "Somebody chose the token; no draw did."),
        (
            Found("ended", in_lane=True, stop_reason="length"),
            "B reached its limit here; the baseline went on.",
        ),
        (Found("ended", stop_reason="context_full"), "The baseline reached its limit here; B went on."),
        (Found("ended", stop_reason="stop_string"), "A stop string ended the baseline here; B went on."),
        (Found("ended", in_lane=True), "B ended here; the baseline went on."),
        (Found("unknown"), "Not known: the tokens that were left lie outside of what was kept."),
        (Found("unknown", is_recorded=False), "Not known: nothing was recorded of this step."),
        (
            Found("unknown", "top_p"),
            "top-p decided it; whether the token was cut or its probability reshaped lies outside of what was kept.",
        ),
        (
            Found("unknown", "temperature"),
            "The temperature decided it; which tokens were left lies outside of what was kept.",
        ),
    ],
)
def test_a_reason_is_one_sentence(found: Found, said: str) -> None:
    assert reason_of(found).english() == said


@pytest.mark.parametrize(
    ("found", "numbers", "said"),
    [
        (Found("cut"), (0.7319, 0.7319), "Both lanes drew the same number, 0.731…, so what differs is the setting."),
        (Found("rounding", differs=False), (0.9999, 0.9999), "Both draws were 0.999…, the same number."),
        (
            Found("draw"),
            (0.25, 0.5),
            "The draws were different numbers: 0.250… in the baseline, 0.500… in B.",
        ),
        (Found("cut"), (None, 0.5), None),
        (Found("greedy"), (0.5, 0.5), None),
        (Found("most_likely"), (0.5, 0.5), None),
        (Found("ended"), (0.5, 0.5), None),
    ],
)
def test_the_numbers_are_told_where_both_were_drawn(
    found: Found, numbers: tuple[float | None, float | None], said: str | None
) -> None:
    told = draws_of(found, *numbers)
    assert (told.english() if told is not None else None) == said
