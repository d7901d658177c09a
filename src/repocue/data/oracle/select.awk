# Chooses the tracked files that may hold candidates.
#
# In:   the lines of `git ls-files -s --debug`, with git's own quoting; the lines about an entry's stat follow it, indented
# Out:  zone <TAB> language <TAB> path, zone by zone; the language of an executable without a suffix is ?
#       ! <TAB> limitation <TAB> count
# Zones: 0 production, 1 auxiliary, 2 tests under src/, 3 other tests.

function limit(code) { limits[code]++ }

# Undo C-quoting; "" where the name holds a control character, so that it cannot stand in a line of fields.
function unquoted(text,   result, c, i) {
  text = substr(text, 2, length(text) - 2)
  while ((i = index(text, "\\")) > 0) {
    c = substr(text, i + 1, 1)
    if (c != "\"" && c != "\\") return ""
    result = result substr(text, 1, i - 1) c
    text = substr(text, i + 2)
  }
  return result text
}

function zone(path,   parts, n, i, result) {
  n = split(path, parts, "/")
  for (i = 1; i < n; i++) {
    if (parts[i] ~ /^(tests?|testing)$/) result = 2
    else if (!result && parts[i] ~ AUXILIARY) result = 1
  }
  if (parts[n] ~ /^(test_.*|conftest|.*_test)\.[a-z]+$/) result = 2
  return result == 2 && parts[1] != "src" ? 3 : result + 0
}

# What is known of the last entry: whether it is a candidate. Its size is that of its last `git add` or checkout; where
# the file was changed since, its reader finds out.
function decide(size,   z) {
  if (path == "") return
  if (size > MAX_FILE_BYTES) limit("file-too-large")
  else {
    z = zone(path)
    kept[z, ++count[z]] = z "\t" language "\t" path
  }
  path = ""
}

BEGIN { AUXILIARY = "^(docs?|examples?|samples|benchmarks?|_?vendor(ed)?|third_party|node_modules|dist|build)$" }

/^  / {
  if (/^  size: /) decide($2 + 0)
  next
}

{
  path = ""
  tab = index($0, "\t")
  name = substr($0, tab + 1)
  mode = substr($0, 1, 6)
  if (mode == "160000") { limit("submodule-skipped"); next }
  shown = substr(name, 1, 1) == "\"" ? substr(name, 2, length(name) - 2) : name
  if (shown ~ /\.py$/) language = "python"
  else if (shown ~ /\.(sh|bash)$/) language = "bash"
  else if (mode == "100755" && shown !~ /\.[^\/]*$/) language = "?"
  else { limit("file-not-examined"); next }
  if (shown != name && (name = unquoted(name)) == "") { limit("name-not-representable"); next }
  if (mode == "120000") { limit("symlink-skipped"); next }
  if (substr($0, tab - 1, 1) != "0") {  # a conflict's stages, one line each
    if (name != unmerged) limit("path-unmerged")
    unmerged = name
    next
  }
  path = name
}

END {
  for (z = 0; z <= 3; z++) for (i = 1; i <= count[z]; i++) print kept[z, i]
  for (code in limits) printf "!\t%s\t%d\n", code, limits[code]
}
