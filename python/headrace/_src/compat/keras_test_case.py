"""tensorflow.python.keras.keras_parameterized and testing_utils: tests of
models of each kind, and of a layer alone. Graphs are all there is, so of the
ways in which TensorFlow runs such a test the session is the one that is here.

The decorators need `absl.testing`, as TensorFlow's do.
"""
import collections.abc
import contextlib
import functools
import inspect
import itertools
import threading
import unittest

import numpy as np

from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops.type_specs import TensorSpec
from headrace._src.keras import optimizers
from headrace._src.keras.models import Input, InputLayer, Model, Sequential
from headrace._src.layers import policy, backend
from headrace._src.layers.core import Dense

from headrace._src.testing import test_case

try:
    from absl.testing import parameterized  # type: ignore
    _CaseBases: tuple = (test_case.TestCase, parameterized.TestCase)
except ImportError:  # tests have no cases then, but layer_test is of use
    parameterized = None  # type: ignore
    _CaseBases = (test_case.TestCase,)

KINDS = "functional", "subclass", "sequential"

OPTIMIZERS = {
    "adadelta": optimizers.Adadelta, "adagrad": optimizers.Adagrad,
    "adam": optimizers.Adam, "adamax": optimizers.Adamax,
    "nadam": optimizers.Nadam, "rmsprop": optimizers.RMSprop,
    "sgd": optimizers.SGD,
}


class TestCase(*_CaseBases):  # type: ignore
    """A test after which Keras forgets its graph and its session."""

    def tearDown(self):
        backend.clear_session()
        super().tearDown()


class _Chosen(threading.local):
    """What the decorators chose for the test that this thread runs."""
    model_type = None
    run_eagerly = None
    experimental_run_tf_function = None


_chosen = _Chosen()


@contextlib.contextmanager
def _scope(name, value):
    before = getattr(_chosen, name)
    setattr(_chosen, name, value)
    try:
        yield value
    finally:
        setattr(_chosen, name, before)


def model_type_scope(value):
    """Inside, models are made of the kind `value`."""
    return _scope("model_type", value)


def run_eagerly_scope(value):
    """Inside, should_run_eagerly can be asked."""
    return _scope("run_eagerly", value)


def experimental_run_tf_function_scope(value):
    """Inside, should_run_tf_function can be asked."""
    return _scope("experimental_run_tf_function", value)


def _chosen_value(name, asked, scopes):
    value = getattr(_chosen, name)
    if value is None:
        raise ValueError("Cannot call `%s()` outside of a %s decorator."
                         % (asked, scopes))
    return value


def should_run_eagerly():
    """False, as only graphs are run. ValueError outside of a test of Keras'
    modes."""
    _chosen_value("run_eagerly", "should_run_eagerly",
                  "`run_eagerly_scope()` or `run_all_keras_modes`")
    return False


def should_run_tf_function():
    """False, as only graphs are run. ValueError outside of a test of Keras'
    modes."""
    _chosen_value("experimental_run_tf_function", "should_run_tf_function",
                  "`experimental_run_tf_function_scope()` or "
                  "`run_all_keras_modes`")
    return False


def get_model_type():
    """The kind of models that the test is about. ValueError outside of a test
    of all kinds."""
    return _chosen_value("model_type", "get_model_type",
                         "`model_type_scope()` or `run_with_all_model_types`")


def _for_cases(decorate, test_or_class):
    """What decorate, which makes a test into several, makes of a test, of the
    tests of a class or of the cases of a parameterized test."""
    if parameterized is None:
        raise ImportError("tests of all kinds of models or modes need the "
                          "package absl-py, which is not installed")

    def apply(value):
        if isinstance(value, collections.abc.Iterable):
            return itertools.chain.from_iterable(decorate(v) for v in value)
        if not isinstance(value, type):
            return decorate(value)
        for name, method in list(vars(value).items()):
            if callable(method) and name.startswith(
                    unittest.TestLoader.testMethodPrefix):
                setattr(value, name, decorate(method))
        # Another class of the same content: absl's metaclass takes the cases.
        return type(value)(value.__name__, value.__bases__, {
            k: v for k, v in vars(value).items()
            if k not in ("__dict__", "__weakref__")})
    return apply if test_or_class is None else apply(test_or_class)


