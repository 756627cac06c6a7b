"""Files for other programs: what is in them is what is shown, and no text in them becomes a formula or breaks a row."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from typing import Any

import msgspec
import pytest

from app.core.comparison import Comparison, LanePlan, SharedPrefill
from app.core.conversation import Conversation
from app.core.model import ModelRef
from app.core.sampling import STAGES, SamplingSettings
from app.services.analysing import analyse
from app.services.comparison_export import comparison_json, lanes_csv
from app.services.lane_analysis import Analysis
from app.services.lane_inputs import LaneInputs
from app.services.lanes_run import Lane, LanesRun
from app.services.open_conversation import OpenConversation
from app.services.turns import Turn
from tests.services.recorded_lanes import OPEN
from tests.services.test_analysing import inputs, lane, settings

MODEL = ModelRef(98_000_000, "ab12", "/home/somebody/private/tiny.gguf")
LANES = (
    lane(0, OPEN),
    lane(1, settings(temperature=0.5, stop=("END",))),
    lane(2, settings(top_k=2)),
)


def run_of(given: LaneInputs) -> LanesRun:
    """Return the comparison that inputs were taken of."""
    question = Turn(1, "user", "Why is the sky blue?", message=50)
    head = Conversation(1, "Sky", 0, 0, system_prompt="Be brief.")
    conversation = OpenConversation(head, [question], 50)
    lanes = []
    for each in given.lanes:
        turn = Turn(0, "assistant", each.text, author="Tiny", ids=each.ids, model=MODEL, message=each.message)
        lanes.append(Lane(each.index, turn, each.settings))
    comparison = Comparison(
        id=1,
        conversation=1,
        parent=50,
        created_ms=1_700_000_000_123,
        lanes=tuple(each.message for each in given.lanes),
        kept=(1,),
        plan=LanePlan(((0, 1, 2),), (200,) * 3),
        prefill=SharedPrefill(40, 12, 28, 96.0, 110.0),
    )
    return LanesRun(0, conversation, comparison, question, lanes, is_running=False)


def exported(*texts: str) -> tuple[LanesRun, Analysis]:
    lanes = [dataclasses.replace(each, text=text) for each, text in zip(LANES, texts, strict=False)] or list(LANES)
    given = inputs(*lanes)
    return run_of(given), analyse(given)


def rows_of(table: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"), newline="")))


def test_the_table_has_a_row_for_each_lane_with_what_differs_and_its_figures() -> None:
    run, analysis = exported()
    rows = rows_of(lanes_csv(run, analysis))
    assert [row["lane"] for row in rows] == ["A", "B", "C"]
    assert [row["is_baseline"] for row in rows] == ["true", "false", "false"]
    assert [row["is_kept"] for row in rows] == ["false", "true", "false"]
    assert [row["temperature"] for row in rows] == ["1.0", "0.5", "1.0"]
    assert [row["top_k"] for row in rows] == ["0", "0", "2"]
    assert [row["stop"] for row in rows] == ["[]", '["END"]', "[]"]
    assert "top_p" not in rows[0], "it is the same in all lanes"
    assert [row["text"] for row in rows] == [lane.text for lane in analysis.lanes]
    for row, each in zip(rows, analysis.lanes, strict=True):
        assert float(row["mean_log_probability"]) == each.figures.mean_log_probability
        assert (row["length"], row["stop_reason"], row["tokens_per_s"]) == ("20", "length", _shown(each))
    found = analysis.divergence(2)
    assert found is not None
    assert rows[2]["first_difference_token"] == str(found.token + 1)
    assert rows[2]["first_difference_reason"] == found.reason.english()
    assert rows[0]["first_difference_token"] == rows[0]["first_difference_reason"] == ""


def _shown(each: Any) -> str:
    return str(each.figures.tokens_per_s)


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "＋1", "－1", "＠a"],
)
def test_no_text_is_a_formula(text: str) -> None:
    run, analysis = exported(text, "plain", "a = b")
    rows = rows_of(lanes_csv(run, analysis))
    assert [row["text"] for row in rows] == [f"'{text}", "plain", "a = b"]
    assert rows[0]["mean_log_probability"].startswith("-"), "numbers stay numbers"


def test_quotes_commas_and_line_breaks_stay_in_their_cell() -> None:
    texts = 'He said "hi", and left.', "two\nlines\r\nthree", "日本 🙂, \u2028 x"
    run, analysis = exported(*texts)
    table = lanes_csv(run, analysis)
    assert table.startswith(b"\xef\xbb\xbflane,") and table.endswith(b"\r\n")
    assert b'"He said ""hi"", and left."' in table
    assert [row["text"] for row in rows_of(table)] == list(texts)


def test_the_document_holds_everything() -> None:
    run, analysis = exported()
    whole = json.loads(comparison_json(run, analysis))
    assert (whole["format"], whole["version"], whole["created"]) == (
        "tokenlight-comparison",
        1,
        "2023-11-14T22:13:20.123Z",
    )
    assert whole["prompt"]["messages"] == [
        {"role": "system", "text": "Be brief."},
        {"role": "user", "text": "Why is the sky blue?"},
    ]
    assert whole["prompt"]["token_ids"] == list(range(40)) and whole["prompt"]["text"].startswith(" w0 w1")
    assert whole["plan"]["limits"] == [200] * 3 and whole["prefill"]["evaluated"] == 28
    assert (whole["baseline"], whole["is_whole"]) == ("A", True)
    for each, told in zip(analysis.lanes, whole["lanes"], strict=True):
        assert told["text"] == each.text and told["seed"] == 7 and told["lane"] == each.letter
        made = msgspec.convert({**told["settings"], "seed": told["seed"]}, SamplingSettings)
        assert made == each.settings
        assert len(told["token_ids"]) == told["figures"]["length"] == 20
        assert told["entropy"] == list(each.entropies) and told["surprise"] == list(each.surprise)
        assert told["model"] == {"name": "Tiny", "file": "tiny.gguf", "bytes": 98_000_000, "digest": "ab12"}
        found = analysis.divergence(each.index)
        if found is None:
            assert told["divergence"] is None
            continue
        assert told["divergence"]["token"] == found.token and told["divergence"]["kind"] == found.kind
        assert told["divergence"]["lane_token"]["token"] == told["token_ids"][found.token]
        assert len(told["divergence"]["candidates"]) == len(found.picture)
    assert "somebody" not in comparison_json(run, analysis).decode(), "folders are nobody else's business"


def test_what_is_not_known_is_empty_or_null() -> None:
    lanes = [dataclasses.replace(each, blocks=(), stop_reason=None) for each in LANES]
    given = inputs(*lanes, prompt=None, pieces=None)
    run, analysis = run_of(given), analyse(given)
    for row in rows_of(lanes_csv(run, analysis)):
        assert row["perplexity"] == row["mean_entropy"] == row["stop_reason"] == ""
    whole = json.loads(comparison_json(run, analysis))
    assert whole["prompt"]["token_ids"] is None and whole["prompt"]["text"] is None
    assert whole["lanes"][1]["figures"]["perplexity"] is None
    assert whole["lanes"][1]["divergence"]["kind"] == "unknown"
    assert whole["tree"][0]["text"] is None


def test_the_order_and_what_is_switched_off_are_in_both_files() -> None:
    order = ("temperature", *STAGES[:-1])
    given = inputs(lane(0, OPEN), lane(1, settings(top_k=2, order=order)), lane(2, settings(off=("min_p", "xtc"))))
    run, analysis = run_of(given), analyse(given)
    rows = rows_of(lanes_csv(run, analysis))
    assert [json.loads(row["order"]) for row in rows] == [list(STAGES), list(order), list(STAGES)]
    assert [json.loads(row["off"]) for row in rows] == [[], [], ["min_p", "xtc"]]
    whole = json.loads(comparison_json(run, analysis))
    assert [each["settings"]["order"] for each in whole["lanes"]] == [list(STAGES), list(order), list(STAGES)]
    assert whole["lanes"][2]["settings"]["off"] == ["min_p", "xtc"]
