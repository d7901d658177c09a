"""What the programs that agents look at repositories with do: a table, one line a decision.

A program's class is decided by its name, never by a substring of the text. What counts as its operands is decided by
the options that take a value and by how many leading operands are not paths (a pattern, a script, a filter).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GIT = "git"
SEARCH = "filesystem_search"
READ = "filesystem_read"
CLASSES = (GIT, SEARCH, READ)
"""The classes, in the order in which a contract joins them by "+"."""


@dataclass(frozen=True, slots=True)
class Program:
    """How one program's arguments are read.

    `leading` operands come before the paths (1 for a pattern); an option of `replaces_leading` supplies them instead.
    `valued` are options whose next argument is their value. `reads_input` programs do nothing to files when they have
    no path operand; `recursive` options make the working folder their operand. `pathful` options have a path as value.
    """

    kind: str
    leading: int = 0
    valued: str = ""
    replaces_leading: str = ""
    reads_input: bool = True
    recursive: str = ""
    pathful: str = ""


_GREP = Program(
    SEARCH,
    leading=1,
    valued="-e -f -m -A -B -C -d -D --regexp --file --max-count --after-context --before-context --context --label "
    "--include --exclude --exclude-dir --exclude-from --binary-files --directories --devices --color",
    replaces_leading="-e -f --regexp --file",
    recursive="-r -R --recursive --dereference-recursive",
    pathful="-f --file --exclude-from",
)
_RG = Program(
    SEARCH,
    leading=1,
    valued="-e -f -g -t -T -m -A -B -C -M -j -d -r -E --regexp --file --glob --iglob --type --type-not --max-count "
    "--after-context --before-context --context --max-columns --threads --max-depth --maxdepth --replace --encoding "
    "--sort --sortr --color --colors --max-filesize --pre --pre-glob --ignore-file --type-add --engine",
    replaces_leading="-e -f --regexp --file --files --type-list",
    recursive="--files",
    pathful="-f --file --ignore-file",
)
_LISTING = Program(
    SEARCH, reads_input=False, valued="-I -P -L -w -T --ignore --block-size --format -c --printf --max-depth -d"
)
_PLAIN = Program(READ)
_LINES = Program(READ, valued="-n -c --lines --bytes -s --pid --sleep-interval")
_SCRIPT = Program(
    READ,
    leading=1,
    valued="-e -f -l -E --expression --file --line-length -F -v --field-separator --assign -s",
    replaces_leading="-e -f --expression --file",
    pathful="-f --file",
)
_FILTER = Program(
    READ,
    leading=1,
    valued="--indent -L -f --from-file --arg --argjson --slurpfile --rawfile -o -p --output-format --input-format",
    replaces_leading="-f --from-file",
    pathful="-f --from-file",
)
_SUM = Program(READ, valued="-a --algorithm -l --length -w --wrap")

PROGRAMS: dict[str, Program] = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "bzgrep", "xzgrep", "ugrep", "ggrep"), _GREP),
    **dict.fromkeys(("rg", "ripgrep", "ag", "ack", "ack-grep"), _RG),
    **dict.fromkeys(("ls", "gls", "dir", "vdir", "tree", "exa", "eza", "lsd", "du", "stat", "gstat"), _LISTING),
    **dict.fromkeys(("locate", "plocate", "mlocate"), Program(SEARCH, leading=1, reads_input=False)),
    **dict.fromkeys(
        ("cat", "gcat", "tac", "rev", "nl", "more", "zcat", "bzcat", "xzcat", "zless", "paste", "comm"), _PLAIN
    ),
    **dict.fromkeys(("diff", "sdiff", "cmp", "diff3", "colordiff", "expand", "unexpand", "column", "hexyl"), _PLAIN),
    **dict.fromkeys(("head", "tail", "ghead", "gtail"), _LINES),
    **dict.fromkeys(
        ("less", "bat", "batcat"), Program(READ, valued="-r -l -H -m -p -x -j --line-range --language --style")
    ),
    "wc": Program(READ, pathful="--files0-from"),
    **dict.fromkeys(("sed", "gsed", "awk", "gawk", "mawk", "nawk"), _SCRIPT),
    **dict.fromkeys(("jq", "yq", "gojq", "jaq", "tomlq", "xq"), _FILTER),
    "cut": Program(READ, valued="-d -f -b -c --delimiter --fields --bytes --characters --output-delimiter"),
    "sort": Program(READ, valued="-k -t -S -T -o --key --field-separator --buffer-size --output --parallel"),
    "uniq": Program(READ, valued="-f -s -w"),
    **dict.fromkeys(("fold", "fmt", "pr", "look"), Program(READ, valued="-w -l -h -t --width")),
    **dict.fromkeys(("od", "xxd", "hexdump", "hd"), Program(READ, valued="-A -j -N -t -w -s -l -c -g -n -e -f -o")),
    "strings": Program(READ, valued="-n -t -e --bytes --radix --encoding"),
    **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"), _SUM),
    **dict.fromkeys(("shasum", "cksum", "sum", "base64", "base32", "file"), _SUM),
    "iconv": Program(READ, valued="-f -t -o --from-code --to-code --output"),
}
"""Programs by name. What is not here, and not decided in `calls`, is `other`."""

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "rbash"))

INTERPRETERS: dict[str, str] = {
    **dict.fromkeys(("python", "python2", "python3", "pypy", "pypy3"), "-c"),
    **dict.fromkeys(("node", "nodejs", "bun", "deno"), "-e -p --eval --print"),
    **dict.fromkeys(("ruby", "perl"), "-e -E"),
    "php": "-r",
    "lua": "-e",
}
"""Interpreters and their options whose value is a program's text."""

PREFIXES: dict[str, str] = {
    "sudo": "-u -g -h -p -C -D -R -T -U",
    "doas": "-u -C",
    "nice": "-n --adjustment",
    "ionice": "-c -n -p",
    "nohup": "",
    "setsid": "",
    "stdbuf": "-i -o -e --input --output --error",
    "time": "-f -o --format --output",
    "timeout": "-k -s --kill-after --signal",
    "command": "",
    "builtin": "",
    "exec": "-a",
    "env": "-u -C --unset --chdir",
    "chronic": "",
    "unbuffer": "",
    "busybox": "",
    "catchsegv": "",
}
"""Programs that run the rest of their arguments, and their options that take a value."""

GIT_GLOBAL_VALUED = frozenset(
    ("-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--exec-path", "--config-env", "--attr-source")
)
GIT_VALUED = (
    "-n -S -G -m -O -U -A -B -C -e -f --author --grep --since --until --after --before --format --pretty --max-count "
    "--skip --diff-filter --date --abbrev --max-depth --threads --contents --exclude --exclude-from"
)
"""Options of git's commands whose next argument is a value and no path."""


def is_option(text: str) -> bool:
    """Whether an argument is an option: a dash and more. A lone dash is standard input."""
    return len(text) > 1 and text[0] == "-"


def split_valued(names: str) -> frozenset[str]:
    """The option names of a table entry."""
    return frozenset(names.split())


def after_options(arguments: Sequence[str], valued: frozenset[str]) -> int:
    """The index of the first argument that is no option and no option's value."""
    index = 0
    while index < len(arguments):
        text = arguments[index]
        if text == "--":
            return index + 1
        if not is_option(text):
            return index
        index += 2 if text in valued else 1
    return index
