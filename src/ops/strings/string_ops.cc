// Strings.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// Scalars go with every shape.
Status StringJoinShape(InferenceContext* c) {
  // Scalars go with every shape; what is not known is one or has the shape of
  // the others.
  Shape out = InferenceContext::Scalar();
  bool all_known = true;
  for (int i = 0; i < c->num_inputs(); ++i) {
    const Shape& s = c->input(i);
    all_known = all_known && !s.unknown_rank();
    if (s.unknown_rank() || s.dims() == 0) continue;
    if (out.dims() == 0) {
      out = s;
    } else {
      HR_RETURN_IF_ERROR(c->Merge(out, s, &out));
    }
  }
  if (out.dims() == 0 && !all_known) out = InferenceContext::UnknownShape();
  c->set_output(0, out);
  return OkStatus();
}

// Input 0 elementwise, the others scalars.
Status ScalarArguments(InferenceContext* c) {
  Shape unused;
  for (int i = 1; i < c->num_inputs(); ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  return shape_inference::UnchangedShape(c);
}

// Pieces as a sparse matrix.
Status SplitShape(InferenceContext* c) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &unused));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
  c->set_output(0, InferenceContext::Matrix(-1, 2));
  c->set_output(1, InferenceContext::Vector(-1));
  c->set_output(2, InferenceContext::Vector(2));
  return OkStatus();
}

Status SegmentJoinShape(InferenceContext* c) {
  const Shape &in = c->input(0), &ids = c->input(1);
  Shape unused, rest, out;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &unused));
  int64_t rows;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(2, &rows));
  if (in.unknown_rank() || ids.unknown_rank()) {
    return shape_inference::UnknownShape(c);
  }
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(ids, 1, &unused));
  HR_RETURN_IF_ERROR(c->MergePrefix(in, ids, &unused, &rest));
  HR_RETURN_IF_ERROR(c->Subshape(in, ids.dims(), &rest));
  HR_RETURN_IF_ERROR(
      c->Concatenate(InferenceContext::Vector(rows), rest, &out));
  c->set_output(0, out);
  return OkStatus();
}

REGISTER_OP("StringJoin")
    .Input("inputs: N * string")
    .Output("output: string")
    .Attr("N: int >= 0")
    .Attr("separator: string = ''")
    .SetShapeFn(StringJoinShape);

REGISTER_OP("RegexFullMatch")
    .Input("input: string")
    .Input("pattern: string")
    .Output("output: bool")
    .SetShapeFn(ScalarArguments);

REGISTER_OP("StaticRegexFullMatch")
    .Input("input: string")
    .Output("output: bool")
    .Attr("pattern: string")
    .KeepsShape();

REGISTER_OP("RegexReplace")
    .Input("input: string")
    .Input("pattern: string")
    .Input("rewrite: string")
    .Output("output: string")
    .Attr("replace_global: bool = true")
    .SetShapeFn(ScalarArguments);

REGISTER_OP("StaticRegexReplace")
    .Input("input: string")
    .Output("output: string")
    .Attr("pattern: string")
    .Attr("rewrite: string")
    .Attr("replace_global: bool = true")
    .KeepsShape();

REGISTER_OP("StringSplit")
    .Input("input: string")
    .Input("delimiter: string")
    .Output("indices: int64")
    .Output("values: string")
    .Output("shape: int64")
    .Attr("skip_empty: bool = true")
    .SetShapeFn(SplitShape);

REGISTER_OP("StringSplitV2")
    .Input("input: string")
    .Input("sep: string")
    .Output("indices: int64")
    .Output("values: string")
    .Output("shape: int64")
    .Attr("maxsplit: int = -1")
    .SetShapeFn(SplitShape);

REGISTER_OP("StringToHashBucket")
    .Input("string_tensor: string")
    .Output("output: int64")
    .Attr("num_buckets: int >= 1")
    .KeepsShape();

REGISTER_OP("StringToHashBucketFast")
    .Input("input: string")
    .Output("output: int64")
    .Attr("num_buckets: int >= 1")
    .KeepsShape();

REGISTER_OP("StringToHashBucketStrong")
    .Input("input: string")
    .Output("output: int64")
    .Attr("num_buckets: int >= 1")
    .Attr("key: list(int)")
    .KeepsShape();

REGISTER_OP("_TensorToHashBucketFast")
    .Input("input: T")
    .Output("output: int64")
    .Attr("T: {int8, uint8, int16, uint16, int32, uint32, int64, uint64}")
    .Attr("num_buckets: int >= 1")
    .KeepsShape();

