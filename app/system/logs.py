"""The log files: one that rotates for what happens, one for the stacks of a crash; never standard output."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import logging.handlers
import threading
from pathlib import Path
from typing import IO

MAX_BYTES = 1_000_000
KEPT_FILES = 3
_FORMAT = "%(asctime)s %(levelname)s %(process)d %(threadName)s %(name)s: %(message)s"


class Logs:
    """The open log files of one process; closed in `close`."""

    def __init__(self) -> None:
        self._handler: logging.Handler | None = None
        self._crash_file: IO[str] | None = None
        self._thread_hook = threading.excepthook

    @property
    def writes_files(self) -> bool:
        """Whether the folder of the logs can be written."""
        return self._crash_file is not None

    def open(self, log_file: Path, crash_file: Path) -> None:
        """Start to log; where the folder cannot be written, the program runs without log files."""
        logging.raiseExceptions = False
        try:
            log_file.parent.mkdir(parents=True, exist_ok=True)
            self._handler = logging.handlers.RotatingFileHandler(
                log_file, maxBytes=MAX_BYTES, backupCount=KEPT_FILES - 1, encoding="utf-8", delay=True
            )
            self._crash_file = crash_file.open("a", encoding="utf-8")
        except OSError:
            self._handler = self._handler or logging.NullHandler()
        self._handler.setFormatter(logging.Formatter(_FORMAT))
        root = logging.getLogger()
        root.addHandler(self._handler)
        root.setLevel(logging.INFO)
        if self._crash_file is not None:
            faulthandler.enable(self._crash_file)
        threading.excepthook = _log_thread_error

    def close(self) -> None:
        """Flush and close the files and take the handlers away again."""
        threading.excepthook = self._thread_hook
        if self._crash_file is not None:
            faulthandler.disable()
            # A full disk refuses the last lines when the file is closed: that must not be how a program ends.
            with contextlib.suppress(OSError):
                self._crash_file.close()
            self._crash_file = None
        if self._handler is not None:
            logging.getLogger().removeHandler(self._handler)
            with contextlib.suppress(OSError):
                self._handler.close()
            self._handler = None


def _log_thread_error(details: threading.ExceptHookArgs) -> None:
    if details.exc_value is None or issubclass(details.exc_type, SystemExit):
        return
    logging.getLogger(__name__).critical(
        "A thread ended with an error",
        exc_info=(details.exc_type, details.exc_value, details.exc_traceback),
    )
