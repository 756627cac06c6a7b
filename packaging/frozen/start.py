"""Where the frozen program starts: it does nothing but hand over, so that it holds exactly what a checkout runs."""

from __future__ import annotations

import sys

from app.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
