"""tensorflow.python.debug: programs may import the debugger; to start it is an
error that says so."""
import numpy as np


def has_inf_or_nan(datum, tensor):
    """If the array `tensor` has a number that is infinite or NaN."""
    del datum
    tensor = np.asarray(tensor)
    return bool(np.issubdtype(tensor.dtype, np.inexact)
                and not np.all(np.isfinite(tensor)))


def _refused(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(
            "tensorflow.python.debug.%s is not supported: there is no debugger; "
            "tf.Print, tf.add_check_numerics_ops and run metadata with "
            "RunOptions(trace_level=RunOptions.FULL_TRACE) show what a run "
            "computes" % name)
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "NotImplementedError: there is no debugger."
    return refuse


DebugDumpDir = _refused("DebugDumpDir")
DebugTensorDatum = _refused("DebugTensorDatum")
DumpingDebugHook = _refused("DumpingDebugHook")
DumpingDebugWrapperSession = _refused("DumpingDebugWrapperSession")
GradientsDebugger = _refused("GradientsDebugger")
GrpcDebugHook = _refused("GrpcDebugHook")
GrpcDebugWrapperSession = _refused("GrpcDebugWrapperSession")
LocalCLIDebugHook = _refused("LocalCLIDebugHook")
LocalCLIDebugWrapperSession = _refused("LocalCLIDebugWrapperSession")
TensorBoardDebugHook = _refused("TensorBoardDebugHook")
TensorBoardDebugWrapperSession = _refused("TensorBoardDebugWrapperSession")
WatchOptions = _refused("WatchOptions")
add_debug_tensor_watch = _refused("add_debug_tensor_watch")
watch_graph = _refused("watch_graph")
watch_graph_with_blacklists = _refused("watch_graph_with_blacklists")
