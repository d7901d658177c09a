# The main job, on a repository of your choice: keep its state, cue it, measure what that cost.
# Nothing is written to the repository; the cache is a temporary folder and removed at the end.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
repository=${1:-$here}
repocue=$here/.venv/bin/repocue
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
REPOCUE_CACHE_DIR=$work/cache
export REPOCUE_CACHE_DIR

if [ -z "${1:-}" ] && ! git -C "$repository" rev-parse --git-dir >/dev/null 2>&1; then
    # These sources came without their history: any repository will do, so make one of them.
    cp -R "$here/src" "$work/repocue"
    git -C "$work/repocue" init -q
    git -C "$work/repocue" add -A
    repository=$work/repocue
fi
cd "$repository"

step() {
    printf '\n\033[1m%s\033[0m\n' "$1"
}
run() {
    printf '\033[2m$ repocue %s\033[0m\n' "$*"
    "$repocue" "$@"
}
[ -t 1 ] || step() { printf '\n%s\n' "$1"; }
[ -t 1 ] || run() { printf '$ repocue %s\n' "$*"; "$repocue" "$@"; }

printf 'RepoCue on %s\n' "$(pwd)"
step "Keep: read the repository once, into a cache outside it"
run --format text init
step "Trust: one verdict says whether what is kept is what is there"
run --format text status
step "Cue: what a coding agent is handed, within a hard token budget"
printf '$ repocue cue --max-tokens 500\n'
"$repocue" cue --max-tokens 500 >"$work/cue.json"
"$here/.venv/bin/python" -m json.tool --no-ensure-ascii --indent 2 "$work/cue.json"
printf '%s bytes as printed, one line (indented here to be read)\n' "$(wc -c <"$work/cue.json" | tr -d ' ')"
step "Refresh: look again; nothing changed, so nothing new is kept"
run --format text refresh
step "Measure: the same three steps as processes of their own, in another temporary cache"
run --format text evaluate
printf '\nYour turn: cd into a repository, then  %s init  and  %s cue\n' "$repocue" "$repocue"
