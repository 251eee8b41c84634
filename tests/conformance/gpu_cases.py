#!/usr/bin/env python3
"""Runs conformance cases on GPUs.

    gpu_cases.py LIBRARY FOLDER... [--part K/N]

The platform is HEADRACE_GPU_PLATFORM's: "host" needs no GPU. What may differ there
is named in gpu_differs.txt; a case that fails without being listed is a failure,
and so is one that passes while it is listed. --part runs the K-th of N parts, the
archives K, K + N, ... by name. Needs NumPy alone.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def listed():
    """{case: why it may differ}."""
    cases = {}
    for line in (HERE / "gpu_differs.txt").read_text().splitlines():
        name, _, why = line.split("#")[0].strip().partition(" ")
        if name:
            cases[name] = why.strip()
    return cases


def archives(folder, part, parts):
    return sorted((HERE / folder).glob("*.npz"))[part::parts]


def run(library, folder, part=0, parts=1):
    """{"folder/case": why it failed, or ""}."""
    env = dict(os.environ)
    if env.get("HEADRACE_GPU_PLATFORM") != "host":
        env["CASES_NO_MEMORY_LIMIT"] = "1"  # a driver maps much more than it uses
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.json")
        subprocess.run([sys.executable, str(HERE / "run_cases.py"), library, *map(str, archives(folder, part, parts)),
                        "--json", str(report), "--timeout", "300"], env=env, check=False)
        return {f"{folder}/{name}": why for name, why in json.loads(report.read_text()).items()}


def wrong(results):
    """A line for each case that is not as it is listed."""
    may_differ = listed()
    lines = [f"{name}: {why}" for name, why in sorted(results.items()) if why and name not in may_differ]
    return lines + [f"{name}: passes, take it off gpu_differs.txt"
                    for name, why in sorted(results.items()) if not why and name in may_differ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("library")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--part", default="0/1")
    args = parser.parse_args()
    part, parts = map(int, args.part.split("/"))
    results = {}
    for folder in args.folders:
        results.update(run(args.library, folder, part, parts))
    lines = wrong(results)
    print(*lines, sep="\n")
    print(f"{len(results)} archives, {len(lines)} not as they should be")
    return 1 if lines or not results else 0


if __name__ == "__main__":
    sys.exit(main())
