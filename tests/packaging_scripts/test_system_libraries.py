"""Missing system libraries are named by the packages that people can install."""

from __future__ import annotations

import pytest

from devtools.system_libraries import PACKAGES, Missing, complaint, not_found, packages_for, remedy

LDD = """
\tlinux-vdso.so.1 (0x00007ffd)
\tlibxcb-icccm.so.4 => not found
\tlibxcb.so.1 => /lib/x86_64-linux-gnu/libxcb.so.1 (0x00007f)
\tlibxcb-keysyms.so.1 => not found
\tlibxcb-keysyms.so.1 => not found
"""
X11 = Missing((), ("libxcb-icccm.so.4", "libxcb-keysyms.so.1"))


def test_ldd_tells_what_is_missing_once() -> None:
    assert not_found(LDD) == ["libxcb-icccm.so.4", "libxcb-keysyms.so.1"]
    assert not_found("\tnot a dynamic executable") == []


@pytest.mark.parametrize(
    ("manager", "packages"),
    [
        ("apt", ["libxcb-icccm4", "libxcb-keysyms1"]),
        ("dnf", ["xcb-util-keysyms", "xcb-util-wm"]),
        ("pacman", ["xcb-util-keysyms", "xcb-util-wm"]),
    ],
)
def test_each_package_manager_gets_its_own_names(manager: str, packages: list[str]) -> None:
    assert packages_for(not_found(LDD), manager) == packages


def test_two_libraries_of_one_package_name_it_once() -> None:
    assert packages_for(["libglib-2.0.so.0", "libgthread-2.0.so.0"], "pacman") == ["glib2"]


def test_an_unknown_library_is_named_itself() -> None:
    assert packages_for(["libnew.so.7"], "apt") == ["libnew.so.7"]


def test_every_library_has_a_package_for_each_manager() -> None:
    assert len(PACKAGES) > 20
    assert [name for name, packages in PACKAGES.items() if not all(packages)] == []


def test_the_remedy_is_a_command_or_all_three_lists() -> None:
    assert remedy(X11.x11, "apt") == "sudo apt install libxcb-icccm4 libxcb-keysyms1"
    assert remedy(X11.x11, "pacman") == "sudo pacman -S xcb-util-keysyms xcb-util-wm"
    assert remedy(["libglib-2.0.so.0"], "") == "apt: libglib2.0-0t64 or libglib2.0-0; dnf: glib2; pacman: glib2"


def test_nothing_missing_says_nothing() -> None:
    assert complaint(Missing(), "apt", {}) == ("", False)


def test_libraries_of_x11_stop_a_window_except_under_wayland() -> None:
    text, fatal = complaint(X11, "apt", {})
    assert fatal
    assert "libxcb-icccm.so.4" in text
    text, fatal = complaint(X11, "apt", {"WAYLAND_DISPLAY": "wayland-0"})
    assert not fatal
    assert "under X11" in text


def test_libraries_of_qt_itself_stop_a_window_everywhere() -> None:
    text, fatal = complaint(Missing(("libGL.so.1",)), "dnf", {"WAYLAND_DISPLAY": "wayland-0"})
    assert fatal
    assert "sudo dnf install libglvnd-glx" in text


def test_a_window_opens_without_what_only_printing_needs() -> None:
    text, fatal = complaint(Missing(printing=("libcups.so.2",)), "apt", {})
    assert not fatal
    assert text.startswith("Printing needs system libraries that are missing (libcups.so.2).")
    assert text.endswith("sudo apt install libcups2")
