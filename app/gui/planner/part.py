"""What every part of the planner's page is."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget


class PlannerPart(QWidget):
    """One part of the page, which fills it below its tabs."""

    file_wanted = Signal()
    """Somebody wants to choose a model file."""
    chat_wanted = Signal()
    """Somebody wants to go to the chat."""
    remedy_wanted = Signal(object)
    """Somebody wants the change that a diagnosis offers, a `Remedy`."""
    hub_page_wanted = Signal(str)
    """Somebody wants to see the page of a repository of the hub: its name."""
    part_wanted = Signal(str)
    """Somebody wants to see another part."""

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
