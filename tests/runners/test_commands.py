"""What command texts say: class by program, files by the paths that the text really reaches."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.runners.commands import Classifier, argv, files_named, size_proxy_bytes, unwrap
from repocue.runners.observed import AgentCommand
from repocue.runners.shell import parse
from repocue.runners.shell_tree import Simple
from repocue.runners.words import expand

FILES = {
    "README.md": 10,
    "a b.txt": 3,
    "src/app.py": 100,
    "src/util.py": 50,
    "src/pkg/deep.py": 7,
    "docs/guide.md": 20,
    "data/list.json": 9,
    ".git/config": 5,
    "-dash": 4,
    "ünï.txt": 6,
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree") / "repo"
    for name, size in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    (folder.parent / "outside.txt").write_bytes(b"secret")
    (folder / "link-in").symlink_to("src/app.py")
    (folder / "link-out").symlink_to("../outside.txt")
    (folder / "link-dir").symlink_to("src")
    (folder / "loop").symlink_to("loop")
    return folder


G, S, R = "git", "filesystem_search", "filesystem_read"
GS, GR, SR, GSR = f"{G}+{S}", f"{G}+{R}", f"{S}+{R}", f"{G}+{S}+{R}"
OTHER = "other"

TABLE: list[tuple[str, str, list[str]]] = [
    # git, by program
    ("git status --short", G, []),
    ("git --no-pager -c core.pager=cat log -n 5 -- src/app.py", G, ["src/app.py"]),
    ("git diff HEAD~1 src/app.py README.md", G, ["src/app.py", "README.md"]),
    ("git show HEAD:src/app.py", G, ["src/app.py"]),
    ("cd src && git show HEAD:./app.py HEAD:README.md", G, ["src/app.py", "README.md"]),
    ("git show :src/util.py", G, ["src/util.py"]),
    ("git cat-file -p HEAD:docs/guide.md", G, ["docs/guide.md"]),
    ("git blame -L 1,5 src/app.py", G, ["src/app.py"]),
    ("git log -L1,10:src/app.py", G, ["src/app.py"]),
    ("git -C src log -- app.py", G, ["src/app.py"]),
    ("git log --author README.md", G, []),
    ("git grep -n README.md", GS, []),
    ("git grep -n pattern -- docs/guide.md", GS, ["docs/guide.md"]),
    ("git grep -e pattern README.md", GS, ["README.md"]),
    ("git ls-files", G, []),
    ("git ls-files | head -20", G, []),
    ("git log --oneline | grep fix | wc -l", G, []),
    ("/usr/bin/git status", G, []),
    ("GIT_PAGER=cat git log", G, []),
    ("sudo -u me git status", G, []),
    ("timeout 5 git status", G, []),
    ("env -u X A=b git status", G, []),
    # names that only contain a program's name
    ("echo git rg cat", OTHER, []),
    ("gitk README.md", OTHER, []),
    ("./cat README.md/../x", R, []),
    ("echo 'cat README.md'", OTHER, []),
    ("printf '%s' \"$(true)\"", OTHER, []),
    # searches
    ("rg foo", S, []),
    ("rg --files", S, []),
    ("rg --files | head", S, []),
    ("rg -n README.md src/app.py", S, ["src/app.py"]),
    ("rg -e pattern README.md", S, ["README.md"]),
    ("rg -g '*.py' foo src", S, []),
    ("rg --files -g README.md", S, []),
    ("git ls-files | rg py", G, []),
    ("cat README.md | rg x", R, ["README.md"]),
    ("grep -rn foo src", S, []),
    ("grep -R foo", S, []),
    ("grep README.md src/app.py", S, ["src/app.py"]),
    ("grep -A 3 foo README.md", S, ["README.md"]),
    ("grep -f data/list.json README.md", S, ["README.md", "data/list.json"]),
    ("ls", S, []),
    ("ls -la src README.md", S, ["README.md"]),
    ("ls | grep py", S, []),
    ("tree -L 2", S, []),
    ("find . -name README.md", S, []),
    ("find src README.md -type f", S, ["README.md"]),
    ("find . -name '*.py' -exec cat {} \\;", SR, []),
    ("find . -name '*.py' -exec grep -l foo {} +", S, []),
    ("find . -type f | xargs cat", SR, []),
    ("find . -type f -print0 | xargs -0 grep -n foo", S, []),
    ("git ls-files | xargs cat", GR, []),
    ("git ls-files '*.py' | xargs -I{} sh -c 'head -3 {}'", GR, []),
    ("fd -e py -x cat", SR, []),
    ("stat README.md", S, ["README.md"]),
    ("du -sh .", S, []),
    # reads
    ("cat README.md", R, ["README.md"]),
    ("cat README.md README.md ./README.md", R, ["README.md"]),
    ("cat 'a b.txt'", R, ["a b.txt"]),
    ("cat a\\ b.txt", R, ["a b.txt"]),
    ('cat "a b.txt" ünï.txt', R, ["a b.txt", "ünï.txt"]),
    ("cat -- -dash", R, ["-dash"]),
    ("sed -n '1,20p' src/app.py", R, ["src/app.py"]),
    ("sed -n -e 1p -e 2p src/app.py src/util.py", R, ["src/app.py", "src/util.py"]),
    ("nl -ba src/app.py | sed -n '1,5p'", R, ["src/app.py"]),
    ("awk '{print $1}' docs/guide.md", R, ["docs/guide.md"]),
    ("awk -F, '{print README.md}' data/list.json", R, ["data/list.json"]),
    ("head -n 5 README.md", R, ["README.md"]),
    ("head -5 src/{app,util}.py", R, ["src/app.py", "src/util.py"]),
    ("tail -n +2 README.md | head -3", R, ["README.md"]),
    ("wc -l src/app.py", R, ["src/app.py"]),
    ("wc -l $(git ls-files)", GR, []),
    ("jq . data/list.json", R, ["data/list.json"]),
    ("jq README.md data/list.json", R, ["data/list.json"]),
    ("diff src/app.py src/util.py", R, ["src/app.py", "src/util.py"]),
    ("cat < README.md", R, ["README.md"]),
    ("while read -r l; do echo $l; done < docs/guide.md", R, ["docs/guide.md"]),
    ("x=$(<README.md)", R, ["README.md"]),
    ("dd if=README.md bs=1", R, ["README.md"]),
    ("bat -r 1:5 README.md", R, ["README.md"]),
    # filters and writes that read no file
    ("cat", OTHER, []),
    ("echo hi | cat", OTHER, []),
    ("cat <<'EOF'\nREADME.md\nEOF", OTHER, []),
    ("cat > /tmp/x <<EOF\ngit status\nEOF", OTHER, []),
    ("echo README.md > /dev/null", OTHER, []),
    ("sort </dev/null", OTHER, []),
    # interpreters: an inline program reads the files that its string literals name
    ("python - <<'PY'\nprint(open('README.md').read())\nPY", R, ["README.md"]),
    ("python3 -c 'print(1)'", OTHER, []),
    ("python3.11 -c \"import json; json.load(open('data/list.json'))\"", R, ["data/list.json"]),
    ("python script.py README.md", OTHER, []),
    ("python -m pytest src/app.py", OTHER, []),
    ("node -e \"require('fs').readFileSync('README.md')\"", R, ["README.md"]),
    ("perl -ne 'print if /x/' README.md", R, ["README.md"]),
    ("perl -e 'print 1'", OTHER, []),
    # scopes
    ("cd src && cat app.py", R, ["src/app.py"]),
    ("cd src; cd ..; cat README.md", R, ["README.md"]),
    ("(cd src && ls) && cat README.md", SR, ["README.md"]),
    ("(cd src) ; cat app.py", R, []),
    ("cd src | true; cat README.md", R, ["README.md"]),
    ("{ cd src; }; cat app.py", R, ["src/app.py"]),
    ("cd src & cat README.md", R, ["README.md"]),
    ("cd $SOMEWHERE && cat README.md", R, []),
    ("cd - && cat README.md", R, []),
    ("pushd src; cat app.py; popd; cat README.md", R, ["src/app.py"]),
    ("cd /; cat README.md", R, []),
    ("cd src/pkg && cat ../../docs/guide.md", R, ["docs/guide.md"]),
    ("echo $(cd src && cat app.py)", R, ["src/app.py"]),
    ("cat `echo README.md`", R, []),
    ('f=src/app.py; sed -n 1p "$f"', R, ["src/app.py"]),
    ("d=src; cat $d/app.py ${d}/util.py", R, ["src/app.py", "src/util.py"]),
    ("for f in src/app.py src/util.py; do head -5 $f; done", R, ["src/app.py", "src/util.py"]),
    ("for f in app util; do cat src/$f.py; done", R, ["src/app.py", "src/util.py"]),
    ("if [ -f README.md ]; then cat README.md; else ls; fi", SR, ["README.md"]),
    ("case x in README.md) cat docs/guide.md;; *) ls ;; esac", SR, ["docs/guide.md"]),
    ("show() { cat README.md; }; show", R, ["README.md"]),
    ("[[ -f README.md && $(git status) ]] || ls", GS, []),
    ("bash -c 'cat README.md'", R, ["README.md"]),
    ("sh <<'EOF'\ncd src\ncat app.py\nEOF", R, ["src/app.py"]),
    ("eval 'cat README.md'", R, ["README.md"]),
    ('cat "$PWD/README.md"', R, ["README.md"]),
    ("! grep -q x README.md && time -p cat docs/guide.md", SR, ["README.md", "docs/guide.md"]),
    ("git status; rg foo; cat README.md", GSR, ["README.md"]),
    ("cat README.md # and src/app.py", R, ["README.md"]),
    ("cat README.md \\\n  src/app.py", R, ["README.md", "src/app.py"]),
    # what is no file of the repository
    ("cat ../outside.txt link-out /etc/passwd", R, []),
    ("cat link-in link-dir/app.py src/app.py", R, ["src/app.py"]),
    ("cat .git/config", R, []),
    ("cat src missing.py '*.md' loop", R, []),
    ("cat *.md", R, []),
    ("cat '\x01' \"\"", R, []),
]


@pytest.mark.parametrize(("text", "classification", "files"), TABLE, ids=[text for text, _, _ in TABLE])
def test_a_command_is_classified_by_its_programs_and_names_real_files(
    root: Path, text: str, classification: str, files: list[str]
) -> None:
    made = Classifier(str(root)).shell(text)
    assert (made.classification, [file.path for file in made.files]) == (classification, files)
    assert made.is_readable


@pytest.mark.parametrize(("text", "classification", "files"), TABLE, ids=[text for text, _, _ in TABLE])
def test_wrapping_changes_nothing(root: Path, text: str, classification: str, files: list[str]) -> None:
    wrapped = shlex.join(["/bin/bash", "-lc", text])
    made = Classifier(str(root)).shell(wrapped)
    assert made.text == text
    assert (made.classification, [file.path for file in made.files]) == (classification, files)


def test_absolute_paths_and_the_home_folder_reach_the_repository(root: Path) -> None:
    inside = Classifier(str(root), home=str(root.parent))
    assert [file.path for file in inside.shell(f"cat {shlex.quote(str(root / 'README.md'))}").files] == ["README.md"]
    assert [file.path for file in inside.shell("cat ~/repo/README.md $HOME/repo/src/app.py").files] == [
        "README.md",
        "src/app.py",
    ]
    assert inside.shell("cat '~/repo/README.md'").files == ()


def test_a_repository_reached_through_a_symlink_is_the_same(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    made = Classifier(str(tmp_path / "alias")).shell(f"cat {tmp_path}/alias/README.md {root}/README.md")
    assert [file.path for file in made.files] == ["README.md"]


def test_the_size_proxy_counts_each_file_once_by_its_present_size(root: Path) -> None:
    classifier = Classifier(str(root))
    made = [classifier.shell("cat README.md link-in"), classifier.shell("head README.md; nl src/app.py docs/guide.md")]
    # README.md 10, src/app.py 100 (also by its link), docs/guide.md 20
    assert size_proxy_bytes(made) == 130
    assert files_named(made) == 3
    assert size_proxy_bytes([]) == files_named([]) == 0


def test_a_name_that_is_no_unicode_is_written_as_contracts_write_it(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b'/"odd')).write_bytes(b"12")
    made = Classifier(str(tmp_path)).shell("""cat '"odd'""")
    assert [(file.path, file.size_bytes) for file in made.files] == [('"\\"odd"', 2)]


@pytest.mark.parametrize(
    "text", ["cat 'open", 'echo "', "if true; then ls", "cat )", "$(", "`", "(" * 100, "a | ", "<"]
)
def test_text_that_is_no_shell_text_is_other_and_said(root: Path, text: str) -> None:
    made = Classifier(str(root)).shell(text)
    assert (made.classification, made.files, made.is_readable) == ("other", (), False)


def test_tools_that_look_at_files_are_classified_by_what_they_do(root: Path) -> None:
    def used(tool: str, path: str | None) -> tuple[str, list[str]]:
        command = AgentCommand(
            identifier="1",
            text=f"{tool} {{}}",
            is_completed=True,
            exit_code=None,
            output=None,
            has_failed=False,
            tool=tool,
            path=path,
        )
        made = Classifier(str(root)).command(command)
        return made.classification, [file.path for file in made.files]

    assert used("Read", str(root / "README.md")) == ("filesystem_read", ["README.md"])
    assert used("Read", "/etc/passwd") == ("filesystem_read", [])
    assert used("Grep", "src") == ("filesystem_search", [])
    assert used("Glob", None) == ("filesystem_search", [])
    assert used("WebFetch", str(root / "README.md")) == ("other", [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/bin/bash -lc 'git status --short'", ("git", "status", "--short")),
        ("git status --short", ("git", "status", "--short")),
        ("/usr/bin/bash -lc \"grep -n 'a b' x\"", ("grep", "-n", "a b", "x")),
        ("git status | head", None),
        ("git status > x", None),
        ("A=1 git status", None),
        ("cat *.md", None),
        ("cat '*.md'", ("cat", "*.md")),
        ("cat $x", None),
        ("cat ~/x", None),
        ("cat {a,b}", None),
        ("ls; ls", None),
        ("cd x && ls", None),
        ("cat 'open", None),
        ("", None),
    ],
)
def test_argv_is_known_only_where_the_words_are_what_ran(text: str, expected: tuple[str, ...] | None) -> None:
    assert argv(text) == expected


def test_only_the_wrapper_that_agents_programs_add_is_unwrapped() -> None:
    assert unwrap("/bin/bash -lc 'bash -c \"ls\"'") == 'bash -c "ls"'
    assert unwrap("bash script.sh") == "bash script.sh"
    assert unwrap("bash -lc 'ls' extra") == "bash -lc 'ls' extra"
    assert unwrap("bash -lc ''") == "bash -lc ''"


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12), min_size=1))
def test_argv_undoes_the_quoting_of_the_standard_library(arguments: list[str]) -> None:
    if arguments[0].rpartition("/")[2] in ("sh", "bash"):
        return
    assert argv(shlex.join(arguments)) == tuple(arguments)


PIECES = st.sampled_from(
    [
        "a",
        "b c",
        "'",
        '"',
        "\\",
        "$",
        "$'",
        '$"',
        "{",
        "}",
        ",",
        "\\n",
        "\\'",
        '\\"',
        "\\\\",
        "é",
        "\\x41",
        "\\101",
        "#",
        "-",
        "=",
    ]
)


def bash_words(texts: list[str]) -> list[list[str] | None]:
    """What bash makes of each text as the arguments of a command; None where it refuses the text."""
    script = "".join(
        f"printf 'BEGIN\\0'; eval {shlex.quote('printf %s' + chr(92) + chr(92) + '0 ' + 'x ' + text)} 2>/dev/null "
        "|| printf 'BAD\\0'\n"
        for text in texts
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
    )
    sections = done.stdout.decode("utf-8", "replace").split("BEGIN\0")[1:]
    return [None if "BAD\0" in section else section.split("\0")[1:-1] for section in sections]


def our_words(text: str) -> list[str] | None:
    try:
        nodes = parse("printf x " + text)
    except ValueError:
        return None
    if len(nodes) != 1 or not isinstance(nodes[0], Simple) or nodes[0].redirects:
        return None
    arguments = [one for word in nodes[0].words for one in expand(word, {})]
    return [one.text for one in arguments][2:] if all(one.texts for one in arguments) else None


@given(st.lists(st.lists(PIECES, min_size=1, max_size=7).map("".join), min_size=20, max_size=40))
def test_quotes_and_escapes_are_read_as_bash_reads_them(texts: list[str]) -> None:
    for text, expected in zip(texts, bash_words(texts), strict=True):
        ours = our_words(text)
        if expected is not None and ours is not None:
            assert ours == expected, text
        if expected is None:
            assert ours is None, text


@given(st.text(st.sampled_from("ab '\"\\$`(){}[]<>|&;\n#*?~=!-01"), max_size=40))
def test_any_text_is_read_or_refused_and_never_breaks(text: str) -> None:
    made = Classifier("/").shell(text)
    assert made.classification
    argv(text)
