# The Bash reader's second half, used by bash.awk: what the words and operators of a command mean.

# ---- words -----------------------------------------------------------------------------------------------------------

# Add to the word being read; `known` is false for an expansion, whose value is not in the source.
function add_to_word(more, known) {
  if (!holds_commands(frame[top])) return
  if (!in_word[top]) {
    in_word[top] = 1
    word[top] = ""
    quoted[top] = unknown[top] = 0
    if (at_command[top]) begins_line = !continued && position == first_position
  }
  if (!known || length(word[top]) > MAX_WORD) unknown[top] = 1
  else word[top] = word[top] more
}

# Text inside quotes that belongs to a word.
function add_quoted(more) {
  if (!holds_commands(frame[top - 1])) return
  if (length(word[top - 1]) > MAX_WORD) unknown[top - 1] = 1
  else word[top - 1] = word[top - 1] more
}

function end_word(   w, plain) {
  if (!in_word[top]) return
  in_word[top] = 0
  w = word[top]
  plain = !quoted[top] && !unknown[top]
  if (redirected[top]) redirected[top] = 0
  else if (in_pattern[top]) {
    if (plain && w == "esac" && !pattern_words[top]) close_group()
    else pattern_words[top]++
  } else if (wants[top] != "") wanted_word(w, plain)
  else {
    before[top] = ""
    if (at_command[top]) command_word(w, plain)
  }
}

function wanted_word(w, plain,   what) {
  what = wants[top]
  wants[top] = ""
  if (what == "subject") wants[top] = "in"
  else if (what == "in" && plain && w == "in") {
    open_commands("K")
    in_pattern[top] = 1
    pattern_words[top] = 0
  } else if (what == "in") wrong()
  else if (what == "function" && plain && w ~ FUNCTION_NAME) {
    expect_body(w)
    may_have_parentheses[top] = 1
  } else if (what == "function") {
    limit("function-omitted")
    at_command[top] = 1
  } else if (!unknown[top] && w != "" && w !~ (quoted[top] ? CONTROL : NOT_LITERAL)) record("source", w, "", 5, number)
  else limit("source-not-literal")
}

function command_word(w, plain) {
  if (plain && w == "{") { open_group("{"); return }
  expected[top] = ""
  if (plain && w == "}" || plain && w == "esac") {
    if (frame[top] == (w == "}" ? "{" : "K")) close_group()
    else wrong()
    return
  }
  if (plain && w ~ /^(if|then|else|elif|while|until|do|time|!|fi|done|coproc)$/) return
  if (w ~ ASSIGNMENT) return
  at_command[top] = 0
  if (!plain) return
  if (w == "case") wants[top] = "subject"
  else if (w == "[[") open_frame("X")
  else if (w == "source" || w == ".") { if (!in_substitution()) wants[top] = "path" }
  else if (w == "function") {
    wants[top] = w
    starts_line[top] = begins_line
  } else if (w == "for" || w == "select" || w ~ FUNCTION_NAME) {
    before[top] = w
    starts_line[top] = begins_line
  }
}

function expect_body(name) {
  expected[top] = name
  expected_line[top] = number
  at_command[top] = 1
  before[top] = ""
}

# ---- operators -------------------------------------------------------------------------------------------------------

# An unquoted metacharacter stands at `position`, in a frame that holds commands.
function operator(c,   two) {
  end_word()
  if (bad != "" || !holds_commands(frame[top])) return
  two = substr(line, position, 2)
  if (c ~ /[ \t]/) position++
  else if (in_pattern[top]) pattern_operator(c)
  else if (c == "(") parenthesis(two)
  else if (c == ")") {
    position++
    if (frame[top] == "(") close_group()
    else if (frame[top] == "$") top--
    else wrong()
  } else if (two == "<(" || two == ">(") {
    add_to_word("", 0)
    open_commands("$")
    position += 2
  } else if (c ~ /[<>]/ || two == "&>") redirection(two)
  else {
    expected[top] = before[top] = ""
    if (wants[top] != "") wrong()
    if (two == ";;" || two == ";&") {
      if (frame[top] != "K") wrong()
      position += substr(line, position, 3) == ";;&" ? 3 : 2
      in_pattern[top] = 1
      pattern_words[top] = 0
    } else position += two ~ /^(&&|\|\||\|&)$/ ? 2 : 1
    at_command[top] = 1
  }
}

function pattern_operator(c) {
  position++
  if (c == ")" && pattern_words[top]) {
    in_pattern[top] = 0
    at_command[top] = 1
    before[top] = ""
  } else if (c != "|" && (c != "(" || pattern_words[top])) wrong()
}

function parenthesis(two,   after) {
  after = substr(line, position, 200)
  if (before[top] != "" && before[top] !~ /^(for|select)$/ && match(after, PARENTHESES)) {
    expect_body(before[top])
    may_have_parentheses[top] = 0
    position += RLENGTH
  } else if (expected[top] != "" && may_have_parentheses[top] && match(after, PARENTHESES)) {
    may_have_parentheses[top] = 0
    position += RLENGTH
  } else if (two == "((" && (at_command[top] || before[top] == "for")) {
    expected[top] = before[top] = ""
    at_command[top] = 1
    open_frame("A")
    position += 2
  } else if (at_command[top]) {
    position++
    open_group("(")
  } else wrong()
}

function redirection(two) {
  if (substr(line, position, 3) ~ /^(<<<|&>>)$/) position += 3
  else if (two == "<<") {
    position += 2
    here_document()
    return
  } else position += two ~ /^(>>|>&|<&|<>|>\||&>)$/ ? 2 : 1
  redirected[top] = 1
}

function here_document(   strip) {
  strip = substr(line, position, 1) == "-"
  position += strip
  match(substr(line, position, 200), /^[ \t]*/)
  position += RLENGTH
  if (!match(substr(line, position, 200), LIMIT_WORD)) { wrong(); return }
  documents++
  strips_tabs[documents] = strip
  ends_document[documents] = substr(line, position, RLENGTH)
  gsub(/["'\\]/, "", ends_document[documents])
  position += RLENGTH
  if (position <= length(line) && substr(line, position, 1) !~ META) wrong()
}
