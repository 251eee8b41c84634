"""tf.contrib.learn: SavedModels of estimators, and when to write them."""
import collections
import heapq
import math
import os
import time

from headrace._packages import is_installed
from headrace._packages import load as _package
from headrace._src.contrib.columns.inputs import create_feature_spec_for_parsing
from headrace._src.contrib.learn.base import fits
from headrace._src.contrib.learn.keys import (
    FEATURE_KEYS, MetricKey, PredictionKey, ProblemType)
from headrace._src.contrib.learn.model_fn import classes_of, scores_of
from headrace._src.control.control_flow_ops import group
from headrace._src.framework import dtypes, errors
from headrace._src.framework.graph import (
    Graph, GraphKeys, add_to_collection, get_collection)
from headrace._src.framework.text_compat import as_bytes, as_str_any
from headrace._src.io.parsing_ops import parse_example
from headrace._src.ops import array_ops as _array
from headrace._src.platform import file_io as _files
from headrace._src.platform import tf_logging as _log
from headrace._src.saved_model import signatures as _signatures
from headrace._src.saved_model.builder import SavedModelBuilder
from headrace._src.session.session import Session
from headrace._src.summary.event_files import summary_iterator
from headrace._src.training import global_step as _global_step
from headrace._src.training import resources as _resources
from headrace._src.training.checkpoint_management import latest_checkpoint
from headrace._src.training.saver import Saver
from headrace._src.variables.variables import (
    local_variables_initializer, tables_initializer)

DEFAULT_INPUT_ALTERNATIVE_KEY = "default_input_alternative"
FEATURES_INPUT_ALTERNATIVE_KEY = "features_input_alternative"
_DEFAULT_OUTPUT = "default_output_alternative"
_SERVING = "serving_default"
_MOST_ATTEMPTS = 10  # to find a folder that is not there

InputFnOps = collections.namedtuple("InputFnOps",
                                    ["features", "labels", "default_inputs"])
Path = collections.namedtuple("Path", "path export_version")


def build_parsing_serving_input_fn(feature_spec, default_batch_size=None):
    """An input_fn for a served model that takes serialized tf.train.Examples,
    strings [default_batch_size]. It gives InputFnOps. `feature_spec`: as
    tf.parse_example's, whose errors it raises."""
    def input_fn():
        examples = _array.placeholder(
            dtype=dtypes.string, shape=[default_batch_size],
            name="input_example_tensor")
        return InputFnOps(parse_example(examples, feature_spec), None,
                          {"examples": examples})
    return input_fn


def build_default_serving_input_fn(features, default_batch_size=None):
    """An input_fn for a served model that takes the features themselves: a dict
    of tensors [batch, ...] of any dtype. It gives InputFnOps. ValueError for
    scalars."""
    def input_fn():
        made = {}
        for name, t in features.items():
            if t.get_shape().ndims == 0:
                raise ValueError("build_default_serving_input_fn: feature %s "
                                 "must have a batch, got a scalar" % name)
            made[name] = _array.placeholder(
                dtype=t.dtype,
                shape=[default_batch_size] + t.get_shape().as_list()[1:],
                name=t.op.name)
        return InputFnOps(made, None, made)
    return input_fn


def build_standardized_signature_def(input_tensors, output_tensors,
                                     problem_type):
    """The SignatureDef of a problem: of classes or of numbers where there is one
    input and the outputs are such, else of any. ValueError without tensors."""
    if not input_tensors:
        raise ValueError("input_tensors must be provided.")
    if not output_tensors:
        raise ValueError("output_tensors must be provided.")
    one = next(iter(input_tensors.values()))
    if len(input_tensors) == 1:
        if problem_type in (ProblemType.CLASSIFICATION,
                            ProblemType.LOGISTIC_REGRESSION):
            classes, scores = classes_of(output_tensors), scores_of(
                output_tensors)
            if classes is None and scores is None and len(output_tensors) == 1:
                only = next(iter(output_tensors.values()))
                if only.dtype == dtypes.string:
                    classes = only
                else:
                    scores = only
            if classes is not None or scores is not None:
                return _signatures.classification_signature_def(
                    one, classes, scores)
        if problem_type == ProblemType.LINEAR_REGRESSION and len(
                output_tensors) == 1:
            return _signatures.regression_signature_def(
                one, next(iter(output_tensors.values())))
    return _signatures.predict_signature_def(input_tensors, output_tensors)