def run_with_all_model_types(test_or_class=None, exclude_models=None):
    """The test, or those of a class, once for each kind of models: functional,
    subclass and sequential. `exclude_models`: the kinds, or the one, to leave
    out."""
    if isinstance(exclude_models, str):
        exclude_models = [exclude_models]
    cases = [("_" + kind, kind) for kind in KINDS
             if kind not in (exclude_models or ())]

    def decorate(test):
        @parameterized.named_parameters(*cases)
        @functools.wraps(test)
        def decorated(self, model_type, *args, **kwargs):
            with model_type_scope(model_type):
                test(self, *args, **kwargs)
        return decorated
    return _for_cases(decorate, test_or_class)


def run_all_keras_modes(test_or_class=None, config=None, always_skip_v1=False,
                        always_skip_eager=False):
    """The test, or those of a class, in a session of the configuration
    `config`. A test that is always_skip_v1 has no mode that is here; it is
    skipped."""
    del always_skip_eager
    case = (("_v2_function", "v2_function") if always_skip_v1
            else ("_v1_session", "v1_session"))

    def decorate(test):
        @parameterized.named_parameters(case)
        @functools.wraps(test)
        def decorated(self, run_mode, *args, **kwargs):
            if run_mode != "v1_session":
                self.skipTest("eager execution is not supported")
            with run_eagerly_scope(False), experimental_run_tf_function_scope(
                    False), self.test_session(use_gpu=True, config=config):
                test(self, *args, **kwargs)
        return decorated
    return _for_cases(decorate, test_or_class)


def get_test_data(train_samples, test_samples, input_shape, num_classes,
                  random_seed=None):
    """Points around one centre for each class: ((x, y), (x, y)), to train and
    to test. x is float32 of [samples, *input_shape], y the classes."""
    if random_seed is not None:
        np.random.seed(random_seed)
    samples = train_samples + test_samples
    centres = 2 * num_classes * np.random.random((num_classes,) + input_shape)
    y = np.random.randint(0, num_classes, size=(samples,))
    x = np.zeros((samples,) + input_shape, np.float32)
    for i in range(samples):
        x[i] = centres[y[i]] + np.random.normal(size=input_shape)
    return ((x[:train_samples], y[:train_samples]),
            (x[train_samples:], y[train_samples:]))


def _last_activation(num_classes):
    return "sigmoid" if num_classes == 1 else "softmax"


def get_small_sequential_mlp(num_hidden, num_classes, input_dim=None):
    """A Sequential model of two dense layers."""
    size = {"input_dim": input_dim} if input_dim else {}
    return Sequential([
        Dense(num_hidden, activation="relu", **size),
        Dense(num_classes, activation=_last_activation(num_classes))])


def get_small_functional_mlp(num_hidden, num_classes, input_dim):
    """A model of two dense layers, made from its input and its output."""
    inputs = Input(shape=(input_dim,))
    hidden = Dense(num_hidden, activation="relu")(inputs)
    return Model(inputs, Dense(
        num_classes, activation=_last_activation(num_classes))(hidden))


class SmallMLP(Model):
    """Two dense layers, made with the model."""

    def __init__(self, num_hidden, num_classes):
        super().__init__()
        self.layer_a = Dense(num_hidden, activation="relu")
        self.layer_b = Dense(num_classes,
                             activation=_last_activation(num_classes))

    def call(self, inputs, **kwargs):
        """The classes of inputs."""
        return self.layer_b(self.layer_a(inputs))


