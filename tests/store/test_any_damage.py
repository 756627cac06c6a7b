from __future__ import annotations

import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.comparison import Layout
from app.core.conversation import AnswerPrompt
from app.core.store_commands import KeepComparison, KeepPrompt, MeasureStore, ReadConversation, ReadPieces, ReadRecord
from app.core.store_events import ConversationRead, Kept, PiecesRead, RecordRead, StoreMeasured
from app.store.opening import FILE_NAME
from tests.store.lanes import compared
from tests.store.shelf import Shelf, chunk, end, head, ids, question, shelf


def filled(folder: Path) -> bytes:
    """Return a database in which every table takes more than one page."""
    with shelf(folder) as kept:
        for key in range(1, 40):
            kept.send(
                question(key, head(key), key * 10), KeepPrompt(AnswerPrompt(key * 10 + 1, ids(*range(300)), ()))
            )
            kept.send(chunk(key * 10 + 1, "word " * 200, key, record=b"record" * 200))
            kept.send(end(key * 10 + 1, "word " * 200, key))
            begun = compared(key, head(key), key * 10 + 2)
            kept.send(begun, KeepComparison(replace(begun.comparison, layout=Layout(1, "word " * 50, ""))))
    return (folder / FILE_NAME).read_bytes()


def damaged(whole: bytes, choose: random.Random) -> bytes:
    broken = bytearray(whole)
    match choose.randrange(4):
        case 0:
            return bytes(broken[: choose.randrange(len(broken))])
        case 1:
            page = choose.randrange(1, len(broken) // 4096) * 4096
            broken[page : page + 4096] = choose.randbytes(4096)
        case 2:
            at = choose.randrange(100, len(broken) - 600)
            broken[at : at + 500] = choose.randbytes(500)
        case 3:
            for _ in range(200):
                broken[choose.randrange(24, len(broken))] = choose.randrange(256)
    return bytes(broken)


@pytest.mark.parametrize("seed", range(24))
def test_whatever_the_damage_everything_is_answered_and_new_words_are_kept(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, seed: int
) -> None:
    made = tmp_path_factory.getbasetemp() / f"whole-{FILE_NAME}"
    if not made.exists():
        made.write_bytes(filled(tmp_path / "made"))
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / FILE_NAME).write_bytes(damaged(made.read_bytes(), random.Random(seed)))
    kept = Shelf(folder)
    opened = kept.open()
    assert opened.usable or opened.problems
    for key in range(1, 40):
        assert kept.ask(ReadConversation(1, key), ConversationRead).conversation == key
        assert kept.ask(ReadRecord(2, key * 10 + 1), RecordRead).request == 2
    assert kept.ask(ReadPieces(3, "a"), PiecesRead).pieces is None
    assert kept.ask(MeasureStore(4), StoreMeasured).request == 4
    assert kept.ask(question(5, head(900), 9000), Kept).request == 5
    kept.send(end(9001, "the new words", key=900))
    kept.close()
    if opened.usable:
        with shelf(folder) as again:
            assert [message.text for message in again.read(900).messages] == ["Question 9000", "the new words"]