def get_input_alternatives(input_ops):
    """({name: inputs}, features) of InputFnOps, or of features and labels.
    ValueError without features."""
    alternatives = {}
    if isinstance(input_ops, InputFnOps):
        features, _, inputs = input_ops
        alternatives[DEFAULT_INPUT_ALTERNATIVE_KEY] = inputs
    else:
        features, _ = input_ops
    if not features:
        raise ValueError("Features must be defined.")
    return alternatives, features


def get_output_alternatives(model_fn_ops, default_output_alternative_key=None):
    """({name of a head: (problem, outputs)}, the name of the default) of
    ModelFnOps. ValueError for a name that there is not, and for several heads
    without a name."""
    wanted = default_output_alternative_key
    outputs = model_fn_ops.output_alternatives
    if not outputs:
        if wanted:
            raise ValueError(
                "Requested default_output_alternative: {}, but available "
                "output_alternatives are: []".format(wanted))
        predictions = model_fn_ops.predictions
        if not isinstance(predictions, dict):
            predictions = {PredictionKey.GENERIC: predictions}
        return {_DEFAULT_OUTPUT: (ProblemType.UNSPECIFIED,
                                  predictions)}, _DEFAULT_OUTPUT
    if wanted:
        if wanted not in outputs:
            raise ValueError(
                "Requested default_output_alternative: {}, but available "
                "output_alternatives are: {}".format(wanted, sorted(outputs)))
        return outputs, wanted
    if len(outputs) == 1:
        return outputs, next(iter(outputs))
    raise ValueError("Please specify a default_output_alternative.  Available "
                     "output_alternatives are: {}".format(sorted(outputs)))


def build_all_signature_defs(input_alternatives, output_alternatives,
                             actual_default_output_alternative_key):
    """{key: SignatureDef} of each pair of an input and a head, and of the
    default. ValueError without default inputs."""
    made = {"%s:%s" % (name, head or "None"): build_standardized_signature_def(
        inputs, outputs, problem)
        for name, inputs in input_alternatives.items()
        for head, (problem, outputs) in output_alternatives.items()}
    inputs = input_alternatives.get(DEFAULT_INPUT_ALTERNATIVE_KEY)
    if not inputs:
        raise ValueError("A default input_alternative must be provided.")
    problem, outputs = output_alternatives[
        actual_default_output_alternative_key]
    made[_SERVING] = build_standardized_signature_def(inputs, outputs, problem)
    return made


def get_timestamped_export_dir(export_dir_base):
    """The bytes of a folder's name below export_dir_base that is not there: the
    time in seconds. RuntimeError if all of the next seconds' are there."""
    for _ in range(_MOST_ATTEMPTS):
        folder = os.path.join(as_bytes(export_dir_base),
                              as_bytes(str(int(time.time()))))
        if not _files.Exists(folder):
            return folder
        time.sleep(1)
        _log.warning("Export directory %s already exists; retrying", folder)
    raise RuntimeError("Failed to obtain a unique export directory name after "
                       "{} attempts.".format(_MOST_ATTEMPTS))


def get_temp_export_dir(timestamped_export_dir):
    """The bytes of the folder that is renamed when it is complete."""
    folder, name = os.path.split(as_bytes(timestamped_export_dir))
    return os.path.join(folder, b"temp-" + name)


