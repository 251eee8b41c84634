// Random numbers, from seeds in attrs (stateful: each run goes on in the
// stream), from seeds that are inputs (stateless) or from a variable that holds
// a generator's state; candidate samplers, which draw classes for losses over
// very many of them.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

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
RANDOM_FLOAT_OP("RandomUniform").IsRandom();
RANDOM_FLOAT_OP("RandomStandardNormal").IsRandom();
RANDOM_FLOAT_OP("TruncatedNormal").IsRandom();

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
    .SetShapeFn(RandomUniformIntShape)
    .IsRandom();

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
    .SetShapeFn(ShapeFromInput0)
    .IsRandom();

REGISTER_OP("RandomShuffle")
    .Input("value: T")
    .Output("output: T")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("T: type")
    .SetIsStateful()
    .KeepsShape()
    .IsRandom();

REGISTER_OP("Multinomial")
    .Input("logits: T")
    .Input("num_samples: int32")
    .Output("output: output_dtype")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("T: realnumbertype")
    .Attr("output_dtype: {int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(MultinomialShape)
    .IsRandom();

REGISTER_OP("RandomGamma")
    .Input("shape: S")
    .Input("alpha: T")
    .Output("output: T")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("S: {int32, int64}")
    .Attr("T: {half, float, double}")
    .SetIsStateful()
    .SetShapeFn(PerParameterShape)
    .IsRandom();

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
    .SetShapeFn(PerParameterShape)
    .IsRandom();

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
    .SetShapeFn(PerParameterShape)
    .IsRandom();

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
    .SetShapeFn(shape_inference::ScalarShape)
    .ReadsClock();

// shape; seed, or key, counter and alg; parameters, with whose broadcast shape
// the output's ends.
Status StatelessPerParameterShape(InferenceContext* c) {
  Shape out, parameters, unused;
  int first = 2;
  if (c->op_def().inputs[1].name == "seed") {
    HR_RETURN_IF_ERROR(CheckSeed(c, 1));
  } else {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &unused));
    HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &unused));
    HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &unused));
    first = 4;
  }
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &out));
  parameters = c->input(first);
  for (int i = first + 1; i < c->num_inputs(); ++i) {
    HR_RETURN_IF_ERROR(BroadcastShapes(parameters, c->input(i), &parameters));
  }
  // Ops with one parameter and a seed leave it to the kernel, as TensorFlow's
  // do.
  const bool checks = first == 4 || c->num_inputs() > first + 1;
  if (checks && c->RankKnown(out) && c->RankKnown(parameters)) {
    Shape inner;
    HR_RETURN_IF_ERROR(c->WithRankAtLeast(out, c->Rank(parameters), &unused));
    HR_RETURN_IF_ERROR(
        c->Subshape(out, c->Rank(out) - c->Rank(parameters), &inner));
    HR_RETURN_IF_ERROR(c->Merge(inner, parameters, &unused));
  }
  c->set_output(0, out);
  return OkStatus();
}

REGISTER_OP("StatelessRandomPoisson")
    .Input("shape: T")
    .Input("seed: Tseed")
    .Input("lam: Rtype")
    .Output("output: dtype")
    .Attr("Rtype: {half, float, double, int32, int64}")
    .Attr("dtype: {half, float, double, int32, int64}")
    .Attr("T: {int32, int64}")
    .Attr("Tseed: {int32, int64} = DT_INT64")
    .SetShapeFn(StatelessPerParameterShape);

REGISTER_OP("StatelessRandomGammaV2")
    .Input("shape: T")
    .Input("seed: Tseed")
    .Input("alpha: dtype")
    .Output("output: dtype")
    .Attr("dtype: {half, float, double}")
    .Attr("T: {int32, int64}")
    .Attr("Tseed: {int32, int64} = DT_INT64")
    .SetShapeFn(StatelessPerParameterShape);

REGISTER_OP("StatelessRandomGammaV3")
    .Input("shape: shape_dtype")
    .Input("key: uint64")
    .Input("counter: uint64")
    .Input("alg: int32")
    .Input("alpha: dtype")
    .Output("output: dtype")
    .Attr("dtype: {half, float, double}")
    .Attr("shape_dtype: {int32, int64} = DT_INT32")
    .SetShapeFn(StatelessPerParameterShape);

REGISTER_OP("StatelessRandomBinomial")
    .Input("shape: S")
    .Input("seed: Tseed")
    .Input("counts: T")
    .Input("probs: T")
    .Output("output: dtype")
    .Attr("S: {int32, int64}")
    .Attr("Tseed: {int32, int64} = DT_INT64")
    .Attr("T: {half, float, double, int32, int64} = DT_DOUBLE")
    .Attr("dtype: {half, float, double, int32, int64} = DT_INT64")
    .SetShapeFn(StatelessPerParameterShape);

