# The Python reader: a lexer that knows strings, f-strings, brackets, comments, line joining and indentation, and
# records classes, functions, methods and imports.
#
# `frame[1..top]` is what is open: C the file, ( [ { brackets, S a string, F an f-string's literal text, E an
# expression field in it, P a field's format specification. `delimiter` and `raw` belong to S and F.
# `scope_*[1..scopes]` are the definitions around the current line. `capture` is def, class, import or from while the
# head of such a statement is read into `text`.

BEGIN {
  MAX_SIGNATURE = 320  # bytes; a longer one is left out, the definition stays
  MAX_IMPORT = 1000
  STRING = "[\"'\\\\]"
  FORMATTED = "[\"'\\\\{}]"
  PLAIN_CODE = "[][(){}\"'#\\\\]"
  HEAD_CODE = "[][(){}\"'#\\\\:;]"
  NAME = "[A-Za-z_\200-\377][A-Za-z0-9_\200-\377]*"
  DOTTED = NAME "([.]" NAME ")*"
  NAMES = NAME "( as " NAME ")?"
  NAMES = "^([*]|" NAMES "(, " NAMES ")*)$"
}

function python_begin() {
  top = 1
  frame[1] = "C"
  capture = ""
  scopes = joined = last = 0
}

function python_end() {
  if (top != 1 || joined || capture != "") wrong()
  else leave(0)
}

# ---- definitions and imports -----------------------------------------------------------------------------------------

# The column after some white space: tabs go to multiples of eight, a form feed starts over.
function width(blank,   i, c, column) {
  column = 0
  for (i = 1; i <= length(blank); i++) {
    c = substr(blank, i, 1)
    column = c == "\t" ? column + 8 - column % 8 : c == "\f" ? 0 : column + 1
  }
  return column
}

# Close the definitions that a statement at this column is no longer part of.
function leave(column,   i) {
  for (; scopes > 0 && scope_column[scopes] >= column; scopes--) {
    i = scope_record[scopes]
    if (i) record_span[i] = last - record_line[i] + 1
  }
}

# "Outer.Inner." in classes, "" at module level, "(" in a function.
function owner(   i, name) {
  for (i = 1; i <= scopes; i++) {
    if (scope_type[i] == "def") return "("
    name = name scope_name[i] "."
  }
  return name
}

function is_private(name) { return "." name ~ /\._/ && "." name !~ /^(\.[^_.][^.]*)*\.__init__$/ }

# `position` stands at the first token of a logical line.
function statement(   rest) {
  leave(width(substr(line, 1, position - 1)))
  rest = substr(line, position, 200)
  if (match(rest, /^(async[ \t\f]+)?(def|class)[ \t\f]+/)) {
    capture = rest ~ /^class/ ? "class" : "def"
    is_async = rest ~ /^async/
    head_column = width(substr(line, 1, position - 1))
    position += RLENGTH
    rest = substr(line, position, 300)
    if (!match(rest, "^" NAME) || RLENGTH > 200) { wrong(); return }
    head = substr(rest, 1, RLENGTH)
    position += RLENGTH
  } else if (rest ~ /^(import[ \t\f\\]|from[ \t\f.\\])/) {
    capture = rest ~ /^from/ ? "from" : "import"
    position += length(capture)
  } else return
  text = ""
  is_cut = 0
  head_line = number
}

