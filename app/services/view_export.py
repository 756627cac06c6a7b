"""Tables of what a model file holds for spreadsheets: plain numbers, and texts that no program takes for a formula.

Pure. Names of columns are English in every language, so that files stay alike.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from app.core.gguf_view import EntryView, TensorView
from app.core.gguf_whole import TokenTable
from app.services.comparison_export import csv_cell
from app.services.viewing_words import token_kind_words, value_text

_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"


def tensors_csv(tensors: Iterable[TensorView]) -> bytes:
    """Return a row for each tensor."""
    return _table(
        ("name", "shape", "type", "size_bytes", "offset", "part"),
        (
            (each.name, " x ".join(map(str, each.shape)), each.type, each.size, each.offset, each.part + 1)
            for each in tensors
        ),
    )


def entries_csv(entries: Iterable[EntryView]) -> bytes:
    """Return a row for each entry, a long value by its beginning."""
    return _table(
        ("key", "type", "value", "length"),
        ((each.key, each.type, value_text(each), each.length) for each in entries),
    )


def tokens_csv(table: TokenTable, rows: Sequence[int]) -> bytes:
    """Return a row for each of these tokens."""
    kinds = {kind: words.english() for kind in range(7) if (words := token_kind_words(kind)) is not None}
    return _table(
        ("number", "text", "kind"),
        (
            (token, table.texts[token], kinds.get(table.kinds[token]) if token < len(table.kinds) else None)
            for token in rows
        ),
    )


def _table(titles: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> bytes:
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow(titles)
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return f"{_BOM}{lines.getvalue()}".encode("utf-8", "replace")