REGISTER_OP("StatelessParameterizedTruncatedNormal")
    .Input("shape: S")
    .Input("seed: Tseed")
    .Input("means: dtype")
    .Input("stddevs: dtype")
    .Input("minvals: dtype")
    .Input("maxvals: dtype")
    .Output("output: dtype")
    .Attr("S: {int32, int64}")
    .Attr("Tseed: {int32, int64} = DT_INT64")
    .Attr("dtype: {half, float, double}")
    .SetShapeFn(StatelessPerParameterShape);

Status StatelessShuffleShape(InferenceContext* c) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &unused));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &unused));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &unused));
  c->set_output(0, c->input(0));
  return OkStatus();
}

REGISTER_OP("StatelessShuffle")
    .Input("value: T")
    .Input("key: uint64")
    .Input("counter: uint64")
    .Input("alg: int32")
    .Output("output: T")
    .Attr("T: type")
    .SetShapeFn(StatelessShuffleShape);

// A vector if any of index, seed (a matrix then) and max_index is one.
Status RandomIndexShuffleShape(InferenceContext* c) {
  Shape index, seed, max_index;
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(0), 1, &index));
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 1, &seed));
  HR_RETURN_IF_ERROR(c->WithRankAtMost(seed, 2, &seed));
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(2), 1, &max_index));
  int64_t unused;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(seed, -1), 3, &unused));
  if (c->RankKnown(seed)) {
    HR_RETURN_IF_ERROR(c->Subshape(seed, 0, -1, &seed));
  }
  HR_RETURN_IF_ERROR(BroadcastShapes(index, seed, &index));
  HR_RETURN_IF_ERROR(BroadcastShapes(index, max_index, &index));
  c->set_output(0, index);
  return OkStatus();
}

REGISTER_OP("RandomIndexShuffle")
    .Input("index: dtype")
    .Input("seed: Tseed")
    .Input("max_index: dtype")
    .Output("output: dtype")
    .Attr("rounds: int = 4")
    .Attr("dtype: {int32, uint32, int64, uint64}")
    .Attr("Tseed: {int32, uint32, int64, uint64}")
    .SetShapeFn(RandomIndexShuffleShape);

// resource, algorithm, shape, parameters
Status StatefulShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(ScalarsFrom(c, 3));
  Shape unused, out;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(2, &out));
  c->set_output(0, out);
  return OkStatus();
}
Status StatefulWithoutAlgorithmShape(InferenceContext* c) {
  Shape out;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(1, &out));
  c->set_output(0, out);
  return OkStatus();
}
Status StatefulBinomialShape(InferenceContext* c) {
  Shape unused, out;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
  HR_RETURN_IF_ERROR(BroadcastShapes(c->input(3), c->input(4), &unused));
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(2, &out));
  c->set_output(0, out);
  return OkStatus();
}
Status RngSkipShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(ScalarsFrom(c, 1));
  if (c->num_outputs() > 0) c->set_output(0, c->Vector(3));
  return OkStatus();
}

#define STATEFUL_OP(NAME, DTYPE)            \
  REGISTER_OP(NAME)                         \
      .Input("resource: resource")          \
      .Input("algorithm: int64")            \
      .Input("shape: shape_dtype")          \
      .Output("output: dtype")              \
      .Attr("dtype: type = " DTYPE)         \
      .Attr("shape_dtype: type = DT_INT64") \
      .SetIsStateful()                      \
      .SetShapeFn(StatefulShape)
STATEFUL_OP("StatefulUniform", "DT_FLOAT").WritesState().IsRandom();
STATEFUL_OP("StatefulUniformFullInt", "DT_UINT64").WritesState().IsRandom();
STATEFUL_OP("StatefulStandardNormalV2", "DT_FLOAT").WritesState().IsRandom();
STATEFUL_OP("StatefulTruncatedNormal", "DT_FLOAT").WritesState().IsRandom();
STATEFUL_OP("StatefulUniformInt", "DT_INT64")
    .Input("minval: dtype")
    .Input("maxval: dtype")
    .WritesState()
    .IsRandom();
#undef STATEFUL_OP

REGISTER_OP("StatefulStandardNormal")
    .Input("resource: resource")
    .Input("shape: shape_dtype")
    .Output("output: dtype")
    .Attr("dtype: type = DT_FLOAT")
    .Attr("shape_dtype: type = DT_INT64")
    .SetIsStateful()
    .Deprecated(29, "Use StatefulStandardNormalV2 instead")
    .SetShapeFn(StatefulWithoutAlgorithmShape)
    .WritesState()
    .IsRandom();

