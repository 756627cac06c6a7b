"""A comparison as files for other programs: a table of its lanes (CSV), and everything that is known of it (JSON).

Pure: makes bytes of what it is given. Field names and reasons are English in every language, so that files stay alike.
"""

from __future__ import annotations

import csv
import io
import math
from array import array
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

import msgspec

from app.core.chat import PromptMessage
from app.core.comparison import LETTERS
from app.core.sampling import SamplingSettings
from app.core.version import VERSION
from app.services.lane_analysis import AnalysedLane, Analysis, BranchNode, Contender, LaneDivergence, Share
from app.services.lane_starts import differing
from app.services.lanes_run import Lane, LanesRun
from app.services.open_conversation import prompt_messages

FORMAT = "tokenlight-comparison"
FORMAT_VERSION = 1
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
_FORMULA_SIGNS = (
    "=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
_FIGURES = (
    "length",
    "recorded",
    "mean_log_probability",
    "perplexity",
    "mean_entropy",
    "repetition",
    "distinct_1",
    "distinct_2",
    "itl_p50_ms",
    "tokens_per_s",
    "shared_ttft_ms",
    "stop_reason",
)
_DIVERGENCE = ("first_difference_token", "first_difference_kind", "first_difference_stage", "first_difference_reason")


def lanes_csv(run: LanesRun, analysis: Analysis) -> bytes:
    """Return a row for each lane: settings that differ, seed, figures, where it leaves the baseline, text.

    UTF-8 with a byte order mark, which spreadsheets need; rows and quotes as in RFC 4180. Text that a spreadsheet would
    read as a formula has an apostrophe before it.
    """
    varied = [name for name in differing(lane.settings for lane in analysis.lanes) if name != "seed"]
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\r\n")
    names = ("lane", "is_baseline", "is_kept", "model", *varied, "seed", *_FIGURES, *_DIVERGENCE, "text")
    writer.writerow(names)
    for lane in analysis.lanes:
        found = analysis.divergence(lane.index)
        row: list[object] = [
            lane.letter,
            lane.index == analysis.baseline,
            lane.index in run.comparison.kept,
            _author(run, lane.index),
            *(getattr(lane.settings, name) for name in varied),
            lane.settings.seed,
            *(getattr(lane.figures, name) for name in _FIGURES),
            *((None,) * len(_DIVERGENCE) if found is None else _of_divergence(found)),
            lane.text,
        ]
        writer.writerow([csv_cell(value) for value in row])
    return (_BOM + lines.getvalue()).encode()


def comparison_json(run: LanesRun, analysis: Analysis) -> bytes:
    """Return everything that is known of a comparison, as UTF-8."""
    comparison = run.comparison
    created = datetime.fromtimestamp(comparison.created_ms / 1000, UTC)
    whole = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "program": f"Tokenlight {VERSION}",
        "created": created.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "prompt": {
            "messages": [_message(message) for message in _prompt_of(run)],
            "text": analysis.prompt_text,
            "token_ids": None if analysis.prompt_ids is None else _ids(analysis.prompt_ids),
        },
        "baseline": LETTERS[analysis.baseline],
        "layout": comparison.layout,
        "plan": comparison.plan,
        "prefill": comparison.prefill,
        "is_whole": analysis.is_whole,
        "lanes": [_lane(run, lane, analysis) for lane in analysis.lanes],
        "tree": [_node(node) for node in analysis.tree],
    }
    return msgspec.json.format(msgspec.json.encode(msgspec.to_builtins(whole)), indent=2) + b"\n"


def _of_divergence(found: LaneDivergence) -> tuple[object, ...]:
    """Return the cells of the first difference; tokens are counted from 1 as in the window."""
    return found.token + 1, found.kind, found.stage, found.reason.english()


def csv_cell(value: object) -> str | int | float:
    """Return a value as it stands in a cell: nothing for None, true and false, and texts that are no formulas."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return f"'{text}" if text.startswith(tuple(_FORMULA_SIGNS)) else text


def _prompt_of(run: LanesRun) -> list[PromptMessage]:
    """Return the messages as the chat has them now; what the lanes really got are the tokens."""
    conversation = run.conversation
    return prompt_messages(conversation.head.system_prompt, [*conversation.before(run.question), run.question])


def _message(message: PromptMessage) -> dict[str, str]:
    return {"role": message.role, "text": message.text}


def _lane(run: LanesRun, lane: AnalysedLane, analysis: Analysis) -> dict[str, Any]:
    turn = next((each.turn for each in run.lanes if each.index == lane.index), None)
    found = analysis.divergence(lane.index)
    return {
        "lane": lane.letter,
        "is_kept": lane.index in run.comparison.kept,
        "model": _model(_of(run, lane.index)),
        "settings": _settings(lane.settings),
        "seed": lane.settings.seed,
        "text": lane.text,
        "token_ids": _ids(turn.ids) if turn is not None else [],
        "token_starts": lane.token_starts,
        "figures": lane.figures,
        "surprise": lane.surprise,
        "entropy": lane.entropies,
        "divergence": _divergence(found) if found is not None else None,
    }


def _of(run: LanesRun, index: int) -> Lane | None:
    return next((lane for lane in run.lanes if lane.index == index), None)


def _author(run: LanesRun, index: int) -> str:
    lane = _of(run, index)
    return lane.turn.author if lane is not None else ""


def _model(lane: Lane | None) -> dict[str, Any] | None:
    """Return which model it was; of its path the file's name alone, folders are nobody else's business."""
    if lane is None or lane.turn.model is None:
        return None
    model = lane.turn.model
    file = PurePath(model.path.replace("\\", "/")).name
    return {"name": lane.turn.author, "file": file, "bytes": model.size, "digest": model.digest}


def _settings(settings: SamplingSettings) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(settings).items() if name != "seed"}


def _ids(ids: bytes) -> list[int]:
    tokens = array("i")
    tokens.frombytes(ids)
    return tokens.tolist()


def _divergence(found: LaneDivergence) -> dict[str, Any]:
    return {
        "token": found.token,
        "in_baseline": found.in_baseline,
        "in_lane": found.in_lane,
        "kind": found.kind,
        "stage": found.stage,
        "cutter": found.cutter,
        "reason": found.reason.english(),
        "baseline_number": found.baseline_number,
        "lane_number": found.lane_number,
        "baseline_token": _contender(found.baseline_token),
        "lane_token": _contender(found.lane_token),
        "candidates": [_contender(each) for each in found.picture],
    }


def _contender(found: Contender | None) -> dict[str, Any] | None:
    if found is None:
        return None
    shares = {"baseline": _share(found.baseline), "lane": _share(found.lane)}
    return {"token": found.token, "text": found.text, "probability": found.raw, "rank": found.rank, **shares}


def _share(share: Share) -> dict[str, Any]:
    return {"probability": share.after, "cut_by": share.cut_by}


def _node(node: BranchNode) -> dict[str, Any]:
    return {
        "first_token": node.start,
        "end_token": node.end,
        "lanes": [LETTERS[index] for index in node.lanes],
        "text": node.text if node.span is not None else None,
        "parent": node.parent,
        "children": node.children,
        "ends": [LETTERS[index] for index in node.ends],
        "probability": node.probability,
        "log_probability": node.log_probability,
    }
