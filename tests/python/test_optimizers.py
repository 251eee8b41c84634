"""tf.train's optimizers: their losses against TensorFlow 1.15's, what they name
their variables, and what they refuse."""
import numpy as np
import pytest

import headrace as tf
from headrace import train

NAN = float("nan")

# The loss before each of ten steps, as TensorFlow 1.15.5 has it.
OPTIMIZERS = {
    "gradient_descent": (lambda train: train.GradientDescentOptimizer(.1), """
        0.19430205 0.1722436 0.15723716 0.14689946 0.1396794 0.13455872
        0.1308644 0.12814891 0.1261131 0.12455557"""),
    "momentum": (lambda train: train.MomentumOptimizer(.1, .9), """
        0.19430205 0.1722436 0.144196 0.12671632 0.1259405 0.13586031
        0.14497349 0.14528027 0.1370618 0.12688173"""),
    "momentum_nesterov": (lambda train: train.MomentumOptimizer(.1, .9, use_nesterov=True), """
        0.19430205 0.15606377 0.131449 0.12349813 0.12497273 0.12747818
        0.12697545 0.12398629 0.12084815 0.11916401"""),
    "adam": (lambda train: train.AdamOptimizer(.1), """
        0.19430205 0.16332191 0.14192176 0.13532913 0.14104135 0.14281669
        0.13511172 0.12533692 0.12194259 0.12500495"""),
    "adagrad": (lambda train: train.AdagradOptimizer(.1), """
        0.19430205 0.1492168 0.13484979 0.128335 0.1246597 0.12232011
        0.12073626 0.11962934 0.1188416 0.11827406"""),
    "adadelta": (lambda train: train.AdadeltaOptimizer(.1), """
        0.19430205 0.19423905 0.19417529 0.19411108 0.19404653 0.19398177
        0.19391678 0.19385162 0.19378635 0.19372097"""),
    "adagrad_da": (lambda train: train.AdagradDAOptimizer(
        .1, train.get_global_step()), """
        0.19430205 0.22834195 0.21110386 0.20123562 0.19472145 0.19018644
        0.18694758 0.1846031 0.18289301 0.18163918"""),
    "rmsprop": (lambda train: train.RMSPropOptimizer(.1, momentum=.5), """
        0.19430205 0.17127693 0.14750509 0.13238363 0.12528427 0.12241073
        0.12089961 0.11965818 0.11861292 0.11788269"""),
    "rmsprop_centered": (lambda train: train.RMSPropOptimizer(.1, centered=True), """
        0.19430205 0.17126665 0.15521866 0.1441142 0.13646102 0.13118164
        0.12751177 0.12492133 0.12305176 0.12166648"""),
    "ftrl": (lambda train: train.FtrlOptimizer(
        .1, l1_regularization_strength=.01,
        l2_regularization_strength=.02), """
        0.19430205 0.22929314 0.20977424 0.19857083 0.19167025 0.18724923
        0.1843466 0.182401 0.18109325 0.18019721"""),
    "ftrl_shrinkage": (lambda train: train.FtrlOptimizer(
        .1, l2_shrinkage_regularization_strength=.02), """
        0.19430205 0.22801499 0.20888546 0.19805816 0.19144267 0.18722269
        0.1844501 0.18258494 0.18130288 0.1804022"""),
    "proximal_gradient_descent": (lambda train: train.ProximalGradientDescentOptimizer(
        .1, .01, .02), """
        0.19430205 0.17268276 0.15807818 0.14806747 0.14109813 0.13616326
        0.13260384 0.12998487 0.12801701 0.12650621"""),
    "proximal_adagrad": (lambda train: train.ProximalAdagradOptimizer(
        .1, .1, .01, .02), """
        0.19430205 0.15028058 0.13659106 0.13048279 0.12704226 0.12480962
        0.1232384 0.12207914 0.12119807 0.12051448"""),
}
KINDS = pytest.mark.parametrize("use_resource", [False, True])