REGISTER_OP("StatefulRandomBinomial")
    .Input("resource: resource")
    .Input("algorithm: int64")
    .Input("shape: S")
    .Input("counts: T")
    .Input("probs: T")
    .Output("output: dtype")
    .Attr("S: {int32, int64}")
    .Attr("T: {half, float, double, int32, int64} = DT_DOUBLE")
    .Attr("dtype: {half, float, double, int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(StatefulBinomialShape)
    .WritesState()
    .IsRandom();

REGISTER_OP("RngSkip")
    .Input("resource: resource")
    .Input("algorithm: int64")
    .Input("delta: int64")
    .SetIsStateful()
    .SetShapeFn(RngSkipShape)
    .WritesState();

REGISTER_OP("RngReadAndSkip")
    .Input("resource: resource")
    .Input("alg: int32")
    .Input("delta: uint64")
    .Output("value: int64")
    .SetIsStateful()
    .SetShapeFn(RngSkipShape)
    .WritesState();

REGISTER_OP("NonDeterministicInts")
    .Input("shape: shape_dtype")
    .Output("output: dtype")
    .Attr("dtype: type = DT_INT64")
    .Attr("shape_dtype: type = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(ShapeFromInput0)
    .IsRandom();

Status CandidateSamplerShape(InferenceContext* c) {
  int64_t num_sampled, num_true;
  HR_RETURN_IF_ERROR(c->GetAttr("num_sampled", &num_sampled));
  HR_RETURN_IF_ERROR(c->GetAttr("num_true", &num_true));
  PartialTensorShape classes;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &classes));
  c->set_output(0, c->Vector(num_sampled));
  c->set_output(1, c->Matrix(c->Dim(classes, 0), num_true));
  c->set_output(2, c->Vector(num_sampled));
  return OkStatus();
}

Status AccidentalHitsShape(InferenceContext* c) {
  int64_t num_true, unused;
  HR_RETURN_IF_ERROR(c->GetAttr("num_true", &num_true));
  PartialTensorShape classes, sampled;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &classes));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(classes, 1), num_true, &unused));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &sampled));
  for (int i = 0; i < 3; ++i) c->set_output(i, c->Vector(-1));
  return OkStatus();
}

#define CANDIDATE_SAMPLER_OP(NAME)             \
  REGISTER_OP(NAME)                            \
      .Input("true_classes: int64")            \
      .Output("sampled_candidates: int64")     \
      .Output("true_expected_count: float")    \
      .Output("sampled_expected_count: float") \
      .Attr("num_true: int >= 1")              \
      .Attr("num_sampled: int >= 1")           \
      .Attr("unique: bool")
#define SEEDS                 \
  .Attr("seed: int = 0")      \
      .Attr("seed2: int = 0") \
      .SetIsStateful()        \
      .SetShapeFn(CandidateSamplerShape)

CANDIDATE_SAMPLER_OP("UniformCandidateSampler")
    .Attr("range_max: int >= 1") SEEDS.IsRandom();
CANDIDATE_SAMPLER_OP("LogUniformCandidateSampler")
    .Attr("range_max: int >= 1") SEEDS.IsRandom();
CANDIDATE_SAMPLER_OP("LearnedUnigramCandidateSampler")
    .Attr("range_max: int >= 1") SEEDS.IsRandom();
CANDIDATE_SAMPLER_OP("ThreadUnsafeUnigramCandidateSampler")
    .Attr("range_max: int >= 1") SEEDS.IsRandom();
CANDIDATE_SAMPLER_OP("FixedUnigramCandidateSampler")
    .Attr("range_max: int >= 1")
    .Attr("vocab_file: string = ''")
    .Attr("distortion: float = 1.0")
    .Attr("num_reserved_ids: int = 0")
    .Attr("num_shards: int >= 1 = 1")
    .Attr("shard: int >= 0 = 0")
    .Attr("unigrams: list(float) = []") SEEDS.IsRandom()
    .ReadsFiles()
    .FileNameAttr("vocab_file");
CANDIDATE_SAMPLER_OP("AllCandidateSampler") SEEDS.IsRandom();
#undef SEEDS
#undef CANDIDATE_SAMPLER_OP

REGISTER_OP("ComputeAccidentalHits")
    .Input("true_classes: int64")
    .Input("sampled_candidates: int64")
    .Output("indices: int32")
    .Output("ids: int64")
    .Output("weights: float")
    .Attr("num_true: int")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .SetShapeFn(AccidentalHitsShape);
#undef RANDOM_FLOAT_OP
#undef STATELESS_FLOAT_OP
#undef STATELESS_FLOAT_V2_OP

}  // namespace
}  // namespace headrace
