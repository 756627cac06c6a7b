"""The version of the program, written once; nothing else belongs here."""

from __future__ import annotations

VERSION = "0.1.0"
