"""The Bash reader against Bash: which functions a script defines (`declare -F`), which files it sources."""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from tests.oracle.oracle import Run, run
from tests.support.environment import isolated_environment
from tests.support.repos import Entry, File, RepoBuilder

# Each is valid, harmless when run, and holds text that looks like a definition of `fake`.
FRAGMENTS = (
    "# fake() { :; }",
    "x='\nfake() { :; }\n'",
    'x="\nfake() {\n$(echo "inner $(echo ")") }")\n"',
    "cat <<EOF\nfake() { :; }\nEOF",
    "cat <<-'EO F' <<\"B\"\n\tfake() { $(\n\tEO F\nfake() {\nB",
    "cat <<\\E\n'fake() {\nE",
    "case x in\n  fake) : ;;\n  (a|b) echo a) ;;&\n  *\\)*) { :; } ;;\nesac".replace("echo a) ", "echo a "),
    "case $1 in fake) esac",
    "a=(fake '()' \"{\" # fake() {\n  b [3]=c)",
    "((y = 1 << 2, y += (3 * 4)))",
    "z=$((1 << 2)) w=$(( (1 + 2) * 3 )) v=$[1 + 2]",
    "[[ $x =~ ^(fake|\\{)[()]*$ && ( -n $y ) ]] || :",
    "u=${x#*'}'} t=${x:-\"}\"} s=${x//\\}/\\{} r=${#x} q=\"${x:-it's '}' it's}\" p=${x%%\"'\"*}",
    "o=$'it\\'s fake() {' n=$\"fake\"",
    "m=`echo fake \\`echo y\\``",
    "l=$(case x in x) echo ')' ;; esac)",
    "k=$(cat <<'E'\n) fake() {\nE\n)",
    "echo fake \\\n  '() {' >/dev/null 2>&1 &>/dev/null",
    "for i in fake '{'; do :; done; for ((i = 0; i < 1; i++)); do :; done",
    "while false; do :; done <<<'fake() {'",
    "until true; do\n  :\ndone < <(echo 'fake() {')",
    "( fake() { :; } )",
    'j=$(fake() { echo "}"; }; fake)',
    "echo \"$(fake() { :; })\" '}'",
    "echo a#b '#' \\# $# ${#} # fake() {",
    "if false\nthen\n  :\nelif ! true; then :; else :; fi",
    "{ :; }; { :\n}",
    "time : ; ! false",
    "case a in @(fake|b)) : ;; +([a-z])) : ;; esac",
    "select_=1 function_=2 case_=3; echo case in esac",
    "trap 'fake() { :; }' USR1",
    'h=(${x[@]:1:2} "${x[@]/#/fake }")',
    "",
)

# `{name}` is defined by each of these, at the script's own level.
DEFINITIONS = (
    "{name}() {{ :; }}",
    "{name} ()\n{{\n  fake() {{ :; }}\n  echo '}}'\n}}",
    "function {name} {{ local x='}}'; }}",
    "function {name}() (\n  fake() {{ :; }}\n)",
    "function {name}\n\n# a comment\n{{\n  :\n}}",
    "{name}() ( : )",
    "  {name}  (  )  {{\n  case $1 in a) echo '}}' ;; esac\n  }}",
    "if true; then\n  {name}() {{ :; }}\nfi",
    "{name}() {{ cat <<EOF\n}}\nEOF\n}} 2>/dev/null",
    '{name}() {{\n  if [[ -n $1 ]]; then (return); fi\n  while read -r x; do echo "${{x%\\}}}}"; done\n}}',
)


def scripts(seed: int, count: int) -> dict[str, bytes]:
    """Scripts of some fragments and some definitions in random order."""
    chance = random.Random(seed)
    made: dict[str, bytes] = {}
    for number in range(count):
        parts = chance.choices(FRAGMENTS, k=chance.randint(1, 8))
        for n in range(chance.randint(0, 4)):
            name = chance.choice(("f{n}", "do-it{n}", "a.b{n}", "x::y{n}", "_p{n}")).format(n=n)
            parts.insert(chance.randint(0, len(parts)), chance.choice(DEFINITIONS).format(name=name))
        made[f"s{number:03d}.sh"] = ("#!/bin/bash\n" + "\n".join(parts) + "\n").encode()
    return made


