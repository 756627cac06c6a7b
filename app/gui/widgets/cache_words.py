"""What the types of the cache's numbers are called."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.model import KVType

translate = QCoreApplication.translate


def kv_name(kind: KVType) -> str:
    """Return what a type of the cache's numbers is called."""
    names: dict[KVType, str] = {
        "f16": translate("LoadOptions", "16 bits (F16)"),
        "q8_0": translate("LoadOptions", "8 bits (Q8_0)"),
        "q4_0": translate("LoadOptions", "4 bits (Q4_0)"),
    }
    return names[kind]
