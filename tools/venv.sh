# Make a virtual environment at $1 with the first Python that is new enough: $PYTHON, python3, then by version.
set -eu
target=$1

for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "${python:-}" ]; then
    echo "RepoCue needs Python 3.11 or newer, and none was found on PATH. Name one with PYTHON=/path/to/python." >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "$python cannot make virtual environments (it has no ensurepip)." >&2
    echo "Install its venv package (Debian, Ubuntu: apt install python3-venv) or name another with PYTHON=..." >&2
    exit 1
fi
echo "Making $target with $("$python" -V)"
rm -rf "$target"
exec "$python" -m venv "$target"
