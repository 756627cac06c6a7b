"""The rights of an ordinary user: an administrator writes where others may not, and so would a test of that."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION = 0x20080522
_OVERRIDES = 0b1110
"""CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER: to write, to read and to change what others own."""


class _Head(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Do without what only an administrator may; holds for this thread, and for those that it begins."""
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    library, head, sets = ctypes.CDLL(None, use_errno=True), _Head(_VERSION, 0), (_Sets * 2)()
    _check(library.capget(ctypes.byref(head), sets))
    before = sets[0].effective
    sets[0].effective = before & ~_OVERRIDES
    _check(library.capset(ctypes.byref(head), sets))
    try:
        yield
    finally:
        sets[0].effective = before
        _check(library.capset(ctypes.byref(head), sets))


def _check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), "the rights cannot be changed")
