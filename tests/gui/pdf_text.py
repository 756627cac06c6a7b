"""The text of a PDF that Qt wrote, read back page by page; it reads no other PDF."""

from __future__ import annotations

import re
import zlib

_OBJECT = re.compile(rb"(?:^|\n)(\d+) 0 obj\b(.*?)\nendobj", re.DOTALL)
_SHOWN = re.compile(rb"/F(\d+) [0-9.]+ Tf|<([0-9A-Fa-f]+)> Tj")


class PdfText:
    """The pages of one PDF."""

    def __init__(self, content: bytes) -> None:
        self._objects = {int(number): body for number, body in _OBJECT.findall(content)}
        self._known: dict[int, dict[str, str]] = {}
        leaves = [body for body in self._objects.values() if re.search(rb"/Type\s*/Page\b", body)]
        self.pages = [self._text(self._stream(_reference(body, b"Contents"))) for body in leaves]

    def _stream(self, number: int) -> bytes:
        head, _, rest = self._objects[number].partition(b"stream")
        content = rest.lstrip(b"\r\n").rpartition(b"endstream")[0]
        return zlib.decompressobj().decompress(content) if b"FlateDecode" in head else content

    def _text(self, drawn: bytes) -> str:
        letters, text = dict[str, str](), ""
        for font, codes in _SHOWN.findall(drawn):
            if font:
                letters = self._letters(int(font))
            else:
                code = codes.decode().upper()
                text += "".join(letters.get(code[n : n + 4], "?") for n in range(0, len(code), 4))
        return text.replace("\t", " ")  # both are one sign of the font

    def _letters(self, font: int) -> dict[str, str]:
        """Return which letter each code of a font is."""
        if font not in self._known:
            table = self._stream(_reference(self._objects[font], b"ToUnicode")).decode("latin-1")
            self._known[font] = found = dict[str, str]()
            for first, last, target in re.findall(r"<(\w{4})>\s*<(\w{4})>\s*<(\w{4})>", table):
                for step in range(int(last, 16) - int(first, 16) + 1):
                    found[f"{int(first, 16) + step:04X}"] = chr(int(target, 16) + step)
            for first, _last, targets in re.findall(r"<(\w{4})>\s*<(\w{4})>\s*\[([^\]]*)\]", table):
                for step, target in enumerate(re.findall(r"<(\w{4})\w*>", targets)):
                    found[f"{int(first, 16) + step:04X}"] = chr(int(target, 16))
        return self._known[font]


def _reference(body: bytes, key: bytes) -> int:
    found = re.search(rb"/" + key + rb"\s+(\d+) 0 R", body)
    assert found is not None, f"no {key!r}"
    return int(found[1])
