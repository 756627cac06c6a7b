"""Everything about a hub that the program offers, made around one port."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from app.core.ports import DiscoverPort, DownloadPort, HubPort, HubTokenPort
from app.services.discovering import Discovering
from app.services.downloads import Downloads
from app.services.hub_token import HubTokenKeeping
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile


class HubServices(NamedTuple):
    """What finds, fetches and keeps."""

    downloads: Downloads
    discovering: Discovering
    hub_token: HubTokenKeeping


class HubPorts(HubPort, DiscoverPort, HubTokenPort, Protocol):
    """One hub, in all that it can be asked."""


def hub_services(queue: DownloadPort, folder: Path, hub: HubPorts, settings: SettingsFile, jobs: Jobs) -> HubServices:
    """Make them; nothing is asked before somebody wants it. What is downloaded goes into the folder."""
    return HubServices(Downloads(queue, folder, hub, settings), Discovering(hub, jobs), HubTokenKeeping(hub, jobs))
