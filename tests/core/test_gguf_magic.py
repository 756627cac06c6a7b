"""Files that are no GGUF files, told apart by their first bytes."""

from __future__ import annotations

import io
import zipfile

import pytest

from app.core.errors import UserError
from app.core.gguf_header import read_header

WEB_PAGE = "a web page that was saved in place of the model"
OLD_GGML = "the GGML format that llama.cpp gave up"
ARCHIVE = "a packed archive"
PYTORCH = "a PyTorch checkpoint"
TEXT = "holds text and no model"
OTHER = "This is not a GGUF file"


def zip_with(name: str) -> bytes:
    """Return a ZIP archive with one file in it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, bytes(2000))
    return file.getvalue()


OTHER_FILES = {
    "empty": (b"", "This file is empty"),
    "two bytes of GGUF": (b"GG", "only 2 bytes long"),
    "magic alone": (b"GGUF", "only 4 bytes long"),
    "one byte too short": (b"GGUF\x03" + bytes(18), "only 23 bytes long"),
    "page": (b"<!DOCTYPE html><html><body>Sign in", WEB_PAGE),
    "page after a blank line": (b"\xef\xbb\xbf\r\n  <HTML lang=en>", WEB_PAGE),
    "xml": (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', WEB_PAGE),
    "lfs": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 98362432\n",
        "Git LFS pointer",
    ),
    "ggml": (b"lmgg" + bytes(100), OLD_GGML),
    "ggjt": (b"tjgg\x03\x00\x00\x00" + bytes(100), OLD_GGML),
    "ggml spelt forwards": (b"ggml" + bytes(100), OLD_GGML),
    "safetensors": (
        (120).to_bytes(8, "little") + b'{"__metadata__":{"format":"pt"}}' + bytes(500),
        "a safetensors file",
    ),
    "pickle": (b"\x80\x02}q\x00X\x07\x00\x00\x00weightsq\x01." + bytes(50), PYTORCH),
    "checkpoint": (zip_with("archive/data.pkl"), PYTORCH),
    "zip": (zip_with("model.gguf"), ARCHIVE),
    "gzip": (b"\x1f\x8b\x08" + bytes(100), ARCHIVE),
    "zeros": (bytes(5000), "nothing but zeros"),
    "json": (b'{"error":"Access to this model is restricted"}', TEXT),
    "long text cut within a character": (b"x" + "ü".encode() * 2000, TEXT),
    "noise": (bytes(range(256)) * 8, OTHER),
    "latin-1": (b"M\xfcller", OTHER),
}


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_another_kind_of_file_is_named(kind: str) -> None:
    content, expected = OTHER_FILES[kind]
    with pytest.raises(UserError) as caught:
        read_header(lambda offset, size: content[offset : offset + size], len(content))
    assert expected in str(caught.value)


def test_a_large_file_is_told_by_its_first_bytes_alone() -> None:
    asked = []

    def read(offset: int, size: int) -> bytes:
        asked.append((offset, size))
        return b"<html>" + bytes(size - 6)

    with pytest.raises(UserError, match=WEB_PAGE):
        read_header(read, 40 * 10**9)
    assert asked == [(0, 1024)]


def test_every_sentence_says_what_to_do_next() -> None:
    for content, _ in OTHER_FILES.values():
        with pytest.raises(UserError) as caught:
            read_header(lambda offset, size, content=content: content[offset : offset + size], len(content))  # type: ignore[misc]
        _, next_step = str(caught.value).rsplit(": ", 1)
        assert next_step.split()[0] in {"download", "open", "get", "choose", "run", "unpack"}
