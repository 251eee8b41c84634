"""docs/ops.md says what the registry says."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.mark.skipif(not (ROOT / "build" / "bin" / "headrace").exists(),
                    reason="the command line was not built")
def test_ops_are_documented():
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "ops_doc.py", "--check"],
        stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stderr
