from __future__ import annotations

import json
import re
import threading
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PySide6.QtCore import QDateTime, QLocale
from PySide6.QtWidgets import QFileDialog

from app.core.comparison import LETTERS
from app.gui.compare import exporting
from app.gui.compare.exporting import ExportButton
from app.services.comparison_export import comparison_json
from app.services.lane_analysis import Analysis
from app.services.lanes_run import LanesRun, still_run
from tests.gui.compare.conftest import desk, model, stage
from tests.gui.compare.insight import InsightStage, insight
from tests.gui.test_buttons_under_the_pointer import point_at

__all__ = ["desk", "insight", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
QUESTION = 'Is 1 < 2 & "so" on? <script>alert(1)</script>'


class Page(HTMLParser):
    """The tags of a page and what can be read of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.read = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.read += data


def saves(insight: InsightStage, kind: str, path: Path) -> bytes:
    """Choose a kind in the menu, and where the file goes."""
    button = insight.stage.find_as(ExportButton, "compare_export_button")
    action = next(each for each in button.menu().actions() if each.objectName() == f"export_{kind}_action")
    action.trigger()
    dialog = insight.stage.window.findChildren(QFileDialog, "compare_export_dialog")[-1]
    assert dialog.defaultSuffix() == kind
    dialog.fileSelected.emit(str(path))
    dialog.close()
    insight.exported()
    return path.read_bytes() if path.exists() else b""


def test_figures_and_data_are_saved(insight: InsightStage, tmp_path: Path) -> None:
    insight.asked().ran("a", "c")
    table = saves(insight, "csv", tmp_path / "a.csv").decode("utf-8-sig")
    assert table.splitlines()[0].startswith("lane,is_baseline") and len(table.splitlines()) >= 3
    where = insight.reads("compare_said_text")
    assert where == f"Saved as {tmp_path / 'a.csv'}" and insight.desk.program.notices.latest is None
    data = json.loads(saves(insight, "json", tmp_path / "a.json"))
    assert [lane["lane"] for lane in data["lanes"]] == ["A", "B"]


def test_a_file_is_made_beside_the_window_of_what_was_there_when_somebody_asked(
    insight: InsightStage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    insight.asked().ran("a", "c")
    threads: list[str] = []

    def noted(run: LanesRun, analysis: Analysis) -> bytes:
        threads.append(threading.current_thread().name)
        return comparison_json(run, analysis)

    monkeypatch.setattr(exporting, "comparison_json", noted)
    button = insight.stage.find_as(ExportButton, "compare_export_button")
    width = button.sizeHint().width()
    button.setFocus()
    button.save("json", tmp_path / "a.json")
    assert button.text() == "Exporting…" and not any(each.isEnabled() for each in button.menu().actions())
    assert button.sizeHint().width() == width, "nothing moves"
    insight.desk.until(lambda: not insight.desk.program.file_export.is_busy)
    assert button.text() == "Export" and all(each.isEnabled() for each in button.menu().actions())
    assert button.hasFocus(), "whoever exported goes on from there"
    assert threads != [] and threading.current_thread().name not in threads
    assert insight.reads("compare_said_text") == f"Saved as {tmp_path / 'a.json'}"
    button.save("json", tmp_path / "b.json")
    insight.stage.window.show_page("chat")
    insight.desk.until(lambda: not insight.desk.program.file_export.is_busy)
    notice = insight.desk.program.notices.latest
    assert notice is not None and notice.sentence.english() == f"Saved as {tmp_path / 'b.json'}"


def test_where_a_file_is_stands_beside_the_button_and_nothing_moves(insight: InsightStage, tmp_path: Path) -> None:
    insight.asked().ran("a", "c")
    names = ("compare_prompt_band", "compare_view_bar", "lane_a", "compare_strip", "compare_export_button")
    before = [insight.place(name) for name in names]
    saves(insight, "csv", tmp_path / "a.csv")
    insight.stage.settle()
    assert "a.csv" in insight.reads("compare_said_text")
    assert [insight.place(name) for name in names] == before
    insight.stage.clicks("compare_again_button")
    insight.stage.settle()
    assert insight.reads("compare_said_text") == "", "of this comparison nothing was saved"


def test_what_is_exported_changes_no_more(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    run = insight.comparing.shown
    assert run is not None
    still, before = still_run(run), comparison_json(run, insight.known())
    assert comparison_json(still, insight.known()) == before
    run.lanes[0].turn.author, run.question.text = "Somebody else", "Another question"
    assert comparison_json(still, insight.known()) == before != comparison_json(run, insight.known())


def test_the_page_to_hand_out_is_whole_escaped_and_needs_nothing(insight: InsightStage, tmp_path: Path) -> None:
    insight.asked(QUESTION).ran("a", "c", "e")
    text = saves(insight, "html", tmp_path / "page.html").decode()
    page = Page(text)
    assert page.open == [] and "script" not in page.tags and "link" not in page.tags
    assert not [name for name, _value in page.attributes if name in ("src", "href") or name.startswith("on")]
    assert not re.search(r"url\(|@import|https?://", text)
    assert QUESTION in page.read
    assert "prefers-color-scheme: dark" in text and page.tags.count("svg") > 5
    analysis = insight.known()
    for lane in analysis.lanes:
        assert lane.text in page.read and LETTERS[lane.index] in page.read
        found = analysis.divergence(lane.index)
        assert found is None or found.reason.english() in page.read


def test_the_page_to_hand_out_says_what_differs_and_when(insight: InsightStage, tmp_path: Path) -> None:
    insight.asked().ran("a", "c")
    run = insight.comparing.shown
    assert run is not None
    text = saves(insight, "html", tmp_path / "page.html").decode()
    moment = QDateTime.fromMSecsSinceEpoch(run.comparison.created_ms)
    day = QLocale().toString(moment.date(), QLocale.FormatType.LongFormat)
    assert "<h1>Comparison: Temperature 0 · 0.8 (2 lanes)</h1>" in text
    assert re.search(f"<title>Comparison: Temperature 0 · 0.8 .* · {re.escape(day)}, ", text)
    assert text.count(day) == 2


@pytest.mark.parametrize(("locale", "language"), [("C", "en"), ("de_DE", "de-DE"), ("en_US", "en-US")])
def test_the_page_to_hand_out_names_a_language_that_there_is(
    insight: InsightStage, tmp_path: Path, locale: str, language: str
) -> None:
    before = QLocale()
    insight.asked().ran("a", "c")
    QLocale.setDefault(QLocale(locale))
    try:
        assert f'<html lang="{language}">' in saves(insight, "html", tmp_path / "page.html").decode()
    finally:
        QLocale.setDefault(before)


def test_what_cannot_be_written_is_one_sentence(insight: InsightStage, tmp_path: Path) -> None:
    insight.asked().ran("a", "c")
    saves(insight, "html", tmp_path / "missing" / "page.html")
    assert insight.desk.told == "The file page.html could not be saved: No such file or directory"
    assert insight.desk.notice.level == "error"


def test_there_is_nothing_to_export_before_anything_is_known(insight: InsightStage) -> None:
    insight.asked().begun("a", "b").planned()
    assert not insight.stage.find("compare_export_button").isEnabled()


def test_the_button_looks_pointed_at_no_more_once_its_menu_is_open(insight: InsightStage) -> None:
    button = insight.asked().ran().stage.find_as(ExportButton, "compare_export_button")
    point_at(button)
    menu = button.menu()
    menu.aboutToShow.emit()
    assert not button.underMouse()
