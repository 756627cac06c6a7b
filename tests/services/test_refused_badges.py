"""Files that llama.cpp refuses: each has its own badge for it, and takes none from others."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from app.services.fit_badges import MOST_TRIED, Estimate, FitBadges, Wanted
from tests.desk import Desk
from tests.services.test_fit_badges import PROCESSOR, fits, one, several

__all__ = ["fits"]


def says_of(fits: FitBadges, wanted: Wanted, reason: str) -> bool:
    """Whether a verdict has this reason."""
    fit = fits.get(wanted)
    return fit is not None and reason in fit.reason.english()


def test_files_that_are_refused_count_for_themselves_alone(desk: Desk, fits: FitBadges, model: Path) -> None:
    paths = several(desk, model, MOST_TRIED + 2)
    fits.want("menu", paths)
    refused = []
    for _ in range(MOST_TRIED + 1):
        refused.append(desk.dry_run.asked[-1].path)
        desk.dry_run.fail("model", f"“{Path(refused[-1]).name}” is refused.")
        desk.settle()
    good = desk.dry_run.asked[-1].path
    assert good not in refused
    desk.dry_run.answer(devices=(PROCESSOR,))
    desk.until(lambda: (fit := fits.get(good)) and fit.verdict == "fits")
    for path in refused:
        reason = f"“{Path(path).name}” is refused."
        desk.until(partial(says_of, fits, path, reason))


def test_where_every_file_is_refused_others_are_judged_by_what_is_known(
    desk: Desk, fits: FitBadges, model: Path
) -> None:
    wanted: list[Wanted] = [*several(desk, model, 2), one(desk), Estimate(one(desk), "Q4_K_M", 1000)]
    fits.want("menu", wanted)
    for _ in range(len(desk.program.models.found)):
        desk.dry_run.fail("model", "This file is refused.")
        desk.settle()
    desk.until(lambda: fits.devices)
    assert not any(device.is_gpu for device in fits.devices)
    desk.until(lambda: all(says_of(fits, each, "refused") for each in wanted))
