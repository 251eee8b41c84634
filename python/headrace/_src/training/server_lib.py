"""Clusters and servers: tf.train.ClusterSpec and tf.train.Server."""
from headrace import _headrace
from headrace._src.framework import messages


def _address(value):
    if not isinstance(value, str):
        raise TypeError("an address must be a string 'host:port', but got %r"
                        % (value,))
    return value


class ClusterSpec:
    """The tasks of a cluster: for each job a list of addresses, or a dict from
    task index to address. Also made of a ClusterDef or another ClusterSpec.

    Addresses are strings; there are no shapes and dtypes here. TypeError for
    other things; the methods raise ValueError for a job or task that there is
    not."""

    def __init__(self, cluster):
        self._jobs = {}
        if isinstance(cluster, ClusterSpec):
            self._jobs = {job: dict(tasks)
                          for job, tasks in cluster._jobs.items()}
        elif isinstance(cluster, messages.ClusterDef):
            for job in cluster.job:
                self._jobs[job.name] = {int(i): str(a)
                                        for i, a in job.tasks.items()}
        elif isinstance(cluster, dict):
            for job, tasks in cluster.items():
                if not isinstance(job, str):
                    raise TypeError("a job's name must be a string, but got %r"
                                    % (job,))
                if isinstance(tasks, (list, tuple)):
                    tasks = dict(enumerate(tasks))
                elif not isinstance(tasks, dict):
                    raise TypeError(
                        "The tasks for job %r must be a list or dictionary "
                        "from integers to strings." % job)
                for index in tasks:
                    if isinstance(index, bool) or not hasattr(
                            index, "__index__"):
                        raise TypeError(
                            "a task's index in job %r must be an integer, but "
                            "got %r" % (job, index))
                self._jobs[job] = {int(i): _address(a)
                                   for i, a in sorted(tasks.items())}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names "
                "to lists of network addresses, or a `ClusterDef` protocol "
                "buffer")

    def __bool__(self):
        return bool(self._jobs)

    def __eq__(self, other):
        if not isinstance(other, ClusterSpec):
            return NotImplemented
        return self._jobs == other._jobs

    def __ne__(self, other):
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return "ClusterSpec({%s})" % ", ".join(
            "%r: %r" % (job, self.as_dict()[job]) for job in sorted(self._jobs))

    def as_dict(self):
        """From job to addresses; a dict for a job without some indices."""
        out = {}
        for job, tasks in self._jobs.items():
            if sorted(tasks) == list(range(len(tasks))):
                out[job] = [tasks[i] for i in range(len(tasks))]
            else:
                out[job] = dict(tasks)
        return out

    @property
    def jobs(self):
        return list(self._jobs)

    def _tasks(self, job_name):
        try:
            return self._jobs[job_name]
        except KeyError:
            raise ValueError("No such job in cluster: %r" % job_name) from None

    def num_tasks(self, job_name):
        return len(self._tasks(job_name))

    def task_indices(self, job_name):
        return sorted(self._tasks(job_name))

    def task_address(self, job_name, task_index):
        try:
            return self._tasks(job_name)[task_index]
        except KeyError:
            raise ValueError("No task with index %r in job %r"
                             % (task_index, job_name)) from None

    def job_tasks(self, job_name):
        """The addresses by index; None where there is no task."""
        tasks = self._tasks(job_name)
        out = [None] * (max(tasks) + 1 if tasks else 0)
        for index, address in tasks.items():
            out[index] = address
        return out

    def as_cluster_def(self):
        made = messages.ClusterDef()
        for name in sorted(self._jobs):
            job = made.job.add()
            job.name = name
            for index, address in sorted(self._jobs[name].items()):
                job.tasks[index] = address
        return made


def _make_server_def(server_or_cluster_def, job_name, task_index, protocol,
                     config):
    made = messages.ServerDef()
    if isinstance(server_or_cluster_def, messages.ServerDef):
        made.CopyFrom(server_or_cluster_def)
    else:
        try:
            cluster = ClusterSpec(server_or_cluster_def)
        except TypeError as error:
            raise TypeError("Could not convert `server_or_cluster_def` to a "
                            "`tf.train.ServerDef` or `tf.train.ClusterSpec`: %s"
                            % error) from None
        made.cluster.CopyFrom(cluster.as_cluster_def())
        if job_name is None:
            if len(made.cluster.job) != 1:
                raise ValueError("Must specify an explicit `job_name`.")
            job_name = made.cluster.job[0].name
        if task_index is None:
            tasks = [job.tasks for job in made.cluster.job
                     if job.name == job_name]
            if not tasks or len(tasks[0]) != 1:
                raise ValueError("Must specify an explicit `task_index`.")
            task_index = list(tasks[0])[0]
    if job_name is not None:
        made.job_name = job_name
    if task_index is not None:
        made.task_index = task_index
    if protocol is not None:
        made.protocol = protocol
    elif not made.protocol:
        made.protocol = "grpc"
    if config is not None:
        made.default_session_config.MergeFrom(config)
    return made


_started: set = set()  # what serves


class Server:
    """This process as a task of a cluster. Sessions on `target` run on the
    whole cluster. It serves until it is stopped, also when nothing refers to
    this object any more.

    What runs may be of any shape and dtype. InvalidArgumentError for a job or
    task that the cluster does not have, ValueError if none is given and there
    is more than one; an OpError such as UnknownError if the port is taken."""

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None,
                 protocol=None, config=None, start=True):
        self._server = _headrace.Server(_make_server_def(
            server_or_cluster_def, job_name, task_index, protocol, config))
        if start:
            self.start()

    def start(self):
        self._server.start()
        _started.add(self._server)

    def stop(self):
        """Ends what the server does; it cannot be started again."""
        self._server.stop()
        _started.discard(self._server)

    def join(self):
        """Waits until the server was stopped, which for most is never."""
        self._server.join()

    @property
    def server_def(self):
        return self._server.server_def

    @property
    def target(self):
        return self._server.target

    @staticmethod
    def create_local_server(config=None, start=True):
        """A cluster of one task, job "local", in this process."""
        return Server({"local": ["localhost:0"]}, protocol="grpc",
                      config=config, start=start)
