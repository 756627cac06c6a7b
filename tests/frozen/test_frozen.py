"""The frozen folder answers and keeps its hands to itself: spawn, freezing and ctypes together."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.core.version import VERSION
from devtools import freeze, frozen_folder, notices
from devtools.frozen_contents import LLAMA_FOLDER, PLAIN_FOLDER
from tests.broken_libraries import NOTHING, compile_library
from tests.e2e.program import GUARD_SECONDS, Program, events, is_one_plain_sentence
from tests.frozen.installed import Installed, engine_of, listing
from tests.gui.pdf_text import PdfText

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform in ("win32", "darwin"), reason="the folder is made and tried on Linux only so far"
    ),
]
LOOK_S = 0.05
QUESTION = "Explain why the sky is blue."
GREEDY = ("--temperature", "0", "--max-tokens", "24", "--context", "1024", "--threads", "2")
NOT_FROM_PACKAGES = {"pyinstaller", "python", "tokenlight"}
OF_OFFSCREEN = "This plugin does not support propagateSizeHints()"
"""What the platform without a screen says of every dialog."""
LEFT_OUT = {"diskcache"}
"""What the binding's own high level needs, which nobody uses here."""


def ask(model: Path, *more: str) -> tuple[str, ...]:
    return ("ask", QUESTION, "--model", str(model), *GREEDY, *more)


def test_the_version_is_told_from_any_folder_under_any_locale(installed: Installed) -> None:
    done = installed.run("--version", LC_ALL="C", LANG="C")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"Tokenlight {VERSION}\n", "")
    assert list(installed.home.iterdir()) == []


def test_a_quick_command_loads_neither_qt_nor_llama_nor_numpys_algebra(installation: Path, home: Path) -> None:
    owner = Installed(installation, home, as_owner=True)
    done = owner.run("--version", LD_DEBUG="files", LD_DEBUG_OUTPUT=str(home / "loaded"))
    assert done.returncode == 0
    text = "".join(path.read_text("utf-8", "replace") for path in home.glob("loaded*"))
    assert "libpython" in text
    assert [name for name in ("libQt6", "libllama", "openblas") if name in text] == []


def test_it_answers_as_the_source_does(installed: Installed, model: Path, tmp_path: Path) -> None:
    frozen, source = installed.run(*ask(model)), Program(tmp_path / "home").run(*ask(model))
    assert (frozen.returncode, frozen.stderr) == (0, "")
    assert frozen.stdout == source.stdout != ""


def test_json_events_are_complete_and_the_engine_holds_no_qt(installed: Installed, model: Path) -> None:
    with installed.start(*ask(model, "--json")) as process:
        assert process.stdout is not None
        begin = process.stdout.readline()
        libraries = {Path(entry.path).name for entry in engine_of(process).memory_maps()}
        rest, errors = process.communicate(timeout=GUARD_SECONDS)
    assert (process.returncode, errors) == (0, "")
    told = events(begin + rest)
    assert told[-1]["type"] == "finished"
    assert told[-1]["text"] == "".join(event["text"] for event in told if event["type"] == "tokens")
    assert any(name.startswith("libpython") for name in libraries)
    assert [name for name in libraries if name.startswith("libQt6")] == []


