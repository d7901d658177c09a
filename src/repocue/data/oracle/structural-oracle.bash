#!/usr/bin/env bash
# Structural oracle: what a repository's own Python and Bash files define, source and import.
#
# Run it in the root of a git work tree, without arguments. One candidate a line on standard output, best first:
#     language <TAB> module (path) <TAB> kind <TAB> name <TAB> signature
# What was left out, on standard error:  limitation <TAB> code <TAB> count
#
# It needs Bash 4 or newer, git, awk (tested with mawk and gawk) and sort, and the .awk files beside it. Nothing of the
# repository is ever run. It reads tracked regular files only, follows no symbolic link, enters no submodule and writes
# nothing.
#
#   python  class     Owner.Name   (bases)              at module level, in classes, under if/try/with; not in functions
#           function  name         (params) -> result   "async " goes before the parentheses
#           method    Owner.name   (params) -> result
#           import    module       names or "as name"
#   bash    function  name                              whose definition begins a line, outside other functions
#           source    path                              of `source PATH` and `. PATH` where PATH is literal
#
# A signature is the source text with white space collapsed, comments and the last trailing comma left out. A POSIX sh
# script is read by the Bash rules. A file that is not understood to its last byte gives no candidate at all.
#
# Order: production files, then auxiliary ones (docs, examples, vendored), then tests; of tests those under src/ first.
# In each group: public classes and functions, public methods, those of private modules (a leading underscore), private
# definitions, source relationships, imports.
# In each of these: Python under src/ first, then whatever spans more source lines, then path, then line.

set -u -f -o pipefail
export LC_ALL=C
IFS=$' \t\n'
readonly MAX_FILES=20000 MAX_FILE_BYTES=1048576 MAX_TOTAL_BYTES=134217728 # candidate files that are read
readonly MAX_RECORDS=20000                                               # lines on standard output
readonly BATCH=200 AWK_MEMORY_KIB=1048576 AWK_CPU_S=10                   # files that one awk reads, and its bounds
readonly RETRY_CPU_S=3 MAX_DEATHS=5                                      # for one file at a time, after an awk died

fail() {
  printf 'structural-oracle: %s\n' "$1" >&2
  exit "${2:-1}"
}

((BASH_VERSINFO[0] >= 4)) || fail "Bash 4 or newer is needed, this is $BASH_VERSION"
(($# == 0)) || fail 'it takes no arguments; run it in the root of a git work tree' 2
[[ -e .git ]] || fail 'the current folder is not the root of a git work tree'
here=${BASH_SOURCE[0]%/*}
[[ $here == "${BASH_SOURCE[0]}" ]] && here=.
readonly here

# Programs are looked up in absolute folders outside the repository alone, so that it cannot supply a git or an awk.
search='' IFS=:
for folder in $PATH; do
  [[ $folder == /* && $folder/ != "$PWD"/* ]] && search+=${search:+:}$folder
done
IFS=$' \t\n'
PATH=$search
unset -f git awk sort 2>/dev/null
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_NAMESPACE GIT_PREFIX GIT_LITERAL_PATHSPECS \
  GIT_GLOB_PATHSPECS GIT_ICASE_PATHSPECS GREP_OPTIONS POSIXLY_CORRECT AWKPATH AWKLIBPATH
for program in git awk sort; do
  type -P "$program" >/dev/null || fail "$program is not on PATH"
done

declare -A folder_is_plain=()
declare -i total_bytes=0 beyond=0 missing=0 irregular=0 unreadable=0 died=0

# Whether no parent folder of $1 is a symbolic link, which would lead out of what git tracks.
below_plain_folders() {
  local folder=${1%/*}
  [[ $folder == "$1" ]] && return 0
  if [[ -z ${folder_is_plain[$folder]:-} ]]; then
    folder_is_plain[$folder]=no
    [[ ! -L ./$folder ]] && below_plain_folders "$folder" && folder_is_plain[$folder]=yes
  fi
  [[ ${folder_is_plain[$folder]} == yes ]]
}

# Read the files of the given lines of select.awk and print their records. Where a reader died (of a line that is larger
# than its memory, say), its files are read again one by one, so that one file cannot hide the others.
read_files() {
  local found line seconds=$AWK_CPU_S
  (($# > 1)) || seconds=$RETRY_CPU_S
  found=$(
    ulimit -v "$AWK_MEMORY_KIB" 2>/dev/null
    ulimit -t "$seconds" 2>/dev/null
    printf '%s\n' "$@" |
      awk -v "MAX_FILE_BYTES=$MAX_FILE_BYTES" -f "$here/records.awk" \
        -f "$here/python.awk" -f "$here/bash.awk" -f "$here/bash-commands.awk" 2>/dev/null
  )
  line=${found##*$'\n'}
  if [[ $line == $'=\t'* ]]; then
    total_bytes+=${line#*$'\t'}
    printf '%s' "${found%"$line"}"
  elif (($# > 1)); then
    for line in "$@"; do
      if ((died < MAX_DEATHS)); then read_files "$line"; else died+=1; fi
    done
  else
    died+=1
  fi
}

# Print the records of every candidate file in $listing, and as limitations what could not be read.
collect() {
  local -a batch=() lines
  local -i count=0
  local line path
  IFS=$'\n'
  # shellcheck disable=SC2206 # split at newlines on purpose; names with one were left out, and globbing is off
  lines=($listing)
  IFS=$' \t\n'
  for line in ${lines[@]+"${lines[@]}"}; do
    if [[ $line == '!'* ]]; then
      printf '%s\n' "$line"
      continue
    fi
    path=./${line#*$'\t'*$'\t'}
    if [[ -L $path ]] || ! below_plain_folders "${path#./}"; then
      irregular+=1
    elif [[ ! -e $path ]]; then
      missing+=1
    elif [[ ! -f $path ]]; then
      irregular+=1
    elif [[ ! -r $path ]]; then
      unreadable+=1
    elif ((count >= MAX_FILES || total_bytes > MAX_TOTAL_BYTES)); then
      beyond+=1
    else
      batch+=("$line") count+=1
      ((${#batch[@]} < BATCH)) && continue
      read_files "${batch[@]}"
      batch=()
    fi
  done
  ((${#batch[@]} == 0)) || read_files "${batch[@]}"
  local -A totals=([file-beyond-bound]=$beyond [path-missing]=$missing [path-not-regular]=$irregular
    [file-unreadable]=$unreadable [reader-failed]=$died)
  for line in "${!totals[@]}"; do
    ((totals[$line] == 0)) || printf '!\t%s\t%d\n' "$line" "${totals[$line]}"
  done
}

listing=$(
  git --no-optional-locks -c core.fsmonitor=false -c core.quotePath=false ls-files -s --debug |
    awk -v "MAX_FILE_BYTES=$MAX_FILE_BYTES" -f "$here/select.awk"
) || fail 'git could not list the tracked files'
collect | sort -s -t $'\t' -k1,1n -k2,2nr -k5,5 -k3,3n | awk -v "MAX_RECORDS=$MAX_RECORDS" -f "$here/print.awk" ||
  fail 'the candidates could not be put in order'
