"""What other programs call options that are called differently here."""

from __future__ import annotations

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