REGISTER_OP("ReduceJoin")
    .Input("inputs: string")
    .Input("reduction_indices: int32")
    .Output("output: string")
    .Attr("keep_dims: bool = false")
    .Attr("separator: string = ''")
    .SetShapeFn(shape_inference::ReductionShape);

REGISTER_OP("UnsortedSegmentJoin")
    .Input("inputs: string")
    .Input("segment_ids: Tindices")
    .Input("num_segments: Tnumsegments")
    .Output("output: string")
    .Attr("separator: string = ''")
    .Attr("Tindices: {int32, int64}")
    .Attr("Tnumsegments: {int32, int64} = DT_INT32")
    .SetShapeFn(SegmentJoinShape);

REGISTER_OP("AsString")
    .Input("input: T")
    .Output("output: string")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64, complex64, complex128, bool, variant, "
        "string}")
    .Attr("precision: int = -1")
    .Attr("scientific: bool = false")
    .Attr("shortest: bool = false")
    .Attr("width: int = -1")
    .Attr("fill: string = ''")
    .KeepsShape();

REGISTER_OP("StringFormat")
    .Input("inputs: T")
    .Output("output: string")
    .Attr("T: list(type) >= 0")
    .Attr("template: string = '%s'")
    .Attr("placeholder: string = '%s'")
    .Attr("summarize: int = 3")
    .SetShapeFn(shape_inference::ScalarShape);

REGISTER_OP("StringStrip")
    .Input("input: string")
    .Output("output: string")
    .KeepsShape();

REGISTER_OP("StringLength")
    .Input("input: string")
    .Output("output: int32")
    .Attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
    .KeepsShape();

REGISTER_OP("StringLower")
    .Input("input: string")
    .Output("output: string")
    .Attr("encoding: string = ''")
    .KeepsShape();

REGISTER_OP("StringUpper")
    .Input("input: string")
    .Output("output: string")
    .Attr("encoding: string = ''")
    .KeepsShape();

REGISTER_OP("Substr")
    .Input("input: string")
    .Input("pos: T")
    .Input("len: T")
    .Output("output: string")
    .Attr("T: {int32, int64}")
    .Attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape pos, out;
      HR_RETURN_IF_ERROR(c->Merge(c->input(1), c->input(2), &pos));
      HR_RETURN_IF_ERROR(BroadcastShapes(c->input(0), pos, &out));
      c->set_output(0, out);
      return OkStatus();
    });

REGISTER_OP("StringNGrams")
    .Input("data: string")
    .Input("data_splits: Tsplits")
    .Output("ngrams: string")
    .Output("ngrams_splits: Tsplits")
    .Attr("separator: string")
    .Attr("ngram_widths: list(int) >= 0")
    .Attr("left_pad: string")
    .Attr("right_pad: string")
    .Attr("pad_width: int")
    .Attr("preserve_short_sequences: bool")
    .Attr("Tsplits: {int32, int64} = DT_INT64")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape unused, splits;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &unused));
      HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &splits));
      c->set_output(0, InferenceContext::UnknownShapeOfRank(1));
      c->set_output(1, splits);
      return OkStatus();
    });

REGISTER_OP("Skipgram")
    .Output("vocab_word: string")
    .Output("vocab_freq: int32")
    .Output("words_per_epoch: int64")
    .Output("current_epoch: int32")
    .Output("total_words_processed: int64")
    .Output("examples: int32")
    .Output("labels: int32")
    .Attr("filename: string")
    .Attr("batch_size: int")
    .Attr("window_size: int = 5")
    .Attr("min_count: int = 5")
    .Attr("subsample: float = 0.001")
    .SetIsStateful()
    .Deprecated(19, "Pairs of words are made outside of the graph.")
    .SetShapeFn([](InferenceContext* c) -> Status {
      int64_t batch_size;
      HR_RETURN_IF_ERROR(c->GetAttr("batch_size", &batch_size));
      for (int i = 0; i < 2; ++i) {
        c->set_output(i, InferenceContext::Vector(-1));
        c->set_output(5 + i, InferenceContext::Vector(batch_size));
      }
      for (int i = 2; i < 5; ++i) c->set_output(i, InferenceContext::Scalar());
      return OkStatus();
    })
    .WritesState()
    .IsRandom()
    .ReadsFiles()
    .FileNameAttr("filename");

}  // namespace
}  // namespace headrace
