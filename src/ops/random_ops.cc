// Random numbers, from seeds in attrs (stateful: each run goes on in the
// stream) or from seeds that are inputs (stateless).
#include "framework/common_shape_fns.h"
#include "framework/op.h"
#include "framework/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::ShapeFromInput0;

// Bounds or parameters that must be scalars, from input `first` on.
Status ScalarsFrom(InferenceContext* c, int first) {
  Shape unused;
  for (int i = first; i < c->num_inputs(); ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  return OkStatus();
}

Status RandomUniformIntShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(ScalarsFrom(c, 1));
  return ShapeFromInput0(c);
}

// shape ++ parameters.shape
Status PerParameterShape(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &s));
  HR_RETURN_IF_ERROR(c->Concatenate(s, c->input(1), &s));
  c->set_output(0, s);
  return OkStatus();
}

Status MultinomialShape(InferenceContext* c) {
  Shape logits, unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &logits));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
  int64_t samples = -1;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &samples));
  c->set_output(0, c->Matrix(c->Dim(logits, 0), samples));
  return OkStatus();
}

Status CheckSeed(InferenceContext* c, int i) {
  Shape seed;
  int64_t unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &seed));
  return c->WithValue(c->Dim(seed, 0), 2, &unused);
}

Status StatelessShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckSeed(c, 1));
  HR_RETURN_IF_ERROR(ScalarsFrom(c, 2));
  return ShapeFromInput0(c);
}

Status StatelessMultinomialShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckSeed(c, 2));
  return MultinomialShape(c);
}

// shape, key, counter, alg, parameters
Status StatelessV2Shape(InferenceContext* c) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &unused));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &unused));
  HR_RETURN_IF_ERROR(ScalarsFrom(c, 3));
  return ShapeFromInput0(c);
}

Status KeyCounterShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckSeed(c, 0));
  c->set_output(0, c->Vector(1));
  c->set_output(1, c->Vector(2));
  if (c->num_outputs() > 2) c->set_output(2, c->Scalar());
  return OkStatus();
}

#define RANDOM_FLOAT_OP(NAME)                         \
  REGISTER_OP(NAME)                                   \
      .Input("shape: T")                              \
      .Output("output: dtype")                        \
      .Attr("seed: int = 0")                          \
      .Attr("seed2: int = 0")                         \
      .Attr("dtype: {half, bfloat16, float, double}") \
      .Attr("T: {int32, int64}")                      \
      .SetIsStateful()                                \
      .SetShapeFn(ShapeFromInput0)
RANDOM_FLOAT_OP("RandomUniform");
RANDOM_FLOAT_OP("RandomStandardNormal");
RANDOM_FLOAT_OP("TruncatedNormal");

REGISTER_OP("RandomUniformInt")
    .Input("shape: T")
    .Input("minval: Tout")
    .Input("maxval: Tout")
    .Output("output: Tout")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("Tout: {int32, int64}")
    .Attr("T: {int32, int64}")
    .SetIsStateful()
    .SetShapeFn(RandomUniformIntShape);

REGISTER_OP("ParameterizedTruncatedNormal")
    .Input("shape: T")
    .Input("means: dtype")
    .Input("stdevs: dtype")
    .Input("minvals: dtype")
    .Input("maxvals: dtype")
    .Output("output: dtype")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("dtype: {half, bfloat16, float, double}")
    .Attr("T: {int32, int64}")
    .SetIsStateful()
    .SetShapeFn(ShapeFromInput0);

REGISTER_OP("RandomShuffle")
    .Input("value: T")
    .Output("output: T")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnchangedShape);

