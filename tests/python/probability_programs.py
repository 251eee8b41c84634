"""Distributions and bijectors of tensorflow-probability 0.8, as a program of
TensorFlow 1.15 and of Headrace:

    python -m headrace.compat tests/python/probability_programs.py OUTPUT.json

OUTPUT.json has, by name, what is computed of each: [type, shape, first numbers],
or the name of the error. test_tensorflow_probability.py compares it with what
TensorFlow 1.15.5 writes.
"""

import json
import sys

import numpy as np
import tensorflow.compat.v1 as tf1
import tensorflow.compat.v2 as tf
import tensorflow_probability as tfp

tfd, tfb = tfp.distributions, tfp.bijectors
f = np.float32
L3 = np.array([[[1.0, 0, 0], [0.5, 2.0, 0], [0.3, -0.2, 0.7]]], f)
C3 = np.matmul(L3, np.swapaxes(L3, -1, -2))


# Arguments of several.


def lop():
    return tf.linalg.LinearOperatorLowerTriangular(tf.constant(L3[0]))


def P(*numbers):
    return tf.constant(np.array(numbers, f))


def gp_kernel():
    return tfp.positive_semidefinite_kernels.ExponentiatedQuadratic(
        amplitude=P(1.0)[0], length_scale=P(0.5)[0]
    )


