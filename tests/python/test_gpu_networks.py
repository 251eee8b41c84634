"""Whole networks on the GPU of the host platform, equal to the CPU's."""
import json
import os
import subprocess
import sys

import pytest
from gpu_networks import problems

SCRIPT = os.path.join(os.path.dirname(__file__), "gpu_networks.py")
NETWORKS = ["frozen", "lenet", "vgg", "resnet", "mobilenet", "inception",
            "lstm", "transformer", "embedding", "segmentation", "wide"]


def has_gpu():
    program = ("import headrace as tf; print([d.name for d in "
               "tf.Session().list_devices()])")
    out = subprocess.run([sys.executable, "-c", program], check=True,
                         capture_output=True, text=True, env=environment())
    return "GPU" in out.stdout


def environment():
    return dict(os.environ, HEADRACE_GPU_PLATFORM="host")


@pytest.mark.parametrize("network", NETWORKS)
def test_training_agrees_with_the_cpu(network):
    if not has_gpu():
        pytest.skip("this build has no host platform of GPUs")
    done = subprocess.run([sys.executable, SCRIPT, network], env=environment(),
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()
             if line.startswith("[")]
    assert len(lines) == 2
    for _, resource, result in lines:
        assert not problems(network, result), resource


ONE_PLACE = """
import headrace as tf

config = tf.ConfigProto(allow_soft_placement=True)
with tf.device("/gpu:0"):
    variables = [
        tf.get_variable(f"v{resource}", [4, 4], use_resource=resource,
                        initializer=tf.orthogonal_initializer())
        for resource in (False, True)]
plain = tf.Variable([1.0, 2.0])
with tf.Session(config=config) as session:
    for v in variables + [plain]:
        session.run(v.initializer)  # a step of its own
        first = session.run(v)
        assert (session.run(v.assign_add(v)) == 2 * first).all()
        assert (session.run(v + 0) == 2 * first).all()
        print(session.run(tf.is_variable_initialized(v)))
"""


def test_a_variable_is_in_one_place_for_all_steps():
    # Its initializer has no kernel for the GPU, its other users have.
    if not has_gpu():
        pytest.skip("this build has no host platform of GPUs")
    done = subprocess.run([sys.executable, "-c", ONE_PLACE], timeout=300,
                          env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == ["True"] * 3
