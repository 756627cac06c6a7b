"""Why two lanes took different tokens, said to people: from what a replay found out.

Pure words; knows no record. Names of stages that have no other name in any language stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from app.core.comparison import ReasonKind
from app.core.metrics import StopReason
from app.core.sampling import STAGE_NAMES
from app.core.words import Sentence, translate

Draws = Literal["same", "other", "unknown", "other_generator", "none"]
"""The numbers of two draws: equal, different, not known of one of them because its seed or its generator is not, or none
because both lanes are greedy."""


class Found(NamedTuple):
    """What decided, as the replay tells it."""

    kind: ReasonKind
    stage: str | None = None
    in_lane: bool = False
    """Whether the stage acted in the lane, on the baseline's token; for `ended`, whether it is the lane that ended."""
    stop_reason: StopReason | None = None
    """Of the lane that ended."""
    is_recorded: bool = True
    """Whether anything was recorded of the step."""
    is_damaged: bool = False
    """Whether a part of what was recorded cannot be read."""
    differs: bool = True
    """Whether the settings differ, the seeds left out."""
    cutter: str | None = None
    """The stage that cut a token because the other one differs before it."""
    draws: Draws = "same"
    letter: str = "B"
    """What the lane is called that leaves the baseline."""
    xtc_is_by_chance: bool = False
    """Whether XTC acts at some steps of a lane and not at others, by numbers of a generator that is not this one."""


def reason_of(found: Found) -> Sentence:
    """Return why the lanes took different tokens; the lane is called by its letter."""
    said = _reason(found)
    if "{letter}" not in said.template:
        return said
    return Sentence(said.context, said.template, {**said.values, "letter": found.letter})


def _reason(found: Found) -> Sentence:
    match found.kind:
        case "cut":
            template = _CUT_HERE if found.in_lane else _CUT_THERE
            return _about(template, found.stage)
        case "made_cut":
            return _made_cut(found)
        case "reshaped":
            return _of_stage(_RESHAPED, found.stage)
        case "most_likely":
            words = _LIKELY_BOTH if found.draws == "none" else _LIKELY_HERE if found.in_lane else _LIKELY_THERE
            return _of_stage(words, found.stage)
        case "greedy":
            return _GREEDY_HERE if found.in_lane else _GREEDY_THERE
        case "draw":
            return _DRAW_ALONE if found.differs else _DRAW
        case "either":
            return _EITHER
        case "together":
            return _TOGETHER
        case "rounding":
            return _rounding(found)
        case "forced":
            return _FORCED
        case "ended":
            return _ended(found)
        case "unknown":
            return _unknown(found)


def draws_of(found: Found, baseline: float | None, lane: float | None) -> Sentence | None:
    """Return which numbers the two draws drew with; None where one was not drawn or is not known."""
    if baseline is None or lane is None or found.kind in ("ended", "forced", "greedy", "most_likely"):
        return None
    if baseline != lane:
        return translate(
            "LaneAnalysis",
            "The draws were different numbers: {baseline} in the baseline, {lane} in {letter}.",
            baseline=_number(baseline),
            lane=_number(lane),
            letter=found.letter,
        )
    if found.kind == "rounding" or not found.differs:
        return translate("LaneAnalysis", "Both draws were {number}, the same number.", number=_number(lane))
    return translate(
        "LaneAnalysis",
        "Both lanes drew the same number, {number}, so what differs is the setting.",
        number=_number(lane),
    )


def recorded_late(first: int, tokens: int) -> Sentence:
    """Return that an answer was not recorded from its first token on; `first` is the first that was, from 1."""
    return translate(
        "LaneAnalysis",
        "This answer was recorded only from token {first} of {tokens} on, and a replay begins with the first one.",
        first=first,
        tokens=tokens,
    )


def _about(template: Sentence, stage: str | None) -> Sentence:
    return Sentence(template.context, template.template, {"stage": STAGE_NAMES.get(stage or "", stage or "")})


def _of_stage(words: Mapping[str | None, Sentence], stage: str | None) -> Sentence:
    """Return the words of a stage that is no name; else the ones for any stage, which stand at `any`."""
    return words.get(stage) or _about(words["any"], stage)


def _made_cut(found: Found) -> Sentence:
    words = _of_stage(_MADE_CUT_HERE if found.in_lane else _MADE_CUT_THERE, found.stage)
    cutter = STAGE_NAMES.get(found.cutter or "", found.cutter or "")
    return Sentence(words.context, words.template, {**words.values, "cutter": cutter})


def _rounding(found: Found) -> Sentence:
    if found.draws == "none" and not found.differs:
        return _ROUNDING_GREEDY
    return _ROUNDING if found.draws == "same" and not found.differs else _ROUNDING_ALL_THE_SAME


