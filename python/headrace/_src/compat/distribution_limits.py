"""tensorflow.python.ops.distributions.special_math and kullback_leibler: where
log_ndtr changes its formula, and cross entropy."""
import numpy as np

from headrace._src.distributions import distribution as _distribution
from headrace._src.framework.graph import name_scope

LOGNDTR_FLOAT32_LOWER = np.array(-10, np.float32)
LOGNDTR_FLOAT32_UPPER = np.array(5, np.float32)
LOGNDTR_FLOAT64_LOWER = np.array(-20, np.float64)
LOGNDTR_FLOAT64_UPPER = np.array(8, np.float64)


def cross_entropy(ref, other, allow_nan_stats=True, name=None):
    """The entropy of `ref` and its divergence from `other`, [batch]."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + _distribution.kl_divergence(
            ref, other, allow_nan_stats=allow_nan_stats)