def export_saved_model(model_fn, export_dir_base, serving_input_fn, checkpoint,
                       output_key, assets_extra, as_text, rewrites,
                       strip_default_attrs):
    """Estimator.export_savedmodel. `model_fn`: of features the ModelFnOps."""
    if not rewrites or rewrites[0].transforms:
        raise ValueError("The first element of graph_rewrite_specs must specify "
                         "no transforms.")
    if rewrites[1:]:
        raise NotImplementedError(
            "export_savedmodel: graph_rewrite_specs beside the first are not "
            "supported, got %s: write a SavedModel with tags of its own"
            % (rewrites[1:],))
    folder = get_timestamped_export_dir(export_dir_base)
    unfinished = get_temp_export_dir(folder)
    builder = SavedModelBuilder(unfinished)
    with Graph().as_default() as graph:
        _global_step.create_global_step(graph)
        inputs = serving_input_fn()
        alternatives, features = get_input_alternatives(inputs)
        for key in inputs.features:
            add_to_collection(FEATURE_KEYS, key)
        made = model_fn(features)
        outputs, output_key = get_output_alternatives(made, output_key)
        init = group(
            local_variables_initializer(),
            _resources.initialize_resources(_resources.shared_resources()),
            tables_initializer())
        signatures = build_all_signature_defs(alternatives, outputs,
                                              output_key)
        with Session("") as session:
            saver = made.scaffold.saver if made.scaffold else None
            saved = [x for key in (GraphKeys.GLOBAL_VARIABLES,
                                   GraphKeys.SAVEABLE_OBJECTS)
                     for x in get_collection(key)]
            if saver is None and saved:
                saver = Saver(saved, sharded=True)
            if saver is not None:
                saver.restore(session, checkpoint)
            builder.add_meta_graph_and_variables(
                session, rewrites[0].tags, signature_def_map=signatures,
                assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
                main_op=init, strip_default_attrs=bool(strip_default_attrs))
    for path, source in (assets_extra or {}).items():
        target = os.path.join(unfinished, b"assets.extra", as_bytes(path))
        _files.MakeDirs(os.path.dirname(target))
        _files.Copy(source, target)
    builder.save(as_text)
    _files.Rename(unfinished, folder)
    return folder


class ExportStrategy(collections.namedtuple(
        "ExportStrategy", ["name", "export_fn", "strip_default_attrs"])):
    """How Experiment writes a model: export_fn(estimator, export_dir_base[,
    checkpoint_path, eval_result, strip_default_attrs]) gives the folder. Names
    and flags; nothing of tensors."""

    def __new__(cls, name, export_fn, strip_default_attrs=None):
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(self, estimator, export_path, checkpoint_path=None,
               eval_result=None):
        """What export_fn gives, with those of the values that it takes.
        ValueError for one that takes eval_result and no checkpoint_path."""
        values = {"checkpoint_path": checkpoint_path,
                  "eval_result": eval_result,
                  "strip_default_attrs": self.strip_default_attrs}
        names = fits(values, self.export_fn)
        if "eval_result" in names and "checkpoint_path" not in names:
            raise ValueError("An export_fn accepting eval_result must also "
                             "accept checkpoint_path.")
        return self.export_fn(estimator, export_path,
                              **{name: values[name] for name in names})


def _version_of(path):
    name = os.path.basename(path.path)
    if not (len(name) == 10 and name.isdigit()):
        return None
    return path._replace(export_version=int(name))


def get_most_recent_export(export_dir_base):
    """The Path of the newest export, or None."""
    found = largest_export_versions(1)(get_paths(export_dir_base, _version_of))
    return next(iter(found or []), None)


def garbage_collect_exports(export_dir_base, exports_to_keep):
    """Deletes all exports but the newest; None: nothing."""
    if exports_to_keep is None:
        return
    old = negation(largest_export_versions(exports_to_keep))
    for path in old(get_paths(export_dir_base, _version_of)):
        try:
            _files.DeleteRecursively(path.path)
        except errors.NotFoundError as error:
            _log.warning("Can not delete %s recursively: %s", path.path, error)