def _ended(found: Found) -> Sentence:
    if found.stop_reason == "stop_string":
        return _STOPPED_HERE if found.in_lane else _STOPPED_THERE
    if found.stop_reason in ("length", "context_full"):
        return _FULL_HERE if found.in_lane else _FULL_THERE
    return _ENDED_HERE if found.in_lane else _ENDED_THERE


def _unknown(found: Found) -> Sentence:
    if not found.is_recorded:
        return _STEP_DAMAGED if found.is_damaged else NOTHING_RECORDED
    if found.draws == "other_generator":
        return _UNKNOWN_GENERATOR_AND_XTC if found.xtc_is_by_chance else _UNKNOWN_GENERATOR
    if found.stage is None:
        return _UNKNOWN_DRAW if found.draws == "unknown" else _UNKNOWN
    return _of_stage(_UNKNOWN_STAGE, found.stage)


def _number(drawn: float) -> str:
    """Return the first digits of a number in [0, 1), which is never rounded up to 1."""
    return f"{int(drawn * 1000) / 1000:.3f}…"


_CUT_HERE = translate("LaneAnalysis", "{stage} cut the baseline's token in {letter}.")
_CUT_THERE = translate("LaneAnalysis", "{stage} cut {letter}'s token in the baseline.")
_MADE_CUT_HERE: dict[str | None, Sentence] = {
    "any": translate(
        "LaneAnalysis", "{cutter} cut the baseline's token in {letter}, because {stage} before it differs."
    ),
    "penalties": translate(
        "LaneAnalysis", "{cutter} cut the baseline's token in {letter}, because the penalties before it differ."
    ),
    "order": translate(
        "LaneAnalysis", "{cutter} cut the baseline's token in this lane, because the order of the stages differs."
    ),
    None: translate(
        "LaneAnalysis", "{cutter} cut the baseline's token in {letter}, because stages before it differ."
    ),
}
_MADE_CUT_THERE: dict[str | None, Sentence] = {
    "any": translate(
        "LaneAnalysis", "{cutter} cut {letter}'s token in the baseline, because {stage} before it differs."
    ),
    "penalties": translate(
        "LaneAnalysis", "{cutter} cut {letter}'s token in the baseline, because the penalties before it differ."
    ),
    "order": translate(
        "LaneAnalysis", "{cutter} cut this lane's token in the baseline, because the order of the stages differs."
    ),
    None: translate(
        "LaneAnalysis", "{cutter} cut {letter}'s token in the baseline, because stages before it differ."
    ),
}
_RESHAPED: dict[str | None, Sentence] = {
    "any": translate("LaneAnalysis", "Both tokens were left in both lanes; {stage} reshaped their probabilities."),
    "temperature": translate(
        "LaneAnalysis", "Both tokens were left in both lanes; the temperature reshaped their probabilities."
    ),
    "penalties": translate(
        "LaneAnalysis", "Both tokens were left in both lanes; the penalties reshaped their probabilities."
    ),
    "order": translate(
        "LaneAnalysis", "Both tokens were left in both lanes; the order of the stages reshaped their probabilities."
    ),
    None: translate(
        "LaneAnalysis", "Both tokens were left in both lanes; the stages that differ reshaped their probabilities."
    ),
}
_LIKELY_BOTH: dict[str | None, Sentence] = {
    "any": translate(
        "LaneAnalysis", "Both lanes take the most likely token without a draw; {stage} made it another one."
    ),
    "penalties": translate(
        "LaneAnalysis", "Both lanes take the most likely token without a draw; the penalties made it another one."
    ),
    "order": translate(
        "LaneAnalysis",
        "Both lanes take the most likely token without a draw; the order of the stages made it another one.",
    ),
    None: translate(
        "LaneAnalysis",
        "Both lanes take the most likely token without a draw; the penalties and DRY made it another one.",
    ),
}
_LIKELY_HERE: dict[str | None, Sentence] = {
    "any": translate(
        "LaneAnalysis", "{letter} takes the most likely token without a draw; {stage} made it another one."
    ),
    "penalties": translate(
        "LaneAnalysis", "{letter} takes the most likely token without a draw; the penalties made it another one."
    ),
    "order": translate(
        "LaneAnalysis",
        "This lane takes the most likely token without a draw; the order of the stages made it another one.",
    ),
    None: translate(
        "LaneAnalysis",
        "{letter} takes the most likely token without a draw; the penalties and DRY made it another one.",
    ),
}
_LIKELY_THERE: dict[str | None, Sentence] = {
    "any": translate(
        "LaneAnalysis", "The baseline takes the most likely token without a draw; {stage} made it another one."
    ),
    "penalties": translate(
        "LaneAnalysis", "The baseline takes the most likely token without a draw; the penalties made it another one."
    ),
    "order": translate(
        "LaneAnalysis",
        "The baseline takes the most likely token without a draw; the order of the stages made it another one.",
    ),
    None: translate(
        "LaneAnalysis",
        "The baseline takes the most likely token without a draw; the penalties and DRY made it another one.",
    ),
}
_GREEDY_HERE = translate("LaneAnalysis", "{letter} takes the most likely token without a draw; the baseline draws.")
_GREEDY_THERE = translate("LaneAnalysis", "The baseline takes the most likely token without a draw; {letter} draws.")
_DRAW = translate("LaneAnalysis", "Just the draw: the seeds differ.")
_DRAW_ALONE = translate("LaneAnalysis", "Just the draw: the seeds differ, and that alone parted the two lanes.")
_EITHER = translate(
    "LaneAnalysis",
    "The draws differ, and so do the tokens' probabilities: each alone would have parted the two lanes.",
)
_TOGETHER = translate(
    "LaneAnalysis",
    "The draws differ, and so do the tokens' probabilities: only both together parted the two lanes.",
)
_ROUNDING = translate(
    "LaneAnalysis",
    "Settings and draw are the same, so it was rounding: batches of other shapes round a little differently.",
)
_ROUNDING_GREEDY = translate(
    "LaneAnalysis",
    "Both lanes take the most likely token with the same settings, so it was rounding: batches of other shapes round "
    "a little differently.",
)
_ROUNDING_ALL_THE_SAME = translate(
    "LaneAnalysis",
    "What differs between the lanes did not decide it, so it was rounding: batches of other shapes round a little "
    "differently.",
)
_FORCED = translate("LaneAnalysis", "Somebody chose the token; no draw did.")
_ENDED_HERE = translate("LaneAnalysis", "{letter} ended here; the baseline went on.")
_ENDED_THERE = translate("LaneAnalysis", "The baseline ended here; {letter} went on.")
_STOPPED_HERE = translate("LaneAnalysis", "A stop string ended {letter} here; the baseline went on.")
_STOPPED_THERE = translate("LaneAnalysis", "A stop string ended the baseline here; {letter} went on.")
_FULL_HERE = translate("LaneAnalysis", "{letter} reached its limit here; the baseline went on.")
_FULL_THERE = translate("LaneAnalysis", "The baseline reached its limit here; {letter} went on.")
_UNKNOWN_STAGE: dict[str | None, Sentence] = {
    "any": translate(
        "LaneAnalysis",
        "{stage} decided it; whether the token was cut or its probability reshaped lies outside of what was kept.",
    ),
    "temperature": translate(
        "LaneAnalysis", "The temperature decided it; which tokens were left lies outside of what was kept."
    ),
    "penalties": translate(
        "LaneAnalysis", "The penalties decided it; which tokens were left lies outside of what was kept."
    ),
    "order": translate(
        "LaneAnalysis", "The order of the stages decided it; which tokens were left lies outside of what was kept."
    ),
}
_UNKNOWN = translate("LaneAnalysis", "Not known: the tokens that were left lie outside of what was kept.")
_UNKNOWN_DRAW = translate("LaneAnalysis", "Not known: with which number a lane drew was not kept.")
_UNKNOWN_GENERATOR = translate(
    "LaneAnalysis",
    "Not known: another version of this program drew these tokens, and its draws cannot be worked out again.",
)
_UNKNOWN_GENERATOR_AND_XTC = translate(
    "LaneAnalysis",
    "Not known: another version of this program drew these tokens; its draws, and where XTC acted, cannot be worked "
    "out again.",
)
NOTHING_RECORDED = translate("LaneAnalysis", "Not known: nothing was recorded of this step.")
_STEP_DAMAGED = translate("LaneAnalysis", "Not known: a part of what was recorded of these answers is damaged.")
RECORD_DAMAGED = translate(
    "LaneAnalysis", "The record of this answer is damaged where it begins, so it cannot be replayed."
)
NO_RECORD = translate("LaneAnalysis", "Nothing was recorded of this answer, so it cannot be replayed.")
PROMPT_UNKNOWN = translate(
    "LaneAnalysis", "Not known: penalties and DRY look back at the prompt, which was not kept."
)
GRAMMAR_NOT_COUNTED = translate(
    "LaneAnalysis",
    "The grammar was in force here; how many tokens it rules out was not counted, as that takes too long, so what is "
    "left of the others is not known.",
)
GRAMMAR_UNKNOWN = translate(
    "LaneAnalysis", "Not known: a grammar cuts tokens before all else, and which ones it cut is in no record."
)
BREAKERS_UNKNOWN = translate(
    "LaneAnalysis", "Not known: only the engine can tell exactly where DRY's breakers end a repetition."
)
