"""Another name for a model's files: what of it stays, and why one cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from app.core.file_name import name_key, stem_problem, typed_stem
from app.core.words import Sentence, translate
from app.system.model_search import ending_of
from app.system.own_models import FileLook


class FileNaming(NamedTuple):
    """Of one model; what its folder holds is known once it was looked at."""

    path: str
    look: FileLook | None

    @property
    def ending(self) -> str:
        """What its name keeps: its ending, and of a model in several files which part it is."""
        return ending_of(Path(self.path).name)

    @property
    def stem(self) -> str:
        """What it is called now, without that."""
        return Path(self.path).name.removesuffix(self.ending)

    def is_new(self, typed: str) -> bool:
        """Whether it is called otherwise now."""
        return self._meant(typed) != self.stem

    def problem(self, typed: str) -> Sentence | None:
        """Return why it cannot be called so; None where it can, or is."""
        stem, look = self._meant(typed), self.look
        problem = stem_problem(stem, self.ending)
        if problem is not None or look is None:
            return problem
        if look.partials:
            return translate(
                "LibraryFiles", "A download of it has not ended, and would not find it again: let it end first."
            )
        for _, new in self.pairs(typed):
            name = Path(new).name
            if name_key(name) in look.taken:
                return translate("LibraryFiles", "There is a file “{name}” already: use another name.", name=name)
        return None

    def pairs(self, typed: str) -> list[tuple[str, str]]:
        """Return the old and the new path of each of its files."""
        stem, files = self._meant(typed), self.look.files if self.look is not None else ()
        return [(file, str(Path(file).with_name(stem + ending_of(Path(file).name)))) for file in files]

    def _meant(self, typed: str) -> str:
        return typed_stem(typed, (self.ending, ".gguf"))
