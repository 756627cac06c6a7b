"""Whether a window can be opened, and why not: pure rules over what a try of Qt told."""

from __future__ import annotations

from app.core.words import translate
from app.services.findings import Finding
from app.services.surroundings import Surroundings

QT = "PySide6-Essentials>=6.11,<6.12"
_DAMAGED = translate(
    "Doctor", "The window cannot open: Qt is damaged or does not suit this system. Install PySide6 again."
)
_WHOLE = translate(
    "Doctor",
    "The window cannot open: Qt is damaged or does not suit this system. Download Tokenlight again for this system.",
)


def window_findings(around: Surroundings) -> list[Finding]:
    """Return what keeps a window from opening, or an open one from printing; the command line needs neither."""
    qt, remedies = around.qt, around.remedies
    libraries = ", ".join(qt.missing)
    frozen = remedies.installation == "frozen"
    if qt.fault is None:
        return _printing_findings(around)
    if qt.fault == "not_installed":
        sentence = (
            _WHOLE if frozen else translate("Doctor", "The window cannot open: Qt is not installed. Install PySide6.")
        )
        return [Finding("window", "problem", sentence, remedies.install_python_package(QT))]
    if qt.fault == "no_process":
        sentence = translate(
            "Doctor",
            "Whether a window can open is not known: no process could be started to try it. "
            "Close other programs and try again.",
        )
        return [Finding("window", "note", sentence)]
    if qt.fault == "own_fault":
        sentence = translate(
            "Doctor",
            "Whether a window can open is not known: trying it met a fault of the program itself. "
            "The log has the details.",
        )
        return [Finding("window", "note", sentence)]
    if qt.missing:
        sentence = translate(
            "Doctor",
            "The window cannot open: Qt needs system libraries that are missing ({libraries}). Install them.",
            libraries=libraries,
        )
        return [Finding("window", "problem", sentence, remedies.install_libraries(qt.missing))]
    if qt.fault == "not_loadable":
        sentence = _WHOLE if frozen else _DAMAGED
        return [Finding("window", "problem", sentence, remedies.install_python_package(QT))]
    if qt.silent_display:
        sentence = translate(
            "Doctor",
            "The window cannot open: DISPLAY names “{display}”, where no screen answers. Set it to the screen that you "
            "sit at, or use the command line: tokenlight ask PROMPT.",
            display=qt.silent_display,
        )
        return [Finding("window", "problem", sentence)]
    if qt.fault == "blocked":
        sentence = translate(
            "Doctor",
            "The window cannot open: Qt waits for the window system ({platform}). Log out and in again; until then the "
            "command line works: tokenlight ask PROMPT.",
            platform=qt.platform,
        )
        return [Finding("window", "problem", sentence)]
    if not qt.has_screen:
        sentence = translate(
            "Doctor",
            "No window can open here, since there is no screen (neither DISPLAY nor WAYLAND_DISPLAY is set). "
            "The command line works: tokenlight ask PROMPT.",
        )
        return [Finding("window", "note", sentence)]
    return [_not_startable(around)]


def _printing_findings(around: Surroundings) -> list[Finding]:
    missing = around.qt.missing_to_print
    if not missing:
        return []
    sentence = translate(
        "Doctor",
        "No printer can be reached: system libraries are missing ({libraries}). Install them; chats can be saved as PDF "
        "without them.",
        libraries=", ".join(missing),
    )
    return [Finding("window", "note", sentence, around.remedies.install_libraries(missing))]


def _not_startable(around: Surroundings) -> Finding:
    platform = around.qt.platform
    if around.qt_is_told:
        sentence = translate(
            "Doctor",
            "The window cannot open: Qt does not start on “{platform}”, which QT_QPA_PLATFORM names. Remove this variable.",
            platform=platform,
        )
        return Finding("window", "problem", sentence, around.remedies.unset("QT_QPA_PLATFORM"))
    sentence = translate(
        "Doctor",
        "The window cannot open: Qt does not start on “{platform}”. Log out and in again; until then the command line "
        "works: tokenlight ask PROMPT.",
        platform=platform,
    )
    return Finding("window", "problem", sentence)
