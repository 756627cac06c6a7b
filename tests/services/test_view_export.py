"""Tables of what a file holds for spreadsheets."""

from __future__ import annotations

import csv
import io

from app.core.gguf_view import EntryView, TensorView
from app.core.gguf_whole import TokenTable
from app.services.view_export import entries_csv, tensors_csv, tokens_csv
from app.services.viewing_words import fenced, share_text


def rows(made: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(made.decode("utf-8-sig"), newline="")))


def test_tensors_are_plain_numbers() -> None:
    told = tensors_csv([TensorView("a", (4, 2), "F32", 32, 64), TensorView("=b", (1,), "type 99", None, 96, 1)])
    assert rows(told)[1:] == [["a", "4 x 2", "F32", "32", "64", "1"], ["'=b", "1", "type 99", "", "96", "2"]]


def test_entries_and_tokens_are_one_row_each_and_no_formulas() -> None:
    told = entries_csv([EntryView("k", "text", "=1+1\nx", 6), EntryView("n", "u32", 7)])
    assert rows(told)[1:] == [["k", "text", "'=1+1⏎x", "6"], ["n", "u32", "7", ""]]
    table = TokenTable(("a", "+b\nc", "d"), (1, 3))
    assert rows(tokens_csv(table, [1, 2])) == [["number", "text", "kind"], ["1", "'+b\nc", "control"], ["2", "d", ""]]


def test_no_template_ends_its_block_of_code() -> None:
    assert fenced("a\n```\n````\tb\u202e") == "`````jinja\na\n```\n````    b\ufffd\n`````"
    assert fenced("") == "```jinja\n```"


def test_shares_are_never_more_exact_than_they_are_known() -> None:
    assert [share_text(*each) for each in ((1, 3), (1, 10_000), (0, 9), (None, 9), (1, None), (1, 0))] == [
        "33.3 %",
        "< 0.1 %",
        "0.0 %",
        "–",
        "–",
        "–",
    ]
