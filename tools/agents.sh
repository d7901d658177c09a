#!/bin/sh
# Installs the pinned agent programs that `make test-agents` runs, outside the tree, once. About 800 MB.
# They are native programs: npm fetches them, and nothing of node is needed to run them.
set -eu
CODEX=0.171.0
CLAUDE=2.1.332
folder=${REPOCUE_TEST_AGENTS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/repocue-test-agents}

install() { # NAME VERSION PACKAGE
    place=$folder/$1-$2
    [ -d "$place" ] && return
    if ! command -v npm >/dev/null 2>&1; then
        echo "make test-agents needs npm (of Node.js 16 or newer) to install $3@$2 into $place." >&2
        exit 1
    fi
    mkdir -p "$folder"
    unfinished=$folder/.unfinished-$1-$2-$$
    trap 'rm -rf "$unfinished"' EXIT
    echo "Installing $3@$2 into $place" >&2
    npm install --prefix "$unfinished" --no-fund --no-audit --loglevel=error "$3@$2" >&2
    mv "$unfinished" "$place"
    trap - EXIT
}

install codex "$CODEX" @openai/codex
install claude "$CLAUDE" @anthropic-ai/claude-code
