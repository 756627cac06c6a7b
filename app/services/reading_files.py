"""What a file says that somebody attaches, or the sentence that says why it says nothing."""

from __future__ import annotations

from pathlib import Path

from app.core.attached_document import MOST_CHARACTERS, MOST_PDF_BYTES, DocumentFault
from app.core.errors import ExitCode, UserError
from app.core.words import Sentence, translate
from app.services.file_names import short_name
from app.services.units import byte_size
from app.system.document_text import UnreadableDocument
from app.system.documents import MOST_MEMORY, SECONDS, read_document


def document_text(path: Path) -> str:
    """Return what a file says; may take half a minute. Raises `UserError` where that is nothing."""
    try:
        return read_document(path)
    except UnreadableDocument as error:
        raise UserError(_sentence(error.fault, short_name(path)), ExitCode.WRONG_USE) from error


def _sentence(fault: DocumentFault, name: str) -> Sentence:
    match fault:
        case "too_large" | "too_slow" | "too_much_memory":
            return _limit(fault, name)
        case "broke_off" | "ended" | "no_process" | "no_reader" | "own_fault":
            return _of_the_reader(fault, name)
        case "binary":
            return translate(
                "Documents",
                "“{name}” is neither text nor a PDF: attach text, Markdown, source, CSV or PDF files.",
                name=name,
            )
        case "damaged":
            return translate(
                "Documents",
                "The PDF “{name}” is damaged: save it anew with the program that made it, and attach that.",
                name=name,
            )
        case "empty":
            return translate("Documents", "“{name}” says nothing: attach a file with text in it.", name=name)
        case "encrypted":
            return translate(
                "Documents",
                "The PDF “{name}” is protected by a password: save it without one, and attach that.",
                name=name,
            )
        case "no_text":
            return translate(
                "Documents",
                "The PDF “{name}” has pictures of pages and no text: have its text recognised, and attach that.",
                name=name,
            )
        case "folder":
            return translate("Documents", "“{name}” is a folder: attach the files in it.", name=name)
        case "gone":
            return translate(
                "Documents", "There is no file “{name}” any more: attach it from where it is now.", name=name
            )
        case "no_file":
            return translate("Documents", "“{name}” is a device or a pipe: attach a file.", name=name)
        case "unreadable":
            return translate(
                "Documents", "“{name}” cannot be read: see whether you may open it and its disk is there.", name=name
            )


def _limit(fault: DocumentFault, name: str) -> Sentence:
    """Return what of a file is more than there is room for."""
    if fault == "too_slow":
        return translate(
            "Documents",
            "“{name}” took more than {seconds} seconds to read: attach a part of it.",
            name=name,
            seconds=round(SECONDS),
        )
    if fault == "too_much_memory":
        return translate(
            "Documents",
            "“{name}” took more than {size} of memory to read: attach a part of it.",
            name=name,
            size=byte_size(MOST_MEMORY),
        )
    return translate(
        "Documents",
        "“{name}” is too large: a file may have {characters} characters, and a PDF {size}. Attach a part of it.",
        name=name,
        characters=MOST_CHARACTERS,
        size=byte_size(MOST_PDF_BYTES),
    )


def _of_the_reader(fault: DocumentFault, name: str) -> Sentence:
    """Return what is wrong with the process that reads, whatever the file is."""
    match fault:
        case "broke_off":
            return translate(
                "Documents",
                "The process that read “{name}” broke off: try again, or save the file anew and attach that.",
                name=name,
            )
        case "ended":
            return translate(
                "Documents",
                "The system ended the process that read “{name}”, as it does when memory is short: "
                "end other programs and try again, or attach a part of it.",
                name=name,
            )
        case "no_process":
            return translate(
                "Documents",
                "“{name}” cannot be read, because no process could be started: end other programs and try again.",
                name=name,
            )
        case "no_reader":
            return translate(
                "Documents",
                "“{name}” cannot be read, because the part that reads PDF files is missing: install the program anew.",
                name=name,
            )
        case _:
            return translate(
                "Documents",
                "“{name}” could not be read by a fault of this program; the log has the details.",
                name=name,
            )
