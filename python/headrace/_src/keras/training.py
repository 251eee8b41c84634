"""What makes a tf.keras.Model train: compile, fit, evaluate, predict."""
import contextlib

import numpy as np

from headrace._headrace import Tensor, executing_eagerly
from headrace._loading import load
from headrace._src.control import control_flow_ops as _flow
from headrace._src.data.datasets import Dataset
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.keras import callbacks as _callbacks
from headrace._src.keras import losses as _losses
from headrace._src.keras import metrics as _metrics
from headrace._src.keras import multi_worker as _workers
from headrace._src.keras import optimizers as _optimizers
from headrace._src.keras.data_adapters import (
    Batches, Slices, arrays_of, check_lengths, check_source, check_weights,
    cut, evaluated, fitted, is_source)
from headrace._src.keras.loss_scale_optimizer import LossScaleOptimizer
from headrace._src.keras.row_values import Rows, is_rows, joined
from headrace._src.layers import backend
from headrace._src.layers.engine import as_list
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as _logging
from headrace._src.training.gradients import gradients
from headrace._src.variables.strategies import (
    in_first_replica, loaded_strategies)


def _is_sparse(loss):
    return getattr(loss, "__name__", "") == "sparse_categorical_crossentropy" \
        or isinstance(loss, _losses.SparseCategoricalCrossentropy)


def _by_name(given, names, what):
    """`given` for each of `names`: a dict, a list, or one thing for all."""
    if isinstance(given, dict):
        unknown = set(given) - set(names)
        if unknown:
            raise ValueError("Unknown entries in %s dictionary: %s. Only "
                             "expected following keys: %s"
                             % (what, sorted(unknown), names))
        return [given.get(name) for name in names]
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError("When passing a list as %s, it should have one "
                             "entry per model output%s. The model has %d "
                             "outputs, but you passed %s=%s"
                             % (what, "s" if what == "loss" else "",
                                len(names), what, given))
        return list(given)
    return [given] * len(names)


def _targets_given(given, names):
    """The tensor that is the target of each output, or None."""
    if given is None or isinstance(given, list) and not given:
        return [None] * len(names)
    if isinstance(given, dict):
        for name in given:
            if name not in names:
                raise ValueError("Unknown entry in `target_tensors` dictionary: "
                                 "\"%s\". Only expected the following keys: %s"
                                 % (name, names))
        return [given.get(name) for name in names]
    if isinstance(given, list):
        if len(given) != len(names):
            raise ValueError(
                "When passing a list as `target_tensors`, it should have one "
                "entry per model output. The model has %d outputs, but you "
                "passed target_tensors=%s" % (len(names), given))
        return given
    if isinstance(given, Tensor) and len(names) == 1:
        return [given]
    raise TypeError("Expected `target_tensors` to be a list or tuple or dict or "
                    "a single tensor, but got: %s" % (given,))


class _Output:
    """An output of a compiled model: its targets, loss and metrics. `target`: a
    tensor instead of fed targets. `temporal`: weights are those of steps."""

    def __init__(self, name, tensor, loss, target=None, temporal=False):
        self.name, self.tensor = name, tensor
        self.loss = None if loss is None else _losses.get(loss)
        self.target, self.weights = target, None
        self.is_fed, self.temporal = target is None, temporal
        if self.loss is None:
            return
        self.weights = _array.placeholder_with_default(
            np.ones([1, 1] if temporal else [1], np.float32),
            [None, None] if temporal else [None],
            name=name + "_sample_weights")
        if self.is_fed:
            self._make_target()

    def _make_target(self):
        tensor, name = self.tensor, self.name
        shape = tensor.get_shape().as_list() \
            if tensor.get_shape().ndims is not None else None
        if shape is not None:
            # A loss of one's own may take other targets than the outputs.
            known = getattr(self.loss, "__module__", "") == _losses.__name__ \
                or type(self.loss).__module__ == _losses.__name__
            shape = shape[:-1] + [1] if _is_sparse(self.loss) else (
                shape if known else [None] * len(shape))
        self.target = _array.placeholder(dtypes.as_dtype(backend.floatx()),
                                         shape, name=name + "_target")

    def loss_tensor(self):
        function = self.loss
        reduction = "auto"
        if isinstance(function, _losses.Loss):
            reduction = function.reduction
            function = function.call
        values = convert_to_tensor(function(self.target, self.tensor))
        return _losses.reduced(values, self._masked(self.weights), reduction)

    def _masked(self, weights):
        """Weights of values, None for ones, where the output's mask is True;
        elsewhere 0."""
        mask = getattr(self.tensor, "_keras_mask", None)
        if mask is None:
            return weights
        mask = _math.cast(mask, self.tensor.dtype)
        if weights is None:
            return mask
        for _ in range(mask.get_shape().ndims - weights.get_shape().ndims):
            weights = _array.expand_dims(weights, -1)
        return weights * mask

    def metric(self, given, prefix):
        """The Metric that a user's argument stands for, and its name."""
        if isinstance(given, _metrics.Metric):
            # One that was read from a file has the prefix already.
            if not given.name.startswith(prefix):
                given._name = prefix + given.name
            return given, given.name
        name = None
        if given in ("accuracy", "acc", "crossentropy", "ce"):
            name = "acc" if given in ("accuracy", "acc") else "ce"
            given = self._usual(given)
        if isinstance(given, str):
            given = _metrics.get(given)
        if isinstance(given, _metrics.Metric):
            return given, prefix + (name or given.name)
        function = given
        name = name or getattr(function, "__name__", type(function).__name__)
        if isinstance(function, _losses.Loss):
            function = function.call
        return _metrics.MeanOfFunction(function, prefix + name), prefix + name

    def _usual(self, given):
        """The function for "accuracy" or "crossentropy", which depends on the
        shapes."""
        kind = "accuracy" if given in ("accuracy", "acc") else "crossentropy"
        last = self.tensor.get_shape().as_list()[-1]
        if last == 1 or _losses.binary_crossentropy in (
                self.loss, getattr(type(self.loss), "function", None)):
            return getattr(_metrics, "binary_" + kind)
        if _is_sparse(self.loss) or (
                self.target.get_shape().ndims and
                self.target.get_shape().as_list()[-1] == 1):
            return getattr(_metrics, "sparse_categorical_" + kind)
        return getattr(_metrics, "categorical_" + kind)


