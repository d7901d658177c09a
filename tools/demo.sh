# The main job, on a repository of your choice: keep its state, cue it, measure what that cost.
# Nothing is written to the repository; the cache is a temporary folder and removed at the end.
# Usage: sh tools/demo.sh [REPOSITORY]      ($REPOCUE and $PYTHON name the programs; by default those in .venv)
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
repocue=${REPOCUE:-$here/.venv/bin/repocue}
python=${PYTHON:-$here/.venv/bin/python}
repository=${1:-$here}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export REPOCUE_CACHE_DIR="$work/cache"

if [ -z "${1:-}" ] && ! git -C "$here" rev-parse --git-dir >/dev/null 2>&1; then
    # These sources came without their history: make a repository of a copy.
    repository=$work/repocue
    mkdir "$repository"
    cp -R "$here/src" "$here/tests" "$here/README.md" "$here/pyproject.toml" "$repository"
    git -C "$repository" init -q
    git -C "$repository" add -A
fi
cd "$repository"

bold='' dim='' plain=''
if [ -t 1 ]; then
    bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
fi
say() {
    printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}
run() {
    printf '%s$ repocue %s%s\n' "$dim" "$*" "$plain"
    "$repocue" "$@" --format text
}

printf 'RepoCue on %s\n' "$(pwd)"
say "Keep: read the repository once, into a cache outside it"
run init
say "Trust: one verdict says whether what is kept is what is there"
run status
say "Cue: what a coding agent is handed, within a hard budget of 500 tokens"
printf '%s$ repocue cue%s\n' "$dim" "$plain"
"$repocue" cue >"$work/cue.json"
"$python" -c '
import json, sys
def show(members, margin):
    for name, member in members.items():
        if name == "content":
            print(f"{margin}content")
            show(member, margin + "  ")
            continue
        text = json.dumps(member, ensure_ascii=False)
        print(f"{margin}{name:<{18 - len(margin)}}" + (text if len(text) <= 100 else text[:100] + "…"))
show(json.load(open(sys.argv[1], encoding="utf-8")), "  ")
' "$work/cue.json"
printf '%s bytes of JSON on one line; here member by member, long ones cut\n' "$(wc -c <"$work/cue.json" | tr -d ' ')"
say "Refresh: look again; where nothing changed nothing new is kept"
run refresh
say "Measure: baseline, refresh and cue as processes of their own, in another temporary cache"
run evaluate
say "Compare: what each of five conditions would hand to an agent; without --runner no agent is run"
run evaluate-m2 --quiet --output-directory "$work/evidence"
printf '\nYour turn:  cd REPOSITORY  &&  %s init  &&  %s cue\n' "$repocue" "$repocue"
