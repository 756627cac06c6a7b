"""What PyInstaller takes along with QtGui: the plugins that this application uses, and no translations of Qt."""

from __future__ import annotations

from PyInstaller.utils.hooks.qt import add_qt6_dependencies  # type: ignore[import-untyped]

from devtools.frozen_contents import without_unused_plugins

hiddenimports, found, _translations = add_qt6_dependencies(__file__)
binaries = without_unused_plugins(found)
