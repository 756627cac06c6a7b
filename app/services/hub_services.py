"""Everything about a hub that the program offers, made around one port."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from app.core.ports import DiscoverPort, DownloadPort, EventSink, HubPort, HubTokenPort
from app.services.discovering import Discovering
from app.services.downloads import Downloads
from app.services.hub_token import HubTokenKeeping
from app.system.jobs import Jobs
from app.system.offline_switch import OfflineSwitch
from app.system.settings_file import SettingsFile

QUESTIONS = 4
"""Threads: a search, a page, its header and a model that is planned are asked for at the same time."""


class HubJobs(NamedTuple):
    """The threads of what waits for others: a hub may be slow to answer, a keyring for somebody who unlocks it."""

    questions: Jobs
    keyring: Jobs

    @classmethod
    def of(cls, sink: EventSink) -> HubJobs:
        """Make them; no thread begins before there is something to ask."""
        return cls(Jobs(sink, "hub", QUESTIONS), Jobs(sink, "keyring", 1))

    def stop(self) -> None:
        """Drop what waits, and end."""
        self.questions.stop()
        self.keyring.stop()


class HubServices(NamedTuple):
    """What finds, fetches and keeps."""

    downloads: Downloads
    discovering: Discovering
    hub_token: HubTokenKeeping
    hub_jobs: HubJobs
    offline: OfflineSwitch


class HubPorts(HubPort, DiscoverPort, HubTokenPort, Protocol):
    """One hub, in all that it can be asked."""


def hub_services(
    queue: DownloadPort, folder: Path, hub: HubPorts, settings: SettingsFile, jobs: HubJobs, offline: OfflineSwitch
) -> HubServices:
    """Make them; nothing is asked before somebody wants it. What is downloaded goes into the folder."""
    downloads, discovering = Downloads(queue, folder, hub, settings), Discovering(hub, jobs.questions)
    offline.changed.connect(queue.look)
    offline.changed.connect(lambda: discovering.look_again(offline.is_on))
    token = HubTokenKeeping(hub, jobs.keyring)
    token.kept.connect(lambda: discovering.look_again(is_offline=False))
    token.kept.connect(lambda: _try_refused(downloads))
    return HubServices(downloads, discovering, token, jobs, offline)


def _try_refused(downloads: Downloads) -> None:
    """Go on with what the hub may give to the access token of now."""
    for row in downloads.rows:
        if row.state == "failed" and row.wants_token:
            downloads.act(row.key, "resume")
