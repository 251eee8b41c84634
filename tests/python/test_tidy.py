"""tools/tidy.py, with a program in place of clang-tidy that finds BAD words."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "tidy.py"

# As clang-tidy: a finding goes to stdout and decides the exit status, a failure
# to stderr.
FAKE = """#!/bin/sh
[ "$1" = --version ] && { echo fake; exit 0; }
for source; do :; done
echo "$source" >>"$LOG"
echo "13 warnings generated." >&2
grep -q CRASH "$source" && { echo "cannot read this" >&2; exit 1; }
for file in "$source" "${source%.cc}.h"; do
  grep -Hn BAD "$file" 2>/dev/null && exit 1
done
exit 0
"""


class Project:
    """A repository with a commit, its sources being in src/."""

    def __init__(self, root):
        self.root = root
        self.log = root / "log"
        for folder in ("src", "tools", "bin", "build"):
            (root / folder).mkdir()
        shutil.copy(TOOL, root / "tools")
        program = root / "bin" / "clang-tidy-14"
        program.write_text(FAKE)
        program.chmod(0o755)
        (root / ".clang-tidy").write_text("Checks: '*'\n")
        (root / ".gitignore").write_text("/build/\n/bin/\n/log\n")
        self.git("init", "-q")

    def git(self, *args):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *args],
            cwd=self.root, check=True, stdout=subprocess.DEVNULL)

    def write(self, **texts):
        for name, text in texts.items():
            stem, _, kind = name.rpartition("_")
            (self.root / "src" / f"{stem}.{kind}").write_text(text)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change")

    def run(self, *args):
        """Returns (exit status, what was said, the sources that were checked)."""
        commands = [{"directory": str(self.root), "file": str(path),
                     "command": f"c++ -c {path}"}
                    for path in sorted((self.root / "src").glob("*.cc"))]
        (self.root / "build" / "compile_commands.json").write_text(
            json.dumps(commands))
        self.log.write_text("")
        path = f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [sys.executable, "tools/tidy.py", "build", *args], cwd=self.root,
            env={**os.environ, "PATH": path, "LOG": str(self.log)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        checked = sorted(os.path.basename(line)
                         for line in self.log.read_text().split())
        return done.returncode, done.stdout, checked


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_of_many_changed_files_none_is_left_out(project):
    project.write(old_cc="int a;\n")
    project.commit()
    for i in range(40):
        project.write(**{f"new{i}_cc": "int b;\n"})
    project.commit()
    status, said, checked = project.run()
    assert status == 0, said
    assert len(checked) == 40 and "old.cc" not in checked


def test_findings_and_failures_are_shown(project):
    project.write(a_cc="int a;\n")
    project.commit()
    project.write(a_cc="int BAD;\n", b_cc="CRASH\n")
    status, said, checked = project.run()
    assert status == 1
    assert checked == ["a.cc", "b.cc"]
    assert "a.cc:1:int BAD" in said
    assert "cannot read this" in said
    assert "warnings generated" not in said
    assert "0 of 2 sources are clean" in said


def test_a_changed_header_is_checked_by_a_source_that_includes_it(project):
    project.write(own_h="int a;\n", own_cc='#include "own.h"\n',
                  lone_h='#include "deep.h"\n', deep_h="int d;\n",
                  user_cc='#include "lone.h"\n', other_cc='#include "own.h"\n',
                  unused_h="int u;\n")
    project.commit()
    project.write(own_h="int BAD;\n", deep_h="int e;\n", unused_h="int v;\n")
    status, said, checked = project.run()
    assert status == 1
    assert checked == ["own.cc", "user.cc"]
    assert "own.h:1:int BAD" in said
    assert "src/unused.h is not compiled here" in said


def test_what_passed_is_checked_again_only_when_it_changes(project):
    project.write(a_h="int a;\n", a_cc='#include "a.h"\n', b_cc="int BAD;\n")
    project.commit()
    assert project.run("--all")[2] == ["a.cc", "b.cc"]
    assert project.run("--all")[2] == ["b.cc"]  # it did not pass
    project.write(a_h="int b;\n")
    assert project.run("--all")[2] == ["a.cc", "b.cc"]
    (project.root / ".clang-tidy").write_text("Checks: 'x'\n")
    assert project.run("--all")[2] == ["a.cc", "b.cc"]


def test_without_a_commit_to_compare_with_a_sample_is_checked(project):
    project.write(a_cc="int a;\n", b_cc="int b;\n")
    project.commit()
    status, said, checked = project.run()
    assert status == 0, said
    assert "a sample" in said
    assert checked == ["a.cc", "b.cc"]
