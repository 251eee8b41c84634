"""tf.keras.utils.multi_gpu_model: a model whose batches several devices share."""
from headrace._src.framework.graph import device, name_scope
from headrace._src.keras import configs
from headrace._src.keras.models import Model
from headrace._src.layers import backend
from headrace._src.layers.core import Lambda
from headrace._src.layers.engine import as_list
from headrace._src.layers.simple import concatenate
from headrace._src.ops import array_ops as _array


def _available():
    """The devices of the session, as /cpu:0."""
    return ["/" + d.name.lower().split("device:")[1]
            for d in backend.get_session().list_devices()]


def _share(x, i, parts):
    """The part `i` of `parts` of a batch; the last has the rest."""
    shape = _array.shape(x)
    step = shape[:1] // parts
    size = shape[:1] - step * i if i == parts - 1 else step
    rest = shape[1:]
    return _array.slice(x, _array.concat([step * i, rest * 0], 0),
                        _array.concat([size, rest], 0))


def multi_gpu_model(model, gpus, cpu_merge=True, cpu_relocation=False):
    """A model that gives each of `gpus` GPUs (a number of at least 2, or a list
    of their numbers) its share of the batch, calls `model` there, with the same
    weights, and joins the outputs on the CPU or, without `cpu_merge`, on the
    first GPU. `cpu_relocation`: with a copy of the model, made on the CPU.
    Inputs are [batch, ...] of any dtypes. ValueError for fewer GPUs, and where
    the session has not got them."""
    if isinstance(gpus, (list, tuple)):
        if len(gpus) <= 1:
            raise ValueError("For multi-gpu usage to be effective, call "
                             "`multi_gpu_model` with `len(gpus) >= 2`. "
                             "Received: `gpus=%s`" % (gpus,))
        numbers = list(gpus)
    else:
        if gpus <= 1:
            raise ValueError("For multi-gpu usage to be effective, call "
                             "`multi_gpu_model` with `gpus >= 2`. Received: "
                             "`gpus=%s`" % gpus)
        numbers = list(range(gpus))
    wanted = ["/cpu:0"] + ["/gpu:%d" % i for i in numbers]
    available = _available()
    if any(d not in available for d in wanted):
        raise ValueError(
            "To call `multi_gpu_model` with `gpus=%s`, we expect the following "
            "devices to be available: %s. However this machine only has: %s. "
            "Try reducing `gpus`." % (gpus, wanted, available))
    if cpu_relocation:
        with device("/cpu:0"):
            model = configs.clone_model(model)
    outputs = [[] for _ in model.outputs]
    for i, number in enumerate(numbers):
        with device("/gpu:%d" % number), name_scope("replica_%d" % number):
            shares = [Lambda(_share, output_shape=backend.int_shape(x)[1:],
                             arguments={"i": i, "parts": len(numbers)})(x)
                      for x in model.inputs]
            made = model(shares if len(shares) > 1 else shares[0])
            for found, x in zip(outputs, as_list(made)):
                found.append(x)
    with device("/cpu:0" if cpu_merge else "/gpu:%d" % numbers[0]):
        joined = [concatenate(parts, axis=0, name=name)
                  for name, parts in zip(_names(model.output_names), outputs)]
    return Model(model.inputs, joined)


def _names(names):
    """The names, those that come more than once with a number."""
    seen, found = {}, []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if names.count(name) == 1
                     else "%s_%d" % (name, seen[name]))
    return found
