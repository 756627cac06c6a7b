"""People's own GPUs: added, changed and removed, and compared from then on. Kept in the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.core.own_gpu import MOST_OWN, OwnGpu
from app.core.words import Sentence, translate
from app.planner.gpu_table import MOST_NAME, gpu_id, name_problem
from app.services.planning_devices import PlanningDevices
from app.system.settings_file import SettingsFile


class OwnGpus:
    """Those that people added; what is compared follows what becomes of them."""

    def __init__(
        self,
        settings: SettingsFile,
        devices: PlanningDevices,
        compared: Callable[[], tuple[str, ...]],
        compare: Callable[[tuple[str, ...]], None],
    ) -> None:
        """`compared` tells the ids of the GPUs that are compared, and `compare` has others compared."""
        self._settings = settings
        self._devices = devices
        self._compared, self._compare = compared, compare

    def get(self, key: str) -> tuple[str, OwnGpu] | None:
        """Return name and figures of a GPU by its id; None of any that people did not add."""
        return next(((name, gpu) for name, gpu in self._all.items() if gpu_id(name) == key), None)

    def keep(self, name: str, gpu: OwnGpu, instead_of: str = "") -> Sentence | None:
        """Add a GPU, or change the one of an id; what is wrong with its name is returned, and nothing changed then."""
        name = name.strip()[:MOST_NAME]
        before = self.get(instead_of)
        others = [each for each in self._all if before is None or each != before[0]]
        problem = name_problem(name, self._devices.gpus.table, others)
        if problem is None and before is None and len(others) >= MOST_OWN:
            problem = translate(
                "PlanComparison", "There are {most} GPUs of yours already: remove one.", most=MOST_OWN
            )
        if problem is not None:
            return problem
        if before is None:
            kept = {**self._all, name: gpu}
            compared = (*self._compared(), gpu_id(name))
        else:
            kept = {
                name if each == before[0] else each: gpu if each == before[0] else old
                for each, old in self._all.items()
            }
            compared = tuple(gpu_id(name) if key == instead_of else key for key in self._compared())
        self._settings.change(gpus=kept)
        self._compare(compared)
        return None

    def remove(self, key: str) -> None:
        """Forget a GPU that people added."""
        before = self.get(key)
        if before is not None:
            self._settings.change(gpus={name: gpu for name, gpu in self._all.items() if name != before[0]})
            self._compare(tuple(each for each in self._compared() if each != key))

    @property
    def _all(self) -> Mapping[str, OwnGpu]:
        return self._settings.values.gpus