class SmallMLPCustomBuild(Model):
    """Two dense layers, made when the shape of the input is known."""

    def __init__(self, num_hidden, num_classes):
        super().__init__()
        self.layer_a = self.layer_b = None
        self.num_hidden, self.num_classes = num_hidden, num_classes

    def build(self, input_shape):
        """Makes the layers."""
        self.layer_a = Dense(self.num_hidden, activation="relu")
        self.layer_b = Dense(self.num_classes,
                             activation=_last_activation(self.num_classes))

    def call(self, inputs, **kwargs):
        """The classes of inputs."""
        return self.layer_b(self.layer_a(inputs))


def get_small_subclass_mlp(num_hidden, num_classes):
    """A model of two dense layers, of a class of its own."""
    return SmallMLP(num_hidden, num_classes)


def get_small_subclass_mlp_with_custom_build(num_hidden, num_classes):
    """A model of two dense layers, of a class with its own `build`."""
    return SmallMLPCustomBuild(num_hidden, num_classes)


def get_small_mlp(num_hidden, num_classes, input_dim):
    """A model of two dense layers, of the kind that the test is about."""
    kind = get_model_type()
    if kind == "subclass":
        return SmallMLP(num_hidden, num_classes)
    if kind == "subclass_custom_build":
        return SmallMLPCustomBuild(num_hidden, num_classes)
    if kind == "sequential":
        return get_small_sequential_mlp(num_hidden, num_classes, input_dim)
    if kind == "functional":
        return get_small_functional_mlp(num_hidden, num_classes, input_dim)
    raise ValueError("Unknown model type %s" % kind)


def _through(layers, value):
    for layer in layers or ():
        value = layer(value)
    return value


class LayersModel(Model):
    """Layers in a row, each an attribute of the model."""

    def __init__(self, layers, *args, **kwargs):
        inputs = kwargs.pop("input_tensor", None)
        super().__init__(*args, **kwargs)
        for i, layer in enumerate(layers):
            setattr(self, "layer%d" % i, layer)
        self.num_layers = len(layers)
        if inputs is not None:
            self._set_inputs(inputs)

    def call(self, inputs, **kwargs):
        """What the layers make of inputs, one after the other."""
        return _through([getattr(self, "layer%d" % i)
                         for i in range(self.num_layers)], inputs)