def make_export_strategy(serving_input_fn, default_output_alternative_key=None,
                         assets_extra=None, as_text=False, exports_to_keep=5,
                         strip_default_attrs=None):
    """The ExportStrategy "Servo": a SavedModel, of which the newest
    exports_to_keep stay. Arguments and errors are
    Estimator.export_savedmodel's; a tf.estimator.Estimator takes no
    default_output_alternative_key (ValueError)."""
    def export_fn(estimator, export_dir_base, checkpoint_path=None,
                  strip_default_attrs=False):
        options = dict(assets_extra=assets_extra, as_text=as_text,
                       checkpoint_path=checkpoint_path,
                       strip_default_attrs=strip_default_attrs)
        if not is_core_estimator(estimator):
            options["default_output_alternative_key"] = (
                default_output_alternative_key)
        elif default_output_alternative_key is not None:
            raise ValueError(
                "default_output_alternative_key is not supported in core "
                "Estimator. Given: {}".format(default_output_alternative_key))
        made = estimator.export_savedmodel(export_dir_base, serving_input_fn,
                                           **options)
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return made
    return ExportStrategy("Servo", export_fn, strip_default_attrs)


def is_core_estimator(estimator):
    """Whether this is a tf.estimator.Estimator."""
    return is_installed() and isinstance(estimator, _package(
        "tensorflow_estimator.python.estimator.estimator").Estimator)


def make_parsing_export_strategy(
        feature_columns, default_output_alternative_key=None,
        assets_extra=None, as_text=False, exports_to_keep=5, target_core=False,
        strip_default_attrs=None):
    """make_export_strategy of a model that takes serialized tf.train.Examples
    with the features of the columns. `target_core`: for a
    tf.estimator.Estimator. TypeError for other columns."""
    spec = create_feature_spec_for_parsing(feature_columns)
    build = build_parsing_serving_input_fn
    if target_core:
        build = _package("tensorflow_estimator.python.estimator.export.export"
                         ).build_parsing_serving_input_receiver_fn
    return make_export_strategy(
        build(spec),
        default_output_alternative_key=default_output_alternative_key,
        assets_extra=assets_extra, as_text=as_text,
        exports_to_keep=exports_to_keep,
        strip_default_attrs=strip_default_attrs)


def _has_lower_loss(best, candidate):
    """Whether the candidate's loss is lower. ValueError without losses."""
    for name, found in (("curr_best_eval_result", best),
                        ("cand_eval_result", candidate)):
        if not found or MetricKey.LOSS not in found:
            raise ValueError("%s cannot be empty or no loss is found in it."
                             % name)
    return best[MetricKey.LOSS] > candidate[MetricKey.LOSS]


class BestModelSelector:
    """Remembers the best metrics. `compare_fn(best, candidate)`: whether the
    candidate is better; by default its loss is lower. It begins with the best
    of the event files."""

    def __init__(self, event_file_pattern=None, compare_fn=None):
        self._compare_fn = compare_fn or _has_lower_loss
        self._best_eval_result = self._get_best_eval_result(event_file_pattern)

    def update(self, checkpoint_path, eval_result):
        """Both arguments if the metrics are the best, else "" and None.
        ValueError without one of them."""
        if not checkpoint_path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError("%s has empty evaluation results."
                             % checkpoint_path)
        best = self._best_eval_result
        if best is not None and not self._compare_fn(best, eval_result):
            return "", None
        self._best_eval_result = eval_result
        return checkpoint_path, eval_result

    def _get_best_eval_result(self, event_files):
        best = None
        for path in _files.Glob(event_files) if event_files else ():
            for event in summary_iterator(path):
                if not event.HasField("summary"):
                    continue
                found = {value.tag: value.simple_value
                         for value in event.summary.value
                         if value.HasField("simple_value")}
                if best is None or self._compare_fn(best, found):
                    best = found
        return best


