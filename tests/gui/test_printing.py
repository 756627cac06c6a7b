"""A conversation on paper: what is on which page, where pages end, and what becomes of the file."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QLibraryInfo, QObject, QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtPrintSupport import QPrinter
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QProgressDialog, QWidget
from pytestqt.qtbot import QtBot

from app.gui import theme
from app.gui.chat import page_job, printing
from app.gui.chat.page_cuts import cut_below, printed_height
from app.gui.chat.printing import Printing, file_name, file_stem
from app.gui.chat.turn_block import Shape, TurnBlock
from app.gui.icons import Icons
from app.services.notices import Notice
from app.services.turns import Turn
from app.system.resources import find_resources
from tests.broken_libraries import NOTHING, compile_library, needs_linux
from tests.gui.pdf_text import PdfText
from tests.gui.transcripts import LONG_ANSWER, themes

__all__ = ["themes"]

# The offscreen platform says this of every dialog.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
WIDTH = 640.0
PARAGRAPH = "Sunlight is a mixture of all colours, and the air scatters the blue ones most. " * 6


class Office(QObject):
    """A window with somebody who saves and prints, and what they are told."""

    def __init__(self, themes: theme.Themes, bot: QtBot) -> None:
        super().__init__()
        self.window = QWidget()
        self.told: list[str] = []
        self.held: list[Callable[[], None]] | None = None
        """Work for the background that waits, where the test wants it to."""
        self.printing = Printing(self.window, themes, Icons(find_resources()), self._submit, self._take)
        self._bot = bot

    def _submit(self, _name: str, work: Callable[[], None]) -> None:
        if self.held is None:
            work()
        else:
            self.held.append(work)

    def _take(self, notice: Notice) -> None:
        self.told.append(f"{notice.level}: {notice.sentence.english()}")

    def saves(self, path: Path, turns: list[Turn], title: str = "A title") -> None:
        """Save to the end."""
        self.printing.save_pdf(path, title, turns)
        self._bot.waitUntil(lambda: not self.printing.is_busy, timeout=60_000)


@pytest.fixture
def office(themes: theme.Themes, qtbot: QtBot, qapp: QApplication) -> Iterator[Office]:
    made = Office(themes, qtbot)
    yield made
    made.printing.cancel()
    made.window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qapp.setStyleSheet("")


def pages(path: Path) -> list[str]:
    """Return what stands on the pages of a PDF."""
    return PdfText(path.read_bytes()).pages


def blocks(*turns: Turn) -> list[TurnBlock]:
    made = [TurnBlock(turn, on_paper=True) for turn in turns]
    for block in made:
        block.lay_out(WIDTH)
        while block.is_unread:
            block.lay_out(WIDTH)
        block.reach(0, 1_000_000)
    return made


def painted(block: TurnBlock, look: theme.Theme) -> QImage:
    picture = QImage(int(WIDTH), block.height, QImage.Format.Format_RGB32)
    picture.fill(look.colour("surface"))
    painter = QPainter(picture)
    block.paint(painter, Shape(0, WIDTH), QRectF(picture.rect()), look, None)
    painter.end()
    return picture


def test_a_conversation_becomes_a_pdf_with_its_title_and_all_its_text(office: Office, tmp_path: Path) -> None:
    path = tmp_path / "chat.pdf"
    office.saves(path, [Turn(1, "user", "Why?"), Turn(2, "assistant", "Because **so**.", author="tiny")])
    assert path.read_bytes().startswith(b"%PDF")
    assert pages(path) == ["Page 1A titleYouWhy?tinyBecause so."]
    assert office.told == [f"hint: Saved as {path}"]


def test_more_text_needs_more_pages_and_none_of_it_is_lost_or_drawn_twice(office: Office, tmp_path: Path) -> None:
    office.saves(tmp_path / "chat.pdf", [Turn(1, "assistant", LONG_ANSWER[:9000], author="tiny")])
    found = pages(tmp_path / "chat.pdf")
    assert all(text.startswith(f"Page {number}") for number, text in enumerate(found, 1))
    assert 3 <= len(found) <= 20
    together = "".join(text[6 + (number >= 9) :] for number, text in enumerate(found))
    assert re.findall(r"Part (\d+)", together) == re.findall(r"## Part (\d+)", LONG_ANSWER[:9000])
    assert re.findall(r"quoted (\d+)", together) == re.findall(r"quoted (\d+)", LONG_ANSWER[:9000])
    assert together.count("column of text.") == LONG_ANSWER[:9000].count("column of text.")


def test_long_questions_are_printed_whole(office: Office, tmp_path: Path) -> None:
    office.saves(tmp_path / "a.pdf", [Turn(1, "user", "".join(f"line {n};\n" for n in range(300)))])
    text = "".join(pages(tmp_path / "a.pdf"))
    assert [int(number) for number in re.findall(r"line (\d+);", text)] == list(range(300))


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("room", [137.0, 400.0, 873.0])
def test_no_page_ends_within_a_line(themes: theme.Themes, qapp: QApplication, role: str, room: float) -> None:
    text = LONG_ANSWER[:6000] if role == "assistant" else f"{PARAGRAPH}\n\n" * 12
    (block,) = blocks(Turn(1, "user" if role == "user" else "assistant", text, author="tiny"))
    picture = painted(block, themes.paper)
    top = 0.0
    cuts = []
    while (end := cut_below(block, top, room)) != printed_height(block):
        assert end is not None
        assert top < end <= top + room
        cuts.append(end)
        top = end
    assert len(cuts) > 1
    inks = {
        themes.paper.colour(name).name() for name in ("text", "muted", "code_keyword", "code_number", "code_comment")
    }
    for cut in cuts:
        row = {picture.pixelColor(x, round(cut)).name() for x in range(picture.width())}
        assert not row & inks


def test_a_name_is_not_left_alone_at_the_end_of_a_page(qapp: QApplication) -> None:
    (block,) = blocks(Turn(1, "assistant", PARAGRAPH, author="tiny"))
    assert cut_below(block, 0.0, block.text_top + 10.0) is None
    assert cut_below(block, 0.0, block.text_top + 2.6 * theme.READING_LINE_PX) is not None


def test_code_wraps_and_wide_tables_shrink_so_that_nothing_is_cut_off(
    themes: theme.Themes, qapp: QApplication
) -> None:
    code = "```python\nx = '" + "long " * 60 + "'  # end\n```"
    table = "|" + "a wide column|" * 14 + "\n|" + "---|" * 14 + "\n|" + "words in it|" * 14
    (wrapped, shrunk) = blocks(Turn(1, "assistant", code), Turn(2, "assistant", table))
    ordinary = TurnBlock(Turn(1, "assistant", code))
    ordinary.lay_out(WIDTH)
    assert wrapped.height > ordinary.height + 2 * theme.READING_LINE_PX
    assert wrapped.spots(Shape(0, WIDTH), 0, 10_000) != []
    assert shrunk.spots(Shape(0, WIDTH), 0, 10_000) == []
    picture = painted(shrunk, themes.paper)
    border = themes.paper.colour("sunken").name()
    head = [x for x in range(int(WIDTH)) if picture.pixelColor(x, shrunk.text_top + 3).name() == border]
    assert head[0] <= 2
    assert head[-1] >= WIDTH - 4


def test_what_is_printed_is_light_and_of_one_size_whatever_the_window_is(
    office: Office, themes: theme.Themes, tmp_path: Path
) -> None:
    turns = [Turn(1, "user", PARAGRAPH), Turn(2, "assistant", PARAGRAPH * 8, author="tiny")]
    counts = []
    for choice, size in (("light", 100), ("dark", 200), ("contrast", 70)):
        themes.choose(choice)  # type: ignore[arg-type]  # one of the themes
        themes.choose_text_size(size)
        office.saves(tmp_path / f"{choice}.pdf", turns)
        counts.append(pages(tmp_path / f"{choice}.pdf"))
        assert themes.paper.name == "light"
    assert len(counts[0]) == len(counts[1]) == len(counts[2]) > 1


def test_the_window_is_used_while_pages_are_drawn_and_what_comes_later_is_not_printed(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(page_job, "SLICE_MS", 0)
    turns = [Turn(n, "user", f"{n}: {PARAGRAPH}") for n in range(60)]
    office.printing.save_pdf(tmp_path / "a.pdf", "A title", turns)
    progress = office.window.findChild(QProgressDialog)
    assert progress is not None
    assert not progress.isModal()
    qtbot.waitUntil(lambda: 0 < progress.value() < 60)
    assert not (tmp_path / "a.pdf").exists()
    turns[59].text += " more" * 5000
    office.printing.save_pdf(tmp_path / "other.pdf", "Other", turns)
    qtbot.waitUntil(lambda: not office.printing.is_busy, timeout=60_000)
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["a.pdf"]
    assert "more" not in "".join(pages(tmp_path / "a.pdf"))


def test_who_cancels_keeps_the_file_that_was_there(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(page_job, "SLICE_MS", 0)
    path = tmp_path / "a.pdf"
    path.write_bytes(b"old")
    office.printing.save_pdf(path, "A title", [Turn(n, "user", PARAGRAPH) for n in range(50)])
    progress = office.window.findChild(QProgressDialog)
    assert progress is not None
    qtbot.waitUntil(lambda: progress.value() > 0)
    progress.canceled.emit()
    assert not office.printing.is_busy
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["a.pdf"]
    assert office.told == []
    office.saves(path, [Turn(1, "user", "again")])
    assert path.read_bytes().startswith(b"%PDF")


def test_the_old_file_stays_until_the_new_one_is_complete(office: Office, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"old")
    office.held = []
    office.printing.save_pdf(path, "A title", [Turn(1, "user", "words")])
    qtbot.waitUntil(lambda: bool(office.held))
    assert path.read_bytes() == b"old"
    assert office.printing.is_busy
    office.held[0]()
    qtbot.waitUntil(lambda: not office.printing.is_busy)
    assert path.read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_file_that_cannot_be_written_is_told_in_one_sentence(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    def refuse(_path: Path, _content: bytes) -> None:
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(printing, "replace_whole", refuse)
    office.saves(tmp_path / "a.pdf", [Turn(1, "user", "words")])
    (told,) = office.told
    assert told.startswith(f"error: The PDF could not be saved in {tmp_path} ({os.strerror(reason)}): ")


def test_a_folder_that_is_gone_is_told(office: Office, tmp_path: Path) -> None:
    office.saves(tmp_path / "gone" / "a.pdf", [Turn(1, "user", "words")])
    assert "could not be saved" in office.told[0]


def test_somebody_is_asked_where_the_pdf_goes_with_the_title_as_its_name(office: Office, qtbot: QtBot) -> None:
    office.printing.choose_pdf("Why: blue?/sky", [Turn(1, "user", "words")])
    dialog = office.window.findChild(QFileDialog, "pdf_dialog")
    assert dialog is not None
    assert dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave
    assert dialog.defaultSuffix() == "pdf"
    dialog.close()


def test_an_empty_conversation_asks_for_nothing(office: Office) -> None:
    office.printing.choose_pdf("Title", [])
    assert office.window.findChild(QFileDialog) is None


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Why is it so?", "Why is it so.pdf"), ("a/b\\c:d", "a b c d.pdf"), ("", "Chat.pdf"), ("...", "Chat.pdf"),
        ("\x00\x1f", "Chat.pdf"), ("x" * 300, "x" * 80 + ".pdf"), ("日本", "日本.pdf"),
        ("Aux. power", "_Aux. power.pdf"), ("😀" * 80, "😀" * 56 + ".pdf"),
    ],
)  # fmt: skip
def test_a_title_becomes_a_name_that_every_system_takes(title: str, name: str) -> None:
    assert file_name(title) == name == f"{file_stem(title)}.pdf"


def test_a_printer_gets_the_same_pages(office: Office, tmp_path: Path, qtbot: QtBot) -> None:
    turns = [Turn(1, "user", "words"), Turn(2, "assistant", PARAGRAPH * 20, author="tiny")]
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setPageLayout(printing.page_layout())
    printer.setOutputFileName(str(tmp_path / "printed.pdf"))
    office.printing.print_on(printer, "A title", turns)
    qtbot.waitUntil(lambda: not office.printing.is_busy, timeout=60_000)
    assert office.told == [f"hint: Saved as {tmp_path / 'printed.pdf'}"]
    office.saves(tmp_path / "saved.pdf", turns)
    printed, saved = (pages(tmp_path / name) for name in ("printed.pdf", "saved.pdf"))
    assert printed == saved
    assert len(printed) > 1


@needs_linux
def test_without_what_reaches_printers_it_is_one_sentence_and_no_dialog(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "printsupport").mkdir()
    compile_library(tmp_path / "printsupport" / "libcupsprintersupport.so", NOTHING, "libcups-absent.so.9")
    monkeypatch.setattr(QLibraryInfo, "path", lambda _which: str(tmp_path))
    office.printing.choose_printer("A title", [Turn(1, "user", "words")])
    (told,) = office.told
    assert told.startswith(
        "error: No printer can be reached because system libraries are missing (libcups-absent.so.9)"
    )
    assert told.endswith(": install them, or save the chat as PDF.")
    assert office.window.findChild(QDialog) is None
    office.saves(tmp_path / "a.pdf", [Turn(1, "user", "words")])
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_somebody_is_asked_for_a_printer(office: Office) -> None:
    office.printing.choose_printer("A title", [Turn(1, "user", "words")])
    dialog = office.window.findChild(QDialog, "print_dialog")
    assert dialog is not None
    dialog.close()


@pytest.mark.qt_log_ignore("begin")
def test_a_printer_that_takes_nothing_is_told(office: Office, tmp_path: Path, qtbot: QtBot) -> None:
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "gone" / "printed.pdf"))
    office.printing.print_on(printer, "A title", [Turn(1, "user", "words")])
    qtbot.waitUntil(lambda: not office.printing.is_busy)
    assert office.told == ["error: The printer did not take all pages: look at it, then print again."]
