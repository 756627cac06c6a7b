"""Which of the files that are compared llama.cpp refuses: it is asked of each once, in a dry run, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.core.events import Failed, MemoryMeasured
from app.core.model import LoadOptions
from app.core.ports import DryRunPort
from app.core.words import Sentence
from app.planner.planned_model import PlannedModel

_OPTIONS = LoadOptions(context=256, gpu_layers=0)
"""What nearly any machine has room for: a refusal then is one of the file."""


class PlanRefusals:
    """Knows what was said of each file as long as it is the same."""

    def __init__(self, dry_run: DryRunPort, new_request: Callable[[], int], told: Callable[[], object]) -> None:
        """`told` is called when a file turns out to be refused."""
        self._dry_run = dry_run
        self._new_request = new_request
        self._told = told
        self._known: dict[str, tuple[PlannedModel, Sentence | None]] = {}
        self._wanted: Mapping[str, PlannedModel] = {}
        self._open: tuple[int, str, PlannedModel] | None = None

    def want(self, models: Mapping[str, PlannedModel]) -> None:
        """Ask about files of this machine, by path, of which nothing is known."""
        self._wanted = models
        self._ask()

    def get(self, path: str, model: PlannedModel) -> Sentence | None:
        """Return why llama.cpp refuses a file; None where it does not, or has not said so yet."""
        known = self._known.get(path)
        return known[1] if known is not None and known[0] is model else None

    def take_measured(self, event: MemoryMeasured | Failed) -> None:
        """Take in an answer; one that came to nothing says nothing of the file."""
        if self._open is None or event.request != self._open[0]:
            return
        (_, path, model), self._open = self._open, None
        refusal = event.sentence if isinstance(event, Failed) and event.refuses_model else None
        self._known[path] = (model, refusal)
        if refusal is not None:
            self._told()
        self._ask()

    def _ask(self) -> None:
        if self._open is not None:
            return
        for path, model in self._wanted.items():
            known = self._known.get(path)
            if known is None or known[0] is not model:
                self._open = (self._new_request(), path, model)
                self._dry_run.measure(self._open[0], path, _OPTIONS, keep=False, sizes_only=True)
                return