def declared(root: str, path: str) -> set[str]:
    """The functions that Bash knows after it ran the script."""
    script = '. "./$1" >/dev/null 2>/dev/null </dev/null; declare -F'
    environment = isolated_environment("/nonexistent")
    done = subprocess.run(
        ["bash", "-O", "extglob", "-c", script, "bash", path], cwd=root, env=environment, capture_output=True
    )
    return {line.split(" ", 2)[2] for line in done.stdout.decode().splitlines()}


def accepted(root: str, path: str) -> bool:
    """Whether Bash finds the script's syntax in order."""
    return subprocess.run(["bash", "-O", "extglob", "-n", path], cwd=root, capture_output=True).stderr == b""


def functions(found: Run, path: str) -> set[str]:
    return {name for kind, name, _ in found.of(path) if kind == "function"}


def read(tmp_path: Path, files: dict[str, Entry]) -> Run:
    return run(RepoBuilder(tmp_path / "r").commit("one", files).build())


@pytest.mark.parametrize("count", [60, pytest.param(3000, marks=pytest.mark.deep)])
def test_the_functions_reported_of_generated_scripts_are_those_that_bash_declares(count: int, tmp_path: Path) -> None:
    made = scripts(count, count)
    root = RepoBuilder(tmp_path / "r").commit("one", {**made}).build()
    found = run(root)
    assert found.limitations == {}
    total = 0
    for path in made:
        expected = declared(root, path)
        total += len(expected)
        assert functions(found, path) == expected, made[path].decode()
    assert total > count


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_text_that_looks_like_a_definition_is_none(fragment: str, tmp_path: Path) -> None:
    script = f"before() {{ :; }}\n{fragment}\nafter() {{ :; }}\n"
    root = RepoBuilder(tmp_path / "r").commit("one", {"a.bash": script}).build()
    assert accepted(root, "a.bash"), "the test's own script is wrong"
    assert functions(run(root), "a.bash") == {"before", "after"} == declared(root, "a.bash")


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_every_way_to_define_a_function_is_seen(definition: str, tmp_path: Path) -> None:
    root = RepoBuilder(tmp_path / "r").commit("one", {"a.sh": definition.format(name="real") + "\n"}).build()
    assert functions(run(root), "a.sh") == {"real"} == declared(root, "a.sh")


@pytest.mark.parametrize(
    "script",
    [
        "f() { :; }\nx='never closed\n",
        'f() { :; }\nx="never closed\n',
        "f() { :; }\ncat <<EOF\nnever ended\n",
        "f() { :; }\nx=$(echo\n",
        "f() {\n",
        "f() { :; }\n}\n",
        "f() { :; }\ncase x in a) :\n",
        "f() { :; }\n((a) ; (b))\n",
        "f() { :; }\necho \\\n",
        "f() { :; }\n)\n",
    ],
)
def test_a_script_that_is_not_understood_to_its_end_gives_nothing(script: str, tmp_path: Path) -> None:
    found = read(tmp_path, {"a.sh": script, "b.sh": "whole() { :; }\n"})
    assert [candidate.name for candidate in found.candidates] == ["whole"]
    assert found.limitations == {"file-not-understood": 1}


def test_definitions_that_the_script_itself_may_never_run_are_not_reported(tmp_path: Path) -> None:
    script = (
        "outer() {\n  inner() { :; }\n}\n"
        "{\n  in_group() { :; }\n}\n"
        "x && not_at_a_lines_start() { :; }\n"
        "echo not_a_command() \n".replace("not_a_command() ", "not_a_command ")
    )
    assert functions(read(tmp_path, {"a.sh": script}), "a.sh") == {"outer"}


def test_source_relationships_are_those_that_bash_follows(tmp_path: Path) -> None:
    script = (
        'here=.\nsource ./lib/one.sh\n. "lib/two.sh" argument\n'
        "if true; then . 'lib/three x.sh'; fi\nf() { source lib/four.sh; }\nf\n"
        "# . lib/never.sh\necho '. lib/never.sh' >/dev/null\ncat >/dev/null <<E\n. lib/never.sh\nE\n"
        '. "$here/lib/five.sh"\nsource lib/sev*.sh\nfor source in a; do :; done\n'
        "echo source lib/never.sh . x >/dev/null\nbuiltin source lib/seven.sh\n"
    )
    parts = ["one", "two", "three x", "four", "five", "seven", "never"]
    libraries = {f"lib/{name}.sh": 'printf "%s\\n" "${BASH_SOURCE[0]}"\n' for name in parts}
    root = RepoBuilder(tmp_path / "r").commit("one", {"main.sh": script, **libraries}).build()
    done = subprocess.run(["bash", "main.sh"], cwd=root, capture_output=True, check=True)
    followed = done.stdout.decode().splitlines()

    found = run(root)
    reported = [name for kind, name, _ in found.of("main.sh") if kind == "source"]
    assert reported == ["./lib/one.sh", "lib/two.sh", "lib/three x.sh", "lib/four.sh"]
    assert followed == [*reported, "./lib/five.sh", "lib/seven.sh", "lib/seven.sh"]
    # The path in a variable and the pattern are counted; what `builtin` runs is not looked at.
    assert found.limitations == {"source-not-literal": 2}


