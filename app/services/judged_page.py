"""What of a repository's page suits this machine, by what is known of it: its header, the catalogue, or sizes alone."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from app.core.catalogue import Catalogue
from app.core.hub_kind import not_for_chat
from app.core.hub_page import HubPage
from app.core.quality import QualityTable
from app.core.words import translate
from app.planner.memory_plan import PlannedDevice
from app.services.page_header import HeaderRead
from app.services.recommended_files import FileChoice, choose_file, no_chat


def judge_page(
    page: HubPage,
    header: HeaderRead,
    devices: Sequence[PlannedDevice],
    catalogue: Catalogue,
    table: QualityTable,
) -> FileChoice:
    """Return what of a page fits and which file is recommended; takes some milliseconds a file, and never raises.

    Nothing is recommended of what is not for chat. What a header says counts more than what the page tells.
    """
    other = header.problem if header.is_other else None
    if other is None and header.model is None:
        other = not_for_chat(page)
    if other is not None:
        return no_chat(page, other)
    if header.model is not None:
        return choose_file(page, devices, table, header.model)
    known = [model for model in catalogue.models if model.repository == page.repository.id]
    if known:
        share = max((model.active or model.parameters) / model.parameters for model in known)
        return choose_file(page, devices, table, share=share)
    choice = choose_file(page, devices, table)
    if not choice.recommended:
        return choice
    if header.is_under_way:
        return replace(choice, note=_UNDER_WAY)
    # what is wrong with the whole page, and that its files have to be asked for, is said beside it
    is_said = header.problem == page.problem or page.repository.is_gated
    return replace(choice, note=_AS_DENSE, problem=None if is_said else header.problem)


_UNDER_WAY = translate("Recommending", "Its size alone says that so far: its header is being read …")
_AS_DENSE = translate(
    "Recommending",
    "Its header could not be read, so that it is judged as a dense model: a mixture of experts would be quicker.",
)
