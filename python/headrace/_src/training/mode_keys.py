"""The names of what a model function makes: a model to train, to evaluate or
to predict with."""


class ModeKeys:
    """tf.estimator.ModeKeys: TRAIN, EVAL and PREDICT, the strings that tell a
    model_fn what it is called for. There are no shapes and dtypes here.
    AttributeError for other names."""
    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class LearnModeKeys:
    """tf.contrib.learn.ModeKeys: TRAIN, EVAL and INFER, strings as those above.
    They say nothing of shapes or dtypes."""
    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key):
        """ValueError if `key` is none of the three."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError("Invalid mode %s." % key)
