"""Files in messages, what moves chats into files and back, and what leads to them: how each comes about."""

from __future__ import annotations

import shutil
from array import array

from PySide6.QtWidgets import QFileDialog, QLineEdit, QListView

from app.core.attached_files import framed
from app.core.commands import Render, Tokenize
from app.core.events import Rendered, Tokenized
from app.gui.history.moving_dialog import ExportDialog
from app.gui.palette.popup import PalettePopup
from app.services.importers.chat_file import ChatLines
from tests.e2e.scene import Scene
from tests.services.importers.reading import EXPORTS

QUESTION = "Which of these rivers carries most water, and where does the report say so?"
ANSWER = """The **Amazon**: about 209,000 m³ a second at its mouth.

The report says so in its second part, *Discharge*; the table has the same figure in its last column."""
REPORT = "Rivers of the world\n\n1 Length\nThe Nile is the longest.\n\n2 Discharge\nThe Amazon carries most.\n" * 40
TABLE = "river,length_km,discharge_m3_s\nNile,6650,2830\nAmazon,6400,209000\nYangtze,6300,31900\n"
NOTES = "Lengths disagree between sources, as a river has several ways to begin.\n" * 90
LONG_NAME = "Minutes of the meeting of the working group on inland waters, second part, with all annexes.pdf"
BROKEN = """[{"title": "A walk along the river", "mapping": 7},
{"title": "Names of bridges", "mapping": {"a": {"message": {"author": {"role": "user"}}}}}]"""


def files(scene: Scene) -> None:
    """A question with two files was answered, and the next one has three."""
    scene.load(ANSWER)
    scene.program.chat.send("\n\n".join((framed("rivers.pdf", REPORT), framed("rivers.csv", TABLE), QUESTION)))
    scene.desk.settle()
    scene.desk.engine.prompt(1_060, files=(980, 58))
    scene.desk.settle()
    scene.write(ANSWER)
    scene.finish()
    composer = scene.window.parts.chat_page.composer
    composer.give_back(f"{framed('notes.md', NOTES)}\n\nDo my notes agree with that?")
    composer.attach(framed(LONG_NAME, REPORT))
    composer.draft.long_pasted.emit(NOTES)
    _count(scene)


def editing_files(scene: Scene) -> None:
    """Such a question is being changed."""
    files(scene)
    scene.window.parts.chat_page.turn_actions.edit(scene.program.chat.turns[0])


def _count(scene: Scene) -> None:
    """Let the engine count what is written, once the window has handed it on."""
    scene.rest()
    done = 0
    while done < len(asked := [each for each in scene.desk.engine.sent if isinstance(each, (Tokenize, Render))]):
        for each in asked[done:]:
            ids = array("i", range(1_480)).tobytes()
            is_text = isinstance(each, Tokenize)
            scene.desk.engine.say(
                Tokenized(each.request, ids) if is_text else Rendered(each.request, "", ids * 2, ())
            )
        done = len(asked)
        scene.desk.settle()


def exporting(scene: Scene) -> None:
    """Some of many chats are written into a file."""
    _talk(scene)
    export = scene.program.chat_export
    path = scene.program.models.folders[0].parent / "Conversations.json"
    scene.patch.setattr(type(export), "take", lambda _export, _event: None)
    assert export.begin(path, scene.program.conversations.heads, ChatLines())
    export.done, export.total = 212, 1_340
    ExportDialog(export, scene.window).open()


def imported(scene: Scene) -> None:
    """A file of another program was read, but for some of its chats."""
    _talk(scene)
    folder = scene.program.models.folders[0].parent
    whole, broken = folder / "open_webui.json", folder / "conversations.json"
    shutil.copy(EXPORTS / whole.name, whole)
    broken.write_text(BROKEN, "utf-8")
    scene.window.actions_by_name["import_chats_action"].trigger()
    chooser = scene.find(QFileDialog, "import_dialog")
    chooser.filesSelected.emit([str(whole), str(broken)])
    chooser.close()
    scene.desk.until(lambda: not scene.program.chat_import.is_busy)


def palette(scene: Scene) -> None:
    """Somebody looks for what has to do with chats."""
    _talk(scene)
    scene.window.actions_by_name["palette_action"].trigger()
    popup = scene.find(PalettePopup, "palette")
    popup.line.setText("chat")
    popup.list.setCurrentIndex(popup.list.model().index(2, 0))


def keyboard(scene: Scene) -> None:
    """The page of keys is open."""
    scene.load()
    scene.window.actions_by_name["keyboard_action"].trigger()


def folders(scene: Scene) -> None:
    """Chats are pinned and lie in folders, of which one is folded."""
    _talk(scene)
    arranged, heads = scene.program.chat_folders, scene.program.conversations.heads
    for name, chosen in (("Travel", heads[1:3]), ("A folder with a rather long name that does not fit", heads[3:4])):
        made = arranged.make(name)
        for head in chosen:
            arranged.move(head.id, made)
    arranged.make("Empty")
    arranged.fold("Travel", on=True)
    arranged.pin(heads[4].id, on=True)
    scene.find(QListView, "conversation_list").setFocus()


def found(scene: Scene) -> None:
    """Something is looked for in all chats."""
    _talk(scene)
    scene.window.actions_by_name["search_action"].trigger()
    scene.program.conversations.rename(scene.program.conversations.heads[2].id, "Journeys along rivers")
    scene.find(QLineEdit, "search_line").setText("river")
    scene.rest()


def _talk(scene: Scene) -> None:
    scene.program.conversations.start()
    scene.desk.settle()
    scene.load("Gladly.")
    for title in ("Why is the sky blue?", "Names for a cat", "How far is the moon?", "A poem about rain", "Trains"):
        scene.program.conversations.new()
        scene.answer(title, "Gladly: rivers run into the sea.")
