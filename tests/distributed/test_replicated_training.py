"""Workers that train together, each in a process with its own graph: the
programs are in replica.py."""
import contextlib
import pathlib

import pytest

import headrace as tf
from cluster import Cluster, Program

PROGRAM = pathlib.Path(__file__).with_name("replica.py")


class Workers:
    """The parameter servers of a cluster, and replica.py as its workers."""

    def __init__(self, kind, folder, ps, workers):
        self._kind, self._folder = kind, folder
        self._stack = contextlib.ExitStack()
        self.servers = self._stack.enter_context(Cluster(
            {"ps": ps, "worker": workers}, start=[("ps", i) for i in range(ps)]))
        self._started = 0

    def start(self, task):
        self._started += 1
        return self._stack.enter_context(Program(
            PROGRAM, self._kind, self.servers.spec, task, self._folder,
            output=self._folder / ("output-%d" % self._started)))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._stack.close()


def test_workers_that_train_as_they_like(tmp_path):
    with Workers("asynchronous", tmp_path, ps=2, workers=3) as all_of_them:
        running = [all_of_them.start(task) for task in range(3)]
        for worker in running:
            worker.go_on("step", 40)
        (tmp_path / "stop").touch()
        for worker in running:
            worker.end()
        reached = int(running[0].lines("step")[-1].split()[0])
        assert reached > len(running[0].lines("step"))
        losses = [float(line.split()[1]) for line in running[0].lines("step")]
        assert losses[-1] < losses[0] / 2
        assert "initialised" in running[0].text()
        assert "initialised" not in running[1].text()
    # What the chief saved at its end, read where no cluster is.
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_tensor("global_step") > 40
    assert reader.get_variable_to_shape_map() == {
        "w": [4, 1], "b": [1], "global_step": []}


def test_tasks_that_are_killed_and_come_back(tmp_path):
    with Workers("asynchronous", tmp_path, ps=2, workers=2) as all_of_them:
        chief, worker = all_of_them.start(0), all_of_them.start(1)
        reached = int(worker.go_on("step").split()[0])
        worker.kill()
        chief.go_on("step", 30)
        worker = all_of_them.start(1)
        # The parameter servers have kept what was learnt.
        assert int(worker.wait_for("step").split()[0]) > reached

        chief.kill()
        worker.go_on("step")
        chief = all_of_them.start(0)
        assert int(chief.go_on("step").split()[0]) > 10
        worker.go_on("step")

        all_of_them.servers.kill("ps", 0)
        all_of_them.servers.start("ps", 0)
        chief.go_on("step")
        worker.go_on("step")
        assert int(chief.go_on("step").split()[0]) > 10
        # The chief took the checkpoint both times.
        assert "initialised" not in chief.text()
        (tmp_path / "stop").touch()
        chief.end()
        worker.end()


@pytest.mark.parametrize("ps", [1, 2])
def test_synchronous_workers_are_one_process_with_both_batches(tmp_path, ps):
    with Workers("synchronous", tmp_path, ps=ps, workers=2) as all_of_them:
        chief, worker = all_of_them.start(0), all_of_them.start(1)
        chief.end()
        worker.end()
        together = chief.lines("result")
        with Program(PROGRAM, "alone", all_of_them.servers.spec, 0, tmp_path,
                     output=tmp_path / "alone") as one:
            one.end()
        assert together == one.lines("result")
        assert together[0].startswith("12 ")


def test_slim_trains_synchronously(tmp_path):
    with Workers("slim", tmp_path, ps=1, workers=2) as all_of_them:
        chief = all_of_them.start(0)
        chief.wait_for("step")
        worker = all_of_them.start(1)
        chief.end()
        worker.end()
        assert float(chief.lines("step")[0]) > 2
        assert float(chief.lines("loss")[0]) < 1
        # Of its last step, which may have been an early one: the chief may give
        # both gradients of an update.
        assert float(worker.lines("loss")[0]) < 5
    assert tf.train.load_variable(str(tmp_path), "global_step") >= 30
