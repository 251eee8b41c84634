"""The example of eager execution in C is compiled and run."""
import pathlib
import shutil
import subprocess

import pytest

from program import PROGRAM, needs_program

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@needs_program
@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
def test_the_example_of_eager_execution(tmp_path):
    library = PROGRAM.parent.parent / "lib"
    subprocess.run(["cc", "-Wall", "-Werror", ROOT / "examples" / "c" / "eager.c", "-o", tmp_path / "eager", f"-I{ROOT / 'include'}",
                    f"-L{library}", "-l:libtensorflow.so.2", f"-Wl,-rpath,{library}"], check=True)
    done = subprocess.run([tmp_path / "eager"], stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stdout == "5 10\n"
