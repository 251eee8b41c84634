"""A process that is killed while it saves loses no checkpoint: the file "checkpoint" always names one that loads, also
where each save replaces the last one under its name."""
import os
import random
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import headrace as tf

KILLS = 200
SIZE = 40_000

# Saves for ever. Every variable has the number of the step as its values. Children are forked from one process, which
# has loaded the package: each saves a few times in the time that an interpreter needs to start.
PROGRAM = """
import os, sys
import headrace as tf

folder, size, one_name = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "one_name"

def say(text):  # by one write, which no kill cuts
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()

def save_for_ever(step):
    with tf.Graph().as_default(), tf.Session() as session:
        value = tf.placeholder(tf.float32, [])
        variables = [tf.Variable(tf.zeros([size]), name="v%d" % i) for i in range(3)]
        change = [v.assign(tf.fill([size], value)) for v in variables]
        saver = tf.train.Saver(max_to_keep=3)
        state = tf.train.get_checkpoint_state(folder)
        if state is not None:
            saver.recover_last_checkpoints(list(state.all_model_checkpoint_paths))
        while True:
            session.run(change, {value: step})
            saver.save(session, folder + "/model", None if one_name else step)
            say("saved %d" % step)
            step += 1

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        save_for_ever(int(line))
    say("child %d" % pid)
    os.waitpid(pid, 0)
    say("ended")
"""


def check(folder):
    """The step of the newest checkpoint, which must load; -1 if there is none yet."""
    path = tf.train.latest_checkpoint(folder)
    if path is None:
        assert not (folder / "checkpoint").exists()
        return -1
    step = int(re.search(r"-(\d+)$", path).group(1))
    reader = tf.train.NewCheckpointReader(path)
    for name in ("v0", "v1", "v2"):
        value = reader.get_tensor(name)
        assert value.shape == (SIZE,)
        np.testing.assert_array_equal(value, np.float32(step))
    for other in tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths:
        if tf.train.checkpoint_exists(other):  # old ones are deleted after the file is written
            tf.train.NewCheckpointReader(other).get_tensor("v2")
    return step


def check_one_name(folder):
    """The step of the only checkpoint, which must load."""
    path = tf.train.latest_checkpoint(folder)
    if path is None:
        assert not (folder / "checkpoint").exists()
        return -1
    reader = tf.train.NewCheckpointReader(path)
    values = [reader.get_tensor(name) for name in ("v0", "v1", "v2")]
    step = values[0][0]
    for value in values:
        np.testing.assert_array_equal(value, np.full(SIZE, step, np.float32))
    return int(step)


def kill_saves(folder, names, check, kills):
    """Kills as many saves, each at another moment. Returns the newest step and how many saves were complete."""
    chance = random.Random(1)
    saver = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder), str(SIZE), names], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    newest, saves, seconds = -1, 0, 0.01
    try:
        for _ in range(kills):
            saver.stdin.write(f"{newest + 1}\n")
            saver.stdin.flush()
            line = saver.stdout.readline()
            while not line.startswith("child"):  # the child may be faster
                saves += line.startswith("saved")
                assert line, saver.stderr.read()
                line = saver.stdout.readline()
            pid = int(line.split()[1])
            select.select([saver.stdout], [], [], 10)  # the first save, then any moment of the next ones
            time.sleep(chance.random() * seconds)
            os.kill(pid, signal.SIGKILL)
            known = newest
            for line in iter(saver.stdout.readline, "ended\n"):
                assert line, saver.stderr.read()
                known = int(line.split()[1])
                saves += 1
            step = check(folder)
            assert step >= known, "a checkpoint that was complete is lost"
            newest = step
    finally:
        saver.kill()
        saver.communicate()
    return newest, saves


@pytest.mark.slow
def test_200_kills_lose_no_checkpoint(tmp_path):
    newest, saves = kill_saves(tmp_path, "numbered", check, KILLS)
    assert newest >= KILLS / 4 and saves >= KILLS / 4

    # The survivor of it all goes on, and only what is listed stays, but for what a killed save left unfinished.
    with tf.Graph().as_default(), tf.Session() as session:
        for i in range(3):
            tf.get_variable("v%d" % i, [SIZE])
        tf.train.Saver().restore(session, tf.train.latest_checkpoint(tmp_path))
        np.testing.assert_array_equal(session.run("v1:0"), np.float32(newest))


@pytest.mark.parametrize("kills", [10, pytest.param(KILLS, marks=pytest.mark.slow)])
def test_kills_of_saves_under_one_name_lose_no_checkpoint(tmp_path, kills):
    newest, saves = kill_saves(tmp_path, "one_name", check_one_name, kills)
    assert newest >= kills / 4 and saves >= kills / 4

    # The next save deletes what the killed ones left, and what is there is what TensorFlow wants.
    with tf.Graph().as_default(), tf.Session() as session:
        for i in range(3):
            tf.get_variable("v%d" % i, [SIZE])
        saver = tf.train.Saver()
        saver.restore(session, str(tmp_path / "model"))
        saver.save(session, str(tmp_path / "model"))
    assert {p.name for p in tmp_path.iterdir()} == {
        "checkpoint", "model.data-00000-of-00001", "model.index", "model.meta"}