def test_scripts_are_known_by_suffix_or_first_line(tmp_path: Path) -> None:
    files: dict[str, Entry] = {
        "bin/tool": File(b"#!/usr/bin/env bash\nf() { :; }\n", "100755"),
        "bin/posix": File(b"#! /bin/sh -e\ng() { :; }\n", "100755"),
        "bin/python": File(b"#!/usr/bin/env python3\ndef h(): pass\n", "100755"),
        "bin/perl": File(b"#!/usr/bin/perl\ni() { :; }\n", "100755"),
        "bin/binary": File(b"\x7fELF\x00\x00\n", "100755"),
        "bin/empty": File(b"", "100755"),
        "bin/not-executable": "#!/bin/bash\nj() { :; }\n",
        "plain.sh": "k() { :; }\n",
        "zsh.sh": "#!/bin/zsh\nl() { :; }\n",
        "README.md": "m() { :; }\n",
    }
    found = read(tmp_path, files)
    assert {(c.language, c.name) for c in found.candidates} == {
        ("bash", "f"),
        ("bash", "g"),
        ("python", "h"),
        ("bash", "k"),
    }
    assert found.limitations == {"file-not-examined": 6}


DEFINED = re.compile(rb"(?:^|;|\|\||&&?|\|)\s*(?:function )?([^\s()]+) \(\)\s*\n\s*[{(]", re.MULTILINE)
"""A definition as `bash --pretty-print` lays it out: `NAME () ` and a line that begins with its body."""


def parsed(path: str) -> set[str] | None:
    """The functions in a script by Bash's own parser, which runs nothing; None where it finds the script wrong."""
    done = subprocess.run(["bash", "--pretty-print", "-O", "extglob", path], capture_output=True)
    if done.returncode or done.stderr:
        return None
    return {name.decode(errors="surrogateescape") for name in DEFINED.findall(done.stdout)}


@pytest.mark.deep
def test_nothing_is_invented_in_damaged_scripts_that_bash_still_accepts(tmp_path: Path) -> None:
    chance = random.Random(2)
    marks = b"' \" ` $( ( ) { } \\ # \n ;; <<E\n ${ $(( )) [[ ]] case esac function (){ a=( $' \t".split(b" ")
    originals = list(scripts(3, 200).values())
    sources: dict[str, Entry] = {}
    expected: dict[str, set[str]] = {}
    while len(sources) < 2000:
        text = bytearray(chance.choice(originals))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(text) + 1)
            text[at : at + chance.randint(0, 1)] = chance.choice(marks)
        (tmp_path / "mutant").write_bytes(text)
        known = parsed(str(tmp_path / "mutant"))
        if known is not None:
            path = f"m{len(sources):04d}.bash"
            sources[path], expected[path] = bytes(text), known
    found = read(tmp_path, sources)
    for path, known in expected.items():
        assert functions(found, path) <= known, path
    assert len([candidate for candidate in found.candidates if candidate.kind == "function"]) > 500


@pytest.mark.deep
def test_every_function_reported_of_the_scripts_on_this_machine_is_one_by_bashs_own_parser(tmp_path: Path) -> None:
    shebang = "^#! ?/.*(bash|/sh|dash)( |$)"
    command = ["grep", "-rIlE", shebang, "/usr/bin", "/usr/lib", "/usr/share", "/etc"]
    listing = subprocess.run(command, capture_output=True)
    files: dict[str, Entry] = {}
    for number, path in enumerate(sorted(listing.stdout.decode().splitlines())[:1500]):
        if os.path.getsize(path) < 500_000:
            files[f"s{number:04d}.sh"] = Path(path).read_bytes()
    root = RepoBuilder(tmp_path / "r").commit("one", files).build()
    found = run(root)
    checked = 0
    for path in files:
        known = parsed(os.path.join(root, path))
        if known is not None:
            assert functions(found, path) <= known, path
            checked += len(functions(found, path))
    assert checked > 0
