"""The tables of the GGUF format: value types, tensor types, file types, and the limits set on a header.

Knows numbers and names only; it neither reads bytes nor judges a file.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

MAX_HEADER_BYTES = 256 * 1024 * 1024
MAX_ENTRIES = 65_536
MAX_TENSORS = 8_192
"""In all files of a model: the largest have some thousands, and llama.cpp's time grows with their square."""
MAX_KEY_BYTES = 65_535
MAX_TENSOR_NAME_BYTES = 63
MAX_DIMENSIONS = 4
MAX_TENSOR_ELEMENTS = 2**63 - 1
MAX_KEPT_ARRAY = 4_096
"""Elements of the longest array that is kept; a longer one, such as a vocabulary, is passed over."""
MAX_KEPT_ELEMENTS = 262_144
MAX_KEPT_TEXT_BYTES = 32 * 1024 * 1024
MAX_ARRAY_TEXTS = 4_194_304
"""Texts in all arrays together; a large vocabulary has less than a million with its merges."""

ALIGNMENT_KEY = "general.alignment"
DEFAULT_ALIGNMENT = 32
SMALLEST_FILE_BYTES = 24
"""Magic, version and the two counts: no GGUF file is shorter."""

UINT32_TYPE = 4
STRING_TYPE = 8
ARRAY_TYPE = 9

NUMBER_FORMATS: dict[int, struct.Struct] = {
    0: struct.Struct("<B"),
    1: struct.Struct("<b"),
    2: struct.Struct("<H"),
    3: struct.Struct("<h"),
    UINT32_TYPE: struct.Struct("<I"),
    5: struct.Struct("<i"),
    6: struct.Struct("<f"),
    7: struct.Struct("<?"),
    10: struct.Struct("<Q"),
    11: struct.Struct("<q"),
    12: struct.Struct("<d"),
}
"""How each value type that is not text or an array lies in the file."""

VALUE_TYPE_NAMES: dict[int, str] = {
    0: "u8",
    1: "i8",
    2: "u16",
    3: "i16",
    UINT32_TYPE: "u32",
    5: "i32",
    6: "f32",
    7: "bool",
    STRING_TYPE: "text",
    ARRAY_TYPE: "array",
    10: "u64",
    11: "i64",
    12: "f64",
}


class TensorType(NamedTuple):
    """A ggml type: its name, and how many bytes a block of how many elements takes."""

    name: str
    block_elements: int
    block_bytes: int


TENSOR_TYPES: dict[int, TensorType] = {
    0: TensorType("F32", 1, 4),
    1: TensorType("F16", 1, 2),
    2: TensorType("Q4_0", 32, 18),
    3: TensorType("Q4_1", 32, 20),
    6: TensorType("Q5_0", 32, 22),
    7: TensorType("Q5_1", 32, 24),
    8: TensorType("Q8_0", 32, 34),
    9: TensorType("Q8_1", 32, 36),
    10: TensorType("Q2_K", 256, 84),
    11: TensorType("Q3_K", 256, 110),
    12: TensorType("Q4_K", 256, 144),
    13: TensorType("Q5_K", 256, 176),
    14: TensorType("Q6_K", 256, 210),
    15: TensorType("Q8_K", 256, 292),
    16: TensorType("IQ2_XXS", 256, 66),
    17: TensorType("IQ2_XS", 256, 74),
    18: TensorType("IQ3_XXS", 256, 98),
    19: TensorType("IQ1_S", 256, 50),
    20: TensorType("IQ4_NL", 32, 18),
    21: TensorType("IQ3_S", 256, 110),
    22: TensorType("IQ2_S", 256, 82),
    23: TensorType("IQ4_XS", 256, 136),
    24: TensorType("I8", 1, 1),
    25: TensorType("I16", 1, 2),
    26: TensorType("I32", 1, 4),
    27: TensorType("I64", 1, 8),
    28: TensorType("F64", 1, 8),
    29: TensorType("IQ1_M", 256, 56),
    30: TensorType("BF16", 1, 2),
    34: TensorType("TQ1_0", 256, 54),
    35: TensorType("TQ2_0", 256, 66),
    39: TensorType("MXFP4", 32, 17),
    40: TensorType("NVFP4", 64, 36),
    41: TensorType("Q1_0", 128, 18),
    42: TensorType("Q2_0", 64, 18),
}

REMOVED_TENSOR_TYPES: dict[int, str] = {
    4: "Q4_2",
    5: "Q4_3",
    31: "Q4_0_4_4",
    32: "Q4_0_4_8",
    33: "Q4_0_8_8",
    36: "IQ4_NL_4_4",
    37: "IQ4_NL_4_8",
    38: "IQ4_NL_8_8",
}
"""Types that llama.cpp once knew and refuses today."""

FILE_TYPES: dict[int, str] = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    19: "IQ2_XXS",
    20: "IQ2_XS",
    21: "Q2_K_S",
    22: "IQ3_XS",
    23: "IQ3_XXS",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    31: "IQ1_M",
    32: "BF16",
    36: "TQ1_0",
    37: "TQ2_0",
    38: "MXFP4",
    39: "NVFP4",
    40: "Q1_0",
    41: "Q2_0",
}
"""What `general.file_type` says of the quantisation, in the names that people know."""

_GUESSED = 1024
"""A bit that llama.cpp sets in a file type that it only inferred."""


def file_type_name(number: int) -> str | None:
    """Return what a file type is called, a guessed one as well; None for one that is not known."""
    return FILE_TYPES.get(number & ~_GUESSED)
