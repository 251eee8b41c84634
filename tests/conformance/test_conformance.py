"""Runs the recorded cases against the built libtensorflow.so.2.

What may fail is named in pending.txt. A case that fails without being listed
fails the test, and so does one that passes while it is listed.
HEADRACE_LIBTENSORFLOW names another library than build/lib/libtensorflow.so.2.
"""
import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIBRARY = os.environ.get("HEADRACE_LIBTENSORFLOW",
                         str(ROOT / "build" / "lib" / "libtensorflow.so.2"))


def pending():
    """{case: reason} of pending.txt."""
    cases = {}
    for line in (HERE / "pending.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, _, reason = line.partition(" ")
            assert reason.strip(), f"pending.txt: {name} has no reason"
            assert name not in cases, f"pending.txt: {name} is listed twice"
            cases[name] = reason.strip()
    return cases


def known_names():
    names = {f"{d}/{f.stem}" for d in ("ops", "graphs", "hostile")
             for f in (HERE / d).glob("*.npz")}
    models = HERE / "models"
    return names | {str(f.parent.relative_to(HERE)) for f in models.glob("**/case.json")}


def run(script, folder, report):
    """{case: why it failed, or ""} as the runner reports it."""
    subprocess.run([sys.executable, str(HERE / script), LIBRARY, str(HERE / folder), "--json", str(report)], check=False)
    return json.loads(report.read_text())


def check(results):
    listed = pending()
    failed = {k: why for k, why in results.items() if why and k not in listed}
    healed = [k for k, why in results.items() if not why and k in listed]
    assert results
    assert not failed, "failing cases:\n" + "\n".join(
        f"  {k}: {why}" for k, why in sorted(failed.items()))
    assert not healed, "these pass now, take them off pending.txt: " + " ".join(healed)


def test_pending_names_exist():
    unknown = set(pending()) - known_names()
    assert not unknown, f"pending.txt lists cases that are not there: {sorted(unknown)}"


@pytest.mark.parametrize("folder", ["ops", "graphs", "hostile"])
def test_cases(folder, tmp_path):
    results = run("run_cases.py", folder, tmp_path / "report.json")
    check({f"{folder}/{k}": why for k, why in results.items()})


def test_models(tmp_path):
    results = run("run_models.py", "models", tmp_path / "report.json")
    check({f"models/{k}": why for k, why in results.items()})


def test_models_agree_without_graph_passes(tmp_path):
    """With all graph passes and with none the models compute the same."""
    results = run("compare_passes.py", "models", tmp_path / "report.json")
    assert results
    assert not any(results.values()), "\n".join(f"{k}: {why}" for k, why in results.items() if why)
