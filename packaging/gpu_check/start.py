"""Where the process of the checks begins: `python -m gpu_check.start`, with the arguments of `gpu_check.checking`.

Every engine process imports this file again when it is spawned, so nothing else may be imported here.
"""

from __future__ import annotations

import importlib
import sys

if __name__ == "__main__":
    sys.exit(importlib.import_module("gpu_check.checking").main(sys.argv[1:]))
