"""What tf.profiler.advise finds in a profile."""
from headrace._src.framework.messages import AdviceProto
from headrace._src.profiler import formats, options as _options
from headrace._src.profiler.grouped import OpView
from headrace._src.profiler.views import ScopeView

_UTILIZATION = 0.5  # of an accelerator; less is said to be low


def _times(name, m):
    return "%s, cpu: %s, accelerator: %s, total: %s" % (
        name, formats.time(m.cpu_exec_micros),
        formats.time(m.accelerator_exec_micros), formats.time(m.exec_micros))


def _expensive(profile):
    """The three ops, nodes and scopes that took longest."""
    if not profile.steps:
        return []
    chosen = dict(_options.ProfileOptionBuilder.time_and_memory(),
                  max_depth=3, account_displayed_op_only=False, output="none",
                  select=["micros"], order_by="micros", min_bytes=0,
                  min_micros=1)
    wanted = _options.to_message(chosen)
    ops = OpView(profile, wanted).root.message
    whole, rows = ops.total_exec_micros, []
    while len(ops.children) and len(rows) < 3:
        ops = ops.children[0]
        rows.append("top %d operation type: %s (%.2f%%)" % (
            len(rows) + 1, _times(ops.name, ops),
            100. * ops.exec_micros / (whole + 1e-10)))
    scopes = ["top %d graph node: %s" % (i + 1, _times(m.name, m))
              for i, m in enumerate(list(
                  ScopeView(profile, wanted).root.message.children)[:3])]
    return ["\n".join(rows), "\n".join(scopes), ""]


def _utilization(profile):
    """How much of the time of the last step the accelerators computed."""
    found = {}
    for node in profile.nodes.values():
        step = node.steps.get(profile.steps[-1]) if profile.steps else None
        if step is None or "gpu" not in node.device:
            continue
        busy, spans = found.setdefault(node.device, ([], []))
        for times in step.accelerator_times.values():
            busy.extend(micros for _, micros in times)
        for times in (*step.accelerator_times.values(),
                      *step.cpu_times.values()):
            spans.extend((start, start + micros) for start, micros in times)
    rows = []
    for device, (busy, spans) in sorted(found.items()):
        if not busy:
            continue
        share = sum(busy) / (max(end for _, end in spans)
                             - min(start for start, _ in spans))
        rows.append("device: %s %sutilization: %.2f" % (
            device, "low " if share < _UTILIZATION else "", share))
    return rows


def _layouts(profile):
    """Whether a node on a GPU has its channels last."""
    if any("gpu" in node.device and node.data_format == b"NHWC"
           for node in profile.nodes.values()):
        return ["Found operation using NHWC data_format on GPU. Maybe NCHW is "
                "faster."]
    return []


_CHECKERS = {"ExpensiveOperationChecker": _expensive,
             "OperationChecker": _layouts,
             "AcceleratorUtilizationChecker": _utilization}


def advise(profile, options):
    """The AdviceProto of the checkers that the options name, which are printed
    too."""
    message = AdviceProto()
    for name, check in _CHECKERS.items():
        if name not in options.checkers:
            continue
        reports = check(profile)
        print("\n%s:\n%s" % (name, "".join(r + "\n" for r in reports)), end="",
              flush=True)
        message.checkers[name].reports.extend(reports)
    return message
