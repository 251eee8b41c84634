"""TensorFlow's clients on our servers, our client on TensorFlow's servers, and
clusters with both, whose servers know the cluster or get it from the session."""
import json
import subprocess
import sys

import numpy as np
import pytest

from cluster import ORACLES, Cluster

pytestmark = pytest.mark.oracle

# Trains with a variable on the parameter server and the loss on a worker, and
# runs what crosses tasks in other ways. Runs with our package or TensorFlow.
PROGRAM = """
import json, sys
if sys.argv[1] == "headrace":
    import headrace as tf
else:
    import tensorflow
    tf = tensorflow.compat.v1
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()
with tf.device("/job:ps/task:0"):
    w = tf.get_variable("w", initializer=[[1.], [2.]], use_resource=False)
    r = tf.get_variable("r", initializer=[1.], use_resource=True)
x = tf.placeholder(tf.float32, [None, 2])
with tf.device("/job:worker/task:0"):
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + r - 1.))
    words = tf.string_join(["a", "b"])
train = tf.train.MomentumOptimizer(.1, .9).minimize(loss)
def body(i, total):
    with tf.device("/job:ps/task:0"):
        total = total * 2
    with tf.device("/job:worker/task:0"):
        return i + 1, total + 1
loop = tf.while_loop(lambda i, t: i < 5, body, [0, tf.constant(1.)])[1]
with tf.device("/job:ps/task:0"):
    longer = tf.string_join([words, "c"])
    bad = tf.gather([1., 2.], tf.cast(x[0, 0], tf.int32), name="bad")
with tf.device("/job:worker/task:0"):
    after = bad + 1
chosen = tf.cond(x[0, 0] > 0, lambda: w * 2, lambda: -w)
out = {}
config = tf.ConfigProto(operation_timeout_in_ms=30000)
if len(sys.argv) > 3:
    config.cluster_def.CopyFrom(
        tf.train.ClusterSpec(eval(sys.argv[3])).as_cluster_def())
with tf.Session(sys.argv[2], config=config) as s:
    s.run(tf.global_variables_initializer())
    feed = {x: [[1., 2.], [3., 4.]]}
    out["losses"] = []
    for _ in range(5):
        out["losses"].append(float(s.run(loss, feed)))
        s.run(train, feed)
    out["text"] = s.run(longer).decode()
    out["chosen"] = [s.run(chosen, {x: [[v, 0.]]}).tolist() for v in (1., -1.)]
    out["loop"] = float(s.run(loop))
    try:
        s.run(after, {x: [[9., 0.]]})
    except tf.errors.InvalidArgumentError as e:
        out["error"] = "bad" in str(e)
    call = s.make_callable([loss], [x])
    out["callable"] = float(call([[0., 0.]])[0])
    out["devices"] = len(s.list_devices()) >= 2
print("RESULT", json.dumps(out))
"""


def run(python, kind, target, *spec):
    done = subprocess.run([python, "-c", PROGRAM, kind, target, *spec],
                          timeout=180, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    lines = [l for l in done.stdout.splitlines() if l.startswith("RESULT ")]
    assert lines, done.stderr[-3000:]
    return json.loads(lines[0][len("RESULT "):])


def check(got, wanted):
    np.testing.assert_allclose(got.pop("losses"), wanted["losses"], rtol=1e-4)
    np.testing.assert_allclose(got.pop("chosen"), wanted["chosen"], rtol=1e-4)
    np.testing.assert_allclose(got.pop("callable"), wanted["callable"],
                               rtol=1e-4)
    assert got == {"text": "abc", "loop": 63, "error": True, "devices": True}


# Who serves, and who asks; "ours" and "theirs".
@pytest.mark.parametrize("alone", [False, True], ids=["told", "brought"])
@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("ps, worker, client", [
    ("ours", "ours", "theirs"), ("theirs", "theirs", "ours"),
    ("ours", "theirs", "theirs"), ("theirs", "ours", "theirs"),
    ("ours", "theirs", "ours"), ("theirs", "ours", "ours")])
def test_clusters(oracle, ps, worker, client, alone):
    with Cluster({"ps": 1, "worker": 1}) as ours:
        wanted = run(sys.executable, "headrace", ours.target("worker"))
    servers = {(job, 0): oracle for job, who in (("ps", ps), ("worker", worker))
               if who == "theirs"}
    with Cluster({"ps": 1, "worker": 1}, oracle=servers, alone=alone) as mixed:
        got = run(*((sys.executable, "headrace") if client == "ours"
                    else (oracle, "tensorflow")), mixed.target("worker"),
                  *([repr(mixed.spec)] if alone else []))
    check(got, wanted)