REGISTER_OP("Multinomial")
    .Input("logits: T")
    .Input("num_samples: int32")
    .Output("output: output_dtype")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("T: realnumbertype")
    .Attr("output_dtype: {int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(MultinomialShape);

REGISTER_OP("RandomGamma")
    .Input("shape: S")
    .Input("alpha: T")
    .Output("output: T")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("S: {int32, int64}")
    .Attr("T: {half, float, double}")
    .SetIsStateful()
    .SetShapeFn(PerParameterShape);

REGISTER_OP("RandomPoisson")
    .Input("shape: S")
    .Input("rate: dtype")
    .Output("output: dtype")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("S: {int32, int64}")
    .Attr("dtype: {half, float, double}")
    .SetIsStateful()
    .Deprecated(25, "Replaced by RandomPoissonV2")
    .SetShapeFn(PerParameterShape);

REGISTER_OP("RandomPoissonV2")
    .Input("shape: S")
    .Input("rate: R")
    .Output("output: dtype")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("S: {int32, int64}")
    .Attr("R: {half, float, double, int32, int64} = DT_DOUBLE")
    .Attr("dtype: {half, float, double, int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(PerParameterShape);

#define STATELESS_FLOAT_OP(NAME)                                 \
  REGISTER_OP(NAME)                                              \
      .Input("shape: T")                                         \
      .Input("seed: Tseed")                                      \
      .Output("output: dtype")                                   \
      .Attr("dtype: {half, bfloat16, float, double} = DT_FLOAT") \
      .Attr("T: {int32, int64} = DT_INT32")                      \
      .Attr("Tseed: {int32, int64} = DT_INT64")                  \
      .SetShapeFn(StatelessShape)
STATELESS_FLOAT_OP("StatelessRandomUniform");
STATELESS_FLOAT_OP("StatelessRandomNormal");
STATELESS_FLOAT_OP("StatelessTruncatedNormal");

REGISTER_OP("StatelessRandomUniformInt")
    .Input("shape: T")
    .Input("seed: Tseed")
    .Input("minval: dtype")
    .Input("maxval: dtype")
    .Output("output: dtype")
    .Attr("dtype: {int32, int64}")
    .Attr("T: {int32, int64}")
    .Attr("Tseed: {int32, int64} = DT_INT64")
    .SetShapeFn(StatelessShape);

REGISTER_OP("StatelessRandomUniformFullInt")
    .Input("shape: T")
    .Input("seed: Tseed")
    .Output("output: dtype")
    .Attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64")
    .Attr("T: {int32, int64} = DT_INT32")
    .Attr("Tseed: {int32, int64, uint32, uint64} = DT_INT64")
    .SetShapeFn(StatelessShape);

REGISTER_OP("StatelessMultinomial")
    .Input("logits: T")
    .Input("num_samples: int32")
    .Input("seed: Tseed")
    .Output("output: output_dtype")
    .Attr("T: realnumbertype")
    .Attr("Tseed: {int32, int64} = DT_INT64")
    .Attr("output_dtype: {int32, int64} = DT_INT64")
    .SetShapeFn(StatelessMultinomialShape);

#define STATELESS_FLOAT_V2_OP(NAME)                              \
  REGISTER_OP(NAME)                                              \
      .Input("shape: Tshape")                                    \
      .Input("key: uint64")                                      \
      .Input("counter: uint64")                                  \
      .Input("alg: int32")                                       \
      .Output("output: dtype")                                   \
      .Attr("dtype: {half, bfloat16, float, double} = DT_FLOAT") \
      .Attr("Tshape: {int32, int64} = DT_INT32")                 \
      .SetShapeFn(StatelessV2Shape)
STATELESS_FLOAT_V2_OP("StatelessRandomUniformV2");
STATELESS_FLOAT_V2_OP("StatelessRandomNormalV2");
STATELESS_FLOAT_V2_OP("StatelessTruncatedNormalV2");

REGISTER_OP("StatelessRandomUniformIntV2")
    .Input("shape: Tshape")
    .Input("key: uint64")
    .Input("counter: uint64")
    .Input("alg: int32")
    .Input("minval: dtype")
    .Input("maxval: dtype")
    .Output("output: dtype")
    .Attr("dtype: {int32, int64, uint32, uint64}")
    .Attr("Tshape: {int32, int64} = DT_INT32")
    .SetShapeFn(StatelessV2Shape);

REGISTER_OP("StatelessRandomUniformFullIntV2")
    .Input("shape: Tshape")
    .Input("key: uint64")
    .Input("counter: uint64")
    .Input("alg: int32")
    .Output("output: dtype")
    .Attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64")
    .Attr("Tshape: {int32, int64} = DT_INT32")
    .SetShapeFn(StatelessV2Shape);

REGISTER_OP("StatelessRandomGetKeyCounter")
    .Input("seed: Tseed")
    .Output("key: uint64")
    .Output("counter: uint64")
    .Attr("Tseed: {int32, int64} = DT_INT64")
    .SetShapeFn(KeyCounterShape);

REGISTER_OP("StatelessRandomGetKeyCounterAlg")
    .Input("seed: Tseed")
    .Output("key: uint64")
    .Output("counter: uint64")
    .Output("alg: int32")
    .Attr("Tseed: {int32, int64} = DT_INT64")
    .SetShapeFn(KeyCounterShape);

REGISTER_OP("StatelessRandomGetAlg")
    .Output("alg: int32")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape);

}  // namespace
}  // namespace headrace