def model(use_resource=False, dtype=np.float32):
    """Rows of `e` (one of them twice) through a dense layer; the loss."""
    rows = np.linspace(-1, 1, 15).reshape(5, 3).astype(dtype)
    kernel = np.linspace(-.5, .7, 6).reshape(3, 2).astype(dtype)
    with tf.variable_scope("s", use_resource=use_resource):
        e = tf.get_variable("e", initializer=rows)
        w = tf.get_variable("w", initializer=kernel)
        b = tf.get_variable("b", [2], dtype=tf.as_dtype(dtype),
                            initializer=tf.zeros_initializer())
    wanted = np.array([[.3, -.2], [.9, .1], [-.4, .5], [.2, .8]], dtype)
    y = tf.matmul(tf.nn.embedding_lookup(e, [0, 1, 1, 3]), w) + b
    return tf.reduce_mean(tf.square(y - wanted)), [e, w, b]


def losses(loss, step, steps=10):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []
        for _ in range(steps):
            found.append(session.run(loss))
            session.run(step)
        return found


@KINDS
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_losses(name, use_resource):
    make, wanted = OPTIMIZERS[name]
    loss, _ = model(use_resource)
    count = train.get_or_create_global_step()
    step = make(train).minimize(loss, global_step=count)
    assert tf.get_collection("train_op") == [step]
    np.testing.assert_allclose(
        losses(loss, step), [float(x) for x in wanted.split()], rtol=2e-6)


@KINDS
@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_types(name, use_resource, dtype):
    loss, _ = model(use_resource, dtype)
    train.create_global_step()
    if name == "ftrl" and dtype is np.float16:
        pytest.skip("its sums of squares are too coarse in half")
    step = OPTIMIZERS[name][0](train).minimize(
        loss, global_step=train.get_global_step())
    found = losses(loss, step)
    np.testing.assert_allclose(
        found, [float(x) for x in OPTIMIZERS[name][1].split()],
        rtol=1e-6 if dtype is np.float64 else .05, atol=1e-6)


@pytest.mark.parametrize("make, slots, own", [
    (lambda: train.GradientDescentOptimizer(.1), {}, []),
    (lambda: train.MomentumOptimizer(.1, .9), {"momentum": "Momentum"}, []),
    (lambda: train.AdamOptimizer(), {"m": "Adam", "v": "Adam_1"},
     ["beta1_power", "beta2_power"]),
    (lambda: train.AdamOptimizer(name="A"), {"m": "A", "v": "A_1"},
     ["beta1_power", "beta2_power"]),
    (lambda: train.AdagradOptimizer(.1), {"accumulator": "Adagrad"}, []),
    (lambda: train.AdadeltaOptimizer(),
     {"accum": "Adadelta", "accum_update": "Adadelta_1"}, []),
    (lambda: train.RMSPropOptimizer(.1),
     {"rms": "RMSProp", "momentum": "RMSProp_1"}, []),
    (lambda: train.RMSPropOptimizer(.1, centered=True),
     {"rms": "RMSProp", "mg": "RMSProp_1", "momentum": "RMSProp_2"}, []),
    (lambda: train.FtrlOptimizer(.1),
     {"accum": "Ftrl", "linear": "Ftrl_1"}, []),
    (lambda: train.FtrlOptimizer(.1, accum_name="a", linear_name="l"),
     {"accum": "a", "linear": "l"}, []),
    (lambda: train.ProximalAdagradOptimizer(.1),
     {"accumulator": "ProximalAdagrad"}, []),
])
@KINDS
def test_variables(make, slots, own, use_resource):
    loss, variables = model(use_resource)
    optimizer = make()
    before = tf.global_variables()
    optimizer.minimize(loss)
    assert optimizer.get_slot_names() == sorted(slots)
    for v in variables:
        for slot, name in slots.items():
            found = optimizer.get_slot(v, slot)
            assert found.name == "%s/%s:0" % (v.op.name, name)
            assert found.shape == v.shape and not found.trainable
            assert found.op.colocation_groups() == [
                b"loc:@" + v.op.name.encode()]
    assert optimizer.get_slot(variables[0], "none") is None
    wanted = own + ["%s/%s" % (v.op.name, n) for v in variables
                    for n in slots.values()]
    assert [v.op.name for v in optimizer.variables()] == sorted(wanted)
    assert {v.op.name for v in tf.global_variables()} == {
        *wanted, *(v.op.name for v in before)}
    assert tf.trainable_variables() == variables


