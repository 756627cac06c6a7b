"""Files from the disk to an answer and back after a restart, in the real window with the real model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.remote_window import RemoteWindow
from tests.pdfs import pdf_of

READY = "program.session.phase == 'ready'"
DONE = "not program.chat.busy"
COMPOSER = "window.parts.chat_page.composer"
CHIPS = f"[[each.file.name, each.tokens] for each in {COMPOSER}._pasted.all if each.file]"
COUNTED = f"{COMPOSER}._pasted.all and all(each.tokens for each in {COMPOSER}._pasted.all)"
STATUS = "find('composer_status').accessibleName()"
SPOTS = "[each.spot.value for each in window.parts.chat_page.transcript._spots_in_view() if each.spot.kind == 'file']"
EDITOR = "window.parts.chat_page.turn_actions.editor"
QT = "__import__('PySide6', fromlist=['QtCore', 'QtGui', 'QtWidgets'])"
ROWS = {"notes.txt": "Buy lamp oil.\n" * 4, "ships.csv": "ship,mast\nAnna,2\n"}
PDF_WORDS = b"BT /F1 12 Tf 72 720 Td (The lighthouse stands on a cliff.) Tj ET"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with a text, a table, a PDF, and a text that no small context holds."""
    for name, text in ROWS.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "cliff.pdf").write_bytes(pdf_of(PDF_WORDS))
    (tmp_path / "long.txt").write_text("one two three four " * 5_000, "utf-8")
    return tmp_path


def urls(path: Path) -> str:
    """Return an expression for what the system hands over when a file is dropped or pasted."""
    url = f"{QT}.QtCore.QUrl.fromLocalFile({str(path)!r})"
    return f"(lambda data: (data.setUrls([{url}]), data)[1])({QT}.QtCore.QMimeData())"


def by_button(window: RemoteWindow, path: Path) -> None:
    window.clicks("attach_button")
    dialog = f"window.findChild({QT}.QtWidgets.QFileDialog, 'attach_dialog')"
    window.until(f"bool({dialog})")
    window.ask(f"(lambda dialog: (dialog.filesSelected.emit([{str(path)!r}]), dialog.close()) and None)({dialog})")


def by_drop(window: RemoteWindow, path: Path) -> None:
    core, gui = f"{QT}.QtCore", f"{QT}.QtGui"
    held = f"{core}.Qt.DropAction.CopyAction, data, {core}.Qt.MouseButton.LeftButton"
    none = f"{core}.Qt.KeyboardModifier.NoModifier"
    send = f"{QT}.QtWidgets.QApplication.sendEvent"
    window.ask(
        f"(lambda data: ({send}(window, {gui}.QDragEnterEvent({core}.QPoint(9, 9), {held}, {none})), "
        f"{send}(window, {gui}.QDropEvent({core}.QPointF(9, 9), {held}, {none}))) and None)({urls(path)})"
    )


def by_paste(window: RemoteWindow, path: Path) -> None:
    window.ask(f"{QT}.QtGui.QGuiApplication.clipboard().setMimeData({urls(path)})")
    window.ask(f"{COMPOSER}.draft.paste()")
    window.ask(f"{QT}.QtGui.QGuiApplication.clipboard().clear()")  # no data of Python's may be there at the very end


def test_files_are_attached_counted_sent_kept_and_edited(home: Path, files: Path, starter_model: Path) -> None:
    with RemoteWindow(home, str(starter_model)) as window:
        window.until(READY)
        window.ask("program.sampling.use_preset('Greedy')")
        window.ask("program.sampling.change(max_tokens=12)")
        for attach, name in ((by_button, "notes.txt"), (by_drop, "ships.csv"), (by_paste, "cliff.pdf")):
            attach(window, files / name)
            window.until(f"{name!r} in [each[0] for each in {CHIPS}]")
        window.until(COUNTED)
        chips = window.ask(CHIPS)
        assert [name for name, _ in chips] == ["notes.txt", "ships.csv", "cliff.pdf"]
        window.ask(f"{COMPOSER}.draft.insertPlainText('Where does the lighthouse stand?')")
        by_drop(window, files / "long.txt")
        window.until(f"{STATUS}.startswith('Too long') and {COUNTED}")
        cells, taken = window.ask("program.session.model.context"), window.ask(f"{CHIPS}[-1][1]")
        figures = [int(word) for word in window.ask(STATUS).replace(",", "").rstrip(".").split() if word.isdigit()]
        assert taken > cells and figures[0] > taken and f"{cells:,}" in window.ask(STATUS)
        window.sends("")
        assert window.turns() == []
        window.ask(f"{COMPOSER}._pasted.remove({COMPOSER}._pasted.all[-1])")
        window.until(f"{COUNTED} and not {STATUS}.startswith('Too long')")
        window.sends("")
        window.until("len(program.chat.turns) == 2 and program.chat.turns[1].text")
        window.until(DONE)
        question = window.turns()[0][1]
        assert "The lighthouse stands on a cliff." in question and question.endswith(
            "Where does the lighthouse stand?"
        )
        sent = window.ask("list(program.chat.turns[0].file_tokens)")
        assert len(sent) == 3 and all(0 <= one - other <= 16 for one, (_, other) in zip(sent, chips, strict=True))
        assert window.close() == (0, "")
    with RemoteWindow(home, str(starter_model)) as again:
        again.until(f"{READY} and len(program.chat.turns) == 2")
        assert again.turns()[0] == ("user", question, "done")
        assert [each.split(" · ")[0] for each in again.ask(SPOTS)] == ["notes.txt", "ships.csv", "cliff.pdf"]
        again.ask("window.parts.chat_page.turn_actions.edit(program.chat.turns[0])")
        assert again.ask(f"len({EDITOR}._files.all)") == 3
        again.ask(f"{EDITOR}._files.remove({EDITOR}._files.all[0])")
        again.ask(f"{EDITOR}._use.click()")
        again.until(f"'Buy lamp oil' not in program.chat.turns[0].text and {DONE} and len(program.chat.turns) == 2")
        edited = again.turns()[0][1]
        assert "The lighthouse stands on a cliff." in edited and "Anna,2" in edited
        assert again.ask("len(program.chat.shown.known)") == 4  # the first question and its answer stay
        assert again.close() == (0, "")