class LayersModelCustomBuild(Model):
    """Layers in a row, made when the shape of the input is known."""

    def __init__(self, layer_generating_func, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.all_layers = None
        self._layer_generating_func = layer_generating_func

    def build(self, input_shape):
        """Makes the layers."""
        self.all_layers = list(self._layer_generating_func())

    def call(self, inputs, **kwargs):
        """What the layers make of inputs, one after the other."""
        return _through(self.all_layers, inputs)


def get_model_from_layers(layers, input_shape=None, input_dtype=None, name=None,
                          input_ragged=None, input_sparse=None):
    """A model of layers in a row, of the kind that the test is about.
    ValueError for a functional one without input_shape."""
    kind = get_model_type()
    given = {k: v for k, v in (("dtype", input_dtype), ("ragged", input_ragged),
                               ("sparse", input_sparse)) if v is not None}
    if kind == "subclass":
        inputs = (Input(shape=input_shape, **given)
                  if input_ragged or input_sparse else None)
        return LayersModel(layers, name=name, input_tensor=inputs)
    if kind == "subclass_custom_build":
        return LayersModelCustomBuild(lambda: layers, name=name)
    if kind == "sequential":
        model = Sequential(name=name)
        if input_shape:
            model.add(InputLayer(input_shape=input_shape, **given))
        for layer in layers:
            model.add(layer)
        return model
    if kind == "functional":
        if not input_shape:
            raise ValueError("Cannot create a functional model from layers "
                             "with no input shape.")
        inputs = Input(shape=input_shape, **given)
        return Model(inputs, _through(layers, inputs), name=name)
    raise ValueError("Unknown model type %s" % kind)


def _branches(inputs, branch_a, branch_b, shared_input, shared_output):
    if shared_input:
        a = b = _through(shared_input, inputs)
    else:
        a, b = inputs
    outputs = [_through(branch_a, a), _through(branch_b, b)]
    return _through(shared_output, outputs)


class BranchesModel(Model):
    """Two rows of layers, with layers before or after both."""

    def __init__(self, branch_a, branch_b, shared_input_branch=None,
                 shared_output_branch=None):
        super().__init__()
        self._shared_input_branch = shared_input_branch
        self._branch_a, self._branch_b = branch_a, branch_b
        self._shared_output_branch = shared_output_branch

    def call(self, inputs, **kwargs):
        """A list of both outputs, or the one after the shared layers."""
        return _branches(inputs, self._branch_a, self._branch_b,
                         self._shared_input_branch, self._shared_output_branch)


class BranchesModelCustomBuild(Model):
    """Two rows of layers, made when the shapes of the inputs are known."""

    def __init__(self, makers):
        super().__init__()
        self._makers = makers
        self._made = None

    def build(self, input_shape):
        """Makes the layers."""
        self._made = [maker() for maker in self._makers]

    def call(self, inputs, **kwargs):
        """A list of both outputs, or the one after the shared layers."""
        return _branches(inputs, *self._made)


def get_multi_io_model(branch_a, branch_b, shared_input_branch=None,
                       shared_output_branch=None):
    """A model of two rows of layers, of the kind that the test is about. The
    first of each row, or of the shared ones before both, is an Input.
    ValueError for a sequential one."""
    if shared_input_branch:
        inputs = shared_input_branch[0]
        shared_input_branch = shared_input_branch[1:]
    else:
        inputs = branch_a[0], branch_b[0]
        branch_a, branch_b = branch_a[1:], branch_b[1:]
    parts = branch_a, branch_b, shared_input_branch, shared_output_branch
    kind = get_model_type()
    if kind == "subclass":
        return BranchesModel(*parts)
    if kind == "subclass_custom_build":
        return BranchesModelCustomBuild(
            [functools.partial(list, part or ()) for part in parts])
    if kind == "sequential":
        raise ValueError("Cannot use `get_multi_io_model` to construct "
                         "sequential models")
    if kind == "functional":
        return Model(inputs, _branches(inputs, *parts))
    raise ValueError("Unknown model type %s" % kind)


def get_v2_optimizer(name, **kwargs):
    """A Keras optimizer by its name in small letters. ValueError for others."""
    if name not in OPTIMIZERS:
        raise ValueError(
            "Could not find requested v2 optimizer: %s\nValid choices: %s"
            % (name, list(OPTIMIZERS)))
    return OPTIMIZERS[name](**kwargs)


def get_expected_metric_variable_names(var_names, name_suffix=""):
    """The names of a metric's variables where others of the same names were
    made before; name_suffix is what the new ones end with."""
    return [name + name_suffix + ":0" for name in var_names]


def _with_dtype_behavior(fn, enabled):
    @functools.wraps(fn)
    def test(*args, **kwargs):
        outer = policy.set_v2_dtype_behavior(enabled)
        try:
            return fn(*args, **kwargs)
        finally:
            policy.set_v2_dtype_behavior(outer)
    return test


def enable_v2_dtype_behavior(fn):
    """The test runs with layers that have the types of TensorFlow 2."""
    return _with_dtype_behavior(fn, True)


def disable_v2_dtype_behavior(fn):
    """The test runs with layers that have the types of TensorFlow 1."""
    return _with_dtype_behavior(fn, False)


def _check_shape(layer, kwargs, expected, actual):
    expected = TensorShape(expected).as_list()
    actual = TensorShape(actual).as_list()
    if len(expected) != len(actual) or any(
            e not in (None, a) for e, a in zip(expected, actual)):
        raise AssertionError(
            "When testing layer %s, found output_shape=%s but expected to find "
            "%s.\nFull kwargs: %s" % (layer, actual, expected, kwargs))


def _check_dtype(layer, kwargs, expected, actual):
    if expected != actual:
        raise AssertionError(
            "When testing layer %s, found output dtype=%s but expected to find "
            "%s.\nFull kwargs: %s" % (layer, actual, expected, kwargs))


def _check_values(expected, actual):
    if expected is not None:
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-6)


