"""Joins those pages, and the search, to the window that nothing else there needs to know of; each is made when it is first wanted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from app.gui.history_wiring import HistoryWiring
from app.gui.inside_wiring import InsideWiring
from app.gui.main_window import MainWindow
from app.gui.models_wiring import ModelsWiring
from app.gui.moving_wiring import MovingWiring
from app.gui.on_demand import OnDemand
from app.gui.palette_wiring import PaletteWiring
from app.gui.planner_wiring import PlannerWiring
from app.gui.search_wiring import SearchWiring
from app.services.program import Program

if TYPE_CHECKING:
    from app.gui.discover.first_model_card import FirstModelCard


class Joined(Protocol):
    """What joins a part of the window to its services."""

    def close(self) -> None:
        """Listen to the services no longer."""


def other_pages(program: Program, window: MainWindow, on_demand: OnDemand) -> tuple[Joined, ...]:
    """Return what joins them, to be closed with the window."""

    def first_card() -> FirstModelCard:
        from app.gui.discover.making import make_first_model_card  # noqa: PLC0415  loaded when it is first wanted

        return make_first_model_card(program, on_demand.themes)

    planner = PlannerWiring(program, window, on_demand.planner_page)
    models = ModelsWiring(program, window, on_demand.models_page, first_card)
    planner.hub_page_wanted.connect(models.show_repository)
    models.plan_wanted.connect(planner.show)
    models.options_wanted.connect(lambda path: on_demand.choose_options(Path(path)))
    inside, search = (
        InsideWiring(program, window, on_demand.inside_page),
        SearchWiring(program, window, on_demand.themes),
    )
    others = PaletteWiring(program, window), HistoryWiring(program, window), MovingWiring(program, window)
    return inside, planner, models, search, *others
