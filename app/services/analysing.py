"""Analyses lanes: what probability finds in their records, joined with what their tokens say.

Loads numpy, so whoever may run before the window is there loads this module late. Pure: knows no session and no store.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from app.core.commands import RecordKind
from app.core.sampling import SamplingSettings
from app.core.word_difference import word_difference
from app.core.words import Sentence
from app.probability.bounded import UNKNOWN
from app.probability.lane_tree import LaneNode, lane_tree
from app.probability.replayed import WhatIf, what_if
from app.probability.scores import scores
from app.probability.what_if import NOT_CUT
from app.services.divergence_words import NO_RECORD, RECORD_DAMAGED, recorded_late
from app.services.known_lanes import Known, doubt_of, known, with_settings
from app.services.lane_analysis import (
    AnalysedLane,
    Analysis,
    BranchNode,
    LaneFigures,
    LaneWhatIf,
    LaneWords,
    TextSpan,
    TokenState,
    WhatIfToken,
)
from app.services.lane_inputs import LaneInputs
from app.services.told_divergences import told_divergence

_MS = 1e6


def analyse(inputs: LaneInputs) -> Analysis:
    """Return all that is known of lanes."""
    lanes = [known(inputs, each) for each in inputs.lanes]
    baseline = next((each for each in lanes if each.given.index == inputs.baseline), None)
    return Analysis(
        comparison=inputs.comparison,
        baseline=inputs.baseline,
        lanes=tuple(_analysed(each) for each in lanes),
        divergences=tuple(
            None if baseline is None or each is baseline else told_divergence(inputs, baseline, each)
            for each in lanes
        ),
        tree=tuple(_node(node, lanes) for node in lane_tree([each.lane for each in lanes])),
        is_whole=inputs.is_whole,
        prompt_ids=inputs.prompt,
        prompt_text=None if inputs.prompt is None or inputs.pieces is None else inputs.pieces.joined(inputs.prompt),
    )


def replayed(inputs: LaneInputs, index: int, settings: SamplingSettings) -> LaneWhatIf | None:
    """Return a lane's record under other settings; None where there is no such lane.

    The draws of XTC are those of the settings' seed, or of the lane's own where they have none;
    another generator's cannot be told.
    """
    given = inputs.lane(index)
    if given is None:
        return None
    lane = known(inputs, given)
    nothing = LaneWhatIf(inputs.comparison, index, settings)
    doubt = doubt_of(inputs, lane.lane, settings)
    if doubt is not None:
        return msgspec.structs.replace(nothing, problem=doubt)
    seed = None if lane.is_of_other_generator else settings.seed
    found = what_if(with_settings(inputs, lane.lane, settings), settings, seed)
    if found is None:
        return msgspec.structs.replace(nothing, problem=unrecorded(inputs, index) or NO_RECORD)
    tokens = _tokens_of(found)
    count = len(tokens)
    return msgspec.structs.replace(
        nothing,
        tokens=tokens,
        spans=lane.places.spans(given.begins + count)[given.begins :] if lane.places is not None else (),
        cuts=dict(found.cuts),
        cut=int(found.cut.size),
        unknown=int(found.unknown.size),
        known=int(found.is_known.sum()),
        log_probability=found.log_probability if count == lane.lane.tokens.size else None,
        log_probability_of_known=found.log_probability_of_known,
        greedy_leaves_at=found.greedy_leaves_at,
    )


def record_kind(inputs: LaneInputs, index: int) -> RecordKind:
    """Return what was recorded of a lane, as far as that can be read."""
    given = inputs.lane(index)
    records = known(inputs, given).lane.records if given is not None else None
    if records is None or not len(records):
        return "off"
    return "all" if records.alternative_ids.size else "chosen"


def unrecorded(inputs: LaneInputs, index: int) -> Sentence | None:
    """Return why a lane has no record of its first token, with which a replay begins, where there is more to say.

    Its record is damaged, or only its first tokens lack one.
    """
    given = inputs.lane(index)
    lane = known(inputs, given) if given is not None else None
    if lane is not None and lane.is_damaged and lane.lane.records is None:
        return RECORD_DAMAGED
    if lane is None or not lane.recorded_at_the_end:
        return None
    tokens = lane.lane.tokens.size
    return recorded_late(tokens - lane.recorded_at_the_end + 1, tokens)


def compared_words(inputs: LaneInputs, first: int, second: int) -> LaneWords | None:
    """Return the words in which two lanes differ; None where one is not there."""
    one, other = inputs.lane(first), inputs.lane(second)
    if one is None or other is None:
        return None
    return LaneWords(inputs.comparison, first, second, word_difference(one.text, other.text))


def _analysed(lane: Known) -> AnalysedLane:
    found, given = scores(lane.lane), lane.given
    median, speed = _pace_of(lane)
    figures = LaneFigures(
        length=found.length,
        recorded=found.recorded,
        mean_log_probability=found.mean_log_probability,
        perplexity=found.perplexity,
        mean_entropy=found.mean_entropy,
        repetition=found.repetition,
        distinct_1=found.distinct_1,
        distinct_2=found.distinct_2,
        itl_p50_ms=median,
        tokens_per_s=speed,
        shared_ttft_ms=given.metrics.ttft_ms if given.metrics is not None else None,
        stop_reason=given.stop_reason,
    )
    return AnalysedLane(
        index=given.index,
        message=given.message,
        settings=given.settings,
        text=given.text,
        figures=figures,
        surprise=found.surprise,
        entropies=found.entropies,
        token_starts=lane.places.starts if lane.places is not None else (),
        is_open=given.is_open,
    )


def _pace_of(lane: Known) -> tuple[float | None, float | None]:
    """Return the median gap in ms and the tokens/s, as the engine told them or as the record has the times."""
    metrics = lane.given.metrics
    if metrics is not None:
        return metrics.itl_ms.p50 if metrics.itl_ms is not None else None, metrics.decode_tokens_per_s
    records, count = lane.lane.records, lane.lane.recorded
    if records is None or count < 2:
        return None, None
    times = records.time[:count]
    took_ns = int(times[-1] - times[0])
    return float(np.median(np.diff(times))) / _MS, (count - 1) * 1e9 / took_ns if took_ns > 0 else None


def _node(node: LaneNode, lanes: Sequence[Known]) -> BranchNode:
    first = lanes[node.lanes[0]]
    span = None
    if first.places is not None:
        span = TextSpan(first.places.starts[node.start], first.places.starts[node.end])
    indices = [each.given.index for each in lanes]
    return BranchNode(
        start=node.start,
        end=node.end,
        lanes=tuple(indices[place] for place in node.lanes),
        span=span,
        text=first.given.text[span.start : span.end] if span is not None else "",
        parent=node.parent,
        children=node.children,
        ends=tuple(indices[place] for place in node.ends),
        probability=node.probability,
        probability_after=node.probability_after,
        log_probability=node.log_probability,
        open=tuple(indices[place] for place in node.ends if lanes[place].given.is_open),
    )


def _tokens_of(found: WhatIf) -> tuple[WhatIfToken, ...]:
    """Return the tokens one by one; column by column, since there are thousands of them with every slider's move."""
    stages: list[str | None] = [*found.stages, None]  # -1 is the last
    cut_by = found.cut_by.tolist()
    states = [
        _state(stage, is_known=is_known) for stage, is_known in zip(cut_by, found.is_known.tolist(), strict=True)
    ]
    probabilities = [
        after if state == "known" else 0.0 if state == "cut" else None
        for state, after in zip(states, found.after.tolist(), strict=True)
    ]
    return tuple(
        map(
            WhatIfToken,
            states,
            probabilities,
            [stages[max(stage, -1)] for stage in cut_by],
            found.survivors.tolist(),
            found.is_exact.tolist(),
            found.unseen.tolist(),
        )
    )


def _state(cut_by: int, *, is_known: bool) -> TokenState:
    if cut_by == UNKNOWN:
        return "unknown"
    if cut_by != NOT_CUT:
        return "cut"
    return "known" if is_known else "left"
