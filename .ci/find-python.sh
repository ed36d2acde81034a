#!/bin/sh
# Prints the path of a Python that moonxi runs on: usage: find-python.sh [X.Y]
#
# With X.Y only that version will do, without it any from 3.12 on. A name on the PATH proves nothing (a pyenv shim
# may stand there for a version that is not active, Debian splits venv off), so every candidate is executed.
# PYTHON, when set, is the only candidate.
set -u
want=${1:-}

probe='
import sys
import ensurepip, venv  # the two that .venv needs
want = sys.argv[1]
found = ".".join(map(str, sys.version_info[:2]))
if (found != want) if want else (sys.version_info < (3, 12)):
    sys.exit(1)
print(sys.executable)
'

works() {
    "$1" -c "$probe" "$want" </dev/null 2>/dev/null
}

if [ -n "${PYTHON:-}" ]; then
    works "$PYTHON" && exit 0
    echo "moonxi: PYTHON=$PYTHON is not a Python ${want:-3.12 or newer} with its modules venv and ensurepip" >&2
    exit 1
fi

for candidate in python3.13 python3.12 python3; do
    works "$candidate" && exit 0
done
for root in "${PYENV_ROOT:-}" "${HOME:-}/.pyenv"; do
    for candidate in "$root"/versions/*/bin/python3.13 "$root"/versions/*/bin/python3.12; do
        works "$candidate" && exit 0
    done
done
echo "moonxi: no Python ${want:-3.12 or newer} found: install one with venv (apt install python3 python3-venv," \
    "brew install python, pyenv install ${want:-3.13}), or name it: make PYTHON=/path/to/python3" >&2
exit 1
