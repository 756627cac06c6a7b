"""The files in what somebody drags, drops or pastes. Knows no widget."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData


def files_in(data: QMimeData) -> list[Path]:
    """Return the files of this machine that something names; none where it names other addresses as well."""
    urls = data.urls() if data.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls] if all(url.isLocalFile() for url in urls) else []


def is_picture(data: QMimeData) -> bool:
    """Return whether it is a picture and nothing that can be written or attached."""
    return data.hasImage() and not data.hasText() and not data.hasUrls()
