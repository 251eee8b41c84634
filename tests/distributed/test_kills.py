"""kill -9 of tasks at random while a client trains: it never hangs, and goes on
from its checkpoint."""
import os
import random
import threading

import numpy as np
import pytest

import headrace as tf
from cluster import CONFIG, Cluster, Deadline

# More for a longer search.
KILLS = int(os.environ.get("HEADRACE_KILLS", "3"))


@pytest.mark.slow
def test_training_goes_on_after_kills(tmp_path):
    tasks = [("ps", 0), ("worker", 1)]
    chance = random.Random(1)
    with Cluster({"ps": 1, "worker": 2}) as c:
        with tf.device("/job:ps/task:0"):
            step = tf.train.get_or_create_global_step()
            w = tf.get_variable("w", initializer=np.zeros([4], np.float32))
        with tf.device("/job:worker/task:1"):
            loss = tf.reduce_sum(tf.square(w - [1., 2., 3., 4.]))
        train = tf.train.GradientDescentOptimizer(.05).minimize(
            loss, global_step=step)
        saver = tf.train.Saver()
        init = tf.global_variables_initializer()
        path = str(tmp_path / "model.ckpt")
        deaths = reached = 0
        saved = None
        while deaths < KILLS or reached < 100:
            # No session: a client begins anew, as after each failure.
            with Deadline(60), tf.Session(c.target("worker"),
                                          config=CONFIG) as s:
                killer = None
                try:
                    if saved is None:
                        s.run(init)
                    else:
                        saver.restore(s, path)
                        assert s.run(step) == saved
                    if deaths < KILLS:
                        job, task = chance.choice(tasks)
                        killer = threading.Timer(chance.uniform(0, .4),
                                                 c.kill, [job, task])
                        killer.start()
                    while reached < 100 or deaths < KILLS:
                        s.run(train)
                        reached = int(s.run(step))
                        if reached % 10 == 0:
                            saver.save(s, path, write_meta_graph=False)
                            saved = reached
                except (tf.errors.UnavailableError, tf.errors.AbortedError,
                        tf.errors.CancelledError) as e:
                    assert killer is not None, e
                    assert "/job:" in e.message, e.message
                    deaths += 1
            if killer is not None:
                killer.join(10)
                c.start(job, task)
        assert deaths == KILLS
        with tf.Session(c.target("worker"), config=CONFIG) as s:
            saver.restore(s, path)
            assert s.run(loss) < .1


@pytest.mark.slow
def test_a_monitored_session_goes_on_after_kills_of_any_task(tmp_path):
    """The master's task among them. No run hangs; steps that are lost are those
    after the last checkpoint."""
    tasks = [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)]
    chance = random.Random(3)
    every = 20  # steps from checkpoint to checkpoint
    with Cluster({"ps": 2, "worker": 2}) as c:
        with tf.device(tf.train.replica_device_setter(
                cluster=c.spec, worker_device="/job:worker/task:1")):
            step = tf.train.get_or_create_global_step()
            w = tf.get_variable("w", initializer=np.zeros([4], np.float32))
            loss = tf.reduce_sum(tf.square(w - [1., 2., 3., 4.]))
            train = tf.train.GradientDescentOptimizer(.05).minimize(
                loss, global_step=step)
            with tf.control_dependencies([train]):
                after = step.read_value()
        stop = threading.Event()

        def kill():
            try:
                for _ in range(KILLS):
                    stop.wait(chance.uniform(.3, 1.2))
                    task = chance.choice(tasks)
                    c.kill(*task)
                    stop.wait(chance.uniform(0, .5))
                    c.start(*task)
            finally:
                stop.set()

        killer = threading.Thread(target=kill)
        killer.start()
        reached = lost = 0
        try:
            with tf.train.MonitoredTrainingSession(
                    master=c.target("worker"), is_chief=True,
                    checkpoint_dir=str(tmp_path), save_checkpoint_steps=every,
                    save_checkpoint_secs=None, config=CONFIG,
                    log_step_count_steps=None) as s:
                more = 50  # when the last kill is over
                while more > 0:
                    with Deadline(120):
                        now = int(s.run(after))
                    assert now > reached - 2 * every, (now, reached)
                    lost += now <= reached
                    reached = now
                    more -= stop.is_set()
                assert s.run(loss) < .1
        finally:
            stop.set()
            killer.join(120)
        assert not killer.is_alive()
        assert lost <= KILLS
