"""What keeps a window from printing, as a rule over what a try of Qt told."""

from __future__ import annotations

import msgspec
import pytest

from app.services.window_reasons import window_findings
from app.system.qt_probe import QtFacts
from tests.services.surroundings_of_tests import healthy


def test_a_window_that_cannot_print_is_told_with_the_command() -> None:
    qt = QtFacts(None, "6.11.3", "xcb", missing_to_print=("libcups.so.2",))
    (finding,) = window_findings(msgspec.structs.replace(healthy(), qt=qt))
    assert (finding.state, finding.command) == ("note", "sudo apt-get install libcups2")
    assert "No printer can be reached" in finding.sentence.english()
    assert "libcups.so.2" in finding.sentence.english()


@pytest.mark.parametrize("fault", ["not_loadable", "blocked", "not_startable"])
def test_what_keeps_the_window_itself_from_opening_is_told_first(fault: str) -> None:
    qt = msgspec.convert({"fault": fault, "platform": "xcb", "missing_to_print": ["libcups.so.2"]}, QtFacts)
    (finding,) = window_findings(msgspec.structs.replace(healthy(), qt=qt))
    assert finding.state == "problem" and "printer" not in finding.sentence.english()
