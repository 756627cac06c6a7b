"""The access token for gated models: whether there is one, and giving and taking it; the token itself is passed on."""

from __future__ import annotations

from collections.abc import Callable

from app.core.errors import UserError
from app.core.hub_token import HubToken
from app.core.job_events import LanesAnalysed
from app.core.ports import HubTokenPort
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.latest_job import LatestJob
from app.system.jobs import Jobs

JOB = "hub token"
_Answer = tuple[HubToken | None, Sentence | None]


class HubTokenKeeping:
    """What people do with their token; a keyring may wait for somebody who unlocks it, so a window has it done."""

    def __init__(self, port: HubTokenPort, jobs: Jobs) -> None:
        self.changed: Signal[()] = Signal()
        """It is looked for, given or taken, or that has come to an end."""
        self.kept: Signal[()] = Signal()
        """Another token holds from now on, or none: what was refused may be given now."""
        self.state: HubToken | None = None
        """Where it is; None before anybody has looked."""
        self.problem: Sentence | None = None
        """Why the last thing that was wanted could not be done."""
        self._port = port
        self._is_other = False
        self._job: LatestJob[_Answer] = LatestJob(jobs, JOB, self._take)

    @property
    def is_busy(self) -> bool:
        """Whether something is being done."""
        return self._job.is_busy

    def look(self) -> None:
        """Find out where the token is."""
        self._do(self.state_now)

    def keep(self, token: str) -> None:
        """Keep a token in this system's keyring."""
        self._do(lambda: self.keep_now(token), is_other=True)

    def forget(self) -> None:
        """Take it out of the keyring."""
        self._do(self.forget_now, is_other=True)

    def take(self, event: LanesAnalysed) -> None:
        """Take in what was done."""
        self._job.take(event)

    def state_now(self) -> HubToken:
        """Return where the token is; waits for the keyring."""
        return self._port.token()

    def keep_now(self, token: str) -> HubToken:
        """Keep a token in this system's keyring, or raise why that cannot be; return where the one in use is now."""
        self._port.keep_token(token)
        return self._port.token()

    def forget_now(self) -> HubToken:
        """Take it out of the keyring; return where one in use is still."""
        self._port.forget_token()
        return self._port.token()

    def _do(self, work: Callable[[], HubToken], *, is_other: bool = False) -> None:
        if self.is_busy:  # the keyring may be waiting for a password: nothing is dropped half done
            return
        self.problem, self._is_other = None, is_other

        def answer() -> _Answer:
            try:
                return work(), None
            except UserError as error:
                return None, error.sentence

        self._job.want(answer)
        self.changed.emit()

    def _take(self, answer: _Answer | None) -> None:
        broken = translate("Hub", "The keyring failed in a way that nobody expected; the log has the details.")
        state, self.problem = answer or (None, broken)
        self.state = state or self.state
        self.changed.emit()
        if self._is_other and state is not None:
            self.kept.emit()
