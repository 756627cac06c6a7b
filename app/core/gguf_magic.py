"""Recognises by its first bytes a file that is no GGUF model, and says what it is instead.

Looks at one short piece of bytes; never at the file's name, which people change.
"""

from __future__ import annotations

from app.core.errors import UserError
from app.core.gguf_types import SMALLEST_FILE_BYTES
from app.core.words import Sentence, translate

GGUF_MAGIC = b"GGUF"
HEAD_BYTES = 1024

_OLD_GGML = (b"lmgg", b"fmgg", b"tjgg", b"algg", b"nsgg", b"ggml", b"ggmf", b"ggjt", b"ggla", b"ggsn")
_ARCHIVES = (
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!",
    b"\xfd7zXZ",
    b"BZh",
    b"\x28\xb5\x2f\xfd",
)
_PICKLES = tuple(b"\x80" + bytes([protocol]) for protocol in (2, 3, 4, 5))
_LARGEST_SAFETENSORS_HEADER_BYTES = 100_000_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CONTROL_BYTES_OF_TEXT = frozenset(b"\t\n\r\f\x1b")

_EMPTY = translate("ModelFile", "This file is empty: download the model again.")
_WEB_PAGE = translate(
    "ModelFile",
    "This file is a web page that was saved in place of the model: open the model's page in a browser, sign"
    " in if it asks for that, and download the .gguf file itself.",
)
_LFS_POINTER = translate(
    "ModelFile",
    "This file is only a Git LFS pointer to the model: run “git lfs pull” in its folder, or download the"
    " .gguf file from the model's page.",
)
_GGML = translate(
    "ModelFile",
    "This model is in the GGML format that llama.cpp gave up in August 2023: get the model as a GGUF file.",
)
_SAFETENSORS = translate(
    "ModelFile", "This is a safetensors file, which llama.cpp cannot run: get the model as a GGUF file."
)
_PYTORCH = translate(
    "ModelFile", "This is a PyTorch checkpoint, which llama.cpp cannot run: get the model as a GGUF file."
)
_ARCHIVE = translate("ModelFile", "This file is a packed archive: unpack it and open the .gguf file that is inside.")
_ZEROS = translate(
    "ModelFile",
    "This file begins with nothing but zeros, so its download was never finished: download the model again.",
)
_TEXT = translate(
    "ModelFile",
    "This file holds text and no model: choose a file in the GGUF format, or download the model again.",
)
_OTHER = translate(
    "ModelFile", "This is not a GGUF file: choose a file in the GGUF format, or download the model again."
)


def refuse_other_formats(head: bytes, file_size: int) -> None:
    """Raise the sentence that fits, unless `head`, the first bytes of the file, starts a GGUF file."""
    if not head:
        raise UserError(_EMPTY)
    if not head.startswith(GGUF_MAGIC[: len(head)]):
        raise UserError(_other_format(head))
    if file_size < SMALLEST_FILE_BYTES:
        raise UserError(
            translate(
                "ModelFile",
                "This file is only {size} bytes long, too short for a model: download the model again.",
                size=file_size,
            )
        )


def _other_format(head: bytes) -> Sentence:
    """Return what a file that does not start with GGUF is."""
    text = head.removeprefix(_BYTE_ORDER_MARK).lstrip().lower()
    if text.startswith((b"<!doctype", b"<html", b"<head", b"<body", b"<?xml", b"<script")):
        return _WEB_PAGE
    if head.startswith(b"version https://git-lfs.github.com/spec/"):
        return _LFS_POINTER
    if head.startswith(_OLD_GGML):
        return _GGML
    if _is_safetensors(head):
        return _SAFETENSORS
    if head.startswith(_PICKLES) or (head.startswith(b"PK\x03\x04") and b"data.pkl" in head):
        return _PYTORCH
    if head.startswith(_ARCHIVES):
        return _ARCHIVE
    if not any(head):
        return _ZEROS
    if _is_text(head):
        return _TEXT
    return _OTHER


def _is_safetensors(head: bytes) -> bool:
    """Whether a 64-bit length and the JSON object of that length stand at the start."""
    return head[8:10] == b'{"' and 2 <= int.from_bytes(head[:8], "little") <= _LARGEST_SAFETENSORS_HEADER_BYTES


def _is_text(head: bytes) -> bool:
    """Whether the bytes read as UTF-8 text; a character may be cut in two at the end of the piece."""
    if any(byte < 0x20 and byte not in _CONTROL_BYTES_OF_TEXT for byte in head):
        return False
    cut_off = 3 if len(head) == HEAD_BYTES else 0
    return len(head.decode("utf-8", errors="ignore").encode()) >= len(head) - cut_off
