#!/bin/sh
# Sees to a Chromium for the tests of the report's page: Debian's, where none is on PATH. With --check it only says so.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then
        exit 0
    fi
done
if [ "${1:-}" = --check ]; then
    echo "No Chromium is on PATH, so the report's page was not opened in a browser (Debian: apt install chromium)." >&2
    exit 1
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "No Chromium is on PATH, and without apt-get none can be installed here." >&2
    exit 1
fi
root=
[ "$(id -u)" = 0 ] || root=sudo
echo "Installing Debian's chromium" >&2
$root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends chromium >/dev/null
