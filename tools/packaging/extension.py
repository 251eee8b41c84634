"""Compiles python/ext for a Python, from the commands that the release build has for the one in .venv."""
import pathlib
import re
import subprocess

from relink import output


class Interpreter:
    """A Python with headers, NumPy and nanobind."""

    def __init__(self, path):
        self.path = path
        text = output(str(path), "-c", "import nanobind, numpy, sys, sysconfig\n"
                      "print(*sys.version_info[:2], sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'),"
                      " numpy.get_include(), nanobind.include_dir(), sep='\\n')").split("\n")
        self.version = int(text[0]), int(text[1])
        self.include, self.suffix, self.numpy, self.nanobind = text[2:6]
        self.tag = "cp%d%d-cp%d%d" % (self.version * 2)


def compile_lines(build):
    """(command words, source) of each source of the extension."""
    for line in output("ninja", "-C", str(build), "-t", "commands", "_headrace").splitlines():
        found = re.search(r" -c (\S*/python/ext/\S+\.cc)$", line)
        if found:
            yield line.split(), found.group(1)


def compile_extension(build, python, work):
    """The objects of the extension and of nanobind, made under `work`."""
    work.mkdir(parents=True, exist_ok=True)
    lines = list(compile_lines(build))
    words = lines[0][0]
    launcher = words[:words.index(next(word for word in words if word.endswith("/c++"))) + 1]
    flags = []
    skip = False
    for word in words[len(launcher):]:
        if skip:
            skip = False
        elif word in ("-MF", "-MT", "-o", "-c", "-include"):
            skip = True
        elif word == "-MD" or word.startswith("-I") and "nanobind" in word:
            pass
        else:
            flags.append(word)
    cleaned = []
    for word in flags:
        if re.search(r"/include/python3|/numpy/_core/include$|/numpy/core/include$", word):
            cleaned.pop()  # its -isystem
        else:
            cleaned.append(word)
    flags = cleaned + ["-isystem", python.include, "-isystem", python.numpy, "-isystem", python.nanobind]

    header = pathlib.Path(re.search(r"-include (\S+cmake_pch\.hxx)", " ".join(words)).group(1))
    prefix = work / "prefix.h"
    if not prefix.exists() or prefix.read_text() != header.read_text():
        prefix.write_text(header.read_text())
    nanobind = pathlib.Path(python.nanobind).parent
    sources = [pathlib.Path(source) for _, source in lines]
    rules = [
        f"flags = {' '.join(flags)}",
        "rule prefix", f"  command = {launcher[-1]} $flags -w -MD -MF $out.d -x c++-header -o $out -c $in", "  depfile = $out.d",
        "rule cc", f"  command = {' '.join(launcher)} $flags -w $more -MD -MF $out.d -o $out -c $in", "  depfile = $out.d",
        "build prefix.h.gch: prefix prefix.h"]
    for source in sources:
        rules += [f"build {source.stem}.o: cc {source} | prefix.h.gch", "  more = -include prefix.h"]
    rules += [f"build nanobind.o: cc {nanobind}/src/nb_combined.cpp",
              f"  more = -fno-strict-aliasing -DNB_COMPACT_ASSERTIONS -std=c++17 -I{nanobind}/ext/robin_map/include"]
    (work / "build.ninja").write_text("\n".join(rules) + "\n")
    subprocess.run(["ninja", "-C", str(work), "--quiet"], check=True)
    return [work / f"{source.stem}.o" for source in sources] + [work / "nanobind.o"]
