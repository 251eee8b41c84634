"""tf.contrib.model_pruning.train: slim.learning.train that updates masks."""
from headrace._src.slim import learning as _learning


def train(train_op, logdir, mask_update_op,
          train_step_fn=_learning.train_step, train_step_kwargs=0, **kwargs):
    """slim.learning.train that runs mask_update_op after each step: the last loss,
    a scalar. Other arguments, of any shape and dtype, and errors are its."""
    def step(session, train_op, global_step, train_step_kwargs):
        result = train_step_fn(session, train_op, global_step,
                               train_step_kwargs)
        session.run(mask_update_op)
        return result
    return _learning.train(train_op, logdir, train_step_fn=step,
                           train_step_kwargs=train_step_kwargs, **kwargs)
