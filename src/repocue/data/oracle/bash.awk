# The Bash reader: a lexer that knows quotes, expansions, here-documents, arithmetic, arrays, case patterns and where a
# command begins, and records function definitions and source relationships.
#
# `frame[1..top]` is what is open. Frames that hold commands: C the file, { a group, ( a subshell, $ a command or
# process substitution, K a case. Others: D "...", Q '...', N $'...', V ${...}, A ((...)), B $[...], Y an array, G an
# extended glob, X [[...]], T `...`. What is known of a frame's present command is kept beside it:
#   at_command  whether the next word is one       word, in_word, quoted, unknown  the word being read
#   before      the plain command word just read   expected    the name of a function whose body must follow
#   wants       what the next word is: subject or "in" of a case, a function's name, a sourced path

BEGIN {
  MAX_WORD = 4000
  DOUBLE = "[\"\\\\$`]"
  ANSI = "['\\\\]"
  BACKQUOTE = "[`\\\\]"
  OTHER = "[]()}\"'\\\\$`#]"
  META = "[ \t;&|()<>]"
  ORDINARY = "^[^ \t;&|()<>\"'\\\\$`]+"
  ASSIGNMENT = "^[A-Za-z_][A-Za-z0-9_]*(\\[.*\\])?\\+?="
  FUNCTION_NAME = "^[A-Za-z_][A-Za-z0-9_.:@/+-]*$"
  LIMIT_WORD = "^('[^']+'|\"[^\"$`\\\\]+\"|\\\\?[A-Za-z0-9_.!@%+:,/=-]+)"  # what ends a here-document
  CONTROL = "[\001-\037\177]"
  NOT_LITERAL = "[*?[~{\001-\037\177]"
  PARENTHESES = "^\\([ \t]*\\)"
}

function bash_begin() {
  top = 0
  open_commands("C")
  continued = continues = documents = documents_read = 0
}

function bash_end() { if (top != 1 || continued || documents || in_word[1] || wants[1] != "") wrong() }

# ---- frames ----------------------------------------------------------------------------------------------------------

function holds_commands(kind) { return index("C{($K", kind) > 0 }

function open_commands(kind) {
  open_frame(kind)
  at_command[top] = 1
  in_word[top] = redirected[top] = in_pattern[top] = group_record[top] = may_have_parentheses[top] = 0
  before[top] = wants[top] = expected[top] = ""
}

function open_frame(kind) {
  if (top == MAX_DEPTH) wrong()
  frame[++top] = kind
  depth[top] = 0
}

# Open { or (: where a function's name was just read, this is its body.
function open_group(kind,   name, i) {
  name = expected[top]
  expected[top] = ""
  if (name != "" && starts_line[top] && at_file_level())
    i = record("function", name, "", name ~ /^_/ ? 4 : 0, expected_line[top])
  open_commands(kind)
  group_record[top] = i
}

function close_group(   i) {
  i = group_record[top]
  if (i) record_span[i] = number - record_line[i] + 1
  top--
  at_command[top] = 1
  before[top] = ""
}

# Whether what is read now is executed by the script itself, though perhaps conditionally: in no function or subshell.
function at_file_level(   i) {
  for (i = 2; i <= top; i++) if (frame[i] != "K") return 0
  return 1
}

function in_substitution(   i) {
  for (i = 2; i <= top; i++) if (index("{(K", frame[i]) == 0) return 1
  return 0
}

# ---- quotes and expansions -------------------------------------------------------------------------------------------

