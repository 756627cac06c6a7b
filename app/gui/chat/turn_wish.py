"""What can be wanted of one turn, by a button under it, by its menu or by a key."""

from __future__ import annotations

from typing import Literal

Wish = Literal["earlier", "later", "go_on", "again", "edit", "copy", "copy_plain", "delete", "more"]