def test_the_doctor_finds_every_part_inside_the_folder(installed: Installed) -> None:
    done = installed.run("doctor", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    facts = {(fact["section"], fact["name"]): fact["value"] for fact in told["facts"]}
    assert facts["engine", "libraries"] == str(installed.folder / "_internal" / LLAMA_FOLDER)
    assert facts["engine", "llama-cpp-python"] == metadata.version("llama-cpp-python")
    assert str(installed.folder) in facts["program", "Python"]
    assert (told["qt"]["fault"], told["qt"]["missing"]) == (None, [])
    assert [finding for finding in told["findings"] if finding["state"] == "problem"] == []


def test_what_it_writes_lies_in_the_home_and_nothing_in_its_own_folder(
    installation: Path, home: Path, model: Path
) -> None:
    owner = Installed(installation, home, as_owner=True)
    before = listing(installation)
    assert owner.run(*ask(model)).returncode == 0
    with owner.start(str(model)) as window:
        wait_until_loaded(window, home)
        window.terminate()
        assert window.wait(GUARD_SECONDS) == 0
    assert listing(installation) == before
    assert {path.name for path in home.iterdir()} == {"files"}
    assert (home / "files" / "logs" / "engine.log").is_file()


def wait_until_loaded(window: subprocess.Popen[str], home: Path) -> psutil.Process:
    """Wait until the window has remembered its model, which it does once that is loaded; return its engine."""
    settings, pause = home / "files" / "settings.json", threading.Event()
    for _ in range(int(GUARD_SECONDS / LOOK_S)):
        if settings.is_file() and "last_model" in settings.read_text(encoding="utf-8"):
            return engine_of(window)
        assert window.poll() is None, window.communicate()[1]
        pause.wait(LOOK_S)
    raise AssertionError("the model was not loaded")


@pytest.mark.parametrize("platform", ["offscreen", "xcb"])
def test_the_window_opens_loads_its_model_and_ends_in_order(
    installed: Installed, model: Path, platform: str, request: pytest.FixtureRequest
) -> None:
    screen = request.getfixturevalue("screen") if platform == "xcb" else ""
    with installed.start(str(model), QT_QPA_PLATFORM=platform, DISPLAY=screen) as window:
        engine = wait_until_loaded(window, installed.home)
        assert any("libllama" in entry.path for entry in engine.memory_maps())
        window.terminate()
        out, err = window.communicate(timeout=GUARD_SECONDS)
    assert (window.returncode, out, err) == (0, "", "")
    assert psutil.wait_procs([engine], timeout=GUARD_SECONDS)[1] == []
    assert " WARNING " not in log_of(installed.home)


def log_of(home: Path) -> str:
    log = home / "files" / "logs" / "tokenlight.log"
    return log.read_text(encoding="utf-8") if log.exists() else ""


def test_a_question_typed_into_the_window_is_answered(driven: Path, home: Path, model: Path) -> None:
    people = Installed(driven, home)
    told = {"LD_LIBRARY_PATH": "/of/the/system", "QT_PLUGIN_PATH": "/of/another/qt", "DRIVER_QUESTION": QUESTION}
    with people.start(str(model), program="extra", **told) as window:
        assert window.stdout is not None
        line = window.stdout.readline()
        engine = engine_of(window)
        window.terminate()
        out, err = window.communicate(timeout=GUARD_SECONDS)
    seen = json.loads(line)
    assert seen["state"] == "done"
    assert len(seen["text"].split()) > 5
    assert seen["ttft"] > 0
    assert seen["icon"]
    # What it starts later finds its own libraries and plugins, not ours.
    assert (seen["library_path"], seen["plugins"]) == ("/of/the/system", None)
    assert (window.returncode, out, err) == (0, "", "")
    assert psutil.wait_procs([engine], timeout=GUARD_SECONDS)[1] == []
    assert " WARNING " not in log_of(home)


FORMULA = r"\frac{-b \pm \sqrt{b^2 - 4ac}}{2a}"
ANSWER = f"Both roots are\n\n$${FORMULA}$$\n\nand that is all.\n\n```python\nprint(1)\n```\n"


@pytest.fixture
def script(home: Path) -> Path:
    """Return what the engine is to answer, where everybody can read it."""
    path = home / "script.json"
    path.write_text(json.dumps({"answers": [ANSWER]}), encoding="utf-8")
    return path


def seen_by_somebody(people: Installed, script: Path, **does: str) -> dict[str, Any]:
    """Return what somebody saw before the window of the program with a scripted engine; the program ends in order."""
    told = {f"DRIVER_{name}": value for name, value in {"QUESTION": "Which roots?", "TOKENS": "1000", **does}.items()}
    with people.start("--fake-engine", str(script), program="extra", **told) as window:
        assert window.stdout is not None
        seen: dict[str, Any] = json.loads(window.stdout.readline())
        window.terminate()
        out, err = window.communicate(timeout=GUARD_SECONDS)
    assert (window.returncode, out, err) == (0, "", "")
    return seen


def test_a_formula_is_typeset_and_the_chat_saved_as_pdf(driven: Path, home: Path, script: Path) -> None:
    pdf = home / "files" / "Größe 1.pdf"
    seen = seen_by_somebody(Installed(driven, home), script, FORMULA=FORMULA, PDF=str(pdf))
    assert (seen["state"], seen["text"], seen["undone"]) == ("done", ANSWER, 0)
    (page,) = PdfText(pdf.read_bytes()).pages
    # Drawn as outlines, the formula is no text.
    assert "YouWhich roots?" in page
    assert page.endswith("Both roots areand that is all.pythonprint(1)")
    told = [line for line in log_of(home).splitlines() if " WARNING " in line]
    assert [line for line in told if OF_OFFSCREEN not in line] == []


def test_without_what_reaches_printers_the_rest_works_and_both_the_window_and_the_doctor_say_so(
    broken: Installed, frozen: freeze.Wish, script: Path
) -> None:
    library = broken.folder / "_internal" / "libcups.so.2"
    if not library.is_file():
        pytest.skip("was made on a system without libcups")
    library.unlink()  # never written to: other folders have the same file
    compile_library(library, NOTHING, "libtokenlight-absent.so.3")
    shutil.copy(frozen.extra, broken.folder)
    pdf = broken.home / "files" / "chat.pdf"
    seen = seen_by_somebody(broken, script, PRINTS="1", PDF=str(pdf))
    (sentence,) = [said for said in seen["said"] if "printer" in said]
    assert "(libcups.so.2)" in sentence
    assert not seen["print_dialog"]
    assert (seen["undone"], pdf.read_bytes()[:4]) == (0, b"%PDF")
    done = broken.run("doctor", "--json")
    assert done.returncode == 0
    (note,) = [finding for finding in json.loads(done.stdout)["findings"] if finding["section"] == "window"]
    assert (note["state"], "libcups.so.2" in note["sentence"]) == ("note", True)
    shutil.rmtree(broken.folder)


def test_an_engine_whose_program_is_killed_ends_by_itself(installed: Installed, model: Path) -> None:
    with installed.start(str(model)) as window:
        engine = wait_until_loaded(window, installed.home)
        family = psutil.Process(window.pid).children(recursive=True)
        window.kill()
    assert engine in family
    assert psutil.wait_procs(family, timeout=GUARD_SECONDS)[1] == []


@pytest.fixture
def broken(installation: Path, place: Path, home: Path) -> Installed:
    """Return a folder of its own whose llama.cpp a test may break; the large rest is linked."""
    folder = place / f"broken for {home.name}"
    shutil.copytree(installation, folder, symlinks=True, copy_function=os.link)
    return Installed(folder, home)


@pytest.mark.parametrize("damage", ["missing", "truncated", "empty"])
def test_a_damaged_llama_library_is_one_sentence(broken: Installed, model: Path, damage: str) -> None:
    library = broken.folder / "_internal" / LLAMA_FOLDER / "libllama.so.0"
    content = library.read_bytes()
    library.unlink()  # never written to: other folders have the same file
    if damage != "missing":
        library.write_bytes(content[: len(content) // 2] if damage == "truncated" else b"")
    done = broken.run(*ask(model))
    assert (done.returncode, done.stdout) == (4, "")
    assert is_one_plain_sentence(done.stderr), done.stderr
    assert "llama.cpp" in done.stderr
    shutil.rmtree(broken.folder)


def test_a_plain_build_beside_a_damaged_one_answers(broken: Installed, model: Path) -> None:
    inner = broken.folder / "_internal"
    shutil.copytree(inner / LLAMA_FOLDER, inner / PLAIN_FOLDER, symlinks=True)
    (inner / LLAMA_FOLDER / "libggml.so.0").unlink()
    done = broken.run(*ask(model))
    assert done.returncode == 0
    assert "a plain build for the processor is used instead" in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(done.stdout.split()) > 5
    shutil.rmtree(broken.folder)


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_reader_that_goes_away_ends_the_command_quietly(installed: Installed, model: Path, form: list[str]) -> None:
    with installed.start(*ask(model, *form)) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        told = process.stderr.read()
    assert (process.returncode, told) == (0, "")


@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-", "<&-"])
def test_standard_files_that_are_closed_do_no_harm(installed: Installed, model: Path, closed: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {closed}', "sh", *installed.command(*ask(model, "--json"))],
        cwd=installed.home,
        env=installed.environment,
        stdout=subprocess.PIPE,
        timeout=GUARD_SECONDS,
        check=False,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[-1])["type"] == "finished"


def test_the_folder_holds_what_is_used_and_nothing_twice(frozen: freeze.Wish) -> None:
    inner = frozen.folder / "_internal"
    assert frozen_folder.dangling_links(frozen.folder) == []
    names = {path.name for path in inner.rglob("*")}
    assert {"libqxcb.so", "libqoffscreen.so", "libqwayland.so", "libqsvg.so"} <= names
    assert {"libcomposeplatforminputcontextplugin.so", "libibusplatforminputcontextplugin.so"} <= names
    assert {"libcupsprintersupport.so", "STIXTwoMath-Regular.ttf", "unimathsymbols.txt"} <= names
    assert not names & {"libqgtk3.so", "libQt6Qml.so.6", "libQt6Network.so.6", "translations", "sqlite3", "tkinter"}
    assert [name for name in names if name.endswith((".gguf", ".qm"))] == []
    # The binding's, which is read for its version; nothing else comes as source.
    assert [path.relative_to(inner).as_posix() for path in inner.rglob("*.py")] == ["llama_cpp/__init__.py"]
    libraries = [path for path in inner.rglob("lib*.so*") if path.name.startswith(("libllama", "libggml"))]
    assert {path.name for path in libraries} >= {"libllama.so", "libllama.so.0", "libggml.so", "libggml.so.0"}
    assert len({path.resolve() for path in libraries}) == len({path.name.split(".so")[0] for path in libraries})


def names_of(requirements: list[str] | None) -> set[str]:
    """Return the names of the requirements that hold without an extra."""
    return {re.split(r"[^\w.-]", each)[0].lower() for each in requirements or () if "extra ==" not in each}


def runtime_packages() -> set[str]:
    """Return the names of the packages that the program needs to run, with all that they need."""
    found: set[str] = set()
    waiting = names_of(metadata.requires("tokenlight"))
    while waiting - found:
        name = (waiting - found).pop()
        found.add(name)
        waiting |= names_of(metadata.requires(name))
    return found


def test_every_package_inside_is_named_and_none_is_a_tool_of_developers(frozen: freeze.Wish) -> None:
    folder = frozen.folder / "_internal" / notices.FOLDER
    lines = (folder / notices.VERSIONS).read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"Tokenlight {VERSION}"
    names = {line.split()[0].lower() for line in lines}
    assert names - NOT_FROM_PACKAGES == runtime_packages() - LEFT_OUT
    texts = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    with_texts = {text.parts[0].rpartition("-")[0].lower() for text in texts if len(text.parts) > 1}
    assert with_texts - {""} == names - {"tokenlight"}
    assert "SIL OPEN FONT LICENSE" in next(folder.glob("ziamath-*/*OFL.txt")).read_text(encoding="utf-8")
    assert "LESSER GENERAL PUBLIC" in next(folder.glob("pyside6-*/LGPL*")).read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="only Debian's packages are asked")
def test_what_was_taken_from_the_system_is_named_with_its_licence(frozen: freeze.Wish) -> None:
    inner = frozen.folder / "_internal"
    folder = inner / notices.FOLDER
    lines = (folder / notices.SYSTEM).read_text(encoding="utf-8").splitlines()
    named = {library for line in lines for library in line.partition(": ")[2].split(", ")}
    at_the_top = {path.name for path in inner.glob("lib*.so*") if not path.is_symlink()}
    assert {name for name in at_the_top if not re.search(r"python|-[0-9a-f]{8}\.", name)} <= {
        name for name in at_the_top if any(known.startswith(name) for known in named)
    }
    for line in lines:
        assert (folder / "system" / line.split()[0] / "copyright").stat().st_size > 100
    assert (folder / "system" / "common" / "LGPL-2.1").is_file()
