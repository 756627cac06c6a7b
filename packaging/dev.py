"""Sets Tokenlight up from a checkout and runs, tests or tidies it: `python3 packaging/dev.py --help`.

Written so that Python 3.6 can read it: an old interpreter gets a sentence or a better Python, not a syntax error.
It must not know how anything is set up; that is `devtools`, which needs a supported Python.
"""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
NEWEST = (3, 13)
CHECK = "import sys, venv, ensurepip; sys.exit(0 if sys.version_info[:2] == (%d, %d) else 1)"


def is_supported(version: "tuple[int, ...]") -> bool:
    """Tell whether this (major, minor) is a Python that Tokenlight runs on."""
    return OLDEST <= tuple(version[:2]) <= NEWEST


def candidates(os_name: str) -> "list[tuple[list[str], tuple[int, int]]]":
    """List (command, version) pairs worth trying, newest first."""
    versions = [(3, minor) for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    if os_name == "nt":
        return [(["py", "-%d.%d" % version], version) for version in versions]
    return [(["python%d.%d" % version], version) for version in versions]


def works(command: "list[str]", version: "tuple[int, int]") -> bool:
    """Tell whether the command starts that Python with all that a virtual environment needs."""
    if shutil.which(command[0]) is None:
        return False
    with open(os.devnull, "w") as nowhere:
        check = command + ["-c", CHECK % version]
        return subprocess.call(check, stdout=nowhere, stderr=nowhere) == 0


def find_python(os_name: str) -> "list[str] | None":
    """Return the command of a suitable Python on PATH, or None."""
    for command, version in candidates(os_name):
        if works(command, version):
            return command
    return None


def refusal(version: "tuple[int, ...]") -> str:
    """Say in one sentence why this Python cannot be used and what to do."""
    return (
        "Tokenlight needs Python %d.%d to %d.%d, but this is Python %d.%d and no other was found:"
        " install one of these versions and run this command again." % (OLDEST + NEWEST + tuple(version[:2]))
    )


def main() -> int:
    """Hand over to `devtools`, in a suitable Python if this one is not."""
    here = os.path.dirname(os.path.abspath(__file__))
    if here not in sys.path:
        sys.path.insert(0, here)
    if is_supported(sys.version_info[:2]):
        from devtools.command_line import main as run

        return run(sys.argv[1:])
    better = find_python(os.name)
    if better is None:
        sys.stderr.write(refusal(sys.version_info[:2]) + "\n")
        return 2
    return subprocess.call(better + [os.path.abspath(__file__)] + sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
