"""The states in which the window is looked at: how each comes about, and what must be in its picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QListView, QPushButton, QToolButton

from app.core.metrics import DeviceMemory
from app.core.words import translate
from app.services.notices import Notice
from app.services.recommending import Recommending
from app.system.settings_file import Theme
from tests.e2e.attention_state import attention_of_it
from tests.e2e.cache_state import kv_blocks, kv_map
from tests.e2e.compare_states import compare_branches, compare_done, compare_grid, compare_running, set_up
from tests.e2e.diagnosis_state import diagnosis
from tests.e2e.files_states import exporting, files, found, imported, palette
from tests.e2e.inside_state import inside, laboratory, loop, loop_tour, prompt
from tests.e2e.plan_comparison_state import plan_comparison
from tests.e2e.planner_state import planner
from tests.e2e.scene import DAY_S, MEMORY, Scene
from tests.e2e.timing_state import timeline
from tests.e2e.what_if_state import what_if
from tests.ggufs import write_tiny_llama

NARROW = QSize(960, 800)
BOTH: tuple[Theme, ...] = ("light", "dark")
QUESTION = "How do I count the words of a text in Python?"
ANSWER = """Split the text into words and count them with a `Counter`:

```python
from collections import Counter

def count_words(text: str) -> Counter[str]:
    return Counter(text.lower().split())

print(count_words("the cat saw the dog").most_common(2))
```

1. `lower()` makes **The** and **the** the same word.
2. `split()` takes every white space as a gap.

