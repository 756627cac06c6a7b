"""One tensor of llama.cpp's graph, read where it lies: its name, operation, type, shape, sources and values.

The library has functions for most of it; type, shape, strides and sources are fields of `ggml_tensor`, whose layout is
proven once on a tensor that is made for that (`layout_is_known`). Must not keep a tensor beyond the call that it came with.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from app.engine.llama import ggml_library

DIMENSIONS, SOURCES, PARAMETERS = 4, 10, 16
_READABLE: dict[str, np.dtype[Any]] = {
    "f32": np.dtype("<f4"),
    "f16": np.dtype("<f2"),
    "i32": np.dtype("<i4"),
    "i64": np.dtype("<i8"),
}


class _Fields(ctypes.Structure):
    """The head of `ggml_tensor`, as ggml.h has it."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("ne", ctypes.c_int64 * DIMENSIONS),
        ("nb", ctypes.c_size_t * DIMENSIONS),
        ("op", ctypes.c_int),
        ("parameters", ctypes.c_int32 * PARAMETERS),
        ("flags", ctypes.c_int32),
        ("sources", ctypes.c_void_p * SOURCES),
        ("view_source", ctypes.c_void_p),
    ]


class InitParameters(ctypes.Structure):
    """`ggml_init_params`."""

    _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]


@cache
def _library() -> Any:
    library = ggml_library("ggml-base")
    pointer = ctypes.c_void_p
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "ggml_get_name": (ctypes.c_char_p, [pointer]),
        "ggml_op_desc": (ctypes.c_char_p, [pointer]),
        "ggml_type_name": (ctypes.c_char_p, [ctypes.c_int]),
        "ggml_nbytes": (ctypes.c_size_t, [pointer]),
        "ggml_backend_tensor_get": (None, [pointer, pointer, ctypes.c_size_t, ctypes.c_size_t]),
        "ggml_init": (pointer, [InitParameters]),
        "ggml_free": (None, [pointer]),
        "ggml_new_tensor_4d": (pointer, [pointer, ctypes.c_int, *[ctypes.c_int64] * DIMENSIONS]),
        "ggml_mul_mat": (pointer, [pointer, pointer, pointer]),
        "ggml_set_name": (pointer, [pointer, ctypes.c_char_p]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class GgmlTensor:
    """A tensor of the graph that is being computed; valid during the callback that hands it over."""

    __slots__ = ("_address", "_fields")

    def __init__(self, address: int) -> None:
        self._address = address
        self._fields = _Fields.from_address(address)

    @property
    def name(self) -> str:
        """What llama.cpp called it, “kq_soft_max-3” for layer 3; empty where it has no name."""
        return str(_library().ggml_get_name(self._address).decode("utf-8", "replace"))

    @property
    def op(self) -> str:
        """The operation that makes it, “MUL_MAT” for instance; “NONE” for weights and inputs."""
        return str(_library().ggml_op_desc(self._address).decode())

    @property
    def type(self) -> str:
        """How its values are kept, “f32” or “q4_K” for instance."""
        return str(_library().ggml_type_name(self._fields.type).decode())

    @property
    def shape(self) -> tuple[int, ...]:
        """Its four dimensions as numpy counts them: the one that lies closest together is the last."""
        return tuple(int(size) for size in reversed(self._fields.ne))

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one value to the next, in the order of `shape`."""
        return tuple(int(size) for size in reversed(self._fields.nb))

    @property
    def nbytes(self) -> int:
        """The bytes that it spans."""
        return int(_library().ggml_nbytes(self._address))

    @property
    def sources(self) -> tuple[GgmlTensor, ...]:
        """What the operation reads, in its order."""
        return tuple(GgmlTensor(address) for address in self._fields.sources if address)

    def array(self) -> npt.NDArray[Any]:
        """Copy all of it from whatever device, with its `shape`; views too. Raises ValueError for a type of blocks."""
        dtype = _READABLE.get(self.type)
        if dtype is None:
            raise ValueError(f"values of type {self.type} are not read one by one")
        memory = np.empty(self.nbytes, np.uint8)
        _library().ggml_backend_tensor_get(self._address, memory.ctypes.data, 0, memory.nbytes)
        values: npt.NDArray[Any] = np.ndarray(self.shape, dtype, memory, 0, self.strides)
        return values.copy()


@cache
def layout_is_known() -> bool:
    """Return whether the fields of `ggml_tensor` lie where they are read, as a tensor tells whose fields are known."""
    library = _library()
    context = library.ggml_init(InitParameters(1 << 16, None, True))
    if not context:
        return False
    try:
        weights = library.ggml_new_tensor_4d(context, 0, 8, 3, 2, 1)
        product = library.ggml_mul_mat(context, weights, library.ggml_new_tensor_4d(context, 0, 8, 5, 2, 1))
        library.ggml_set_name(weights, b"weights")
        made = GgmlTensor(product)
        return (
            made.op == "MUL_MAT"
            and (made.type, made.shape, made.strides) == ("f32", (1, 2, 5, 3), (120, 60, 12, 4))
            and [(source.name, source.shape) for source in made.sources][:1] == [("weights", (1, 2, 3, 8))]
            and len(made.sources) == 2
        )
    finally:
        library.ggml_free(context)
