from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.devices import MainMemory
from app.core.events import Failed, Finished
from app.services.chat import Chat
from app.services.comparing import Comparing
from app.services.library_files import LibraryFiles
from app.services.planning import Planning
from app.services.questions import AnswerEvent
from tests.desk import Desk
from tests.ggufs import write_tiny_llama
from tests.services.asking import End
from tests.services.lanes import LanesLead


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny.F16.gguf")


@pytest.fixture(scope="session")
def other_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "other.F16.gguf", seed=2)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    yield made
    made.program.stop()


@pytest.fixture
def planning(desk: Desk, model: Path, monkeypatch: pytest.MonkeyPatch) -> Planning:
    """What a program plans whose model is read, and whose machine has much memory; a choice rests at once."""
    memory = MainMemory(16 << 30, 8 << 30, 16 << 30)
    made = desk.program.planner.planning
    monkeypatch.setattr(made.devices, "_main_memory", lambda: memory)
    made._asked._rest._after_s = 0.0
    made.choose_model(str(model))
    made.watch(True)
    desk.until(lambda: made.view is not None and made.devices.is_known)
    return made


@pytest.fixture
def chat(desk: Desk, model: Path) -> Chat:
    """Return the chat of a program that keeps what is said and has a model."""
    desk.program.conversations.start()
    desk.load(model)
    return desk.program.chat


@pytest.fixture
def comparing(chat: Chat, desk: Desk) -> Comparing:
    """Return the comparisons of a program in whose chat nothing was said yet."""
    assert chat.turns == ()
    return desk.program.comparing


@pytest.fixture
def lead(desk: Desk) -> LanesLead:
    """Return what says the engine's words of a comparison."""
    return LanesLead(desk)


@pytest.fixture
def ends(desk: Desk) -> list[End]:
    """Return what ended, in order."""
    ended: list[End] = []

    def note(event: AnswerEvent) -> None:
        match event:
            case Finished():
                ended.append(End(event.request, "finished", event.text))
            case Failed():
                ended.append(End(event.request, event.kind, event.sentence.english()))
            case _:
                pass

    desk.program.session.answer_told.connect(note)
    return ended


@pytest.fixture
def again(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Callable[[], Desk]]:
    """Return what ends the program as an orderly close does and starts it once more in the same home."""
    started: list[Desk] = []

    def start() -> Desk:
        (started[-1] if started else desk).program.stop()
        made = Desk(tmp_path / "home", monkeypatch)
        started.append(made)
        made.program.start(model)
        made.until(lambda: made.engine.sent)
        made.engine.loaded()
        made.settle()
        return made

    yield start
    for made in started:
        made.program.stop()


@pytest.fixture
def own(desk: Desk) -> Path:
    """Our own folder with a model in it."""
    folder = desk.program.paths.models
    folder.mkdir(parents=True)
    write_tiny_llama(folder / "apple.gguf")
    desk.program.models._folders = (folder,)
    return folder


@pytest.fixture
def trash(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real trash of a desktop."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "Trash" / "files"


@pytest.fixture
def files(desk: Desk, own: Path, trash: Path) -> Iterator[LibraryFiles]:
    yield desk.program.library_files
    assert not list(own.glob("*.new"))