> Signs such as commas stay with their words; use a pattern where that matters."""
TITLES = (
    "Why is the sky blue?",
    "A poem about rain",
    "Three good habits for learning",
    "Plan a simple vegetable dinner for two people who do not like tomatoes",
    "What does a compiler do?",
    "Letters from a lighthouse",
    "How far is the moon?",
    "Names for a cat",
)
PER_TITLE = 4


class State(NamedTuple):
    """A state by name."""

    name: str
    lead: Callable[[Scene], None]
    sees: tuple[str, ...] = ()
    """Names of widgets that are in the picture."""
    themes: tuple[Theme, ...] = BOTH
    hides: tuple[str, ...] = ()
    """Names of widgets that are not."""

    def files(self) -> list[tuple[str, Theme]]:
        """Return the names of the pictures, and the theme of each."""
        return [(f"{self.name}-{theme}.png", theme) for theme in self.themes]


def first_start(scene: Scene) -> None:
    """The first model that was found is being loaded."""
    scene.model_file()
    scene.program.start(None)
    scene.desk.until(lambda: scene.desk.engine.sent)
    scene.desk.engine.progress(40)
    scene.desk.settle()


def welcome(scene: Scene) -> None:
    """A model is loaded and nothing was asked."""
    scene.load()


def without_model(scene: Scene) -> None:
    """There is no model on this machine: one is recommended."""
    recommending = _of_some_memory(scene)
    scene.program.start(None)
    scene.desk.until(lambda: scene.listings and recommending.models.recommended)


def models(scene: Scene) -> None:
    """The models that Tokenlight knows itself, before anybody searches."""
    recommending = _of_some_memory(scene)
    scene.window.page_wanted.emit("models")
    scene.desk.until(lambda: recommending.models.recommended)
    scene.rest()


def inspect(scene: Scene) -> None:
    """What a mixture of experts is made of, and a layer of it is chosen."""
    path = write_tiny_llama(scene.model_file().parent / "mixture.F16.gguf", layers=12, experts=4)
    viewing = scene.program.planner.viewing
    scene.window.page_wanted.emit("models")
    viewing.open(path)
    scene.find(QToolButton, "models_inspect_tab").click()
    scene.desk.until(lambda: not viewing.is_reading)
    chart = scene.find(QListView, "file_view_layers")
    chart.setCurrentIndex(chart.model().index(3, 0))
    chart.setFocus()
    scene.rest()


def _of_some_memory(scene: Scene) -> Recommending:
    planner = scene.program.planner
    scene.patch.setattr(planner.devices, "_main_memory", lambda: MEMORY)
    planner.fits.note(())
    return planner.recommending


def streaming(scene: Scene) -> None:
    """An answer is being written."""
    scene.load(ANSWER)
    scene.ask(QUESTION)
    scene.write(ANSWER[: ANSWER.index("def ")])


def finished(scene: Scene) -> None:
    """An answer with headings, lists and code has ended."""
    scene.load(ANSWER)
    scene.answer(QUESTION, ANSWER)


def long_history(scene: Scene) -> None:
    """There are more chats than fit, over many days."""
    scene.load("Gladly.")
    noon, count = scene.now_s, len(TITLES) * PER_TITLE
    for number in range(count):
        scene.now_s = noon - (count - 1 - number) * DAY_S // 2
        scene.program.conversations.new()
        scene.answer(TITLES[number % len(TITLES)], "Gladly.")


def full_context(scene: Scene) -> None:
    """The answer ended because the context is full."""
    scene.load(ANSWER)
    scene.ask(QUESTION)
    scene.write(ANSWER[: ANSWER.index("> Signs")])
    scene.desk.engine.finish("context_full")
    scene.desk.settle()


def error(scene: Scene) -> None:
    """Something went wrong, with one way on."""
    scene.load()
    sentence = translate(
        "Pictures", "The model “Qwen3-8B” needs 9.1 GiB and 6.4 GiB are free: try it or choose another."
    )
    scene.program.notices.post(Notice(sentence, remedy="load_options", details=("a line of the log",)))


def engine_died(scene: Scene) -> None:
    """The engine is gone in the middle of an answer."""
    scene.load(ANSWER)
    scene.ask(QUESTION)
    scene.write("Split the text into words and")
    scene.desk.engine.die(scene.desk.engine.question.request)
    scene.desk.settle()


def load_options(scene: Scene) -> None:
    """Somebody chooses how a model is loaded, and a dry run has told what that takes."""
    scene.load()
    scene.patch.setattr(scene.program.load_options, "_memory", lambda: MEMORY)
    asked = len(scene.desk.dry_run.asked)
    scene.window.parts.model_bar.options_wanted.emit(scene.model_file())
    scene.desk.until(lambda: len(scene.desk.dry_run.asked) > asked)
    scene.desk.dry_run.answer(DeviceMemory("CPU", 98_000_000, 94_371_840, 24_000_000))
    scene.desk.settle()


def preferences(scene: Scene) -> None:
    """The preferences are open."""
    scene.load()
    scene.find(QToolButton, "preferences_button").click()


def narrow(scene: Scene) -> None:
    """There is no room for both columns, and the right one was opened beside the chat."""
    finished(scene)
    scene.window.resize(NARROW)
    scene.rest()
    scene.find(QToolButton, "panel_button").click()


def sampling_more(scene: Scene) -> None:
    """The less usual sampling settings are unfolded."""
    scene.load()
    scene.window.sections.arrange((), ("live",))
    scene.program.sampling.use_preset("Creative")
    scene.program.sampling.change(dry_multiplier=0.8, temperature=0.95)
    scene.find(QPushButton, "sampling_more_button").setChecked(True)
    scene.rest()
    scene.scroll_to("xtc_threshold_box")


STATES = (
    State("window", finished, ("transcript", "composer", "decode_rate_value")),
    State("first_start", first_start, ("load_progress", "cancel_load_button")),
    State("welcome", welcome, ("composer",)),
    State("without_model", without_model, ("composer", "first_model_card")),
    State("models", models, ("catalogue_list", "catalogue_title"), hides=("side_panel", "composer")),
    State("inspect", inspect, ("file_view_layers", "file_view_types"), hides=("side_panel", "composer")),
    State("streaming", streaming, ("transcript", "stop_button")),
    State("history", long_history, ("history_pane",)),
    State("full_context", full_context, ("transcript", "go_on_button")),
    State("error", error, ("notice_bar",)),
    State("files", files, ("transcript", "composer", "pasted_text")),
    State("found", found, ("search_results",), hides=("conversation_list",)),
    State("export_chats", exporting, ("export_chats_dialog",)),
    State("import_chats", imported, ("import_chats_dialog", "import_unread_list")),
    State("palette", palette, ("palette", "palette_list")),
    State("engine_died", engine_died, ("notice_bar", "go_on_button")),
    State("load_options", load_options, ("load_options", "fit_answer")),
    State("preferences", preferences, ("preferences",)),
    State("narrow", narrow, ("side_panel", "transcript"), hides=("scrim", "history_pane")),
    State("sampling_more", sampling_more, ("dry_breakers_box", "xtc_threshold_box")),
    State("window", finished, ("transcript", "composer"), ("contrast",)),
    State("compare_set_up", set_up, ("compare_set_up", "compare_start_button"), hides=("side_panel", "composer")),
    State("compare_running", compare_running, ("compare_lanes", "compare_stop_button"), hides=("side_panel",)),
    State("compare_done", compare_done, ("compare_lanes", "keep_lane_a"), hides=("compare_stop_button",)),
    State("compare_branches", compare_branches, ("compare_branches",), hides=("compare_lanes",)),
    State("compare_grid", compare_grid, ("compare_lanes", "lane_text_p"), ("dark",)),
    State(
        "loop",
        loop,
        ("loop_map", "loop_sheet", "loop_time", "inside_loop_tab"),
        hides=("side_panel", "composer", "loop_tour"),
    ),
    State("loop_tour", loop_tour, ("loop_map", "loop_tour", "tour_next"), hides=("side_panel", "loop_sheet")),
    State("inside", inside, ("token_inspector", "token_card", "go_on_from_token"), hides=("side_panel", "composer")),
    State("prompt", prompt, ("prompt_chips", "prompt_about", "prompt_legend"), hides=("side_panel", "composer")),
    State("attention", attention_of_it, ("attention_flow", "attention_grid"), hides=("side_panel", "composer")),
    State("laboratory", laboratory, ("lab_cards", "lab_use"), hides=("side_panel", "composer")),
    State("kv_map", kv_map, ("kv_grid", "kv_legend", "kv_saving"), hides=("kv_blocks", "lab_cards")),
    State("kv_blocks", kv_blocks, ("kv_grid", "kv_blocks", "kv_pool"), hides=("kv_saving",)),
    State("what_if", what_if, ("what_if_dialog", "what_if_strip", "what_if_top_k_slider")),
    State("timeline", timeline, ("timeline", "gap_histogram", "time_diagnosis"), hides=("side_panel", "composer")),
    State("diagnosis", diagnosis, ("diagnosis_card", "diagnosis_remedy", "memory_speed_button")),
    State(
        "planner", planner, ("plan_answer", "plan_lever_0", "plan_context_slider"), hides=("side_panel", "composer")
    ),
    State(
        "plan_comparison",
        plan_comparison,
        ("plan_rows", "plan_models", "plan_gpus"),
        hides=("side_panel", "composer"),
    ),
)
"""In the order of the table of contents; `window-light.png` stands in the README."""
