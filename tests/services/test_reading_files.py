"""Why nothing can be made of a file is one sentence for each cause, with the file's name and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from app.core.attached_document import DocumentFault
from app.core.errors import UserError
from app.services import reading_files
from app.system.document_text import UnreadableDocument

FAULTS: tuple[DocumentFault, ...] = get_args(DocumentFault)


def said(monkeypatch: pytest.MonkeyPatch, fault: DocumentFault) -> str:
    def refuse(_path: Path) -> str:
        raise UnreadableDocument(fault)

    monkeypatch.setattr(reading_files, "read_document", refuse)
    with pytest.raises(UserError) as caught:
        reading_files.document_text(Path("notes.md"))
    return caught.value.sentence.english()


def test_each_cause_has_a_sentence_of_its_own_that_names_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = {fault: said(monkeypatch, fault) for fault in FAULTS}
    assert all("“notes.md”" in each for each in sentences.values())
    assert len(set(sentences.values())) == len(FAULTS)


@pytest.mark.parametrize("fault", ["broke_off", "ended", "no_process", "own_fault", "too_slow", "unreadable"])
def test_nothing_is_called_a_damaged_pdf_that_may_be_no_pdf(
    monkeypatch: pytest.MonkeyPatch, fault: DocumentFault
) -> None:
    assert "PDF" not in said(monkeypatch, fault) and "damaged" not in said(monkeypatch, fault)


def test_what_ran_out_of_memory_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "memory is short" in said(monkeypatch, "ended")
    assert "broke off" in said(monkeypatch, "broke_off")
