"""Every op that a case can be made for runs with allocations that fail, and
every kernel of the library runs so in some test, but for those of NEVER."""
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import libraries
import op_defs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PYTHON, CONFORMANCE = ROOT / "tests" / "python", ROOT / "tests" / "conformance"
LIBRARY = pathlib.Path(libraries.headrace().command[-1])
FAULTS = LIBRARY.resolve().parent.parent / "tests" / "libfailing_allocations.so"

BY_A_PASS = "passes make it, out of what the conformance graphs have"
BY_A_RUN = "the runtime makes it; each run and each call of a function has it"
NEVER = {
    "CreateSummaryDbWriter": "refuses: there is no database",
    "LMDBReader": "refuses: there are no LMDB files",
    "PlaceholderV2": "fails if it runs, as a placeholder that is not fed",
    **dict.fromkeys(("_FusedConv2D", "_FusedConvChain", "_FusedElementwise", "_FusedElementwiseGroup", "_FusedAssign",
                     "_FusedDepthwiseConv2dNative", "_FusedLSTM",
                     "_FusedMatMul", "_FusedBatchMatMul", "_FusedAttention", "_ProductShape", "_FusedLayerNorm",
                     "_Gelu", "_ApproximateGelu", "_Swish", "_HardSwish",
                     "_Mish", "_ReadVariablesOp", "_VarHandlesOp",
                     "_TensorToHashBucketFast"), BY_A_PASS),
    **dict.fromkeys(("CollectiveAllToAllV2", "CollectiveBcastRecv", "CollectiveBcastRecvV2", "CollectiveBcastSend",
                     "CollectiveBcastSendV2", "CollectiveGather", "CollectiveGatherV2", "CollectiveReduce",
                     "CollectiveReduceScatterV2", "CollectiveReduceV2"), "they wait for their peers; tests/distributed has these"),
    **dict.fromkeys(("BoostedTreesQuantileStreamResourceDeserialize", "DeserializeIterator", "FertileStatsDeserialize",
                     "FertileStatsIsInitializedOp", "IsBoostedTreesEnsembleInitialized", "SerializeIterator",
                     "TreeDeserialize", "TreeIsInitializedOp"),
                    "they save and restore objects, in sessions of more than one run: test_boosted_trees, "
                    "test_random_forests and test_iterator_state have these"),
    **dict.fromkeys(("_Arg", "_ArrayToList", "_ListToArray"),
                    BY_A_RUN),
}
# Tests whose sessions run ops that no case or program has.
RECORDED = ["test_boosted_trees", "test_candidate_sampling", "test_contrib_columns", "test_control_flow", "test_data",
            "test_data_experimental", "test_data_files", "test_data_iterators", "test_data_stats",
            "test_data_windows", "test_factorization", "test_iterator_state", "test_random_forests", "test_sdca", "test_dataset_op_values", "test_edge_values", "test_fractional_pool",
            "test_function", "test_image", "test_input_pipelines",
            "test_kept_values", "test_lookup", "test_lookup_tables",
            "test_lstm", "test_names_and_values", "test_ops", "test_parsing",
            "test_print", "test_queues", "test_random", "test_readers",
            "test_sparse", "test_state", "test_strings", "test_summary",
            "test_tensor_array", "test_variables", "test_variants"]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    not FAULTS.exists(), reason="the C++ tests were not built")]


def run(script, *arguments):
    done = subprocess.run(
        [sys.executable, script, LIBRARY, FAULTS, *map(str, arguments)],
        stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout
    assert ", 8: " in done.stdout, done.stdout  # allocations did fail
    return done.stdout


def ops_of_cases(recorded_programs, folder):
    """Of the recorded conformance cases that test_without_memory.py runs."""
    tf, ops = recorded_programs.tf, set()
    for path in sorted((CONFORMANCE / folder).glob("*.npz")):
        archive = np.load(path)
        for case in sorted({x.split("/")[0] for x in archive.files})[:2]:
            graph_def = tf.GraphDef.FromString(bytes(archive[case + "/graph"]))
            ops |= {n.op for n in graph_def.node}
    return ops


def record(known, folder):
    """Programs of the Python tests that run other ops than the known."""
    but, path = folder / "known", folder / "recorded"
    but.write_text("\n".join(known))
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "recorded_programs",
         "-m", "not slow", "--basetemp", folder / "files", *[name + ".py" for name in RECORDED]],
        cwd=PYTHON, stdout=subprocess.DEVNULL, env=dict(
            os.environ, RECORDED_PROGRAMS=str(path), RECORDED_BUT=str(but)))
    return pickle.loads(path.read_bytes())


def test_every_kernel_runs_while_its_allocations_fail(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(PYTHON))
    import recorded_programs
    import test_programs_without_memory
    kernels = op_defs.kernel_ops(libraries.headrace().ask("kernels"))

    ran = tmp_path / "ran"
    run(pathlib.Path(__file__).with_name("run_ops_without_memory.py"),
        "--failures", 4, "--ran", ran)
    cases = set(ran.read_text().split())
    assert len(cases) > 540  # the generator makes sense of most ops

    known = cases | ops_of_cases(recorded_programs, "ops") | \
        ops_of_cases(recorded_programs, "graphs")
    folder = tmp_path / "programs"
    folder.mkdir()
    for program in test_programs_without_memory.cases(folder):
        known |= recorded_programs.ops_run_by(program)

    recorded = record(known, tmp_path)
    path = tmp_path / "cases"
    path.write_bytes(pickle.dumps(recorded))
    done = run(CONFORMANCE / "run_programs_without_memory.py", path,
               "--failures", 4)
    alone = {line.split()[1] for line in done.splitlines()
             if line.startswith("alone ")}
    for program in recorded:
        if program[0] not in alone:
            known |= recorded_programs.ops_run_by(program)

    missing = kernels - known
    print("%d of %d kernels ran without memory" % (
        len(kernels - missing), len(kernels)))
    assert missing == set(NEVER), (
        "neither run nor listed: %s; listed, but run or unknown: %s"
        % (sorted(missing - set(NEVER)), sorted(set(NEVER) - missing)))
