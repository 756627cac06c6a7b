"""Which of NVIDIA's GPUs have Tensor Cores, by their names: all since Volta but the GTX and MX lines.

Only names that are known count; of any other nothing is said.
"""

from __future__ import annotations

import re

_WITH = re.compile(
    r"\b(RTX|TITAN V|V100|T4G?|A(2|10G?|16|30|40|100|800|[2-6]000)|L(4|20|40S?)|[HB](20|100|200|300|800)|G[HB](200|300))\b"
)
_WITHOUT = re.compile(r"\b(GTX|MX\d+)\b")


def has_tensor_cores(name: str) -> bool:
    """Return whether a GPU of this name is known to have them."""
    return bool(_WITH.search(name)) and not _WITHOUT.search(name)