def _after(tensors):
    """The names of the operations that depend on tensors, or wait for what
    does."""
    waits = {}
    for op in tensors[0].graph.get_operations():
        for before in op.control_inputs:
            waits.setdefault(before.name, []).append(op)
    found, todo = set(), [x.op for x in tensors]
    while todo:
        op = todo.pop()
        after = [c for x in op.outputs for c in x.consumers()]
        for other in after + waits.get(op.name, []):
            if other.name not in found:
                found.add(other.name)
                todo.append(other)
    return found


class Training:
    """The methods of Model that train it."""

    optimizer = None
    stop_training = False
    run_eagerly = False
    _compiled = None
    _strategy = None  # of several replicas
    _made_for = None  # the strategy in whose scope compile was called
    _share = None  # of several workers
    _training_state = None  # of a training of several workers

    def compile(self, optimizer="rmsprop", loss=None, metrics=None,
                loss_weights=None, sample_weight_mode=None,
                weighted_metrics=None, target_tensors=None, distribute=None,
                **kwargs):
        """Says how to train: an optimizer of tf.keras.optimizers or tf.train, a
        loss and metrics for each output, by name, function or object.
        `sample_weight_mode`: "temporal" for weights [batch, steps] of outputs of
        rank 3 or more, for all outputs, or for each in a list or a dict.
        `target_tensors`: tensors that are the targets, which then are not
        given to `fit`: one, a list, or a dict by output."""
        if distribute is not None:
            raise ValueError("compile: distribute is not supported")
        self.run_eagerly = bool(kwargs.pop("run_eagerly", None)) or (
            executing_eagerly() and self._is_dynamic())
        if self.run_eagerly and not executing_eagerly():
            raise ValueError(
                "You can only set `run_eagerly` to True while ops are executed "
                "eagerly: call tf.enable_eager_execution() first")
        # How TensorFlow runs steps eagerly.
        kwargs.pop("experimental_run_tf_function", None)
        if set(kwargs) - {"options", "run_metadata"}:
            raise TypeError("Invalid keyword argument(s) in `compile`: %s"
                            % sorted(kwargs))
        self.optimizer = (
            [_optimizers.get(x) for x in optimizer]
            if isinstance(optimizer, (list, tuple))
            else self._with_loss_scale(_optimizers.get(optimizer)))
        self.loss = loss
        if isinstance(loss, (str, list, tuple)):
            for one in as_list(loss):
                _losses.get(one)
        self.sample_weight_mode = sample_weight_mode
        self.loss_weights = loss_weights
        self._arguments = (loss, metrics, loss_weights, weighted_metrics)
        self._target_tensors = target_tensors
        self._compiled = self._strategy = self._share = self._made_for = None
        strategies = loaded_strategies()
        if strategies is not None and strategies.has_strategy():
            self._made_for = strategy = strategies.get_strategy()
            if _workers.is_multi_worker(strategy):
                _workers.start_session(strategy)
                self._strategy = strategy
            elif strategy.num_replicas_in_sync > 1:
                self._strategy = strategy
        if self._given is not None:
            with backend.in_graph():
                self._finish_compile()

    def _in_multi_worker_mode(self):
        """Whether the model is compiled in the scope of a strategy of several
        workers."""
        return _workers.is_multi_worker(self._strategy)

    def _finish_compile(self):
        """Makes the tensors of the losses and metrics."""
        with self._in_scope():
            self._make_losses()

    def _in_scope(self):
        """The scope of the strategy in which compile was called, if any."""
        return self._made_for.scope() if self._made_for else (
            contextlib.nullcontext())

    def _make_losses(self):
        loss, metrics, loss_weights, weighted_metrics = self._arguments
        names = self.output_names
        modes = _by_name(self.sample_weight_mode, names, "sample_weight_mode")
        for mode in modes:
            if mode not in (None, "temporal", "samplewise"):
                raise ValueError("compile: sample_weight_mode must be "
                                 "\"temporal\" or None, got %r" % (mode,))
        extras = self._of_these_inputs(self.losses)
        outs = [_Output(name, tensor, one, target, mode == "temporal")
                for name, tensor, one, target, mode in zip(
                    names, self._outputs_to_train(),
                    _by_name(loss, names, "loss"),
                    _targets_given(self._target_tensors, names), modes)]
        if loss_weights is not None and not isinstance(
                loss_weights, (dict, list, tuple)):
            raise TypeError("Could not interpret loss_weights argument: %s - "
                            "expected a list of dicts." % (loss_weights,))
        factors = [1. if w is None else w for w in _by_name(
            loss_weights, names, "loss_weights")]
        self._outs = [o for o in outs if o.loss is not None]
        total, self._values = None, {}
        with name_scope("loss"):
            for out, factor in zip(outs, factors):
                if out.loss is None:
                    continue
                with name_scope(out.name + "_loss"):
                    value = out.loss_tensor()
                if len(outs) > 1:
                    self._values[out.name + "_loss"] = value
                value = factor * value
                total = value if total is None else total + value
            for extra in extras:
                total = extra if total is None else total + extra
        if total is None:
            raise ValueError("The model cannot be compiled because it has no "
                             "loss to optimize.")
        if self._in_multi_worker_mode():
            workers = self._strategy.extended._num_workers
            self._share = _workers.Share(
                self._strategy, _array.placeholder_with_default(
                    np.float32(1. / workers), [], name="share_of_worker"))
            total = self._of_workers(total)
            self._values = {name: self._share.sum(self._of_workers(value))
                            for name, value in self._values.items()}
        self.total_loss = total
        self._shown_loss = self._share.sum(total) if self._share else total
        self._metrics, self._compiled_updates = {}, []
        for given, weights_too in ((metrics, False), (weighted_metrics, True)):
            made = []  # their variables are outside of the operations' scope
            for out, ones in zip(outs, self._metrics_by_output(given, names)):
                if out.loss is None:
                    continue  # it has no targets to compare with
                prefix = out.name + "_" if len(outs) > 1 else ""
                prefix += "weighted_" if weights_too else ""
                made += [(out,) + out.metric(one, prefix) for one in ones]
            if made:
                with name_scope("metrics"):
                    for out, metric, name in made:
                        self._add_metric_of(out, metric, name, weights_too)
        added = [pair for pair in self._added_metrics()
                 if pair[1] is not None]
        mine = self._of_these_inputs([update for _, update in added])
        for metric, update in added:
            if any(update is m for m in mine):
                self._compiled_updates.append(getattr(update, "op", update))
                if metric.name not in self._metrics:
                    self._metrics[metric.name] = metric, metric.result()
        self._train_op = self._test_op = None
        self._test_fetches = {}  # what a step of evaluation gives to whom
        self._compiled = True

    def _with_loss_scale(self, optimizer):
        """The optimizer; if the model's dtype policy has a loss scale, one that
        scales losses by it. ValueError for an optimizer that cannot."""
        policy = self._dtype_policy
        if policy.loss_scale is None:
            return optimizer
        if isinstance(optimizer, LossScaleOptimizer):
            if optimizer.loss_scale is not policy.loss_scale:
                _logging.warning(
                    "compile: the optimizer's loss scale %s is used, not %s of "
                    "the dtype policy" % (optimizer.loss_scale,
                                          policy.loss_scale))
            return optimizer
        if not isinstance(optimizer, _optimizers.Optimizer):
            raise ValueError(
                '"optimizer" must be an instance of tf.keras.optimizers.'
                'Optimizer when a dype policy with a loss scale  used, but got: '
                '%s. Using policy: %s' % (optimizer, policy))
        return LossScaleOptimizer(optimizer, policy.loss_scale)

    def _of_workers(self, loss):
        """This worker's part of the loss of all."""
        return loss * _math.cast(self._share.tensor, loss.dtype)

    def _outputs_to_train(self):
        """The outputs; with a strategy of several replicas, each replica's of
        its share of the batch, joined."""
        strategy = self._strategy
        if strategy is None:
            return self.outputs
        replicas = len(strategy.extended.worker_devices)
        before = list(self.updates)

        def share(*inputs):
            context = strategies.get_replica_context()
            number = context.replica_id_in_sync_group
            shares = []
            for x in inputs:
                size = (_array.shape(x)[0] + (replicas - 1)) // replicas
                part = x[number * size:(number + 1) * size]
                part.set_shape(x.get_shape())
                shares.append(part)
            return as_list(self(shares if len(shares) > 1 else shares[0]))
        strategies = loaded_strategies()
        outputs = strategy.experimental_run_v2(share, tuple(self.inputs))
        self._updates_of_replicas = [
            u for u in self.updates if not any(u is b for b in before)]
        return [_array.concat(strategy.unwrap(out), 0) for out in outputs]

    def _updates_by_gradients(self, weights):
        """Operations that change the weights by the gradients of the loss; all
        copies of a weight by the sum of theirs."""
        strategy = self._strategy
        if strategy is None:
            if isinstance(self.optimizer, _optimizers.Optimizer):
                return self.optimizer.get_updates(self.total_loss, weights)
            return [self.optimizer.minimize(self.total_loss, var_list=weights)]
        copies = [v for w in weights for v in strategy.unwrap(w)]
        loss, scaled = self.total_loss, isinstance(self.optimizer,
                                                   LossScaleOptimizer)
        if scaled:
            loss = self.optimizer.get_scaled_loss(loss)
        grads = gradients(loss, copies, colocate_gradients_with_ops=True)
        if scaled:
            grads = self.optimizer.get_unscaled_gradients(grads)
        found = dict(zip(map(id, copies), grads))
        pairs = []
        for weight in weights:
            of_copies = [found[id(v)] for v in strategy.unwrap(weight)]
            if all(g is None for g in of_copies):
                raise ValueError("Variable %s has `None` for gradient."
                                 % weight.name)
            pairs.append((strategy.extended._per_replica(
                [_array.zeros_like(v) if g is None else convert_to_tensor(g)
                 for g, v in zip(of_copies, strategy.unwrap(weight))]),
                weight))
        with strategy.scope():
            return [self.optimizer._distributed_apply(strategy, pairs)]

    def _add_metric_of(self, out, metric, name, weights_too):
        with name_scope(name):
            weights = out._masked(out.weights if weights_too else None)
            more = {} if weights is None else {"sample_weight": weights}
            # The first replica adds what all of this process have.
            with in_first_replica():
                update = metric.update_state(out.target, out.tensor, **more)
            self._compiled_updates.append(update)
            self._metrics[name] = metric, metric.result()

    @staticmethod
    def _metrics_by_output(given, names):
        if given is None:
            return [[]] * len(names)
        if isinstance(given, dict):
            return [as_list(one) for one in _by_name(given, names, "metrics")]
        if not isinstance(given, (list, tuple)):
            raise TypeError("Type of `metrics` argument not understood. "
                            "Expected a list or dictionary, found: %s"
                            % (given,))
        if any(isinstance(one, (list, tuple)) for one in given):
            return [as_list(one) for one in _by_name(given, names, "metrics")]
        # Each output has metrics of its own.
        return [list(given)] + [
            [type(one).from_config(one.get_config())
             if isinstance(one, _metrics.Metric) else one for one in given]
            for _ in names[1:]]

    @property
    def metrics_names(self):
        """The names of what train_on_batch and evaluate return."""
        self._need_compiled()
        return ["loss", *self._values, *self._metrics]

    @property
    def metrics(self):
        found = [m for m, _ in getattr(self, "_metrics", {}).values()]
        return found + [m for m in super().metrics
                        if not any(m is f for f in found)]

    @property
    def loss_functions(self):
        """The losses of the outputs that have one."""
        return [out.loss for out in self._outs]

    _is_compiled = property(lambda self: self.optimizer is not None)
    _feed_inputs = property(lambda self: self.inputs)
    _feed_targets = property(
        lambda self: [out.target for out in self._outs if out.is_fed])
    _targets = property(lambda self: [out.target for out in self._outs])
    sample_weights = property(lambda self: [out.weights for out in self._outs])
    _feed_sample_weights = property(lambda self: self.sample_weights)

    @property
    def _feed_output_names(self):
        return [out.name for out in self._outs]

    @property
    def state_updates(self):
        """The operations that stateful layers run with each batch."""
        return [op for layer in self.layers
                for op in getattr(layer, "_state_updates", ())]

    @property
    def input_names(self):
        history = backend.graph_state().history
        return [history[key][0].name if key in history else x.op.name
                for key, x in zip(map(backend.key, self.inputs), self.inputs)]

    @property
    def _output_tensors(self):
        """The outputs as tensors: a layer may give what converts to one."""
        with backend.in_graph():
            return [x if backend.is_symbolic(x) else convert_to_tensor(x)
                    for x in self.outputs]

    @property
    def output_names(self):
        history, names = backend.graph_state().history, []
        for x in self._output_tensors:
            name = backend.key(x)
            name = history[name][0].name if name in history else x.op.name
            names.append(name)
        seen = {}
        for i, name in enumerate(names):
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                names[i] = "%s_%d" % (name, seen[name] - 1)
        return names

    def _need_compiled(self):
        if self.optimizer is None:
            raise RuntimeError("You must compile your model before training/"
                               "testing. Use `model.compile(optimizer, loss)`.")
        if self._compiled is None:
            raise RuntimeError("The model has no inputs yet: call fit, or give "
                               "its first layer an input_shape")

    def _prepare(self, x):
        """Connects a model whose inputs were not known before; its variables are
        of the strategy in whose scope it was compiled."""
        with backend.in_graph():
            self._prepare_in_graph(x)

    def _prepare_in_graph(self, x):
        if self._given is None:
            with self._in_scope():
                self._connect_to(x)
        if self.optimizer is not None and self._compiled is None:
            self._finish_compile()

    def _make_train_op(self):
        if self._train_op is not None:
            return
        with backend.in_graph():
            self._make_train_op_in_graph()

    def _make_train_op_in_graph(self):
        weights = self.trainable_weights
        with name_scope("training"):
            updates = self._updates_by_gradients(weights) if weights else []
            of_layers = (self._updates_of_replicas if self._strategy
                         else self._of_these_inputs(self.updates))
            self._train_op = _flow.group(
                *updates, *of_layers,
                *self._compiled_updates,
                *self.state_updates)

    def _of_these_inputs(self, things):
        """The tensors or operations without those that depend on inputs of other
        models alone: a model inside of this one was called on its own inputs
        first."""
        own = {backend.key(x) for x in self.inputs}
        others = [x for layer, x in backend.graph_inputs()
                  if backend.key(x) not in own]
        if not others:
            return things
        mine, theirs = _after(self.inputs), _after(others)

        def is_other(thing):
            name = getattr(thing, "op", thing).name
            return name in theirs and name not in mine
        return [thing for thing in things if not is_other(thing)]

    # A step.

    def _feed(self, x, y=None, weights=None, training=None):
        feed = {tensor: value.value if isinstance(value, Rows) else value
                for tensor, value in zip(self.inputs, x)}
        if y is not None:
            for out, value in zip(self._outs, y):
                if out.is_fed:
                    feed[out.target] = value
        for out, value in zip(getattr(self, "_outs", ()), weights or ()):
            if value is not None:
                feed[out.weights] = value
        phase = backend.graph_state().learning_phase
        if phase is not None and training is not None:
            feed[phase] = training
        return feed

    def _is_dynamic(self):
        return any(layer.dynamic for layer in [self]
                   + self._all_layers_inside())

    def _eager_steps(self):
        return load("_src.eager.keras").EagerSteps(self)

    def _step(self, x, y, weights, train, share=None):
        """{name: value} of a batch: the loss of this batch, and the metrics
        since they were reset. `share`: of the loss of all workers."""
        if self.run_eagerly:
            pass
        elif train:
            self._make_train_op()
            op = self._train_op
        else:
            if self._test_op is None:
                with backend.in_graph():
                    self._test_op = _flow.group(*self._compiled_updates,
                                                *self.state_updates)
            op = self._test_op
        session = backend.get_session()
        if self.run_eagerly:
            feed = self._feed((), y, weights)
            values = self._eager_steps().step(x, feed, train)
            values += session.run([r for _, r in self._metrics.values()])
            return dict(zip(self.metrics_names, values))
        feed = self._feed(x, y, weights, train)
        if share is not None:
            feed[self._share.tensor] = share
        others = [] if train else list(self._test_fetches)
        values = session.run([self._shown_loss, *self._values.values(), others,
                              op], feed)[:-1]
        for tensor, value in zip(others, values.pop()):
            self._test_fetches[tensor](value)
        if self._metrics:
            values += session.run([r for _, r in self._metrics.values()])
        return dict(zip(self.metrics_names, values))

    def reset_metrics(self):
        """Starts all metrics anew."""
        for metric in self.metrics:
            metric.reset_states()

    def _inputs_of(self, x):
        return fitted(arrays_of(x, self.input_names, "input"), self.inputs,
                      self.input_names, "input")

    def _targets_of(self, y):
        """Arrays for the outputs, None where a tensor is the target."""
        fed = [out for out in self._outs if out.is_fed]
        if self._outs and not fed and y is not None:
            raise ValueError("Error when checking model target: expected no "
                             "data, but got:", y)
        names = [out.name for out in fed]
        found = iter(fitted(arrays_of(y, names, "target"),
                            [out.target for out in fed], names, "target"))
        return [next(found) if out.is_fed else None for out in self._outs]

    def _weights_of(self, y, sample_weight, class_weight):
        """Arrays of weights, or None, for each output."""
        names = [o.name for o in self._outs]
        given = [sample_weight] if len(names) == 1 and not isinstance(
            sample_weight, (dict, list)) else _by_name(sample_weight, names,
                                                       "sample_weight")
        classes = class_weight if isinstance(class_weight, dict) and any(
            k in names for k in class_weight) else dict.fromkeys(
                names, class_weight)
        result = []
        for out, target, weight in zip(self._outs, y, given):
            if weight is not None:
                weight = np.asarray(weight, np.float32)
                if target is not None:
                    check_weights(weight, target, out.temporal)
            table = classes.get(out.name)
            if table:
                if target is None or target.ndim > 2:
                    raise ValueError("`class_weight` not supported for 3+ "
                                     "dimensional targets.")
                labels = np.argmax(target, -1) if target.ndim > 1 and (
                    target.shape[-1] > 1) else target.reshape(len(target))
                more = np.array([table.get(label, None) for label
                                 in labels.astype(int).tolist()], object)
                if None in more:
                    raise ValueError(
                        "`class_weight` must contain all classes in the data. "
                        "The classes %s exist in the data but not in "
                        "`class_weight`." % (set(labels.astype(int).tolist())
                                             - set(table)))
                more = more.astype(np.float32)
                weight = more if weight is None else weight * more
            result.append(weight)
        return result

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None,
                       reset_metrics=True):
        """One step; the loss, or [loss, metrics...]."""
        return self._one(x, y, sample_weight, class_weight, reset_metrics, True)

    def test_on_batch(self, x, y=None, sample_weight=None, reset_metrics=True):
        """The loss of a batch, or [loss, metrics...]."""
        return self._one(x, y, sample_weight, None, reset_metrics, False)

    def _one(self, x, y, sample_weight, class_weight, reset_metrics, train):
        self._prepare(x)
        self._need_compiled()
        x, y = self._inputs_of(x), self._targets_of(y)
        values = list(self._step(x, y, self._weights_of(
            y, sample_weight, class_weight), train).values())
        if reset_metrics:
            self.reset_metrics()
        return values[0] if len(values) == 1 else values

    def predict_on_batch(self, x):
        """The outputs for a batch."""
        self._prepare(x)
        if self.run_eagerly:
            values = [convert_to_tensor(v) for v in nest.flatten(
                self._eager_steps().call(self._inputs_of(x), False))]
            return values[0] if len(values) == 1 else values
        values = backend.get_session().run(
            [self._output_tensors, self.state_updates],
            self._feed(self._inputs_of(x), training=False))[0]
        if executing_eagerly():
            values = [convert_to_tensor(v) for v in values]
        return values[0] if len(values) == 1 else values

    # Many steps.

    @_workers.in_each_worker
    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose=1,
            callbacks=None, validation_split=0.0, validation_data=None,
            shuffle=True, class_weight=None, sample_weight=None,
            initial_epoch=0, steps_per_epoch=None, validation_steps=None,
            validation_freq=1, max_queue_size=10, workers=1,
            use_multiprocessing=False, **kwargs):
        """Trains for `epochs` rounds over arrays, a tf.data.Dataset, an
        iterator or a generator of batches. Returns a History."""
        if "nb_epoch" in kwargs:
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError("Unrecognized keyword arguments: %s" % kwargs)
        how = {"workers": workers, "max_queue_size": max_queue_size,
               "use_multiprocessing": use_multiprocessing}
        if validation_steps and validation_data is None and (
                not validation_split):
            raise ValueError("`validation_steps` should not be specified if "
                             "`validation_data` is None.")
        batch_size = check_source(x, y, sample_weight, batch_size,
                                   validation_split)
        batch_size = self._batch_size(batch_size, steps_per_epoch)
        x = evaluated(x, y, sample_weight, steps_per_epoch, "steps_per_epoch")
        if is_source(x):
            source = Batches(self._own_part(x), steps_per_epoch, shuffle=shuffle,
                             **how)
            validate = validation_data
        else:
            self._prepare(x)
            self._need_compiled()
            x, y = self._inputs_of(x), self._targets_of(y)
            weights = self._weights_of(y, sample_weight, class_weight)
            validate = validation_data
            check_lengths(x, y, weights)
            if validation_split and validation_data is None:
                at = int(len(x[0]) * (1. - validation_split))
                validate = tuple(cut(part, at, None)
                                 for part in (x, y, weights))
                x, y, weights = (cut(part, 0, at) for part in (x, y, weights))
            source = Slices(self, x, y, weights, batch_size, shuffle,
                             steps_per_epoch)
        with contextlib.closing(source):
            return self._fit(source, epochs, verbose, callbacks, validate,
                             validation_steps, validation_freq, initial_epoch,
                             class_weight, batch_size, how)

    def _fit(self, source, epochs, verbose, callbacks, validation_data,
             validation_steps, validation_freq, initial_epoch, class_weight,
             batch_size, how):
        first = source.first(self)
        self._prepare(first[0])
        self._need_compiled()
        if not self.run_eagerly:
            self._make_train_op()
        history = _callbacks.History()
        names = list(self.metrics_names)
        shown = names + (["val_" + n for n in names] if validation_data
                         is not None else [])
        chain = list(callbacks or []) + [history]
        if verbose:
            chain.insert(0, _callbacks.ProgbarLogger(
                "steps" if source.samples is None else "samples"))
            if source.samples is not None:
                print("Train on %d samples%s" % (
                    source.samples, ", validate on %d samples" % len(
                        nest.flatten(validation_data[0])[0])
                    if isinstance(validation_data, tuple) else ""))
        call = _callbacks.CallbackList(chain, self, {
            "batch_size": batch_size, "epochs": epochs, "verbose": verbose,
            "steps": source.steps, "samples": source.samples,
            "do_validation": validation_data is not None, "metrics": shown})
        self.history = history
        self.stop_training = False
        call("train_begin", {})
        logs = {}
        if self._training_state is not None:
            initial_epoch = self._training_state.first_epoch(initial_epoch)
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            call("epoch_begin", epoch, {})
            averages = _Averages(1 + len(self._values))
            logs = {}
            for batch, (x, y, weights) in enumerate(source.epoch(
                    self, class_weight)):
                size = source.size_of(x)
                call("train_batch_begin", batch, {"batch": batch, "size": size})
                values = self._step(x, y, weights, True, source.share)
                logs = dict(zip(values, averages.add(list(values.values()),
                                                     size)))
                step_logs = {"batch": batch, "size": size, **values}
                call("train_batch_end", batch, step_logs)
                if self.stop_training:
                    break
            if validation_data is not None and _due(epoch, validation_freq):
                call("test_begin", {})
                found = self._evaluate_given(validation_data, batch_size,
                                             validation_steps, how, call)
                call("test_end", dict(found))
                logs.update({"val_" + k: v for k, v in found.items()})
            call("epoch_end", epoch, logs)
            if self.stop_training:
                break
        call("train_end", logs)
        return history

    def _batch_size(self, given, steps):
        """`given`, or the size of batches that an input layer has. ValueError if
        both are there and differ."""
        sizes = {} if self._given is None or self._connected_late else {
            n for shape in map(backend.int_shape, self.inputs)
            for n in shape[:1] if n is not None}
        for size in sizes:
            if given is not None and given != size:
                raise ValueError(
                    "The `batch_size` argument value %s is incompatible with "
                    "the specified batch size of your Input Layer: %s"
                    % (given, size))
            if steps is None:
                given = size
        return given

    def _evaluate_given(self, data, batch_size, steps, how, hook):
        if isinstance(data, (tuple, list)) and len(data) in (2, 3):
            data = evaluated(data[0], data[1], data[2] if len(data) == 3
                              else None, steps, "validation_steps", data)
        if is_source(data):
            with contextlib.closing(Batches(self._own_part(data), steps,
                                            **how)) as source:
                return self._evaluate(source, hook)
        if not isinstance(data, (tuple, list)) or len(data) not in (2, 3):
            raise ValueError(
                "When passing a `validation_data` argument, it must contain "
                "either 2 items (x_val, y_val), or 3 items (x_val, y_val, "
                "val_sample_weights), or alternatively it could be a dataset. "
                "However we received `validation_data=%s`" % (data,))
        return self._evaluate(self._slices(data[0], data[1], data[2] if len(
            data) == 3 else None, batch_size, steps,
            shuffle=self._share is None), hook)

    def _slices(self, x, y, weights, batch_size, steps, shuffle=False):
        x, y = self._inputs_of(x), self._targets_of(y)
        weights = self._weights_of(y, weights, None)
        check_lengths(x, y, weights)
        return Slices(self, x, y, weights, batch_size, shuffle, steps)

    def _evaluate(self, source, hook=None):
        self.reset_metrics()
        averages = _Averages(1 + len(self._values))
        result = {}
        for i, (x, y, weights) in enumerate(source.epoch(self, None)):
            if hook:
                hook("test_batch_begin", i, {})
            values = self._step(x, y, weights, False, source.share)
            result = dict(zip(values, averages.add(list(values.values()),
                                                   source.size_of(x))))
            if hook:
                hook("test_batch_end", i, dict(values))
        return result

    def _own_part(self, source):
        """This worker's part of a data set of batches; other sources give each
        worker its own."""
        if self._share is None or not isinstance(source, Dataset):
            return source
        return self._share.of_dataset(source)

    @_workers.in_each_worker
    def evaluate(self, x=None, y=None, batch_size=None, verbose=1,
                 sample_weight=None, steps=None, callbacks=None,
                 max_queue_size=10, workers=1, use_multiprocessing=False):
        """The loss, or [loss, metrics...], over all batches."""
        batch_size = check_source(x, y, sample_weight, batch_size)
        batch_size = self._batch_size(batch_size, steps)
        x = evaluated(x, y, sample_weight, steps, "steps")
        if is_source(x):
            source = Batches(self._own_part(x), steps, workers, use_multiprocessing,
                              max_queue_size)
        else:
            self._prepare(x)
            self._need_compiled()
            source = self._slices(x, y, sample_weight, batch_size, steps)
        with contextlib.closing(source):
            if source.samples is None:
                self._prepare(source.first(self)[0])
                self._need_compiled()
            hook = _callbacks.CallbackList(callbacks or [], self, {})
            hook("test_begin", {})
            values = list(self._evaluate(source, hook).values())
            hook("test_end", {})
        if verbose:
            print(" - ".join("%s: %.4f" % pair for pair in zip(
                self.metrics_names, values)))
        return values[0] if len(values) == 1 else values

    def predict(self, x, batch_size=None, verbose=0, steps=None, callbacks=None,
                max_queue_size=10, workers=1, use_multiprocessing=False):
        """The outputs for all batches, as arrays."""
        batch_size = check_source(x, None, None, batch_size)
        batch_size = self._batch_size(batch_size, steps)
        x = evaluated(x, None, None, steps, "steps")
        hook = _callbacks.CallbackList(callbacks or [], self, {})
        hook("predict_begin", {})
        parts = []
        source = None
        if is_source(x):
            source = Batches(x, steps, workers, use_multiprocessing,
                              max_queue_size)
            batches = source.inputs()
        else:
            self._prepare(x)
            arrays = self._inputs_of(x)
            size = batch_size or 32
            batches = ([a[i:i + size] for a in arrays]
                       for i in range(0, len(arrays[0]), size))
        with contextlib.closing(source) if source else (
                contextlib.nullcontext()):
            for i, batch in enumerate(batches):
                hook("predict_batch_begin", i, {})
                found = self.predict_on_batch(batch)
                parts.append([found] if is_rows(found) else as_list(found))
                hook("predict_batch_end", i, {})
        hook("predict_end", {})
        if not parts:
            raise ValueError("predict: no data")
        values = [joined(p) for p in zip(*parts)]
        return values[0] if len(values) == 1 else values

    def fit_generator(self, generator, steps_per_epoch=None, epochs=1,
                      verbose=1, callbacks=None, validation_data=None,
                      validation_steps=None, validation_freq=1,
                      class_weight=None, max_queue_size=10, workers=1,
                      use_multiprocessing=False, shuffle=True,
                      initial_epoch=0):
        """fit with the batches of a generator or a Sequence, which `workers`
        threads make, or processes with use_multiprocessing. `shuffle`: those of
        a Sequence come in a random order."""
        return self.fit(
            generator, epochs=epochs, verbose=verbose, callbacks=callbacks,
            validation_data=validation_data, class_weight=class_weight,
            initial_epoch=initial_epoch, steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps, validation_freq=validation_freq,
            max_queue_size=max_queue_size, workers=workers,
            use_multiprocessing=use_multiprocessing, shuffle=shuffle)

    def evaluate_generator(self, generator, steps=None, callbacks=None,
                           max_queue_size=10, workers=1,
                           use_multiprocessing=False, verbose=0):
        """evaluate with the batches of a generator."""
        return self.evaluate(
            generator, steps=steps, callbacks=callbacks, verbose=verbose,
            max_queue_size=max_queue_size, workers=workers,
            use_multiprocessing=use_multiprocessing)

    def predict_generator(self, generator, steps=None, callbacks=None,
                          max_queue_size=10, workers=1,
                          use_multiprocessing=False, verbose=0):
        """predict with the batches of a generator."""
        return self.predict(
            generator, steps=steps, callbacks=callbacks,
            max_queue_size=max_queue_size, workers=workers,
            use_multiprocessing=use_multiprocessing)

    def reset_states(self):
        """Starts the states of stateful layers anew."""
        for layer in self.layers:
            if getattr(layer, "stateful", False) and hasattr(
                    layer, "reset_states"):
                layer.reset_states()


def _due(epoch, frequency):
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency


class _Averages:
    """Of losses: the total is weighted by the sizes of batches, those of the
    outputs are not; metrics average by themselves."""

    def __init__(self, count):
        self._sums, self._weights = np.zeros(count), np.zeros(count)

    def add(self, values, size):
        n = len(self._sums)
        weights = np.array([size] + [1] * (n - 1), np.float64)
        self._sums += np.array(values[:n], np.float64) * weights
        self._weights += weights
        return [*(self._sums / self._weights), *values[n:]]


