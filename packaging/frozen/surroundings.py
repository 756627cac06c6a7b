"""Runs first in every frozen process: what it starts later sees the surroundings that it was started in itself.

The boot loader points the search path of libraries at the bundle, which this process has read by now; another program
would load our libraries instead of its own. Plugins of an installed Qt must not get into ours.
"""

from __future__ import annotations

import os

CHANGED_BY_THE_BOOT_LOADER = ("LD_LIBRARY_PATH", "LIBPATH")
OF_ANOTHER_QT = ("QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH", "QML2_IMPORT_PATH", "QML_IMPORT_PATH")

for name in CHANGED_BY_THE_BOOT_LOADER:
    original = os.environ.pop(f"{name}_ORIG", None)
    os.environ.pop(name, None)
    if original is not None:
        os.environ[name] = original
for name in OF_ANOTHER_QT:
    os.environ.pop(name, None)
