"""Hands the tensors of a computation to whoever wants to see them, while llama.cpp computes it.

llama.cpp asks before each node of the graph whether it is wanted, computes up to it and hands it over. Each node that is
wanted is computed apart from the others, which costs time: a context without a watch pays nothing. An exception of the
watcher never crosses into C: it ends the evaluation and is raised behind it.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

from app.engine.backend import Watcher
from app.engine.ggml_tensor import GgmlTensor
from app.engine.llama import api


class GraphWatch:
    """The evaluation callback of a context, with the watcher that it serves; it has to live as long as the context."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._error: BaseException | None = None
        self._asked_ns = 0
        self.is_on = True
        """Whether the watcher is asked; evaluations in between cost nothing but a look at this."""
        self.callback = api.ggml_backend_sched_eval_callback(self._called)

    def attach(self, params: Any) -> None:
        """Have a context that is made with these parameters call it."""
        params.cb_eval, params.cb_eval_user_data = self.callback, ctypes.c_void_p(0)

    def raise_error(self) -> None:
        """Raise what the watcher raised in the evaluation that just ended; nothing where it raised nothing."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    @property
    def has_failed(self) -> bool:
        """Whether the watcher raised something in the evaluation that goes on: it is to end."""
        return self._error is not None

    def _called(self, address: int, is_question: bool, _user: object) -> bool:
        now = time.perf_counter_ns()
        if self._error is not None or not self.is_on:
            return not is_question and self._error is None
        try:
            tensor = GgmlTensor(address)
            if is_question:
                wanted = bool(self._watcher.wants(tensor))
                self._asked_ns = time.perf_counter_ns()
                return wanted
            self._watcher.take(tensor, self._asked_ns, now)
        except BaseException as error:  # noqa: BLE001  nothing may cross into C; it is raised again behind the call
            self._error = error
            return False
        return True
