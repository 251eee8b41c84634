"""tf.test.create_local_cluster: servers of this process."""
import socket

from headrace._src.training.server_lib import ClusterSpec, Server


def _unused_ports(number):
    """Different ports that nothing listens at."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for s in sockets:
            s.bind(("localhost", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


def create_local_cluster(num_workers, num_ps, protocol="grpc",
                         worker_config=None, ps_config=None):
    """(worker servers, parameter servers) of a new cluster with the jobs
    "worker" and "ps", started, at ports of this machine that were free."""
    ports = _unused_ports(num_workers + num_ps)
    jobs = {"worker": ports[:num_workers], "ps": ports[num_workers:]}
    cluster = ClusterSpec({
        job: ["localhost:%d" % port for port in ports]
        for job, ports in jobs.items()})
    servers = {
        job: [Server(cluster, job_name=job, task_index=i, protocol=protocol,
                     config=config, start=True) for i in range(len(jobs[job]))]
        for job, config in (("worker", worker_config), ("ps", ps_config))}
    return servers["worker"], servers["ps"]
