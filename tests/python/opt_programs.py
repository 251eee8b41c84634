"""Training steps by the optimizers of tf.contrib.opt, run here and in TensorFlow
1.15. opt_values.json has what TensorFlow gives: the loss before each of ten
steps, and the variables after them.

    PYTHON tests/python/opt_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again."""
import os

import numpy as np

import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "opt_values.json")
STEPS = 10

# By name: what makes the training step of a loss, and for which variables:
# those with dense gradients, those of gathered rows, or both.
PROGRAMS = {}
# Programs in which TensorFlow does not do with resource variables what it does
# with references, or the other way round: here both are what the other is.
UNLIKE = []


def program(make, name, gradients=("dense", "sparse"), kinds=(False, True)):
    for which in gradients:
        for use_resource in kinds:
            kind = "resource" if use_resource else "reference"
            PROGRAMS["%s: %s %s" % (name, which, kind)] = (
                make, which, use_resource)


def plain(make):
    """A step by an optimizer that takes nothing but the loss."""
    def step(tf, loss):
        return make(tf.contrib.opt, tf).minimize(loss)
    return step


def in_order(make):
    """As plain, but updates wait for all gradients. TensorFlow's variables may
    decay while gradients are being computed; its results vary."""
    def step(tf, loss):
        optimizer = make(tf.contrib.opt, tf)
        pairs = optimizer.compute_gradients(loss)
        with tf.control_dependencies([g for g, _ in pairs]):
            return optimizer.apply_gradients(pairs)
    return step


def counted(make):
    """A step by an optimizer that is given the global step."""
    def step(tf, loss):
        count = tf.train.get_or_create_global_step()
        return make(tf.contrib.opt, count, tf).minimize(loss, global_step=count)
    return step


program(plain(lambda opt, tf: opt.AdaMaxOptimizer(.1)), "AdaMax")
program(plain(lambda opt, tf: opt.AddSignOptimizer(.1)), "AddSign")
program(plain(lambda opt, tf: opt.PowerSignOptimizer(.1, 2.)), "PowerSign")
# TensorFlow refuses sparse gradients of resource variables.
UNLIKE += ["AddSign: sparse resource", "PowerSign: sparse resource"]
program(plain(lambda opt, tf: opt.LazyAdamOptimizer(.1)), "LazyAdam")
program(plain(lambda opt, tf: opt.NadamOptimizer(.1)), "Nadam")
program(plain(lambda opt, tf: opt.MovingAverageOptimizer(
    tf.train.MomentumOptimizer(.1, .9), .5)), "MovingAverage")
program(in_order(lambda opt, tf: opt.AdamWOptimizer(.01, .1)), "AdamW")
program(in_order(lambda opt, tf: opt.MomentumWOptimizer(.01, .1, .9)),
        "MomentumW")
program(in_order(lambda opt, tf: opt.MomentumWOptimizer(
    .01, .1, .9, use_nesterov=True)), "MomentumW, Nesterov")
program(in_order(lambda opt, tf: opt.extend_with_decoupled_weight_decay(
    tf.train.AdagradOptimizer)(.01, learning_rate=.1)), "AdagradW")
program(counted(lambda opt, count, tf: opt.AdamGSOptimizer(count, .1)),
        "AdamGS")
program(counted(lambda opt, count, tf: opt.LazyAdamGSOptimizer(count, .1)),
        "LazyAdamGS")
program(plain(lambda opt, tf: opt.GGTOptimizer(.05, window=4)), "GGT",
        ["dense"])
program(plain(lambda opt, tf: opt.GGTOptimizer(.05, eps=10.)),
        "GGT, eps above all", ["dense"])
program(plain(lambda opt, tf: opt.LARSOptimizer(
    .3, .9, .01, eeta=.1, skip_list=["w"])), "LARS")
program(plain(lambda opt, tf: opt.LARSOptimizer(
    .3, eeta=.1, epsilon=.01, use_nesterov=True)), "LARS, Nesterov")
program(plain(lambda opt, tf: opt.RegAdagradOptimizer(.1)), "RegAdagrad")


def regularized(tf, loss):
    optimizer = tf.contrib.opt.RegAdagradOptimizer(.1)
    step = optimizer.minimize(loss)
    with optimizer.avoid_updating_slots(), tf.control_dependencies([step]):
        return optimizer.minimize(tf.identity(loss) * .1)


program(regularized, "RegAdagrad, slots kept")
for shampoo, options in (
        ("", {}), (", large", {"max_matrix_size": 2}),
        (", averages", {"gbar_decay": .5, "gbar_weight": .5,
                        "mat_gbar_decay": .9, "mat_gbar_weight": .1}),
        (", intervals", {"svd_interval": 2, "precond_update_interval": 3}),
        (", iterative", {"use_iterative_root": True}),
        (", functions", {"learning_rate": lambda t: .2 / t,
                         "gbar_decay": lambda t: t / (t + 9.)})):
    program(counted(lambda opt, count, tf, options=options:
                    opt.ShampooOptimizer(count, **dict(
                        {"learning_rate": .2, "epsilon": .01}, **options))),
            "Shampoo" + shampoo)
