// Checkpoints and files.
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/tensor/tensor_slice.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

Status Scalars(InferenceContext* c, int n) {
  Shape unused;
  for (int i = 0; i < n; ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  return OkStatus();
}

// A prefix, and vectors of equal lengths.
Status PrefixAndVectors(InferenceContext* c, int vectors, int64_t* length) {
  HR_RETURN_IF_ERROR(Scalars(c, 1));
  *length = -1;
  for (int i = 1; i <= vectors; ++i) {
    Shape vector;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &vector));
    HR_RETURN_IF_ERROR(
        c->MergeDims(*length, InferenceContext::Dim(vector, 0), length));
  }
  return OkStatus();
}

Status SaveV2Shape(InferenceContext* c) {
  int64_t n;
  HR_RETURN_IF_ERROR(PrefixAndVectors(c, 2, &n));
  return c->WithValue(n, c->num_inputs() - 3, &n);
}

Status SaveShape(InferenceContext* c) {
  int64_t n;
  HR_RETURN_IF_ERROR(PrefixAndVectors(c, 1, &n));
  return c->WithValue(n, c->num_inputs() - 2, &n);
}

Status SaveSlicesShape(InferenceContext* c) {
  int64_t n;
  HR_RETURN_IF_ERROR(PrefixAndVectors(c, 2, &n));
  return c->WithValue(n, c->num_inputs() - 3, &n);
}

// What "shape_and_slice" says of the tensor that is read; "" says nothing.
Status SliceShape(absl::string_view spec, Shape* out) {
  if (spec.empty()) return OkStatus();
  TensorShape shape, slice_shape;
  TensorSlice slice;
  HR_RETURN_IF_ERROR(ParseShapeAndSlice(spec, &shape, &slice, &slice_shape));
  *out = Shape(slice_shape);
  return OkStatus();
}

Status RestoreV2Shape(InferenceContext* c) {
  int64_t n;
  HR_RETURN_IF_ERROR(PrefixAndVectors(c, 2, &n));
  HR_RETURN_IF_ERROR(c->WithValue(n, c->num_outputs(), &n));
  const Tensor* const slices = c->input_tensor(2);
  for (int i = 0; i < c->num_outputs(); ++i) {
    Shape out;
    if (slices != nullptr && slices->NumElements() == c->num_outputs()) {
      HR_RETURN_IF_ERROR(SliceShape(slices->data<tstring>()[i], &out));
    }
    c->set_output(i, out);
  }
  return OkStatus();
}

Status RestoreSliceShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(Scalars(c, c->num_inputs()));
  const Tensor* const slice = c->input_tensor(2);
  Shape out;
  if (slice != nullptr && slice->NumElements() == 1) {
    HR_RETURN_IF_ERROR(SliceShape(*slice->data<tstring>(), &out));
  }
  c->set_output(0, out);
  return OkStatus();
}

Status RestoreShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(Scalars(c, c->num_inputs()));
  return shape_inference::UnknownShape(c);
}

Status AllScalars(InferenceContext* c) {
  HR_RETURN_IF_ERROR(Scalars(c, c->num_inputs()));
  for (int i = 0; i < c->num_outputs(); ++i) {
    c->set_output(i, InferenceContext::Scalar());
  }
  return OkStatus();
}

REGISTER_OP("SaveV2")
    .Input("prefix: string")
    .Input("tensor_names: string")
    .Input("shape_and_slices: string")
    .Input("tensors: dtypes")
    .Attr("dtypes: list(type) >= 1")
    .SetIsStateful()
    .SetShapeFn(SaveV2Shape)
    .WritesFiles()
    .FileNameInput(0);

REGISTER_OP("RestoreV2")
    .Input("prefix: string")
    .Input("tensor_names: string")
    .Input("shape_and_slices: string")
    .Output("tensors: dtypes")
    .Attr("dtypes: list(type) >= 1")
    .SetIsStateful()
    .SetShapeFn(RestoreV2Shape)
    .ReadsFiles()
    .FileNameInput(0);

REGISTER_OP("MergeV2Checkpoints")
    .Input("checkpoint_prefixes: string")
    .Input("destination_prefix: string")
    .Attr("delete_old_dirs: bool = true")
    .Attr("allow_missing_files: bool = false")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape unused;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &unused));
      return c->WithRank(c->input(1), 0, &unused);
    })
    .ReadsFiles()
    .WritesFiles()
    .FileNameInput(0)
    .FileNameInput(1);

