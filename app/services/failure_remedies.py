"""What people can do about an answer that failed, and which failures leave the question where it is."""

from __future__ import annotations

from app.core.events import FailureKind
from app.services.notices import Remedy

KEPT_WITH_ITS_QUESTION: frozenset[FailureKind] = frozenset({"cancelled", "engine"})
REMEDIES: dict[FailureKind, Remedy] = {
    "template": "choose_template",
    "template_missing": "choose_template",
    "model": "open_model",
    "engine": "restart_engine",
    "memory": "load_options",
    "prompt_too_long": "larger_context",
}