# Text outside strings: white space is one blank, and none after an opening bracket.
function capture_code(code) {
  if (capture == "") return
  gsub(/[ \t\f]+/, " ", code)
  if (text == "" || text ~ /[[({ ]$/) sub(/^ /, "", code)
  capture_text(code)
}

function capture_text(more) {
  if (capture == "") return
  if (length(text) + length(more) > (capture ~ /^(def|class)$/ ? MAX_SIGNATURE : MAX_IMPORT)) is_cut = 1
  if (!is_cut) text = text more
}

function capture_closing(c) {
  if (capture == "") return
  sub(/ $/, "", text)
  if (top == 2 && c == ")") sub(/,$/, "", text)
  capture_text(c)
}

# The colon that ends the head of `class` or `def` was read.
function definition(   where, kind, i) {
  if (text !~ (capture == "def" ? "^[[(]" : "^([[(].*)? ?$")) { wrong(); return }
  where = owner()
  i = 0
  if (where != "(") {
    sub(/ $/, "", text)
    if (is_cut || text ~ /[\001-\037\177]/) { limit("signature-omitted"); text = "" }
    else if (is_async) text = "async " text
    kind = capture == "class" ? "class" : where == "" ? "function" : "method"
    i = record(kind, where head, text, is_private(where head) ? 4 : kind == "method", head_line)
  }
  if (scopes == MAX_DEPTH) wrong()
  scopes++
  scope_column[scopes] = head_column
  scope_type[scopes] = capture
  scope_name[scopes] = head
  scope_record[scopes] = i
  capture = ""
}

# A whole import statement was read.
function imports(   how, n, i, parts, names) {
  how = capture
  capture = ""
  sub(/ $/, "", text)
  if (owner() == "(") return
  if (text ~ /[\001-\037\177]/) limit("import-omitted")
  else if (how == "from") from_import()
  else if (is_cut) limit("import-omitted")
  else {
    n = split(text, parts, / ?, ?/)
    for (i = 1; i <= n; i++) {
      names = ""
      if (match(parts[i], / as /)) {
        names = substr(parts[i], RSTART + 1)
        parts[i] = substr(parts[i], 1, RSTART - 1)
      }
      gsub(/ ?\. ?/, ".", parts[i])
      if (parts[i] ~ ("^" DOTTED "$") && names ~ ("^(as " NAME ")?$")) record("import", parts[i], names, 6, head_line)
      else limit("import-omitted")
    }
  }
}

function from_import(   module, names) {
  if (!match(text, / ?import[ (*]/)) { limit("import-omitted"); return }
  module = substr(text, 1, RSTART - 1)
  names = substr(text, RSTART + RLENGTH - 1)
  gsub(/ /, "", module)
  sub(/^ /, "", names)
  if (names ~ /^\(.*\)$/) names = substr(names, 2, length(names) - 2)
  gsub(/ ?, ?/, ", ", names)
  sub(/, $/, "", names)
  if (is_cut) { limit("signature-omitted"); names = "" }
  if (module ~ ("^([.]+|[.]*" DOTTED ")$") && (is_cut || names ~ NAMES)) record("import", module, names, 6, head_line)
  else limit("import-omitted")
}

# ---- the lexer -------------------------------------------------------------------------------------------------------

function python_line(   size) {
  size = length(line)
  position = 1
  if (top == 1 && !joined) {
    match(line, /^[ \t\f]*/)
    position = RLENGTH + 1
    if (position > size || substr(line, position, 1) == "#") return
    if (substr(line, position, 1) == "\\") { wrong(); return }  # whose indentation counts then differs by version
    statement()
  }
  last = number
  joined = is_escaped = 0
  while (position <= size && bad == "") {
    if (frame[top] ~ /[SFP]/) string_step(size)
    else code_step(size)
  }
  if (bad == "") end_of_line()
}

# Up to and including the next character that matters in a string. Windows of 300 bytes keep long lines linear.
function string_step(size,   kind, window, start, c, i) {
  kind = frame[top]
  window = substr(line, position, 300)
  start = position
  if (!match(window, kind == "S" ? STRING : FORMATTED)) {
    position += length(window)
    capture_text(window)
    return
  }
  position += RSTART - 1
  c = substr(line, position, 1)
  if (c == "\\") {
    i = kind != "S" && !raw[top] && substr(line, position, 3) == "\\N{" ? index(substr(line, position, 100), "}") : 0
    if (i) position += i
    else if (kind != "S" && substr(line, position + 1, 1) ~ /[{}]/) position++  # it does not escape a brace
    else {
      is_escaped = position == size
      position += 2
    }
  } else if (kind == "P") {
    for (i = top; frame[i] != "F"; i--) ;
    if (c == "{") open_frame("E")
    else if (c == "}") top--
    else if (substr(line, position, length(delimiter[i])) == delimiter[i]) wrong()
    position++
  } else if (c == "{" || c == "}") {
    if (substr(line, position + 1, 1) == c) position++
    else if (c == "{") open_frame("E")
    else wrong()
    position++
  } else if (substr(line, position, length(delimiter[top])) == delimiter[top]) position += length(delimiter[top--])
  else position++
  capture_text(substr(line, start, position - start))
}

function code_step(size,   kind, window, c, prefix) {
  kind = frame[top]
  window = substr(line, position, 300)
  if (!match(window, capture != "" || kind == "E" ? HEAD_CODE : PLAIN_CODE)) {
    position += length(window)
    capture_code(window)
    return
  }
  capture_code(substr(window, 1, RSTART - 1))
  position += RSTART - 1
  c = substr(line, position, 1)
  if (c == "#") position = size + 1
  else if (c == "\\") {
    joined = 1
    capture_code(" ")
    if (position++ < size) wrong()
  } else if (c == "\"" || c == "'") {
    prefix = tolower(substr(line, position > 3 ? position - 3 : 1, position > 3 ? 3 : position - 1))
    sub(/^.*[^a-z0-9_\200-\377]/, "", prefix)
    open_frame(prefix ~ /^([ft]|[ft]r|r[ft])$/ ? "F" : "S")
    raw[top] = prefix ~ /r/
    delimiter[top] = substr(line, position, 3) == c c c ? c c c : c
    position += length(delimiter[top])
    capture_text(delimiter[top])
  } else if (c == "(" || c == "[" || c == "{") {
    open_frame(c)
    position++
    capture_text(c)
  } else if (c == ")" || c == "]" || c == "}") {
    if (kind != (c == ")" ? "(" : c == "]" ? "[" : "{") && kind c != "E}") wrong()
    if (kind == "E") capture_text(c)
    else capture_closing(c)
    top--
    position++
  } else {  # a colon or semicolon
    position++
    if (c == ":" && kind == "E") {
      frame[top] = "P"
      capture_text(c)
    } else if (top == 1 && c == ":" && capture ~ /^(def|class)$/) definition()
    else if (top == 1 && c == ";" && capture ~ /^(import|from)$/) imports()
    else capture_code(c)
  }
}

function end_of_line(   i) {
  if (frame[top] ~ /[SFP]/) {
    is_cut = 1  # a signature with a string over several lines
    for (i = top; frame[i] ~ /[EP]/; i--) ;
    if (length(delimiter[i]) == 1 && !is_escaped) wrong()
  } else if (top == 1 && !joined) {
    if (capture ~ /^(import|from)$/) imports()
    else if (capture != "") wrong()
  } else if (!joined) capture_code(" ")
}
