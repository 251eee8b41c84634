"""Programs as tutorials of TensorFlow 1.x have them. They say `import tensorflow`
and run unchanged on TensorFlow 1.15.5 and on Headrace, with the same seeds, and
print what they find. expected/ has what they print on TensorFlow 1.15.5:

    .venv/bin/python tests/programs/test_programs.py PYTHON [PROGRAM...]

records it with an interpreter PYTHON that has TensorFlow 1.15. With
HEADRACE_ORACLE_1_15=PYTHON the tests run both and compare them, and what they
write: each side reads its own files and those of the other (saved_files.py).
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "expected"
NOT_PROGRAMS = {"data", "saved_files", "test_programs"}
PROGRAMS = sorted(file.stem for file in HERE.glob("*.py")
                  if file.stem not in NOT_PROGRAMS)
ORACLE = os.environ.get("HEADRACE_ORACLE_1_15")

# Numbers differ as far as rounding makes a training differ.
RELATIVE, ABSOLUTE = 2e-3, 2e-5
# What files of TensorFlow have and ours do not: here the importer finds the
# conditionals and loops of a graph by its nodes.
LEFT_OUT = {"cond_context", "while_context"}
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?![\w.])")


def run(command, program, *arguments, files=""):
    """What a program prints. It writes into the folder `files`, or one that is
    removed."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3",
                       PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0",
                       PROGRAM_FILES=str(files))
    done = subprocess.run([*command, program + ".py", *map(str, arguments)],
                          cwd=HERE, text=True, capture_output=True,
                          env=environment, timeout=300)
    assert done.returncode == 0, "%s:\n%s" % (program, done.stderr[-3000:])
    return done.stdout


OURS = [sys.executable, "-m", "headrace.compat"]


def parts(line):
    """(the line without its numbers, the numbers)."""
    return NUMBER.sub("#", line), [float(n) for n in NUMBER.findall(line)]


def check(program, got, wanted):
    got, wanted = got.splitlines(), wanted.splitlines()
    for i, (a, b) in enumerate(zip(got, wanted)):
        text, numbers = parts(a)
        wanted_text, wanted_numbers = parts(b)
        assert text == wanted_text, "line %d: %r, expected %r" % (i + 1, a, b)
        assert numbers == pytest.approx(
            wanted_numbers, rel=RELATIVE, abs=ABSOLUTE, nan_ok=True), (
                "line %d: %r, expected %r" % (i + 1, a, b))
    assert len(got) == len(wanted)


def check_files(got, wanted, path=""):
    """Compares what saved_files.py says of two folders."""
    if isinstance(got, dict) and isinstance(wanted, dict):
        got, wanted = ({k: v for k, v in side.items() if k not in LEFT_OUT}
                       for side in (got, wanted))
        assert sorted(got) == sorted(wanted), path
        for key in got:
            check_files(got[key], wanted[key], path + "/" + key)
    elif isinstance(got, list) and isinstance(wanted, list):
        assert len(got) == len(wanted), path
        for i, (a, b) in enumerate(zip(got, wanted)):
            check_files(a, b, "%s/%d" % (path, i))
    elif type(got) is type(wanted) is float:
        assert got == pytest.approx(wanted, rel=RELATIVE, abs=ABSOLUTE,
                                    nan_ok=True), path
    else:
        assert got == wanted, path


def described(command, folder):
    return json.loads(run(command, "saved_files", folder))


def output_or_skip(program, files=""):
    output = run(OURS, program, files=files)
    if output.startswith("SKIP: "):
        pytest.skip(output[6:].strip())
    return output


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program):
    expected = EXPECTED / (program + ".txt")
    check(program, output_or_skip(program), expected.read_text())


@pytest.mark.skipif(ORACLE is None, reason="HEADRACE_ORACLE_1_15 is not set")
@pytest.mark.parametrize("program", PROGRAMS)
def test_program_beside_tensorflow(program, tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
    check(program, output_or_skip(program, ours),
          run([ORACLE], program, files=theirs))
    if not list(ours.iterdir()) + list(theirs.iterdir()):
        return
    wanted = described([ORACLE], theirs)
    check_files(described(OURS, ours), wanted)
    check_files(described([ORACLE], ours), wanted)
    check_files(described(OURS, theirs), wanted)


def test_every_expectation_has_a_program():
    assert sorted(f.stem for f in EXPECTED.glob("*.txt")) == PROGRAMS


@pytest.mark.parametrize("got, wanted, same", [
    ("a: 1.0 2", "a: 1.001 2", True), ("a: 1.0", "a: 1.01", False),
    ("a: 1", "b: 1", False), ("x_1 0", "x_2 0", False), ("[1e-9]", "[0]", True),
    ("a", "a\nb", False), ("nan", "nan", True), ("-inf", "inf", False)])
def test_how_outputs_are_compared(got, wanted, same):
    if same:
        check("", got, wanted)
    else:
        with pytest.raises(AssertionError):
            check("", got, wanted)


@pytest.mark.parametrize("got, wanted, same", [
    ({"a": [1.0, "x"]}, {"a": [1.001, "x"], "cond_context": 1}, True),
    ({"a": [1.0]}, {"a": [1.01]}, False), ({"a": [1]}, {"a": [1, 2]}, False),
    ({"a": "x"}, {"a": "y"}, False), ({"a": 1}, {"b": 1}, False),
    ({}, {"a": 1}, False), ([1], {"a": 1}, False)])
def test_how_files_are_compared(got, wanted, same):
    if same:
        check_files(got, wanted)
    else:
        with pytest.raises(AssertionError):
            check_files(got, wanted)


def record(python, programs):
    EXPECTED.mkdir(exist_ok=True)
    for program in programs or PROGRAMS:
        output = run([python], program)
        assert not output.startswith("SKIP: "), output
        (EXPECTED / (program + ".txt")).write_text(output)
        print(program, "recorded")


if __name__ == "__main__":
    record(sys.argv[1], sys.argv[2:])