def _check_copy(model, kind, data, output):
    """A model of the same configuration and weights gives the same."""
    copy = kind.from_config(model.get_config())
    if model.weights:
        copy.set_weights(model.get_weights())
        _check_values(output, copy.predict(data))


def _input_data(shape, dtype):
    sizes = [np.random.randint(1, 4) if n is None else n for n in shape]
    data = 10 * np.random.random(sizes)
    return (data - 0.5 if dtype.startswith("float") else data).astype(dtype)


def layer_test(layer_cls, kwargs=None, input_shape=None, input_dtype=None,
               input_data=None, expected_output=None,
               expected_output_dtype=None, expected_output_shape=None,
               validate_training=True, adapt_data=None):
    """Checks a layer of one input and one output: its weights, its shapes and
    types, its configuration, a step of training, and itself as the first of a
    Sequential model.

    Args:
      layer_cls: its class; `kwargs` are the arguments.
      input_shape: with the batch's size first; None sizes are chosen.
      input_dtype: float32 if not given.
      input_data: an array; else one of random numbers is made.
      expected_output, expected_output_dtype, expected_output_shape: what to
        compare with. The type is that of the input if not given.
      validate_training: whether the layer has gradients.
      adapt_data: what layer.adapt takes, if the layer has it.

    Returns:
      The array that the Sequential model gives.

    Raises:
      AssertionError: the layer does otherwise.
      ValueError: neither input_shape nor input_data is given.
    """
    if input_data is None:
        if input_shape is None:
            raise ValueError("input_shape is None")
        input_dtype = input_dtype or "float32"
        input_data = _input_data(input_shape, input_dtype)
    elif input_shape is None:
        input_shape = input_data.shape
    if input_dtype is None:
        input_dtype = input_data.dtype
    if expected_output_dtype is None:
        expected_output_dtype = input_dtype
    name, kwargs = layer_cls.__name__, kwargs or {}

    layer = layer_cls(**kwargs)
    if adapt_data is not None:
        layer.adapt(adapt_data)
    weights = layer.get_weights()
    layer.set_weights(weights)
    if "weights" in inspect.signature(layer_cls.__init__).parameters:
        kwargs["weights"] = weights
        layer = layer_cls(**kwargs)

    x = Input(shape=tuple(input_shape[1:]), dtype=input_dtype)
    y = layer(x)
    _check_dtype(name, kwargs, expected_output_dtype, backend.dtype(y))
    if expected_output_shape is not None:
        _check_shape(name, kwargs, expected_output_shape, y.shape)

    model = Model(x, y)
    shape = layer.compute_output_shape(TensorShape(input_shape))
    signature = layer.compute_output_signature(
        TensorSpec(shape=input_shape, dtype=input_dtype))
    output = model.predict(input_data)
    _check_shape(name, kwargs, shape, output.shape)
    _check_shape(name, kwargs, signature.shape, output.shape)
    _check_dtype(name, kwargs, signature.dtype, output.dtype)
    _check_values(expected_output, output)
    _check_copy(model, Model, input_data, output)

    if validate_training:
        model = Model(x, layer(x))
        model.compile("rmsprop", "mse", weighted_metrics=["acc"])
        model.train_on_batch(input_data, output)

    config = layer.get_config()
    config["batch_input_shape"] = input_shape
    layer = layer.__class__.from_config(config)
    if adapt_data is not None:
        layer.adapt(adapt_data)
    model = Sequential()
    model.add(layer)
    output = model.predict(input_data)
    _check_shape(name, kwargs, shape, output.shape)
    _check_values(expected_output, output)
    _check_copy(model, Sequential, input_data, output)
    return output
