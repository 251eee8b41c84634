"""tf.keras.optimizers: those of programs, and steps for the rows of embeddings.
Values are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import headrace as tf

OPTIMIZERS = tf.keras.optimizers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


class Averaging(OPTIMIZERS.Optimizer):
    """Steps by a decayed sum of gradients, dense or sparse."""

    def __init__(self, learning_rate=.01, total=10, name="Averaging", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("total", total)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "sum")
        for var in var_list:
            self.add_slot(var, "squares", initializer="ones")

    def _resource_apply_dense(self, grad, var, apply_state=None):
        key = var.device, var.dtype.base_dtype
        now = (apply_state or {}).get(key) or self._fallback_apply_state(*key)
        total = self._get_hyper("total", key[1])
        sums, squares = self.get_slot(var, "sum"), self.get_slot(var, "squares")
        new = tf.compat.v1.assign(sums, sums * .9 + grad,
                                  use_locking=self._use_locking)
        with tf.control_dependencies([new]):
            root = tf.sqrt(squares.assign(squares + tf.square(new) / total))
        step = now["lr_t"] + tf.cast(self.iterations, key[1]) * .001
        return tf.group(
            tf.compat.v1.assign_sub(var, step * new / root), new, root)

    def _resource_apply_sparse(self, grad, var, indices):
        sums = self.get_slot(var, "sum")
        new = tf.compat.v1.assign(sums, sums * .9)
        with tf.control_dependencies([new]):
            new = self._resource_scatter_add(sums, indices, grad)
        rate = self._decayed_lr(var.dtype.base_dtype)
        return tf.group(tf.compat.v1.assign_sub(var, rate * new), new)

    def get_config(self):
        return dict(super().get_config(), **{
            name: self._serialize_hyperparameter(name)
            for name in ("learning_rate", "decay", "total")})


class DecayedAdam(OPTIMIZERS.Adam):
    """Adam with half the rate, after a decay of the weights."""

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        state = apply_state[var_device, var_dtype]
        state["lr_t"], state["lr"] = state["lr_t"] * .5, state["lr"] * .5

    def _resource_apply_sparse(self, grad, var, indices, **kwargs):
        with tf.control_dependencies([var.assign_sub(.01 * var)]):
            return super()._resource_apply_sparse(grad, var, indices, **kwargs)


class Plain(OPTIMIZERS.Optimizer):
    """An optimizer with updates of its own."""

    def __init__(self, rate):
        super().__init__("Plain")
        self._rate = tf.keras.backend.variable(rate)

    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        return [tf.keras.backend.update_add(self.iterations, 1)] + [
            tf.keras.backend.update(p, p - self._rate * g)
            for p, g in zip(params, map(tf.convert_to_tensor, grads))]

    def get_config(self):
        return {"rate": .1}


def make(name, arguments):
    own = {c.__name__: c for c in (Averaging, DecayedAdam, Plain)}
    return (own.get(name) or getattr(OPTIMIZERS, name))(**arguments)


def rows_after_training(optimizer):
    """The sums of the rows of an embedding, of which steps look rows up."""
    layers, constant = tf.keras.layers, tf.keras.initializers.Constant
    model = tf.keras.Sequential([
        layers.Embedding(6, 3, input_length=4,
                         embeddings_initializer=constant(.3)),
        layers.Flatten(), layers.Dense(2, kernel_initializer=constant(.2))])
    model.compile(optimizer, "mse")
    model.fit(np.array([[0, 1, 1, 2], [2, 2, 3, 0]]),
              np.array([[1., 2.], [0., 1.]]), batch_size=1, epochs=2,
              shuffle=False, verbose=0)
    return model.get_weights()[0].sum(1)


@pytest.mark.parametrize("name, arguments, rows", [
    ("SGD", dict(learning_rate=0.1),
     [0.9629, 1.256, 0.8468, 0.7836, 0.9, 0.9]),
    ("SGD", dict(learning_rate=0.1, momentum=0.9),
     [1.093, 1.387, 0.8399, 0.6912, 0.9, 0.9]),
    ("SGD", dict(learning_rate=.1, momentum=.9, nesterov=True, clipvalue=.01),
     [0.9044, 0.9277, 0.8884, 0.8862, 0.9, 0.9]),
    ("SGD", dict(learning_rate=0.1, decay=0.1, clipnorm=0.1),
     [0.9013, 0.9318, 0.8868, 0.8855, 0.9, 0.9]),
    ("RMSprop", dict(learning_rate=0.01),
     [0.9693, 1.064, 0.9179, 0.7402, 0.9, 0.9]),
    ("RMSprop", dict(learning_rate=0.01, centered=True),
     [0.9731, 1.076, 0.9199, 0.7282, 0.9, 0.9]),
    ("RMSprop", dict(learning_rate=0.01, momentum=0.5),
     [1.028, 1.106, 0.953, 0.6855, 0.9, 0.9]),
    ("RMSprop", dict(learning_rate=0.01, momentum=0.5, centered=True),
     [1.035, 1.12, 0.9565, 0.6692, 0.9, 0.9]),
    ("Adagrad", dict(learning_rate=0.1),
     [0.9857, 1.356, 0.8372, 0.5607, 0.9, 0.9]),
    ("Adadelta", dict(learning_rate=1.0),
     [0.9053, 0.9085, 0.9026, 0.8915, 0.9, 0.9]),
    ("Adam", dict(learning_rate=0.01),
     [0.9701, 0.9946, 0.9471, 0.8381, 0.9, 0.9]),
    ("Adam", dict(learning_rate=0.01, amsgrad=True),
     [0.9701, 0.9946, 0.9471, 0.8381, 0.9, 0.9]),
    ("Adamax", dict(learning_rate=0.01),
     [0.9617, 0.9506, 0.9456, 0.868, 0.9, 0.9]),
    ("Nadam", dict(learning_rate=0.01),
     [0.9388, 0.9569, 0.9206, 0.8412, 0.9, 0.9]),
    ("Ftrl", dict(learning_rate=0.1),
     [0.6989, 0.943, 0.7664, 0.1472, 0.9, 0.9]),
    ("Ftrl", dict(learning_rate=.1, l2_shrinkage_regularization_strength=.1,
                  l1_regularization_strength=.01),
     [0.597, 0.8862, 0.6774, 0.1089, 0.9, 0.9]),
    ("Averaging", dict(),
     [0.9384, 0.999, 0.9273, 0.8889, 0.9, 0.9]),
    ("Averaging", dict(lr=0.1, decay=0.5),
     [1.059, 1.436, 0.9508, 0.7911, 0.9, 0.9]),
    ("DecayedAdam", dict(learning_rate=0.01),
     [0.9013, 0.9111, 0.8915, 0.8339, 0.8645, 0.8645]),
    ("Plain", dict(rate=0.1),
     [0.9629, 1.256, 0.8468, 0.7836, 0.9, 0.9]),
])
def test_steps_change_the_rows_that_were_looked_up(name, arguments, rows):
    got = rows_after_training(make(name, arguments))
    np.testing.assert_allclose(got, rows, rtol=1e-3)


def test_weights_and_config_of_an_optimizer_of_a_program():
    optimizer = Averaging(lr=.5, clipnorm=1.)
    rows_after_training(optimizer)
    assert [w.op.name.partition("/Averaging/")[2]
            for w in optimizer.weights] == ["iter"] + [
        "%s/%s" % (name, slot) for slot in ("sum", "squares")
        for name in ("embedding/embeddings", "dense/kernel", "dense/bias")]
    assert optimizer.get_slot_names() == ["sum", "squares"]
    assert optimizer.get_config() == {
        "name": "Averaging", "learning_rate": .5, "decay": 0., "total": 10,
        "clipnorm": 1.}
    weights = optimizer.get_weights()
    assert weights[0] == 4
    optimizer.set_weights(weights)
    with pytest.raises(ValueError, match="shape"):
        optimizer.set_weights([np.zeros(3)] + weights[1:])
    optimizer.lr = .25
    assert optimizer.get_config()["learning_rate"] == .25
    assert Averaging.from_config(optimizer.get_config()).clipnorm == 1.


def test_hyperparameters_before_the_first_step_are_what_was_given():
    optimizer = Averaging(total=7)
    assert optimizer.get_config()["total"] == 7
    optimizer.total = 8
    assert optimizer.get_config()["total"] == 8
    assert tf.keras.backend.get_value(optimizer.total) == 8
    with pytest.raises(AttributeError, match="'Averaging' .* 'nothing'"):
        optimizer.nothing


def test_gradients_of_rows_refuse_a_constraint_of_the_variable():
    v = tf.get_variable("v", [4, 2], use_resource=True,
                        constraint=tf.keras.constraints.NonNeg())
    with pytest.raises(RuntimeError, match="constraint"):
        OPTIMIZERS.SGD().minimize(tf.reduce_sum(tf.gather(v, [1])), [v])


def test_gradients_of_complex_variables_are_refused():
    v = tf.get_variable("v", initializer=np.complex64([1j]), use_resource=True)
    with pytest.raises(ValueError, match="Invalid type tf.complex64 for v"):
        OPTIMIZERS.SGD().get_updates(tf.reduce_sum(tf.abs(v)), [v])


def test_weights_of_the_first_keras_have_no_number_of_steps():
    for optimizer in (OPTIMIZERS.RMSprop(), OPTIMIZERS.Adagrad()):
        rows_after_training(optimizer)
        optimizer.set_weights(optimizer.get_weights()[1:])
        assert optimizer.get_weights()[0] == 0


def test_cast_of_a_resource_variable_to_its_own_type_is_the_variable():
    v = tf.get_variable("v", [2], use_resource=True)
    assert tf.cast(v, tf.float32) is v
    assert tf.cast(v, tf.float64).dtype == tf.float64