# TensorFlow's step does not run the update.
UNLIKE.append("Shampoo, large: sparse resource")


def clipped(tf, loss):
    variables = tf.trainable_variables()
    optimizer = tf.contrib.opt.VariableClippingOptimizer(
        tf.train.MomentumOptimizer(.1, .9), {variables[0]: [1]}, .8)
    optimizer = tf.contrib.opt.VariableClippingOptimizer(
        optimizer, {variables[-1]: [0]}, .1, colocate_clip_ops_with_vars=True)
    return optimizer.minimize(loss)


def of_tasks(tf, loss):
    """Every other step has a loss whose gradients are all zeros."""
    count = tf.train.get_or_create_global_step()
    there = tf.cast(count % 2, tf.float32)
    optimizer = tf.contrib.opt.MultitaskOptimizerWrapper(
        tf.train.MomentumOptimizer(.1, .9))
    pairs, norm = tf.contrib.opt.clip_gradients_by_global_norm(
        [(tf.convert_to_tensor(g), v)
         for g, v in optimizer.compute_gradients(loss * there)], .5)
    return tf.group(optimizer.apply_gradients(pairs, global_step=count), norm)


def of_one_worker(tf, loss):
    count = tf.train.get_or_create_global_step()
    return tf.contrib.opt.DropStaleGradientOptimizer(
        tf.train.MomentumOptimizer(.1, .9), 0).minimize(
            loss, global_step=count)


program(clipped, "VariableClipping")
program(of_tasks, "Multitask", ["dense"])
program(of_one_worker, "DropStaleGradient")


def initial(*shape):
    return np.linspace(-1, .8, int(np.prod(shape))).reshape(shape).astype(
        np.float32)


def model(tf, which, use_resource):
    """The loss of a dense layer, or of three rows, of which one comes twice."""
    with tf.variable_scope("s", use_resource=use_resource):
        if which == "sparse":
            e = tf.get_variable("e", initializer=initial(5, 3))
            y = tf.nn.embedding_lookup(e, [0, 1, 1, 3])
            return tf.reduce_mean(tf.square(y - initial(4, 3)[::-1]))
        w = tf.get_variable("w", initializer=initial(3, 2))
        b = tf.get_variable("b", initializer=initial(2) * .3)
        y = tf.tanh(tf.matmul(tf.constant(initial(4, 3)), w) + b)
        return tf.reduce_mean(tf.square(y - initial(4, 2)[::-1]))


def run(tf, name):
    """{"losses": before each step, "variables": [[name, values]]}"""
    make, which, use_resource = PROGRAMS[name]
    with tf.Graph().as_default():
        loss = model(tf, which, use_resource)
        step = make(tf, loss)
        found = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(STEPS):
                found.append(float(session.run(loss)))
                session.run(step)
            values = [[v.op.name, session.run(v).ravel().tolist()]
                      for v in tf.global_variables()]
    return {"losses": found, "variables": values}


def of_workers(tf, name):
    """(operations that start, losses of steps by one worker of a cluster,
    variables)"""
    opt = tf.contrib.opt
    sgd = tf.train.MomentumOptimizer(.1, .9)
    count = tf.train.get_or_create_global_step()
    kind = name.partition(",")[0]
    getter = getattr(opt, kind + "CustomGetter")(worker_device="/cpu:0")
    with tf.variable_scope("", custom_getter=getter):
        fixed = tf.get_variable("fixed", initializer=.5, trainable=False,
                                collections=[tf.GraphKeys.GLOBAL_VARIABLES])
        loss = model(tf, "dense", False) * fixed
        if kind == "ModelAverage":
            optimizer = opt.ModelAverageOptimizer(
                sgd, 1, True, getter, interval_steps=3)
        elif kind == "AGN":
            optimizer = opt.AGNOptimizer(sgd, 1, getter, 3)
        elif name.endswith("defaults"):
            optimizer = opt.ElasticAverageOptimizer(sgd, 2, getter)
        else:
            optimizer = opt.ElasticAverageOptimizer(
                sgd, 1, getter, communication_period=2, moving_rate=.3, rho=.5)
    step = optimizer.minimize(loss, global_step=count)
    hook = (optimizer.make_session_run_hook() if kind == "ModelAverage"
            else optimizer.make_session_run_hook(True, 0))
    found = []
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        for _ in range(STEPS):
            found.append(float(session.run(loss)))
            session.run(step)
        values = sorted(
            [[v.op.name, np.ravel(session.run(v)).tolist()]
             for v in tf.global_variables() + tf.local_variables()])
    return {"losses": found, "variables": values}


WORKERS = ["AGN", "ElasticAverage", "ElasticAverage, defaults", "ModelAverage"]


def run_worker(tf, name):
    """As `run`, of WORKERS."""
    with tf.Graph().as_default():
        return of_workers(tf, name)


def main():
    import tensorflow as tf
    assert tf.__version__.startswith("1.15"), tf.__version__
    results = {name: run(tf, name) for name in PROGRAMS if name not in UNLIKE}
    results.update({name: run_worker(tf, name) for name in WORKERS})
    recorded.write(VALUES, results)


if __name__ == "__main__":
    main()