# A dollar sign stands at `position`; afterwards `position` is behind what it opened.
function dollar(   c, quotes) {
  add_to_word("", 0)
  c = substr(line, position + 1, 1)
  quotes = frame[top] != "D"
  if (substr(line, position, 3) == "$((") { open_frame("A"); position++ }
  else if (c == "(") open_commands("$")
  else if (c == "{") {
    open_frame("V")
    match(substr(line, position + 2, 200), /^[!#]?([A-Za-z0-9_]+|[@*#?$!-])?(\[[^]]*\])?/)
    trims[top] = substr(line, position + 2 + RLENGTH, 1) ~ /[#%\/^,]/
  } else if (c == "[") open_frame("B")
  else if (c == "'" && quotes) open_frame("N")
  else if (c == "\"" && quotes) open_frame("D")
  else if (c !~ /[#$!@*?0-9-]/) position--
  position += 2
}

# One step in a frame that does not hold commands. Windows of 300 bytes keep long lines linear.
function text_step(size,   kind, window, i) {
  kind = frame[top]
  window = substr(line, position, 300)
  if (kind == "Q") {
    i = index(window, "'")
    add_quoted(i ? substr(window, 1, i - 1) : window)
    position += i ? i : length(window)
    if (i) top--
  } else if (match(window, kind == "D" ? DOUBLE : kind == "N" ? ANSI : kind == "T" ? BACKQUOTE : OTHER)) {
    if (kind == "D") add_quoted(substr(window, 1, RSTART - 1))
    position += RSTART - 1
    special(kind, substr(line, position, 1), size)
  } else {
    if (kind == "D") add_quoted(window)
    position += length(window)
  }
}

function special(kind, c, size) {
  if (kind == "D" && c != "\"") unknown[top - 1] = 1
  if (c == "$") { dollar(); return }
  position++
  if (c == "\\") {
    position++
  } else if (kind == "N" || kind == "T" || kind == "D" && c == "\"") top--
  else if (c == "\"") open_frame("D")
  else if (c == "`") open_frame("T")
  else if (c == "'") {
    # In "${x:-'}'}" the quote is one to Bash and an ordinary character to a POSIX shell.
    if (kind == "V" && frame[top - 1] == "D" && !trims[top] && is_posix) wrong()
    open_frame("Q")
  } else if (c == "}") {
    if (kind == "V") top--
  } else if (c == "]") {
    if (kind == "B") top--
    else if (kind == "X" && substr(line, position - 2, 4) ~ /^[ \t]?\]\]([ \t;&|)]|$)/) {
      position++
      top--
      at_command[top] = 1
    }
  } else if (c == "#") {
    if (index("XY", kind) && (position == 2 || substr(line, position - 2, 1) ~ /[ \t(]/)) position = size + 1
  } else if (c == "(") {
    if (index("GY", kind)) open_frame("G")
    else if (kind == "A") depth[top]++
  } else if (index("GY", kind)) top--
  else if (kind == "A" && depth[top]-- == 0) {
    if (substr(line, position, 1) != ")") wrong()
    position++
    top--
  }
}

# ---- lines -----------------------------------------------------------------------------------------------------------

function bash_line(   size) {
  if (documents) {
    document_line()
    return
  }
  size = length(line)
  position = 1
  match(line, /^[ \t]*/)
  first_position = RLENGTH + 1
  if (top == 1 && !continued && (RLENGTH == size || substr(line, first_position, 1) == "#")) return
  while (position <= size && bad == "") {
    if (holds_commands(frame[top])) command_step(size)
    else text_step(size)
  }
  if (bad == "") line_end()
}

function document_line(   text) {
  text = line
  if (strips_tabs[documents_read + 1]) sub(/^\t+/, "", text)
  if (text == ends_document[documents_read + 1] && ++documents_read == documents) documents = documents_read = 0
}

function command_step(size,   c) {
  c = substr(line, position, 1)
  if (c == "#" && !in_word[top]) position = size + 1
  else if (c == "(" && in_word[top] && !quoted[top] && word[top] ~ (ASSIGNMENT "$")) open_in_word("Y")
  else if (c == "(" && in_word[top] && word[top] ~ /[@!?*+]$/) open_in_word("G")
  else if (c ~ META) {
    if (c ~ /[<>]/ && word[top] ~ /^[0-9]+$/) in_word[top] = 0  # a descriptor's number belongs to its redirection
    operator(c)
  } else if (c == "\\" && position == size) {
    continues = 1
    position++
  } else if (c == "\\") {
    add_to_word(substr(line, position + 1, 1), 1)
    quoted[top] = 1
    position += 2
  } else if (c == "'" || c == "\"") {
    add_to_word("", 1)
    quoted[top] = 1
    position++
    open_frame(c == "'" ? "Q" : "D")
  } else if (c == "$") dollar()
  else if (c == "`") open_in_word("T")
  else {
    match(substr(line, position, 300), ORDINARY)
    add_to_word(substr(line, position, RLENGTH), 1)
    position += RLENGTH
  }
}

function open_in_word(kind) {
  add_to_word("", 0)
  open_frame(kind)
  position++
}

function line_end() {
  if (!holds_commands(frame[top])) {
    if (documents) wrong()  # a here-document would begin in the middle of a word
    if (index("DQ", frame[top])) unknown[top - 1] = 1
    continued = 0
    return
  }
  continued = continues
  continues = 0
  if (continued) return
  end_word()
  if (!holds_commands(frame[top])) {
    if (documents) wrong()
  } else if (!in_pattern[top] && wants[top] != "in" && wants[top] != "subject") {
    if (wants[top] != "" || redirected[top]) wrong()
    before[top] = ""
    may_have_parentheses[top] = 0
    at_command[top] = 1
  }
}
