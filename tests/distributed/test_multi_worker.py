"""Strategies of tf.distribute over several processes, each of which is a worker
with its own server: MultiWorkerMirroredStrategy and
ParameterServerStrategy."""
import contextlib
import importlib.util
import json
import pathlib

import numpy as np
import pytest

import headrace as tf

from cluster import Program, free_ports

PROGRAM = pathlib.Path(__file__).parent / "worker_program.py"


def free_cluster(**jobs):
    ports = iter(free_ports(sum(jobs.values())))
    return {job: ["localhost:%d" % next(ports) for _ in range(n)]
            for job, n in jobs.items()}


@contextlib.contextmanager
def workers(kind, folder, *arguments, **jobs):
    """{(job, task): Program} of a cluster whose tasks all run the program, but
    its parameter servers only serve."""
    cluster = free_cluster(**jobs)
    with contextlib.ExitStack() as stack:
        for i in range(jobs.get("ps", 0)):
            stack.enter_context(started("serve", folder, {
                "cluster": cluster, "task": {"type": "ps", "index": i}}))
        yield {(job, i): stack.enter_context(started(
            kind, folder, {"cluster": cluster,
                           "task": {"type": job, "index": i}}, *arguments))
               for job, n in jobs.items() if job != "ps" for i in range(n)}


def started(kind, folder, config, *arguments):
    task = config.get("task", {"type": "alone", "index": 0})
    output = folder / ("%s%d.out" % (task["type"], task["index"]))
    return Program(PROGRAM, kind, folder, *arguments, output=output,
                   environment={"TF_CONFIG": json.dumps(config)})


def result(program):
    return json.loads(program.wait_for("result"))


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The results of programs whose workers are devices of one process."""
    found = {}

    def of(kind):
        if kind not in found:
            with started(kind, tmp_path_factory.mktemp(kind), {}) as program:
                found[kind] = result(program)
                program.end()
        return found[kind]
    return of


@pytest.mark.parametrize("kind, jobs", [
    ("loop", {"worker": 2}), ("loop", {"chief": 1, "worker": 1}),
    ("arrays", {"worker": 2}), ("datasets", {"worker": 2}),
    ("uneven", {"worker": 2}), ("shuffled", {"worker": 2})])
def test_workers_are_as_devices_of_one_process(kind, jobs, alone, tmp_path):
    with workers(kind, tmp_path, **jobs) as tasks:
        found = [result(program) for program in tasks.values()]
        assert found[0] == found[1]
        (losses, *values), (wanted, *state) = found[0], alone(kind)
        np.testing.assert_allclose(losses, wanted, rtol=1e-5)
        for value, one in zip(values, state, strict=True):
            # Gradients of two replicas have one sum. In these batches examples
            # are added in other orders, or scaled by no powers of two.
            about = kind in ("uneven", "shuffled")
            np.testing.assert_allclose(value, one, rtol=2e-4 * about,
                                       atol=1e-6 * about)
        for program in tasks.values():
            program.end()


def test_training_goes_on_after_a_worker_was_killed(alone, tmp_path):
    (tmp_path / "until").write_text("1")
    with workers("killed", tmp_path, worker=2) as tasks:
        first, second = tasks.values()
        second.wait_for("waits")
        second.kill()
        assert "/job:worker/replica:0/task:1" in first.wait_for("lost")
        first.end()
        assert first.lines("epoch") == ["0", "1"]
        assert first.lines("chief") and not second.lines("chief")
    assert (tmp_path / "backup").exists()
    (tmp_path / "until").unlink()
    with workers("killed", tmp_path, worker=2) as tasks:
        found = [result(program) for program in tasks.values()]
        for program in tasks.values():
            program.end()
            assert program.lines("epoch") == ["2", "3", "4"]
    assert found[0] == found[1] == alone("killed")
    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize("victim", [0, 1])
def test_a_worker_that_comes_back_trains_on_with_the_others(victim, tmp_path):
    cluster = free_cluster(worker=2)

    def worker(i, folder):
        return started("monitored", folder, {
            "cluster": cluster, "task": {"type": "worker", "index": i}})
    again = tmp_path / "again"  # for the output
    again.mkdir()
    (again / "model").symlink_to(tmp_path / "model")
    with worker(0, tmp_path) as first, worker(1, tmp_path) as second:
        both = [first, second]
        both[victim].wait_for("step", 12)
        both[victim].kill()
        with worker(victim, again) as third:
            both[victim] = third
            for program in both:
                result(program)
                program.end()
    (tmp_path / "one").mkdir()
    with started("monitored", tmp_path / "one", {}) as program:
        result(program)
        program.end()
    found, one = (tf.train.load_checkpoint(str(folder / "model"))
                  for folder in (tmp_path, tmp_path / "one"))
    assert found.get_tensor("global_step") == 30
    for name in "w", "w/Momentum":
        assert found.get_tensor(name).tobytes() == (
            one.get_tensor(name).tobytes())


def test_workers_share_variables_on_parameter_servers(tmp_path):
    with workers("parameter_servers", tmp_path, ps=2, chief=1,
                 worker=1) as tasks:
        for (job, task), program in tasks.items():
            assert json.loads(program.wait_for("devices")) == [
                "/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0",
                "/job:ps/task:0"]
            program.wait_for("result")
            program.end()
    saved = tf.train.load_checkpoint(str(tmp_path))
    assert saved.get_tensor("global_step") >= 60
    assert abs(saved.get_tensor("w") - [[1.], [-2.], [3.], [.5]]).max() < 3


@pytest.mark.skipif(not importlib.util.find_spec("tensorflow_estimator"),
                    reason="needs the package tensorflow-estimator")
@pytest.mark.parametrize("strategy, jobs", [
    ("MultiWorkerMirroredStrategy", {"worker": 2}),
    ("ParameterServerStrategy", {"ps": 1, "chief": 1, "worker": 1,
                                 "evaluator": 1})])
def test_estimators_train_on_several_workers(strategy, jobs, tmp_path):
    with workers("estimator", tmp_path, strategy, **jobs) as tasks:
        for program in tasks.values():
            result(program)
            program.end()
    saved = tf.train.load_checkpoint(str(tmp_path / "model"))
    steps = saved.get_tensor("global_step")
    assert steps == 20 if "Mirrored" in strategy else steps >= 20
    w = saved.get_tensor("w")
    if "Mirrored" in strategy:
        np.testing.assert_allclose(w, trained_alone(20), rtol=1e-4)
    assert (tmp_path / "model" / "eval").exists() is ("evaluator" in jobs)


def trained_alone(steps):
    """The weights after steps with what two workers read."""
    x = np.random.RandomState(0).rand(48, 4).astype(np.float32)
    y = (x @ [[1.], [-2.], [3.], [.5]] + 1).astype(np.float32)
    w = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)[:, :1]
    for step in range(steps):
        at = np.arange(8) + 8 * step
        a, b = x[at % 48], y[at % 48]
        w = w - .05 * 2 / 8 * a.T @ (a @ w - b)
    return w
