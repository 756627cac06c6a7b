"""What a document says, as text. Runs in a process of its own, for what a document holds may take for ever.

Knows nothing of limits of time and memory; whoever starts the process has those.
"""

from __future__ import annotations

import codecs
import logging
import re
import stat
from pathlib import Path

from app.core.attached_document import MOST_BYTES, MOST_CHARACTERS, MOST_PDF_BYTES, DocumentFault
from app.core.chat import clean_text

_PDF, _PDF_WITHIN = b"%PDF-", 1024
"""What a PDF begins with, and within how many bytes."""
_BINARY = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class UnreadableDocument(Exception):
    """A document that gives no text, and which fault that is."""

    def __init__(self, fault: DocumentFault, detail: str = "") -> None:
        """`detail` is for the log."""
        super().__init__(detail or fault)
        self.fault = fault
        self.detail = detail


def text_of(path: Path) -> str:
    """Return what a file says, with line feeds between its lines. Raises `UnreadableDocument`."""
    try:
        facts = path.stat()
        if stat.S_ISDIR(facts.st_mode):
            raise UnreadableDocument("folder")
        if not stat.S_ISREG(facts.st_mode):
            raise UnreadableDocument("no_file")  # opening a pipe waits for who writes to it
        with path.open("rb") as file:
            beginning = file.read(_PDF_WITHIN)
            if _PDF in beginning:
                text = _pdf(path, facts.st_size)
            else:
                text = _plain(beginning + file.read(MOST_BYTES + 1 - len(beginning)))
    except FileNotFoundError as error:
        raise UnreadableDocument("gone") from error
    except OSError as error:
        raise UnreadableDocument("unreadable", str(error)) from error
    text = clean_text(text.replace("\r\n", "\n").replace("\r", "\n"))
    if not text.strip():
        raise UnreadableDocument("empty")
    if len(text) > MOST_CHARACTERS:
        raise UnreadableDocument("too_large")
    return text


def _plain(data: bytes) -> str:
    if len(data) > MOST_BYTES:
        raise UnreadableDocument("binary" if b"\x00" in data[:_PDF_WITHIN] else "too_large")
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if b"\x00" in data:
        raise UnreadableDocument("binary")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if _BINARY.search(data):
            raise UnreadableDocument("binary") from None
        return data.decode("cp1252", "replace")  # what Windows wrote for decades, and Latin-1 with it


def _pdf(path: Path, size: int) -> str:
    if size > MOST_PDF_BYTES:
        raise UnreadableDocument("too_large")
    try:
        from pypdf import PdfReader  # noqa: PLC0415  no other process may load it
        from pypdf.errors import DependencyError  # noqa: PLC0415
    except ImportError as error:
        raise UnreadableDocument("no_reader", str(error)) from error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what is odd in a file is no fault of ours
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocument("encrypted")
        pages: list[str] = []
        length = 0
        for page in reader.pages:
            pages.append(page.extract_text().strip())
            length += len(pages[-1])
            if length > MOST_CHARACTERS:
                raise UnreadableDocument("too_large")
    except (UnreadableDocument, MemoryError, OSError):
        raise
    except Exception as error:  # it raises whatever a damaged file makes of it
        fault: DocumentFault = "encrypted" if isinstance(error, DependencyError) else "damaged"
        raise UnreadableDocument(fault, f"{type(error).__name__}: {error}") from error
    text = "\n\n".join(page for page in pages if page)
    if not text:
        raise UnreadableDocument("no_text")
    return text