REGISTER_OP("Save")
    .Input("filename: string")
    .Input("tensor_names: string")
    .Input("data: T")
    .Attr("T: list(type) >= 1")
    .SetIsStateful()
    .SetShapeFn(SaveShape)
    .WritesFiles()
    .FileNameInput(0);

REGISTER_OP("SaveSlices")
    .Input("filename: string")
    .Input("tensor_names: string")
    .Input("shapes_and_slices: string")
    .Input("data: T")
    .Attr("T: list(type) >= 1")
    .SetIsStateful()
    .SetShapeFn(SaveSlicesShape)
    .WritesFiles()
    .FileNameInput(0);

REGISTER_OP("Restore")
    .Input("file_pattern: string")
    .Input("tensor_name: string")
    .Output("tensor: dt")
    .Attr("dt: type")
    .Attr("preferred_shard: int = -1")
    .SetIsStateful()
    .SetShapeFn(RestoreShape)
    .ReadsFiles()
    .FileNameInput(0);

REGISTER_OP("RestoreSlice")
    .Input("file_pattern: string")
    .Input("tensor_name: string")
    .Input("shape_and_slice: string")
    .Output("tensor: dt")
    .Attr("dt: type")
    .Attr("preferred_shard: int = -1")
    .SetIsStateful()
    .SetShapeFn(RestoreSliceShape)
    .ReadsFiles()
    .FileNameInput(0);

REGISTER_OP("ShardedFilename")
    .Input("basename: string")
    .Input("shard: int32")
    .Input("num_shards: int32")
    .Output("filename: string")
    .SetShapeFn(AllScalars);

REGISTER_OP("ShardedFilespec")
    .Input("basename: string")
    .Input("num_shards: int32")
    .Output("filename: string")
    .SetShapeFn(AllScalars);

REGISTER_OP("ReadFile")
    .Input("filename: string")
    .Output("contents: string")
    .SetShapeFn(AllScalars)
    .ReadsFiles()
    .FileNameInput(0);

REGISTER_OP("WriteFile")
    .Input("filename: string")
    .Input("contents: string")
    .SetIsStateful()
    .SetShapeFn(AllScalars)
    .WritesFiles()
    .FileNameInput(0);

REGISTER_OP("MatchingFiles")
    .Input("pattern: string")
    .Output("filenames: string")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape unused;
      HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(0), 1, &unused));
      c->set_output(0, InferenceContext::Vector(-1));
      return OkStatus();
    })
    .ReadsFiles()
    .FolderNameInput(0);

REGISTER_OP("GenerateVocabRemapping")
    .Input("new_vocab_file: string")
    .Input("old_vocab_file: string")
    .Attr("new_vocab_offset: int >= 0")
    .Attr("num_new_vocab: int >= 0")
    .Attr("old_vocab_size: int >= -1 = -1")
    .Output("remapping: int64")
    .Output("num_present: int32")
    .SetShapeFn([](InferenceContext* c) -> Status {
      int64_t n;
      HR_RETURN_IF_ERROR(c->GetAttr("num_new_vocab", &n));
      c->set_output(0, InferenceContext::Vector(n));
      c->set_output(1, InferenceContext::Scalar());
      return OkStatus();
    })
    .ReadsFiles()
    .FileNameInput(0)
    .FileNameInput(1);

REGISTER_OP("LoadAndRemapMatrix")
    .Input("ckpt_path: string")
    .Input("old_tensor_name: string")
    .Input("row_remapping: int64")
    .Input("col_remapping: int64")
    .Input("initializing_values: float")
    .Attr("num_rows: int >= 0")
    .Attr("num_cols: int >= 1")
    .Attr("max_rows_in_memory: int = -1")
    .Output("output_matrix: float")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape vector;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &vector));
      HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 1, &vector));
      int64_t rows, cols;
      HR_RETURN_IF_ERROR(c->GetAttr("num_rows", &rows));
      HR_RETURN_IF_ERROR(c->GetAttr("num_cols", &cols));
      c->set_output(0, InferenceContext::Matrix(rows, cols));
      return OkStatus();
    })
    .ReadsFiles()
    .FileNameInput(0);

}  // namespace
}  // namespace headrace
