#!/usr/bin/env python3
"""Runs clang-tidy over the C++ that a change touches, several files at a time.

    tools/tidy.py BUILD [--all] [--base REVISION]

BUILD is a build folder with compile_commands.json and the generated messages.
The change is what differs from REVISION: by default from the common ancestor
with origin or, where there is no difference, from the last commit's parent.

A source is checked if it was changed; a changed header by way of a source that
includes it, its own if there is one. What passed is not checked again until the
source, a file of the project that it includes, its command or .clang-tidy
changes: BUILD/tidy/ has a stamp for each source.

Exits 1 if clang-tidy reports anything, and shows all of it.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
FOLDERS = ("src/", "python/ext/", "bench/", "tests/", "examples/")
COUNTS = re.compile(r"^\d+ warnings?( and \d+ errors?)? generated\.$")
SAMPLE = 8


def git(*args):
    """Returns what git says, or None if it fails."""
    done = subprocess.run(["git", *args], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.strip() if done.returncode == 0 else None


def changes_since(revision):
    """Returns the paths of C++ that differ from a revision, new ones too."""
    listed = (git("diff", "--name-only", "--diff-filter=d", revision) or ""
              ) + "\n" + (git("ls-files", "--others", "--exclude-standard") or "")
    return sorted({path for path in listed.split("\n")
                   if path.startswith(FOLDERS)
                   and path.endswith((".cc", ".h"))})


def changes(base):
    """Returns (revision, changed paths); revision is None if there is none."""
    candidates = [base] if base else [
        git("merge-base", "HEAD", "origin/HEAD")
        or git("merge-base", "HEAD", "origin/main"), "HEAD^", "HEAD"]
    for revision in candidates:
        if revision and git("rev-parse", "--verify", revision + "^{commit}"):
            paths = changes_since(revision)
            if paths or base:
                return revision, paths
    return None, []


@functools.lru_cache(maxsize=None)
def content(path):
    """Returns the text of a file of the project."""
    return (ROOT / path).read_text(errors="replace")


@functools.lru_cache(maxsize=None)
def digest(path):
    """Returns a hash of a file of the project."""
    return hashlib.sha256(content(path).encode()).digest()


@functools.lru_cache(maxsize=None)
def direct_includes(path):
    """Returns the files of the project that a file includes itself. Of a
    generated message's header it is the .proto file."""
    found = []
    for name in INCLUDE.findall(content(path)):
        if name.endswith(".pb.h"):
            name = name[:-len(".pb.h")] + ".proto"
        for folder in ("src", "include", "proto", os.path.dirname(path)):
            candidate = os.path.normpath(os.path.join(folder, name))
            if (ROOT / candidate).is_file():
                found.append(candidate)
                break
    return found


@functools.lru_cache(maxsize=None)
def closure(path):
    """Returns a file and all of the project that it includes, sorted."""
    seen, todo = {path}, [path]
    while todo:
        for name in direct_includes(todo.pop()):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return sorted(seen)


def source_for(header, sources):
    """Returns the source that is to show a header to clang-tidy, or None."""
    stem = os.path.splitext(header)[0]
    for own in (stem + ".cc", stem + "_test.cc"):
        if own in sources:
            return own
    users = [s for s in sources if header in closure(s)]
    # One near by is the most likely to use all of it.
    return min(users, default=None, key=lambda s: (
        header not in direct_includes(s),
        os.path.dirname(s) != os.path.dirname(header), len(closure(s)), s))


class Checker:
    """clang-tidy with its stamps."""

    def __init__(self, build, commands):
        self.build = build
        self.commands = commands
        self.program = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
        if not self.program:
            sys.exit("tidy: clang-tidy is not there")
        version = subprocess.run([self.program, "--version"], check=True,
                                 stdout=subprocess.PIPE).stdout
        self.common = version + (ROOT / ".clang-tidy").read_bytes()

    def key(self, source):
        """Returns a hash of all that the result depends on, but for the headers
        of the system."""
        h = hashlib.sha256(self.common)
        h.update(self.commands[source].encode())
        for name in closure(source):
            h.update(name.encode() + digest(name))
        return h.hexdigest()

    def stamp(self, source):
        return self.build / "tidy" / (source.replace("/", "__") + ".passed")

    def has_passed(self, source):
        stamp = self.stamp(source)
        return stamp.exists() and stamp.read_text() == self.key(source)

    def check(self, source):
        """Returns (source, seconds, True if it passed, what was said)."""
        begin = time.monotonic()
        done = subprocess.run(
            [self.program, "--quiet", "-p", self.build, ROOT / source],
            cwd=ROOT, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        said = "\n".join(line for line in done.stdout.splitlines()
                         if not COUNTS.match(line)).strip()
        passed = done.returncode == 0 and not said
        if passed:
            self.stamp(source).parent.mkdir(exist_ok=True)
            self.stamp(source).write_text(self.key(source))
        return source, time.monotonic() - begin, passed, said


def read_commands(build):
    """Returns {source: command} for the sources of the project."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]),
                               ROOT)
        if path.startswith(FOLDERS):
            commands[path] = entry.get("command") or shlex.join(
                entry["arguments"])
    return commands


def choose(args, commands):
    """Returns the sources to check, and says why these."""
    sources = sorted(commands)
    if args.all:
        return sources
    revision, paths = changes(args.base)
    if revision is None:
        print(f"tidy: no commit to compare with: {SAMPLE} sources as a sample")
        return sources[::max(1, len(sources) // SAMPLE)]
    chosen = set()
    for path in paths:
        source = (path if path in commands else None) if path.endswith(
            ".cc") else source_for(path, sources)
        if source:
            chosen.add(source)
        else:
            print(f"tidy: {path} is not compiled here, nor is what includes it")
    print(f"tidy: {len(paths)} files differ from {revision[:12]}: "
          f"{len(chosen)} sources")
    return sorted(chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--base")
    args = parser.parse_args()
    commands = read_commands(args.build)
    checker = Checker(args.build.resolve(), commands)
    chosen = choose(args, commands)
    todo = [s for s in chosen if not checker.has_passed(s)]
    failed = 0
    workers = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for n, (source, seconds, passed, said) in enumerate(
                map(concurrent.futures.Future.result,
                    concurrent.futures.as_completed(
                        [pool.submit(checker.check, s) for s in todo])), 1):
            print(f"[{n}/{len(todo)}] {source}  {seconds:.0f} s"
                  + ("" if passed else "  FAILED"), flush=True)
            if not passed:
                failed += 1
                print(said or "clang-tidy failed and said nothing", flush=True)
    print(f"tidy: {len(chosen) - failed} of {len(chosen)} sources are clean, "
          f"{len(chosen) - len(todo)} of them unchanged since they passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
