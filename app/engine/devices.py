"""What this build of llama.cpp can compute on, as its ggml backends tell it; loads no model.

Knows nothing of who asks. Main memory that is free is not told: most systems' backend calls all of it free.
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any, NamedTuple

from app.core.devices import Device, DeviceKind, LibraryFacts
from app.engine import library
from app.engine.llama import api, ggml_library, library_folder

_KINDS: dict[int, DeviceKind] = {0: "cpu", 1: "gpu", 2: "integrated_gpu", 3: "accelerator"}
"""`ggml_backend_dev_type`; a device that only joins others has no name here and is not listed."""
_PART = re.compile(r"^(?:lib)?ggml-(?P<backend>[a-z]+)\b.*\.(?:so|dll|dylib)(?:\.|$)")
_VERSION = re.compile(r'^__version__ = "(?P<version>[^"]+)"', re.MULTILINE)
_PLAIN_PARTS = ("base", "cpu")
_OTHER_NAMES = {"hip": "rocm", "metal": "mtl"}
"""What a backend calls itself, where that is not the name in its file's."""


class _Capabilities(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_bool) for name in ("asynchronous", "host_buffer", "from_host_pointer", "events", "mmap")
    ]


class _Properties(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("free", ctypes.c_size_t),
        ("total", ctypes.c_size_t),
        ("kind", ctypes.c_int),
        ("id", ctypes.c_char_p),
        ("capabilities", _Capabilities),
    ]


class _Feature(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class _Ggml(NamedTuple):
    """The two libraries: one holds the registry, the other what can be asked of an entry."""

    registry: ctypes.CDLL
    base: ctypes.CDLL


def list_devices() -> tuple[Device, ...]:
    """Return every device with what is free on it now; takes some milliseconds where there is a GPU."""
    ggml = _ggml()
    found = (_device(ggml, index) for index in range(ggml.registry.ggml_backend_dev_count()))
    return tuple(device for device in found if device is not None)


def library_facts() -> LibraryFacts:
    """Return what there is to know of the build."""
    ggml = _ggml()
    entries = [ggml.registry.ggml_backend_reg_get(index) for index in range(ggml.registry.ggml_backend_reg_count())]
    backends = tuple(_text(ggml.base.ggml_backend_reg_name(entry)) for entry in entries)
    cpu = next((entry for entry, name in zip(entries, backends, strict=True) if name == "CPU"), None)
    return LibraryFacts(
        version=_version(),
        folder=str(library_folder()),
        gpu_offload=bool(api.llama_supports_gpu_offload()),
        backends=backends,
        features=_features(ggml, cpu) if cpu is not None else (),
        notes=(*library.notes(), *map(library.why_absent, absent_backends(library_folder(), backends))),
        instead=library.instead_of(),
    )


def absent_backends(folder: Path, backends: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the parts of llama.cpp for a GPU that lie in its folder and were not loaded, one file each."""
    present = {name.lower() for name in backends}
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    found: dict[str, Path] = {}
    for file in files:
        part = _PART.match(file.name)
        name = part["backend"] if part is not None else _PLAIN_PARTS[0]
        if name not in _PLAIN_PARTS and present.isdisjoint({name, _OTHER_NAMES.get(name, name)}):
            found.setdefault(name, file)
    return tuple(found.values())


def _ggml() -> _Ggml:
    """Return the libraries with the types of what is asked of them."""
    ggml = _Ggml(ggml_library("ggml"), ggml_library("ggml-base"))
    for count in ("ggml_backend_dev_count", "ggml_backend_reg_count"):
        getattr(ggml.registry, count).restype = ctypes.c_size_t
    for entry in ("ggml_backend_dev_get", "ggml_backend_reg_get"):
        getattr(ggml.registry, entry).restype = ctypes.c_void_p
        getattr(ggml.registry, entry).argtypes = [ctypes.c_size_t]
    ggml.base.ggml_backend_dev_get_props.restype = None
    ggml.base.ggml_backend_dev_get_props.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Properties)]
    ggml.base.ggml_backend_dev_backend_reg.restype = ctypes.c_void_p
    ggml.base.ggml_backend_dev_backend_reg.argtypes = [ctypes.c_void_p]
    ggml.base.ggml_backend_reg_name.restype = ctypes.c_char_p
    ggml.base.ggml_backend_reg_name.argtypes = [ctypes.c_void_p]
    ggml.base.ggml_backend_reg_get_proc_address.restype = ctypes.c_void_p
    ggml.base.ggml_backend_reg_get_proc_address.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    return ggml


def _device(ggml: _Ggml, index: int) -> Device | None:
    handle = ggml.registry.ggml_backend_dev_get(index)
    properties: Any = _Properties()
    ggml.base.ggml_backend_dev_get_props(handle, ctypes.byref(properties))
    kind = _KINDS.get(int(properties.kind))
    if kind is None:
        return None
    free, total = int(properties.free), int(properties.total)
    known = total > 0 and not (kind == "cpu" and free == total)
    return Device(
        name=_text(properties.name),
        description=_text(properties.description).strip(),
        kind=kind,
        backend=_text(ggml.base.ggml_backend_reg_name(ggml.base.ggml_backend_dev_backend_reg(handle))),
        total=total or None,
        free=free if known else None,
        bus_id=_text(properties.id) or None,
    )


def _features(ggml: _Ggml, entry: int) -> tuple[str, ...]:
    address = ggml.base.ggml_backend_reg_get_proc_address(entry, b"ggml_backend_get_features")
    if not address:
        return ()
    get_features = ctypes.CFUNCTYPE(ctypes.POINTER(_Feature), ctypes.c_void_p)(address)
    features = get_features(entry)
    found = []
    index = 0
    while features[index].name:
        name, value = _text(features[index].name), _text(features[index].value)
        if value != "0":
            found.append(name if value == "1" else f"{name}={value}")
        index += 1
    return tuple(found)


def _version() -> str:
    """Return the binding's version out of its file, which is not run; llama.cpp's own where there is no such file."""
    init = Path(api.__file__).with_name("__init__.py")
    if init.is_file() and (found := _VERSION.search(init.read_text(encoding="utf-8"))) is not None:
        return found["version"]
    return _text(api.llama_version())


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