X5 = np.linspace(-1, 1, 5).reshape(5, 1).astype(f)
DISTRIBUTIONS = {}
DISTRIBUTIONS["Normal"] = lambda: tfd.Normal(P(0.0, 1.0), P(1.0, 2.5))
DISTRIBUTIONS["Autoregressive"] = lambda: tfd.Autoregressive(
    lambda s: tfd.Independent(
        tfd.Normal(
            loc=(
                tf.zeros([3])
                if s is None
                else tf.math.cumsum(s, axis=-1, exclusive=True)
            ),
            scale=P(1.0, 0.5, 2.0),
        ),
        1,
    ),
    sample0=tf.zeros([3]),
    num_steps=3,
)
DISTRIBUTIONS["BatchReshape"] = lambda: tfd.BatchReshape(
    tfd.Normal(P(0.0, 1.0, 2.0, 3.0), P(1.0, 2.0, 3.0, 4.0)), [2, 2]
)
DISTRIBUTIONS["Bernoulli"] = lambda: tfd.Bernoulli(probs=P(0.2, 0.7, 0.5))
DISTRIBUTIONS["BernoulliLogits"] = lambda: tfd.Bernoulli(
    logits=P(-1.0, 0.7, 2.5)
)
DISTRIBUTIONS["Beta"] = lambda: tfd.Beta(P(1.5, 2.0), P(3.0, 0.7))
DISTRIBUTIONS["Binomial"] = lambda: tfd.Binomial(P(4.0, 7.0), probs=P(0.3, 0.6))
DISTRIBUTIONS["BinomialLogits"] = lambda: tfd.Binomial(
    P(4.0, 7.0), logits=P(0.3, -0.6)
)
DISTRIBUTIONS["Blockwise"] = lambda: tfd.Blockwise(
    [
        tfd.Independent(tfd.Normal(P(0.0, 1.0), P(1.0, 2.0)), 1),
        tfd.MultivariateNormalTriL(P(1.0, 2.0, 3.0), tf.constant(L3[0])),
    ]
)
DISTRIBUTIONS["Categorical"] = lambda: tfd.Categorical(
    logits=[[1.0, 2.0, 0.5], [0.1, 0.1, 0.1]]
)
DISTRIBUTIONS["CategoricalProbs"] = lambda: tfd.Categorical(
    probs=[[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
)
DISTRIBUTIONS["Cauchy"] = lambda: tfd.Cauchy(P(0.0, 1.0), P(1.0, 2.5))
DISTRIBUTIONS["Chi"] = lambda: tfd.Chi(P(2.0, 3.5))
DISTRIBUTIONS["Chi2"] = lambda: tfd.Chi2(P(2.0, 3.5))
DISTRIBUTIONS["Deterministic"] = lambda: tfd.Deterministic(P(2.0, 3.5))
DISTRIBUTIONS["VectorDeterministic"] = lambda: tfd.VectorDeterministic(
    P(2.0, 3.5)
)
DISTRIBUTIONS["Dirichlet"] = lambda: tfd.Dirichlet(
    [[1.5, 2.0, 3.0], [0.5, 0.7, 0.9]]
)
DISTRIBUTIONS["DirichletMultinomial"] = lambda: tfd.DirichletMultinomial(
    P(4.0, 5.0), [[1.5, 2.0, 3.0], [0.5, 0.7, 0.9]]
)
DISTRIBUTIONS["Empirical"] = lambda: tfd.Empirical(
    [[0.0, 1.0, 1.0, 3.0], [2.0, 2.0, 5.0, 1.0]]
)
DISTRIBUTIONS["Exponential"] = lambda: tfd.Exponential(P(0.5, 2.0))
DISTRIBUTIONS["FiniteDiscrete"] = lambda: tfd.FiniteDiscrete(
    [1.0, 2.0, 4.0, 8.0], probs=[0.1, 0.4, 0.3, 0.2]
)
DISTRIBUTIONS["Gamma"] = lambda: tfd.Gamma(P(0.5, 2.0), P(1.0, 3.0))
DISTRIBUTIONS["GammaGamma"] = lambda: tfd.GammaGamma(
    P(3.0, 2.0), P(2.5, 3.0), P(1.0, 2.0)
)
DISTRIBUTIONS["GaussianProcess"] = lambda: tfd.GaussianProcess(
    gp_kernel(), X5, observation_noise_variance=0.1
)
DISTRIBUTIONS["GaussianProcessRegressionModel"] = (
    lambda: tfd.GaussianProcessRegressionModel(
        gp_kernel(),
        X5 + 0.1,
        X5,
        np.sin(X5[:, 0]),
        observation_noise_variance=0.1,
    )
)
DISTRIBUTIONS["GeneralizedPareto"] = lambda: tfd.GeneralizedPareto(
    P(0.0, 1.0), P(1.0, 2.0), P(0.3, -0.2)
)
DISTRIBUTIONS["Geometric"] = lambda: tfd.Geometric(probs=P(0.2, 0.7))
DISTRIBUTIONS["Gumbel"] = lambda: tfd.Gumbel(P(0.0, 1.0), P(1.0, 2.5))
DISTRIBUTIONS["HalfCauchy"] = lambda: tfd.HalfCauchy(P(0.0, 1.0), P(1.0, 2.5))
DISTRIBUTIONS["HalfNormal"] = lambda: tfd.HalfNormal(P(1.0, 2.5))
DISTRIBUTIONS["HiddenMarkovModel"] = lambda: tfd.HiddenMarkovModel(
    tfd.Categorical(probs=[0.8, 0.2]),
    tfd.Categorical(probs=[[0.7, 0.3], [0.2, 0.8]]),
    tfd.Normal(P(0.0, 15.0), P(5.0, 10.0)),
    num_steps=4,
)
DISTRIBUTIONS["Horseshoe"] = lambda: tfd.Horseshoe(P(1.0, 2.5))
DISTRIBUTIONS["Independent"] = lambda: tfd.Independent(
    tfd.Normal(tf.ones([2, 3]), 2.0), 1
)
DISTRIBUTIONS["InverseGamma"] = lambda: tfd.InverseGamma(
    P(3.0, 2.5), P(1.0, 3.0)
)
DISTRIBUTIONS["InverseGaussian"] = lambda: tfd.InverseGaussian(
    P(3.0, 2.5), P(1.0, 3.0)
)
DISTRIBUTIONS["JointDistributionSequential"] = (
    lambda: tfd.JointDistributionSequential(
        [
            tfd.Normal(0.0, 1.0),
            lambda z: tfd.Normal(z, 2.0),
            lambda y, z: tfd.Gamma(tf.exp(y), tf.exp(z)),
        ]
    )
)
DISTRIBUTIONS["JointDistributionNamed"] = lambda: tfd.JointDistributionNamed(
    dict(
        a=tfd.Normal(0.0, 1.0),
        b=lambda a: tfd.Independent(tfd.Normal([a, a + 1.0], 2.0), 1),
    )
)


def jdc():
    Root = tfd.JointDistributionCoroutine.Root

    def m():
        a = yield Root(tfd.Normal(0.0, 1.0))
        yield tfd.Normal(a, 2.0)

    return tfd.JointDistributionCoroutine(m)


DISTRIBUTIONS["JointDistributionCoroutine"] = jdc
DISTRIBUTIONS["Kumaraswamy"] = lambda: tfd.Kumaraswamy(P(1.5, 2.0), P(3.0, 0.7))
DISTRIBUTIONS["LKJ"] = lambda: tfd.LKJ(3, P(1.5)[0])
DISTRIBUTIONS["Laplace"] = lambda: tfd.Laplace(P(0.0, 1.0), P(1.0, 2.5))
DISTRIBUTIONS["LinearGaussianStateSpaceModel"] = (
    lambda: tfd.LinearGaussianStateSpaceModel(
        4,
        [[1.0, 0.1], [0.0, 1.0]],
        tfd.MultivariateNormalDiag(scale_diag=[0.1, 0.2]),
        [[1.0, 0.0]],
        tfd.MultivariateNormalDiag(scale_diag=[0.5]),
        tfd.MultivariateNormalDiag(scale_diag=[1.0, 1.0]),
    )
)
DISTRIBUTIONS["LogNormal"] = lambda: tfd.LogNormal(P(0.0, 1.0), P(1.0, 0.5))
DISTRIBUTIONS["Logistic"] = lambda: tfd.Logistic(P(0.0, 1.0), P(1.0, 2.5))
DISTRIBUTIONS["Mixture"] = lambda: tfd.Mixture(
    tfd.Categorical(probs=[0.3, 0.7]),
    [tfd.Normal(-1.0, 0.1), tfd.Normal(1.0, 0.5)],
)
DISTRIBUTIONS["MixtureSameFamily"] = lambda: tfd.MixtureSameFamily(
    tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal(P(-1.0, 1.0), P(0.1, 0.5))
)
DISTRIBUTIONS["Multinomial"] = lambda: tfd.Multinomial(
    4.0, logits=[[1.0, 2.0, 0.5], [0.1, 0.1, 0.1]]
)
DISTRIBUTIONS["MultivariateNormalDiag"] = lambda: tfd.MultivariateNormalDiag(
    P(1.0, 2.0, 3.0), P(1.0, 0.5, 2.0)
)
DISTRIBUTIONS["MultivariateNormalDiagPlusLowRank"] = (
    lambda: tfd.MultivariateNormalDiagPlusLowRank(
        P(1.0, 2.0, 3.0),
        P(1.0, 0.5, 2.0),
        scale_perturb_factor=[[1.0], [0.2], [0.3]],
    )
)
DISTRIBUTIONS["MultivariateNormalFullCovariance"] = (
    lambda: tfd.MultivariateNormalFullCovariance(
        P(1.0, 2.0, 3.0), tf.constant(C3)
    )
)
DISTRIBUTIONS["MultivariateNormalLinearOperator"] = (
    lambda: tfd.MultivariateNormalLinearOperator(P(1.0, 2.0, 3.0), lop())
)
DISTRIBUTIONS["MultivariateNormalTriL"] = lambda: tfd.MultivariateNormalTriL(
    P(1.0, 2.0, 3.0), tf.constant(L3)
)
DISTRIBUTIONS["MultivariateStudentTLinearOperator"] = (
    lambda: tfd.MultivariateStudentTLinearOperator(4.0, P(1.0, 2.0, 3.0), lop())
)
DISTRIBUTIONS["NegativeBinomial"] = lambda: tfd.NegativeBinomial(
    P(4.0, 5.0), probs=P(0.3, 0.6)
)
DISTRIBUTIONS["OneHotCategorical"] = lambda: tfd.OneHotCategorical(
    logits=[[1.0, 2.0, 0.5], [0.1, 0.1, 0.1]]
)
DISTRIBUTIONS["Pareto"] = lambda: tfd.Pareto(P(4.0, 5.0), P(1.0, 2.0))
DISTRIBUTIONS["Poisson"] = lambda: tfd.Poisson(P(4.0, 0.5))
DISTRIBUTIONS["PoissonLogNormalQuadratureCompound"] = (
    lambda: tfd.PoissonLogNormalQuadratureCompound(P(0.0, -0.5), P(1.0, 0.5))
)
DISTRIBUTIONS["ProbitBernoulli"] = lambda: tfd.ProbitBernoulli(
    probs=P(0.2, 0.7)
)
DISTRIBUTIONS["QuantizedDistribution"] = lambda: tfd.QuantizedDistribution(
    tfd.Normal(P(1.0, 2.0), P(2.0, 3.0)), low=-2.0, high=4.0
)
DISTRIBUTIONS["RelaxedBernoulli"] = lambda: tfd.RelaxedBernoulli(
    0.5, probs=P(0.2, 0.7)
)
DISTRIBUTIONS["RelaxedOneHotCategorical"] = (
    lambda: tfd.RelaxedOneHotCategorical(
        0.5, probs=[[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    )
)
DISTRIBUTIONS["ExpRelaxedOneHotCategorical"] = (
    lambda: tfd.ExpRelaxedOneHotCategorical(
        0.5, probs=[[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    )
)
DISTRIBUTIONS["Sample"] = lambda: tfd.Sample(tfd.Normal(P(0.0, 1.0), 1.0), [3])
DISTRIBUTIONS["SinhArcsinh"] = lambda: tfd.SinhArcsinh(
    P(0.0, 1.0), P(1.0, 2.0), skewness=P(0.1, -0.2), tailweight=P(1.1, 0.9)
)
DISTRIBUTIONS["StudentT"] = lambda: tfd.StudentT(
    P(3.0, 4.5), P(0.0, 1.0), P(1.0, 2.0)
)
DISTRIBUTIONS["StudentTProcess"] = lambda: tfd.StudentTProcess(
    4.0, gp_kernel(), X5
)
DISTRIBUTIONS["TransformedDistribution"] = lambda: tfd.TransformedDistribution(
    tfd.Normal(P(0.0, 1.0), 1.0), tfb.Exp()
)
DISTRIBUTIONS["TransformedMAF"] = lambda: tfd.TransformedDistribution(
    tfd.Normal(0.0, 1.0), tfb.Softplus(), event_shape=[3]
)
DISTRIBUTIONS["Triangular"] = lambda: tfd.Triangular(
    P(0.0, 1.0), P(3.0, 5.0), P(1.0, 4.0)
)
DISTRIBUTIONS["TruncatedNormal"] = lambda: tfd.TruncatedNormal(
    P(0.0, 1.0), P(1.0, 2.0), P(-1.0, 0.0), P(2.0, 3.0)
)
DISTRIBUTIONS["Uniform"] = lambda: tfd.Uniform(P(0.0, 1.0), P(3.0, 5.0))
DISTRIBUTIONS["VariationalGaussianProcess"] = (
    lambda: tfd.VariationalGaussianProcess(
        gp_kernel(),
        X5 + 0.1,
        X5,
        np.sin(X5[:, 0]),
        np.eye(5, dtype=f) * 0.3,
        observation_noise_variance=0.1,
    )
)
DISTRIBUTIONS["VectorDiffeomixture"] = lambda: tfd.VectorDiffeomixture(
    mix_loc=[[0.0], [1.0]],
    temperature=[1.0],
    distribution=tfd.Normal(0.0, 1.0),
    loc=[None, np.float32([2.0] * 3)],
    scale=[
        tf.linalg.LinearOperatorScaledIdentity(
            num_rows=3, multiplier=np.float32(1.1), is_positive_definite=True
        ),
        tf.linalg.LinearOperatorDiag(
            diag=np.linspace(2.5, 3.5, 3, dtype=f), is_positive_definite=True
        ),
    ],
    validate_args=True,
)
DISTRIBUTIONS["VectorExponentialDiag"] = lambda: tfd.VectorExponentialDiag(
    P(1.0, 2.0, 3.0), P(1.0, 0.5, 2.0)
)
DISTRIBUTIONS["VectorLaplaceDiag"] = lambda: tfd.VectorLaplaceDiag(
    P(1.0, 2.0, 3.0), P(1.0, 0.5, 2.0)
)
DISTRIBUTIONS["VectorSinhArcsinhDiag"] = lambda: tfd.VectorSinhArcsinhDiag(
    P(1.0, 2.0, 3.0), P(1.0, 0.5, 2.0), skewness=0.2, tailweight=1.1
)
DISTRIBUTIONS["VonMises"] = lambda: tfd.VonMises(P(1.0, 2.0), P(0.5, 3.0))
DISTRIBUTIONS["VonMisesFisher"] = lambda: tfd.VonMisesFisher(
    [0.0, 0.6, 0.8], 3.0
)
DISTRIBUTIONS["Wishart"] = lambda: tfd.Wishart(5.0, scale_tril=tf.constant(L3))
DISTRIBUTIONS["Zipf"] = lambda: tfd.Zipf(P(2.5, 4.0))

BIJECTORS = {}


def C(*a):
    return np.array(a, f)


LOWER = np.array([[1.0, 0, 0], [0.5, 2.0, 0], [0.3, -0.2, 0.7]], f)

V = C(-0.7, 0.3, 1.5)
U = C(0.2, 0.5, 0.9)
POS = C(0.3, 1.0, 2.5)
X34 = np.linspace(-1, 1, 12).reshape(3, 4).astype(f)
BIJECTORS["AbsoluteValue"] = (lambda: tfb.AbsoluteValue(), V, 0)
BIJECTORS["Affine"] = (
    lambda: tfb.Affine(shift=C(1.0, 2.0, 3.0), scale_tril=LOWER),
    V,
    1,
)
BIJECTORS["AffineDiag"] = (
    lambda: tfb.Affine(
        shift=C(1.0, 2.0, 3.0),
        scale_diag=C(1.0, 0.5, 2.0),
        scale_perturb_factor=C([0.1], [0.2], [0.3]),
    ),
    V,
    1,
)
BIJECTORS["AffineLinearOperator"] = (
    lambda: tfb.AffineLinearOperator(
        shift=C(1.0, 2.0, 3.0),
        scale=tf.linalg.LinearOperatorLowerTriangular(LOWER),
    ),
    V,
    1,
)
BIJECTORS["AffineScalar"] = (
    lambda: tfb.AffineScalar(P(1.0)[0], P(2.0)[0]),
    V,
    0,
)
BIJECTORS["Blockwise"] = (
    lambda: tfb.Blockwise([tfb.Exp(), tfb.Softplus()], [1, 2]),
    V,
    1,
)
BIJECTORS["Chain"] = (
    lambda: tfb.Chain([tfb.Exp(), tfb.AffineScalar(2.0, 3.0)]),
    V,
    0,
)
BIJECTORS["CholeskyOuterProduct"] = (
    lambda: tfb.CholeskyOuterProduct(),
    LOWER + np.diag([0.5, 0, 0.5]).astype(f),
    2,
)
BIJECTORS["CholeskyToInvCholesky"] = (
    lambda: tfb.CholeskyToInvCholesky(),
    LOWER,
    2,
)
BIJECTORS["CorrelationCholesky"] = (lambda: tfb.CorrelationCholesky(), V, 1)
BIJECTORS["Cumsum"] = (lambda: tfb.Cumsum(), V, 1)
BIJECTORS["DiscreteCosineTransform"] = (
    lambda: tfb.DiscreteCosineTransform(),
    V,
    1,
)
BIJECTORS["Exp"] = (lambda: tfb.Exp(), V, 0)
BIJECTORS["Expm1"] = (lambda: tfb.Expm1(), V, 0)
BIJECTORS["FillTriangular"] = (
    lambda: tfb.FillTriangular(),
    np.arange(6).astype(f),
    1,
)
BIJECTORS["Gumbel"] = (lambda: tfb.Gumbel(0.5, 2.0), V, 0)
BIJECTORS["Identity"] = (lambda: tfb.Identity(), V, 0)
BIJECTORS["Inline"] = (
    lambda: tfb.Inline(
        forward_fn=tf.exp,
        inverse_fn=tf.math.log,
        inverse_log_det_jacobian_fn=lambda y: -tf.reduce_sum(
            tf.math.log(y), axis=-1
        ),
        forward_min_event_ndims=1,
    ),
    V,
    1,
)
BIJECTORS["Invert"] = (lambda: tfb.Invert(tfb.Exp()), POS, 0)
BIJECTORS["IteratedSigmoidCentered"] = (
    lambda: tfb.IteratedSigmoidCentered(),
    V,
    1,
)
BIJECTORS["Kumaraswamy"] = (lambda: tfb.Kumaraswamy(2.0, 0.5), U, 0)
BIJECTORS["MatrixInverseTriL"] = (lambda: tfb.MatrixInverseTriL(), LOWER, 2)
BIJECTORS["MatvecLU"] = (
    lambda: tfb.MatvecLU(LOWER + np.triu(np.ones([3, 3], f), 1), [2, 0, 1]),
    V,
    1,
)
BIJECTORS["NormalCDF"] = (lambda: tfb.NormalCDF(), V, 0)
BIJECTORS["Ordered"] = (lambda: tfb.Ordered(), np.sort(V), 1)
BIJECTORS["Permute"] = (lambda: tfb.Permute([2, 0, 1]), V, 1)
BIJECTORS["PowerTransform"] = (lambda: tfb.PowerTransform(0.5), V, 0)
BIJECTORS["RationalQuadraticSpline"] = (
    lambda: tfb.RationalQuadraticSpline(
        [0.5, 0.7, 0.8], [0.6, 0.4, 1.0], [1.2, 0.7], range_min=-1.0
    ),
    V * 0.5,
    0,
)
BIJECTORS["Reciprocal"] = (lambda: tfb.Reciprocal(), POS, 0)
BIJECTORS["Reshape"] = (
    lambda: tfb.Reshape([2, 3], [6]),
    np.arange(6).astype(f),
    1,
)
BIJECTORS["ScaleTriL"] = (
    lambda: tfb.ScaleTriL(diag_shift=1e-3),
    np.linspace(-1, 1, 6).astype(f),
    1,
)
BIJECTORS["Sigmoid"] = (lambda: tfb.Sigmoid(), V, 0)
BIJECTORS["SinhArcsinh"] = (lambda: tfb.SinhArcsinh(0.2, 1.3), V, 0)
BIJECTORS["SoftmaxCentered"] = (lambda: tfb.SoftmaxCentered(), V, 1)
BIJECTORS["Softplus"] = (lambda: tfb.Softplus(hinge_softness=0.7), V, 0)
BIJECTORS["Softsign"] = (lambda: tfb.Softsign(), V, 0)
BIJECTORS["Square"] = (lambda: tfb.Square(), POS, 0)
BIJECTORS["Tanh"] = (lambda: tfb.Tanh(), V, 0)
BIJECTORS["TransformDiagonal"] = (
    lambda: tfb.TransformDiagonal(tfb.Exp()),
    LOWER,
    2,
)
BIJECTORS["Transpose"] = (
    lambda: tfb.Transpose(rightmost_transposed_ndims=2),
    X34,
    2,
)
BIJECTORS["Weibull"] = (lambda: tfb.Weibull(2.0, 1.5), POS, 0)
BIJECTORS["MAFtemplate"] = (
    lambda: tfb.MaskedAutoregressiveFlow(
        tfb.masked_autoregressive_default_template(
            hidden_layers=[8, 8],
            kernel_initializer=tf1.initializers.constant(0.1),
        )
    ),
    X34,
    1,
)


def described(value):
    value = np.asarray(value)
    return [
        str(value.dtype),
        list(value.shape),
        [float("%.5g" % x) for x in value.astype(np.float64).ravel()[:8]],
    ]


def computed(make, function):
    """What function(make()) is, in a graph of its own."""
    try:
        with tf1.Graph().as_default():
            tf1.set_random_seed(42)
            tensors = [
                tf.convert_to_tensor(value=x)
                for x in tf.nest.flatten(function(make()))
            ]
            with tf1.Session() as session:
                session.run(tf1.global_variables_initializer())
                return [described(v) for v in session.run(tensors)]
    except (NotImplementedError, TypeError, ValueError) as error:
        return type(error).__name__


# Their samples are drawn in a loop whose iterations overlap: which gets which
# random numbers is not determined.
DRAWN_IN_LOOPS = ("HiddenMarkovModel", "LinearGaussianStateSpaceModel")


def of_distribution(name, make):
    def gradients(d):
        x = tf.nest.map_structure(tf.stop_gradient, d.sample(3, seed=11))
        parameters = [
            p
            for p in d.parameters.values()
            if isinstance(p, tf.Tensor) and p.dtype.is_floating
        ]
        return [
            g
            for g in tf1.gradients(tf.nest.flatten(d.log_prob(x)), parameters)
            if g is not None
        ]

    found = {
        name: computed(make, lambda d, name=name: getattr(d, name)())
        for name in ("mean", "variance", "mode", "entropy")
    }
    if name in DRAWN_IN_LOOPS:
        return found
    found["sample"] = computed(make, lambda d: d.sample(5, seed=7))
    for name in ("log_prob", "cdf"):
        found[name] = computed(
            make, lambda d, name=name: getattr(d, name)(d.sample(3, seed=11))
        )
    found["quantile"] = computed(make, lambda d: d.quantile(0.3))
    found["gradients"] = computed(make, gradients)
    return found


def of_bijector(make, x, event_ndims):
    def gradient(b):
        t = tf.constant(x)
        return tf1.gradients(b.forward(t), t)

    return {
        "forward": computed(make, lambda b: b.forward(x)),
        "inverse": computed(
            make, lambda b: b.inverse(tf.identity(b.forward(x)))
        ),
        "jacobian": computed(
            make,
            lambda b: b.forward_log_det_jacobian(x, event_ndims=event_ndims),
        ),
        "gradient": computed(make, gradient),
    }


def main():
    found = {
        name: of_distribution(name, make)
        for name, make in DISTRIBUTIONS.items()
    }
    found.update(
        ("bijector " + name, of_bijector(*given))
        for name, given in BIJECTORS.items()
    )
    with open(sys.argv[1], "w") as output:
        json.dump(found, output)


if __name__ == "__main__":
    main()