def test_two_optimizers_share_no_variables():
    loss, (_, w, _) = model()
    first, second = train.AdamOptimizer(), train.AdamOptimizer()
    first.minimize(loss)
    second.minimize(loss)
    assert second.get_slot(w, "v").op.name == "s/w/Adam_3"
    assert [v.op.name for v in second.variables()][:2] == [
        "beta1_power_1", "beta2_power_1"]


def test_minimize_twice_makes_slots_once():
    loss, _ = model()
    optimizer = train.AdamOptimizer()
    optimizer.minimize(loss)
    made = optimizer.variables()
    optimizer.minimize(loss)
    assert optimizer.variables() == made and len(made) == 8


@KINDS
def test_global_step_counts(use_resource):
    loss, _ = model(use_resource)
    count = tf.Variable(5, name="count", trainable=False,
                        use_resource=use_resource)
    step = train.AdamOptimizer(name="opt").minimize(loss, global_step=count)
    assert step.name == "opt"
    assert step.type == ("AssignAddVariableOp" if use_resource
                         else "AssignAdd")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(step) is None
        assert session.run(count) == 6


@KINDS
def test_gradients_between(use_resource):
    loss, (_, w, b) = model(use_resource)
    optimizer = train.GradientDescentOptimizer(tf.constant(.5))
    unused = tf.Variable([1.])
    pairs = optimizer.compute_gradients(loss, [w, b, unused])
    assert [v for _, v in pairs] == [w, b, unused] and pairs[2][0] is None
    before, grad = tf.identity(w), tf.convert_to_tensor(pairs[0][0])
    step = optimizer.apply_gradients(
        [(g if g is None else 2. * g, v) for g, v in pairs], name="doubled")
    assert step.name == "doubled" and step.type == "NoOp"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        old, by = session.run([before, grad])
        session.run(step)
        np.testing.assert_allclose(session.run(w), old - by, rtol=1e-6)


@KINDS
@pytest.mark.parametrize("make", [
    lambda: train.GradientDescentOptimizer(1.),
    lambda: train.MomentumOptimizer(1., 0.),
    lambda: train.AdagradOptimizer(1., 1e-20)])
