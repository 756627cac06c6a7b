"""What other programs call options that are called differently here."""

from __future__ import annotations

import difflib

OF_OTHERS = {
    "--temp": "--temperature",
    "--n-predict": "--max-tokens",
    "--ctx-size": "--context",
    "--n-gpu-layers": "--gpu-layers",
    "--grammar-file": "--grammar",
    "--parallel": "--sequences",
    "--cache-type-k": "--kv",
    "--kv-type": "--kv",
}


def suggestion(word: str, known: list[str] | tuple[str, ...]) -> str:
    """Return what was meant, in brackets; empty where nothing comes near it, or it exists, but not where it was typed."""
    if OF_OTHERS.get(word) in known:
        return f" (did you mean {OF_OTHERS[word]}?)"
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6) if word not in known else []
    return f" (did you mean {near[0]}?)" if near else ""
