"""Files for chrome://tracing: which part of a name took how long, or what ran
when on which device."""
import json

from headrace._src.platform.file_io import GFile
from headrace._src.profiler.formats import ROOT


class _Events(list):
    def process(self, pid, name):
        self.append({"args": {"name": name}, "name": "process_name",
                     "ph": "M", "pid": pid})

    def region(self, start, micros, pid, tid, name, args):
        self.append({"args": args, "cat": "Op", "dur": micros, "name": name,
                     "ph": "X", "pid": pid, "tid": tid, "ts": start})

    def flow(self, phase, name, pid, tid, time, number):
        self.append({"cat": "DataFlow", "id": number, "name": name, "ph": phase,
                     "pid": pid, "tid": tid, "ts": time})


def write(path, step, events):
    """Writes the file, named after the path and the step, and says so."""
    path = "%s_%d" % (path, step)
    with GFile(path, "w") as f:
        f.write(json.dumps({"traceEvents": events}, sort_keys=True,
                           separators=(",", ":")))
    line = "*" * 54
    print("\n%s\nTimeline file is written to %s.\nOpen a Chrome browser, enter "
          "URL chrome://tracing and load the timeline file.\n%s"
          % (line, path, line), flush=True)


def of_tree(root):
    """Events of a scope or code view: a row for each depth, the children side by
    side in the time of their parent."""
    events, known = _Events(), set()

    def show(node, depth, start):
        if depth not in known:
            known.add(depth)
            events.process(depth, "Scope:%d" % depth)
        micros = node.message.total_exec_micros
        events.region(start, micros, depth, 0, node.name,
                      {"name": node.name, "op": node.name})
        for x in node.below:
            show(x, depth + 1, start)
            start += x.message.total_exec_micros
    show(root, 0, 0)
    return events


class _Run:
    """A run of a node on a device. `lane`: the row that it is drawn in."""

    def __init__(self, name, device, start, micros):
        self.name, self.device = name, device
        self.start, self.end = start, start + micros
        self.lane = 0


def _runs(view, step):
    """The runs of the shown nodes, {device: [_Run]}, and {name: its first run on
    a CPU or GPU}, and the nodes' names that each takes."""
    runs, first, takes = {}, {}, {}

    def walk(shown):
        step_of_node = shown.node.steps.get(step)
        if shown.name != ROOT and step_of_node is not None:
            takes[shown.name] = [name for name, _ in shown.node.inputs]
            for times in (step_of_node.cpu_times,
                          step_of_node.accelerator_times):
                for device, spans in times.items():
                    for start, micros in spans:
                        run = _Run(shown.name, device, start, micros)
                        runs.setdefault(device, []).append(run)
                        if "stream:" not in device:
                            first.setdefault(shown.name, run)
        for x in shown.below:
            walk(x)
    walk(view.root)
    return runs, first, takes


def _in_lanes(runs):
    """The rows in which no two runs overlap, filled by the time of start."""
    lanes = []
    for run in sorted(runs, key=lambda r: r.start):
        for i, lane in enumerate(lanes):
            if lane[-1].end <= run.start:
                run.lane = i
                lane.append(run)
                break
        else:
            run.lane = len(lanes)
            lanes.append([run])
    return lanes


def of_graph(view, step):
    """Events of a graph view: what ran when on which device, and what went from
    one device to another."""
    runs, first, takes = _runs(view, step)
    events, pids = _Events(), {}
    for device in sorted(runs):
        pids[device] = len(pids)
        events.process(pids[device], "Op %s threads: %s" % (
            "execution" if "stream:" in device else "scheduling", device))
    for device in sorted(runs):
        for lane in _in_lanes(runs[device]):
            for run in lane:
                events.region(run.start, run.end - run.start, pids[device],
                              run.lane, run.name, {"name": run.name})
    number = 0
    for name in sorted(takes):
        for source in takes[name]:
            a, b = first.get(source), first.get(name)
            if a is None or b is None or a.device == b.device:
                continue
            number += 1
            for phase, run, time in (("s", a, a.end), ("t", b, b.start)):
                events.flow(phase, a.name + "_flow", pids[run.device],
                            run.lane, time, number)
    return events
