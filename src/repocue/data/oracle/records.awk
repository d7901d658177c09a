# Reads the candidate files and prints their records. Used together with python.awk, bash.awk and bash-commands.awk.
#
# In:   zone <TAB> language or ? <TAB> path, as select.awk prints them
# Out:  rank <TAB> lines spanned <TAB> first line <TAB> language <TAB> path <TAB> kind <TAB> name <TAB> signature
#       ! <TAB> limitation <TAB> count
#       = <TAB> bytes read               the last line: without it the reader died on the way
#
# A reader may set `bad` to a limitation's code: then the whole file gives no record, for what was read so far may have
# been read wrongly.

function limit(code) { limits[code]++ }
function wrong() { bad = "file-not-understood" }

# Keep a record until its file is known to be understood; returns its number. Tiers are 0 public classes and functions,
# 1 public methods, 2 and 3 the same of private modules, 4 private definitions, 5 source relationships, 6 imports.
function record(kind, name, text, tier, first_line) {
  records++
  record_kind[records] = kind
  record_name[records] = name
  record_text[records] = text
  record_tier[records] = tier
  record_line[records] = first_line
  record_span[records] = 1
  return records
}

function flush(path, zone, language,   i, base, elsewhere, private_module, rank) {
  base = path
  sub(/.*\//, "", base)
  elsewhere = language == "python" && path ~ /^src\// ? 0 : 1
  private_module = base ~ /^_/ && base !~ /^__(init|main)__\.py$/
  for (i = 1; i <= records; i++) {
    rank = record_tier[i] + (private_module && record_tier[i] < 2 ? 2 : 0)
    printf "%d\t%d\t%d\t", zone * 100 + rank * 10 + elsewhere, record_span[i], record_line[i]
    printf "%s\t%s\t%s\t%s\t%s\n", language, path, record_kind[i], record_name[i], record_text[i]
  }
}

# The language that a `#!` line names, "?" for another one.
function shebang(text) {
  if (text ~ /^#![ \t]*[^ \t]*\/(env[ \t]+(-S[ \t]*)?)?python[0-9.]*([ \t]|$)/) return "python"
  is_posix = text !~ /bash([ \t]|$)/
  if (text ~ /^#![ \t]*[^ \t]*\/(env[ \t]+(-S[ \t]*)?)?(ba|da)?sh([ \t]|$)/) return "bash"
  return "?"
}

# Whether a comment in one of the first two lines declares an encoding in which bytes may mean something else.
function other_encoding(text) {
  if (text !~ /^[ \t\f]*#.*coding[:=][ \t]*[-A-Za-z0-9_.]+/) return 0
  sub(/^.*coding[:=][ \t]*/, "", text)
  return tolower(text) !~ /^(utf-?8|utf_8|us-ascii|ascii)([^-A-Za-z0-9_.]|$)/
}

function scan(path, zone, language,   file, got, size) {
  file = "./" path
  bad = ""
  records = number = size = is_posix = 0
  python_begin()
  bash_begin()
  while ((got = (getline line < file)) > 0) {
    size += length(line) + 1
    if (size > MAX_FILE_BYTES) { bad = "file-too-large"; break }
    sub(/\r$/, "", line)
    if (KEEPS_NUL && index(line, "\000") || index(line, "\r")) { bad = "file-not-text"; break }
    number++
    if (number == 1) {
      sub(/^\357\273\277/, "", line)  # a byte order mark
      if (language == "?" || language == "bash" && line ~ /^#!/) language = shebang(line)
      if (language == "?") break
    }
    if (language == "bash") bash_line()
    else if (number > 2 || !other_encoding(line)) python_line()
    else bad = "encoding-unsupported"
    if (bad != "") break
  }
  close(file)
  total += size
  if (got < 0) bad = "file-unreadable"
  else if (language == "?") bad = "file-not-examined"
  else if (bad == "" && language == "python") python_end()
  else if (bad == "") bash_end()
  if (bad != "") limit(bad)
  else flush(path, zone, language)
}

BEGIN {
  FS = "\t"
  MAX_DEPTH = 200  # of brackets, quotes and definitions in each other
  KEEPS_NUL = length("\000") == 1
}

{
  path = $0
  sub(/^[^\t]*\t[^\t]*\t/, "", path)
  scan(path, $1, $2)
}

END {
  for (code in limits) printf "!\t%s\t%d\n", code, limits[code]
  printf "=\t%d\n", total
}