def test_slices_at_the_same_index_add_up(make, use_resource):
    v = tf.Variable(np.zeros([3, 2], np.float32), use_resource=use_resource)
    slices = tf.IndexedSlices(tf.constant([[1., 2.], [4., 8.], [3., 3.]]),
                              tf.constant([2, 0, 2]), tf.constant([3, 2]))
    step = make().apply_gradients([(slices, v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        got = -session.run(v)
    if "Adagrad" in step.name:
        np.testing.assert_allclose(got, [[1, 1], [0, 0], [1, 1]], atol=1e-5)
    else:
        np.testing.assert_allclose(got, [[4, 8], [0, 0], [4, 5]])


@KINDS
def test_constraint(use_resource):
    v = tf.Variable([1., -1.], use_resource=use_resource,
                    constraint=lambda x: tf.clip_by_value(x, -1., 1.))
    step = train.GradientDescentOptimizer(1.).apply_gradients(
        [(tf.constant([5., -.5]), v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(v).tolist() == [-1., -.5]
    with pytest.raises(RuntimeError, match="constraint function on a sparse"):
        train.GradientDescentOptimizer(1.).apply_gradients(
            [(tf.IndexedSlices([1.], [0]), v)])


@pytest.mark.parametrize("gate", [0, 1, 2])
def test_gates(gate):
    # Without a gate, a reference may be updated before it is last read.
    loss, _ = model(use_resource=gate == 0)
    assert (train.Optimizer.GATE_NONE, train.Optimizer.GATE_OP,
            train.Optimizer.GATE_GRAPH) == (0, 1, 2)
    step = train.GradientDescentOptimizer(.1).minimize(
        loss, gate_gradients=gate)
    wanted = OPTIMIZERS["gradient_descent"][1].split()
    np.testing.assert_allclose(losses(loss, step),
                               [float(x) for x in wanted], rtol=2e-6)


def test_grad_loss_and_function_of_loss():
    loss, _ = model()
    step = train.GradientDescentOptimizer(lambda: .025).minimize(
        lambda: loss, grad_loss=tf.constant(4.))
    wanted = OPTIMIZERS["gradient_descent"][1].split()
    np.testing.assert_allclose(losses(loss, step),
                               [float(x) for x in wanted], rtol=2e-6)


def test_use_locking():
    for locking in (False, True):
        loss, _ = model()
        train.AdamOptimizer(use_locking=locking, name="lock").minimize(loss)
        graph = tf.get_default_graph()
        applied = [op for op in graph.get_operations()
                   if op.type in ("ApplyAdam", "AssignSub", "ScatterAdd")]
        assert len(applied) == 5
        assert all(op.get_attr("use_locking") is locking for op in applied)
        tf.reset_default_graph()


def test_a_slot_of_an_unknown_shape():
    v = tf.Variable(tf.placeholder_with_default([1., 2.], [None]),
                    validate_shape=False)
    for optimizer in (train.AdagradOptimizer(.1, .25),
                      train.RMSPropOptimizer(.1), train.FtrlOptimizer(.1),
                      train.MomentumOptimizer(.1, .9)):
        step = optimizer.apply_gradients([(tf.constant([1., 1.]), v)])
        with tf.Session() as session:
            session.run(v.initializer)
            session.run(tf.global_variables_initializer())
            slots = session.run(optimizer.variables())
            assert all(s.shape == (2,) for s in slots)
            if optimizer.get_name() == "Adagrad":
                assert slots[0].tolist() == [.25, .25]
            session.run(step)
            assert (session.run(v) < [1., 2.]).all()


def test_slots_of_parts():
    v = tf.get_variable("v", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    loss = tf.reduce_sum(tf.convert_to_tensor(v) ** 2)
    optimizer = train.MomentumOptimizer(.1, .9)
    optimizer.minimize(loss)
    slot = optimizer.get_slot(list(v)[1], "momentum")
    assert slot.op.name == "v/part_1/Momentum"
    info = slot._get_save_slice_info()
    assert (info.full_name, info.full_shape, info.var_offset,
            info.var_shape) == ("v/Momentum", [4, 2], [2, 0], [2, 2])


class HalvedOptimizer(train.GradientDescentOptimizer):
    """As programs derive optimizers of their own."""

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(1., "power", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "seen", self._name)

    def _apply_dense(self, grad, var):
        seen = self.get_slot(var, "seen")
        with tf.control_dependencies([seen.assign_add(grad)]):
            return super()._apply_dense(grad / 2., var)

    def _finish(self, update_ops, name_scope):
        with tf.control_dependencies(update_ops):
            power = self._get_non_slot_variable(
                "power", graph=tf.get_default_graph())
            return tf.group(*update_ops, power.assign(power * .5),
                            name=name_scope)


def test_an_optimizer_of_the_program():
    v = tf.Variable([1., 2.], name="v")
    optimizer = HalvedOptimizer(1., name="Halved")
    step = optimizer.minimize(tf.reduce_sum(v * v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(v).tolist() == [0., 0.]
        assert session.run(optimizer.get_slot(v, "seen")).tolist() == [2., 4.]
        assert session.run("power:0") == .5
    with pytest.raises(NotImplementedError):
        train.Optimizer(False, "bare").minimize(tf.reduce_sum(v * v))


@pytest.mark.parametrize("make, error, words", [
    (lambda v: train.AdamOptimizer(name=""), ValueError, "optimizer name"),
    (lambda v: train.AdamOptimizer().minimize(tf.constant(1)), ValueError,
     "Invalid type tf.int32 for Const:0"),
    (lambda v: train.AdamOptimizer().minimize(tf.constant(1.)), ValueError,
     "No gradients provided for any variable"),
    (lambda v: train.AdamOptimizer().compute_gradients(
        v * v, gate_gradients=3), ValueError, "gate_gradients must be one"),
    (lambda v: train.AdamOptimizer().compute_gradients(v * v, []),
     ValueError, "No variables to optimize"),
    (lambda v: train.AdamOptimizer().compute_gradients(v * v, [3]),
     NotImplementedError, "unsupported type"),
    (lambda v: train.AdamOptimizer().apply_gradients([]), ValueError,
     "No variables provided"),
    (lambda v: train.AdamOptimizer().apply_gradients([(None, v)]), ValueError,
     "No gradients provided for any variable"),
    (lambda v: train.AdamOptimizer().apply_gradients([(object(), v)]),
     TypeError, "Gradient must be convertible"),
    (lambda v: train.AdamOptimizer().apply_gradients([(1., v * v)]),
     NotImplementedError, "Trying to update a Tensor"),
    (lambda v: train.AdagradOptimizer(.1, 0), ValueError,
     "initial_accumulator_value must be positive: 0"),
    (lambda v: train.ProximalAdagradOptimizer(.1, 0), ValueError,
     "initial_accumulator_value must be positive: 0"),
    (lambda v: train.AdagradDAOptimizer(.1, None, 0), ValueError,
     "initial_gradient_squared_accumulator_value must be positive: 0"),
    (lambda v: train.FtrlOptimizer(.1, .5), ValueError,
     "learning_rate_power 0.500000 needs to be negative or zero"),
    (lambda v: train.FtrlOptimizer(.1, -.5, -1), ValueError,
     "initial_accumulator_value -1.000000 needs to be positive or zero"),
    (lambda v: train.FtrlOptimizer(.1, l1_regularization_strength=-1),
     ValueError, "l1_regularization_strength -1.000000 needs to be"),
    (lambda v: train.FtrlOptimizer(.1, l2_shrinkage_regularization_strength=-1),
     ValueError, "l2_shrinkage_regularization_strength -1.000000 needs"),
] + [(lambda v, make=make: make(train).minimize(v * v), ValueError,
      "Optimizer: %s is NaN" % name)
     for name, make in {
         "learning_rate": lambda train: train.GradientDescentOptimizer(NAN),
         "momentum": lambda train: train.MomentumOptimizer(.1, NAN),
         "decay": lambda train: train.RMSPropOptimizer(.1, lambda: NAN),
         "beta2": lambda train: train.AdamOptimizer(beta2=NAN),
         "lr": lambda train: train.AdadeltaOptimizer(tf.constant(NAN)),
         "l1_regularization_strength":
             lambda train: train.FtrlOptimizer(.1, l1_regularization_strength=NAN),
         "beta": lambda train: tf.contrib.opt.PowerSignOptimizer(beta=NAN),
     }.items()])
def test_refusals(make, error, words):
    v = tf.Variable(1.)
    with pytest.raises(error, match=words):
        make(v)


# The global step.

def test_global_step_is_made_once():
    assert train.get_global_step() is None
    with tf.name_scope("a"):
        step = train.create_global_step()
    assert (step.name, step.dtype.base_dtype, step.trainable) == (
        "global_step:0", tf.int64, False)
    assert train.get_global_step() is step
    assert train.get_or_create_global_step() is step
    assert step in tf.global_variables()
    with pytest.raises(ValueError, match='"global_step" already exists.'):
        train.create_global_step()
    with tf.Graph().as_default() as other:
        assert train.get_global_step() is None
        made = train.get_or_create_global_step(tf.Graph())
    assert other.get_operations() == [] and made.graph is not other
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            train.global_step(session, step)
        session.run(step.initializer)
        session.run(tf.assign_add(step, 3))
        assert train.global_step(session, step) == 3


@pytest.mark.parametrize("value, words", [
    (1., "does not have integer type"), ([1], "is not scalar")])
def test_what_is_no_global_step(value, words):
    tf.Variable(value, name="global_step")
    with pytest.raises(TypeError, match=words):
        train.get_global_step()


def test_global_step_by_name_and_by_collection():
    tf.Variable(1, name="global_step")
    assert train.get_global_step().name == "global_step:0"
    tf.add_to_collection("global_step", tf.Variable(1))
    tf.add_to_collection("global_step", tf.Variable(2))
    assert train.get_global_step() is None
    with pytest.raises(TypeError, match="must be a Variable or Tensor"):
        train.assert_global_step(1)


@pytest.mark.parametrize("name", sorted(
    n for n in dir(train) if n.endswith("Optimizer") and n != "Optimizer"))
def test_optimizers_inherit_directly_from_optimizer(name):
    # Programs collect the optimizers of tf.train by their __base__.
    assert getattr(train, name).__base__ is train.Optimizer
