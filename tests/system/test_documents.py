"""Documents become text in a process that has so much time and memory; what is none says why."""

from __future__ import annotations

import codecs
import os
import signal
import sys
import threading
import zlib
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.core.attached_document import MOST_BYTES, MOST_CHARACTERS, DocumentFault
from app.system import documents
from app.system.child import Target
from app.system.document_text import UnreadableDocument, text_of
from app.system.documents import read_document
from tests.pdfs import pdf_of

WORDS = "Grüße, “world” – 漢字 🙂\nsecond line"


def fault_of(path: Path) -> DocumentFault:
    with pytest.raises(UnreadableDocument) as caught:
        text_of(path)
    return caught.value.fault


@pytest.mark.parametrize(
    "data",
    [
        WORDS.encode(),
        codecs.BOM_UTF8 + WORDS.encode(),
        codecs.BOM_UTF16_LE + WORDS.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + WORDS.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + WORDS.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + WORDS.encode("utf-32-be"),
        WORDS.replace("\n", "\r\n").encode(),
        WORDS.replace("\n", "\r").encode(),
    ],
)
def test_texts_are_read_in_every_unicode_encoding(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes(data)
    assert text_of(path) == WORDS


def test_texts_of_old_windows_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_bytes("Größe;5 €".encode("cp1252"))
    assert text_of(path) == "Größe;5 €"


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary"),
        (b"PK\x03\x04\x14\x00\xff", "binary"),
        (b"\xff\xfa\x01\x02", "binary"),
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"a" * (MOST_CHARACTERS + 1), "too_large"),
        (b"a" * (MOST_BYTES + 1), "too_large"),
        (b"%PDF-1.4\nnothing of a file", "damaged"),
        (pdf_of(b""), "no_text"),
        (pdf_of(b"BT /F1 9 Tf (Hi) Tj ET", kids="2 0 R"), "damaged"),
    ],
)
def test_what_gives_no_text_says_why(tmp_path: Path, data: bytes, fault: DocumentFault) -> None:
    pytest.importorskip("pypdf")
    path = tmp_path / "given"
    path.write_bytes(data)
    assert fault_of(path) == fault


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    assert fault_of(tmp_path) == "folder"
    assert fault_of(tmp_path / "gone.txt") == "gone"
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")
        assert fault_of(tmp_path / "pipe") == "no_file"
        assert fault_of(Path("/dev/zero")) == "no_file"


def test_the_text_of_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf_of(b"BT /F1 9 Tf (First page) Tj ET", b"BT /F1 9 Tf (Second page) Tj ET"))
    assert read_document(path) == "First page\n\nSecond page"


def test_a_pdf_with_a_password_says_so(tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    (tmp_path / "open.pdf").write_bytes(pdf_of(b"BT /F1 9 Tf (Secret) Tj ET"))
    for word, fault in (("word", "encrypted"), ("", None)):
        writer = pypdf.PdfWriter(clone_from=tmp_path / "open.pdf")
        writer.encrypt(user_password=word, owner_password="owner", algorithm="RC4-128")
        writer.write(tmp_path / "closed.pdf")
        if fault is None:
            assert text_of(tmp_path / "closed.pdf") == "Secret"
        else:
            assert fault_of(tmp_path / "closed.pdf") == fault


def test_a_stream_that_unpacks_into_gigabytes_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    packer = zlib.compressobj(9)
    packed = b"".join([*(packer.compress(b" " * 10_000_000) for _ in range(100)), packer.flush()])
    path = tmp_path / "bomb.pdf"
    path.write_bytes(pdf_of(packed, extra="/Filter /FlateDecode"))
    with pytest.raises(UnreadableDocument) as caught:
        read_document(path)
    assert caught.value.fault in ("damaged", "no_text", "too_much_memory", "too_slow")


def test_long_texts_come_whole_out_of_the_process(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("0123456789é" * 60_000, "utf-8")
    assert read_document(path) == "0123456789é" * 60_000


def wait_for_ever(connection: Connection, path: str, memory: str) -> None:
    documents.tell(connection, documents._Started(os.getpid()))
    threading.Event().wait()


def eat(connection: Connection, path: str, memory: str) -> None:
    documents.tell(connection, documents._Started(os.getpid()))
    eaten = [b"x" * 10_000_000 for _ in range(30)]
    threading.Event().wait()
    raise AssertionError(len(eaten))


def vanish(connection: Connection, path: str, memory: str) -> None:
    documents.tell(connection, documents._Started(os.getpid()))
    os._exit(1)


def die(connection: Connection, path: str, memory: str) -> None:
    documents.tell(connection, documents._Started(os.getpid()))
    signal.raise_signal(signal.SIGKILL)


def crash(connection: Connection, path: str, memory: str) -> None:
    documents.tell(connection, documents._Started(os.getpid()))
    os.abort()


@pytest.mark.parametrize(
    ("target", "seconds", "memory", "fault"),
    [
        (wait_for_ever, 0.0, documents.MOST_MEMORY, "too_slow"),
        (eat, 60.0, 100_000_000, "too_much_memory"),
        (vanish, 60.0, documents.MOST_MEMORY, "broke_off"),
        (crash, 60.0, documents.MOST_MEMORY, "broke_off"),
        pytest.param(
            die,
            60.0,
            documents.MOST_MEMORY,
            "ended",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell who ended a process"),
        ),
    ],
)
def test_a_process_that_goes_beyond_its_limits_is_ended(
    tmp_path: Path, target: Target, seconds: float, memory: int, fault: DocumentFault
) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        read_document(tmp_path, seconds=seconds, memory=memory, target=target)
    assert caught.value.fault == fault


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux refuses memory by a limit")
def test_the_process_itself_has_no_more_memory_than_allowed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 900_000)
    with pytest.raises(UnreadableDocument) as caught:
        read_document(tmp_path / "a.txt", memory=1)
    assert caught.value.fault == "too_much_memory"


def test_a_document_has_twenty_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((100.0, 119.9, 120.0, 120.1))
    monkeypatch.setattr(documents, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with pytest.raises(UnreadableDocument) as caught:
        read_document(tmp_path / "x", target=wait_for_ever)
    assert caught.value.fault == "too_slow" and next(clock, None) is None


def tell_its_limit(connection: Connection, path: str, memory: str) -> None:
    documents.tell(connection, documents._Started(os.getpid()))
    documents.tell(connection, documents._Piece(memory, True))


def test_a_document_has_five_hundred_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_document(tmp_path / "x", target=tell_its_limit) == "500000000"
    taken = iter((7, 500_000_006, 500_000_007, 500_000_008))

    class Process:
        def __init__(self, pid: int) -> None:
            self.pid = pid

        def memory_info(self) -> SimpleNamespace:
            return SimpleNamespace(rss=next(taken))

    monkeypatch.setattr(documents, "psutil", SimpleNamespace(Process=Process, Error=OSError))
    with pytest.raises(UnreadableDocument) as caught:
        read_document(tmp_path / "x", seconds=60.0, target=wait_for_ever)
    assert caught.value.fault == "too_much_memory" and next(taken, None) is None
