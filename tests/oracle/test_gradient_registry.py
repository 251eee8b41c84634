"""Which ops have gradients, which have none and which are unknown: as TensorFlow
1.15's registry says. Needs HEADRACE_ORACLE_1_15=PYTHON, an interpreter that has
it."""
import os
import subprocess

import pytest

import headrace as tf
from headrace import _headrace

ORACLE = os.environ.get("HEADRACE_ORACLE_1_15")

pytestmark = pytest.mark.skipif(ORACLE is None,
                                reason="HEADRACE_ORACLE_1_15 is not set")

REGISTRY = """
import warnings
warnings.filterwarnings("ignore")
import tensorflow as tf
import tensorflow.contrib
from tensorflow.python.framework import ops
registry = ops._gradient_registry
for name in sorted(registry.list()):
    print("entry", name, registry.lookup(name) is not None)
"""

# TensorFlow has a function that gives None for every input.
GIVES_NONE = set("ArgMax ArgMin Ceil Floor FloorDiv LoopCond Rint Round "
                 "TruncateDiv".split())
# Here alone.
OURS = {
    "newer than 1.15, or by another name there":
        "Einsum ImageProjectiveTransformV2 StatelessCase",
    "built into 1.15's tf.gradients":
        "PartitionedCall RemoteCall StatefulPartitionedCall SymbolicGradient",
    "copies, as Identity": "DebugGradientIdentity DebugGradientRefIdentity "
                           "GuaranteeConst",
    "the rule of If and its like": "StatelessWhile While",
}
# TensorFlow alone, of the ops that exist here.
THEIRS = {"CudnnRNN": "trains with cuDNN alone"}


@pytest.fixture(scope="module")
def registry():
    """{op: whether it has a function}"""
    done = subprocess.run([ORACLE, "-c", REGISTRY], capture_output=True,
                          text=True, check=True,
                          env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3"))
    lines = [line.split() for line in done.stdout.splitlines()
             if line.startswith("entry ")]
    assert len(lines) > 400
    return {name: has == "True" for _, name, has in lines}


def ours():
    return {op: bool(_headrace.gradient_entry(op)[0])
            for op in _headrace.gradient_ops()}


def test_ops_without_gradients_are_tensorflows(registry):
    without = {op for op, has in ours().items() if not has}
    theirs = {op for op, has in registry.items() if not has}
    known = {op for op in theirs if hasattr(tf.raw_ops, op)}
    assert known <= without
    assert without - theirs == GIVES_NONE


def test_ops_with_gradients_are_tensorflows(registry):
    with_function = {op for op, has in ours().items() if has}
    theirs = {op for op, has in registry.items() if has}
    assert with_function - theirs == {
        op for ops in OURS.values() for op in ops.split()}
    assert {op for op in theirs - with_function - GIVES_NONE
            if hasattr(tf.raw_ops, op)} == set(THEIRS)
