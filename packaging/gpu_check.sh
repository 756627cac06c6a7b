#!/bin/sh
# Checks what Tokenlight's engine does on a GPU: `sh packaging/gpu_check.sh --help`.
# It only finds a Python; the work is in packaging/gpu_check/. PYTHON chooses another one.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

suits() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

for python in ${PYTHON:+"$PYTHON"} "$root/.venv/bin/python" python3; do
    if suits "$python"; then
        PYTHONPATH="$root/packaging:$root${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 \
            exec "$python" -m gpu_check "$@"
    fi
done
echo "The GPU check needs Python 3.11 or newer: install it, or name it with PYTHON=... and run this again." >&2
exit 2
