"""Makes the page Inside with all of its parts, out of the services that they show."""

from __future__ import annotations

from app.gui.icons import Icons
from app.gui.inside.attention.part import AttentionPart
from app.gui.inside.cache.cache_part import CachePart
from app.gui.inside.loop.loop_part import LoopPart
from app.gui.inside.next_choice import NextChoice
from app.gui.inside.page import InsidePage
from app.gui.inside.timing.time_part import TimePart
from app.gui.theme import Themes
from app.gui.widgets.memory_speed import MemorySpeedRow
from app.services.program import Program


def make_inside_page(program: Program, themes: Themes) -> InsidePage:
    """Make the page; a part that is not shown at once is made when it is."""
    icons = Icons(program.resources)
    page = InsidePage(program.inspecting, program.other_token, program.prompt_scores, themes, icons)
    page.show_laboratory(program.laboratory, themes, icons)
    page.show_writing(program.step_mode)
    page.add_part("attention", lambda: AttentionPart(program.views.attention, program.inspecting, themes))
    services = (program.inspecting, program.next_token, program.step_mode)
    page.show_choice(NextChoice(services, themes, icons))
    page.add_part("cache", lambda: CachePart(program.views.kv_map, program.inspecting, themes, icons))
    page.add_part("time", lambda: _time_part(program, themes, icons))
    views, looks, settings = program.views, program.inspecting, program.settings
    page.add_part("loop", lambda: LoopPart(views, looks, themes, icons, page.has_part, settings))
    return page


def _time_part(program: Program, themes: Themes, icons: Icons) -> TimePart:
    views = program.views
    measuring = MemorySpeedRow(views.bandwidth, "time_memory")
    return TimePart(views.timeline, views.operations, themes, icons, measuring)
