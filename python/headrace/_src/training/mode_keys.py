"""The names of what a model function makes: a model to train, to evaluate or
to predict with."""


class ModeKeys:
    """tf.estimator.ModeKeys."""
    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class LearnModeKeys:
    """tf.contrib.learn.ModeKeys."""
    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"
