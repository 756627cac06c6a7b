"""Finds the data that ship with the program; the only place that knows where they lie.

In a checkout that is `resources/`, in an installed wheel `app/_data/`, in a frozen application the bundle.
"""

from __future__ import annotations

import sys
from pathlib import Path

from app.core.chat import clean_text
from app.core.errors import ExitCode, UserError
from app.core.words import translate

TEMPLATE_SUFFIX = ".jinja"
GPU_TABLE = "gpus.json"
QUALITY_TABLE = "quality.json"
CATALOGUE = "catalogue.toml"
_PACKAGE = Path(__file__).resolve().parent.parent


class Resources:
    """The shipped data, asked for by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        """The folder that holds the data."""
        return self._folder

    def read_text(self, name: str) -> str:
        """Return a shipped text file, such as `themes/light.json`."""
        return (self._folder / name).read_text(encoding="utf-8")

    def read_bytes(self, name: str) -> bytes:
        """Return a shipped file as bytes."""
        return (self._folder / name).read_bytes()

    def gpu_table(self) -> str:
        """Return the text of the planner's table of GPUs; an empty one where it is missing or cannot be read."""
        return _text(self._folder / GPU_TABLE)

    def quality_table(self) -> str:
        """Return the text of the table of what quantisations lose; an empty one where it cannot be read."""
        return _text(self._folder / QUALITY_TABLE)

    def catalogue(self) -> str:
        """Return the text of the catalogue of models, which a checkout keeps beside its models; empty as above."""
        return _text(self._folder / CATALOGUE) or _text(self._folder.parent / "models" / CATALOGUE)

    def template_names(self) -> list[str]:
        """Return the names of the chat templates that ship, sorted."""
        return sorted(path.stem for path in (self._folder / "templates").glob(f"*{TEMPLATE_SUFFIX}"))

    def template(self, name: str) -> str:
        """Return the Jinja source of a shipped chat template."""
        names = self.template_names()
        if name not in names:
            raise UserError(
                translate(
                    "Templates",
                    "There is no chat template called “{name}”; the ones that ship are: {names}.",
                    name=clean_text(name),
                    names=", ".join(names),
                ),
                ExitCode.WRONG_USE,
            )
        return self.read_text(f"templates/{name}{TEMPLATE_SUFFIX}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def checkout_folder() -> Path | None:
    """Return the root of the checkout that the program runs from, or None when it is installed or frozen."""
    root = _PACKAGE.parent
    is_checkout = not is_frozen() and (root / "resources").is_dir() and (root / "packaging" / "dev.py").is_file()
    return root if is_checkout else None


def checkout_models() -> tuple[Path, ...]:
    """Return the folder of models of the checkout that the program runs from; none when it is installed or frozen."""
    root = checkout_folder()
    return () if root is None else (root / "models",)


def is_frozen() -> bool:
    """Return whether this is a frozen application rather than Python files."""
    return bool(getattr(sys, "frozen", False))


def find_plain_library() -> Path | None:
    """Return the folder of llama.cpp for the processor alone that came beside a build for a GPU, or None."""
    root = Path(getattr(sys, "_MEIPASS", Path(sys.executable).parent)) if is_frozen() else Path(sys.prefix)
    folder = root / "llama_cpu" / "lib"
    return folder if folder.is_dir() else None


def find_resources() -> Resources:
    """Return the shipped data of this installation."""
    if is_frozen():
        bundle = Path(getattr(sys, "_MEIPASS", Path(sys.executable).parent))
        return Resources(next((f for f in (bundle / "app" / "_data", bundle / "resources") if f.is_dir()), bundle))
    root = checkout_folder()
    return Resources(root / "resources" if root else _PACKAGE / "_data")
