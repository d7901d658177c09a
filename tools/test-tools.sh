#!/bin/sh
# Installs the programs that a few tests compare with or run under, where apt-get is there; without them those tests skip.
set -eu
missing=
for name in shellcheck gawk original-awk strace; do
    command -v "$name" >/dev/null 2>&1 || missing="$missing $name"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "Not installed, so their tests will skip:$missing" >&2
    exit 0
fi
root=
[ "$(id -u)" = 0 ] || root=sudo
echo "Installing$missing" >&2
$root apt-get update -qq
# shellcheck disable=SC2086 # one word a package
DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing >/dev/null