def make_best_model_export_strategy(
        serving_input_fn, exports_to_keep=1, model_dir=None,
        event_file_pattern=None, compare_fn=None,
        default_output_alternative_key=None, strip_default_attrs=None):
    """The ExportStrategy "best_model": make_export_strategy, only if the metrics
    are the best so far, below a folder named after the checkpoint."""
    strategy = make_export_strategy(
        serving_input_fn, exports_to_keep=exports_to_keep,
        default_output_alternative_key=default_output_alternative_key,
        strip_default_attrs=strip_default_attrs)
    pattern = (os.path.join(model_dir, event_file_pattern)
               if model_dir and event_file_pattern else None)
    selector = BestModelSelector(pattern, compare_fn)

    def export_fn(estimator, export_dir_base, checkpoint_path,
                  eval_result=None):
        path, found = selector.update(
            checkpoint_path or latest_checkpoint(estimator.model_dir),
            eval_result)
        if not path or found is None:
            return ""
        folder = os.path.join(as_str_any(export_dir_base),
                              os.path.basename(path))
        return strategy.export(estimator, folder, path, found)
    return ExportStrategy("best_model", export_fn)


def extend_export_strategy(base_export_strategy, post_export_fn,
                           post_export_name=None):
    """An ExportStrategy that gives another's folder to post_export_fn(folder,
    new folder), which gives one below the new one. ValueError for another."""
    def new_folder(base, name):
        folder = os.path.join(base, "temp-%s-export-%d" % (name, time.time()))
        if _files.Exists(folder):
            raise RuntimeError("Failed to obtain %s export directory" % name)
        _files.MakeDirs(folder)
        return folder

    def export_fn(estimator, export_dir_base, checkpoint_path=None):
        base = as_str_any(export_dir_base)
        first = new_folder(base, "base")
        exported = base_export_strategy.export(estimator, first,
                                               checkpoint_path)
        second = new_folder(base, "post")
        changed = as_str_any(post_export_fn(exported, second))
        if not changed.startswith(second):
            raise ValueError("post_export_fn must return a sub-directory of {}"
                             .format(second))
        final = os.path.join(base, os.path.relpath(changed, second))
        if _files.Exists(final):
            raise RuntimeError("Failed to obtain final export directory")
        _files.Rename(changed, final)
        _files.DeleteRecursively(first)
        _files.DeleteRecursively(second)
        return final
    return ExportStrategy(post_export_name or base_export_strategy.name,
                          export_fn)


# Which exports to keep: functions of a list of Paths that give some of them.

def largest_export_versions(n):
    """Keeps the n largest versions."""
    def keep(paths):
        heap = [(p.export_version, i) for i, p in enumerate(paths)
                if p.export_version is not None]
        return sorted(paths[i] for _, i in heapq.nlargest(n, heap))
    return keep


def one_of_every_n_export_versions(n):
    """Keeps the largest of each interval of n versions."""
    def keep(paths):
        largest = {}
        for p in paths:
            if p.export_version is None:
                continue
            interval = (math.floor((p.export_version - 1) / n)
                        if p.export_version else 0)
            known = largest.get(interval)
            if not known or known.export_version < p.export_version:
                largest[interval] = p
        return sorted(largest.values())
    return keep


def mod_export_version(n):
    """Keeps the versions that n divides."""
    return lambda paths: sorted(p for p in paths if p.export_version % n == 0)


def union(lf, rf):
    """Keeps what one of two functions keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f):
    """Keeps what a function does not keep."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


def get_paths(base_dir, parser):
    """The Paths in a folder for which `parser` gives one."""
    made = (parser(Path(os.path.join(as_str_any(base_dir), as_str_any(name)),
                        None)) for name in _files.ListDirectory(base_dir))
    return sorted(p for p in made if p)
