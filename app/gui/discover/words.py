"""What is said of models of a hub, in words: facts on one line, ages, times left."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.hub_search import HubRepository
from app.core.printable import printable
from app.services.units import count, parameter_count

translate = QCoreApplication.translate
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3_600, 86_400
_DATE = len("2026-01-01")


def shown(text: str) -> str:
    """Return what a hub tells, on one line and without what would turn it round."""
    return printable(" ".join(text.split()))


def facts_of(found: HubRepository) -> list[str]:
    """Return what people compare: size, kind, license, how often it is taken; what is not told is left out."""
    facts = [parameter_count(found.parameters)] if found.parameters is not None else []
    facts += [shown(each) for each in (found.architecture, found.license) if each]
    if found.downloads is not None:
        one, several = translate("Discover", "1 download"), translate("Discover", "{count} downloads")
        facts.append((one if found.downloads == 1 else several).format(count=count(found.downloads)))
    if found.is_gated:
        facts.append(translate("Discover", "terms to accept"))
    return facts


def more_facts_of(found: HubRepository) -> list[str]:
    """Return what stands on a repository's page in addition."""
    facts = []
    if found.context is not None:
        facts.append(translate("Discover", "context {count}").format(count=count(found.context)))
    if found.likes is not None:
        one, several = translate("Discover", "1 like"), translate("Discover", "{count} likes")
        facts.append((one if found.likes == 1 else several).format(count=count(found.likes)))
    if found.updated:
        facts.append(translate("Discover", "updated {day}").format(day=shown(found.updated[:_DATE])))
    if found.languages:
        named = ", ".join(shown(each) for each in found.languages[:8])
        facts.append(named + (" …" if len(found.languages) > 8 else ""))
    return facts


def ago(seconds: float) -> str:
    """Return how long ago something was, in its largest unit."""
    if seconds >= _DAY_S:
        number, one = int(seconds // _DAY_S), translate("Discover", "1 day ago")
        several = translate("Discover", "{count} days ago")
    elif seconds >= _HOUR_S:
        number, one = int(seconds // _HOUR_S), translate("Discover", "1 hour ago")
        several = translate("Discover", "{count} hours ago")
    else:
        number, one = max(1, int(seconds // _MINUTE_S)), translate("Discover", "1 minute ago")
        several = translate("Discover", "{count} minutes ago")
    return (one if number == 1 else several).format(count=count(number))


def time_left(seconds: float) -> str:
    """Return how long something takes still, no finer than it can be known."""
    if seconds < _MINUTE_S:
        return translate("Discover", "{count} s left").format(count=max(1, round(seconds)))
    if seconds < _HOUR_S:
        return translate("Discover", "{count} min left").format(count=round(seconds / _MINUTE_S))
    hours, minutes = divmod(round(seconds / _MINUTE_S), 60)
    return translate("Discover", "{hours} h {minutes} min left").format(hours=count(hours), minutes=minutes)
