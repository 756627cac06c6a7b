"""Whatever a model or a person writes: showing it fetches nothing from the network."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QDesktopServices, QHelpEvent, QHoverEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core.words import translate
from app.services.notices import Notice
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")

WRITTEN = """![a picture](HOST/plain.png) ![by reference][picture] [![linked](HOST/badge.svg)](HOST/page)

<img src="HOST/html.png"> <img src='HOST/single.png' /> <picture><source srcset="HOST/set.png"></picture>

<link rel="stylesheet" href="HOST/style.css"><script src="HOST/script.js"></script>
<style>@import url(HOST/import.css); p { background: url(HOST/background.png) }</style>

<iframe src="HOST/frame.html"></iframe> <video src="HOST/film.mp4" poster="HOST/poster.png"></video>

- [a link](HOST/link "HOST/title.png") and <HOST/auto> and HOST/bare

> <div style="background-image: url('HOST/quoted.png')"><b>bold</b></div>

| a | b |
|---|---|
| ![cell](HOST/cell.png) | <img src="HOST/cell_html.png"> |

```html
<img src="HOST/code.png"> ![code](HOST/code_mark.png)
```

[picture]: HOST/reference.png
"""


class Web:
    """A server on this machine that counts who comes."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        hits = self.hits

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hits.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_words: object) -> None:
                """Say nothing."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="web")
        self._thread.start()

    def visit(self, path: str) -> None:
        """Come once, as a browser would."""
        urllib.request.urlopen(f"{self.address}/{path}").close()

    def close(self) -> None:
        """Serve no longer."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def web() -> Iterator[Web]:
    made = Web()
    yield made
    made.close()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the addresses that the browser would be given."""
    addresses: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: addresses.append(url.toString()))
    return addresses


def look_everywhere(stage: Stage, widget: QWidget) -> None:
    """Point at every part of a widget, as the mouse does on its way, and wait for what is said there."""
    step = 12
    for y in range(0, widget.height(), step):
        for x in range(0, widget.width(), step * 8):
            point = QPoint(x, y)
            QTest.mouseMove(widget, point)
            place = widget.mapToGlobal(point)
            QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, point, place))
            hover = QHoverEvent(QEvent.Type.HoverMove, QPointF(point), QPointF(place), QPointF(point))
            QApplication.sendEvent(widget, hover)
    stage.settle()


def test_a_conversation_full_of_addresses_is_shown_without_a_visit(
    ready: Stage, web: Web, opened: list[str], tmp_path: Path
) -> None:
    text = WRITTEN.replace("HOST", web.address)
    ready.desk.program.conversations.start()
    ready.composer.setPlainText(text)
    ready.presses(Qt.Key.Key_Return)
    ready.engine.prompt()
    for piece in text.splitlines(keepends=True):
        ready.engine.write(piece)
        ready.settle()
        ready.window.grab()
    ready.engine.finish()
    ready.settle()
    transcript = ready.find("transcript")
    for key in (Qt.Key.Key_Home, Qt.Key.Key_PageDown, Qt.Key.Key_PageDown, Qt.Key.Key_End):
        QTest.keyClick(transcript, key)
        ready.window.grab()
        look_everywhere(ready, transcript.viewport())  # type: ignore[attr-defined]  # a scroll area
    assert "plain.png" in ready.transcript_text()
    sentence = translate("Test", "{text}", text=text)
    ready.desk.program.notices.post(Notice(sentence, details=(text,)))
    ready.window.grab()
    look_everywhere(ready, ready.find("notice_bar"))
    look_everywhere(ready, ready.find("conversation_list"))
    web.visit("by-hand")  # after whoever came before
    assert (web.hits, opened) == (["/by-hand"], [])
