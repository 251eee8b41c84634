// Between strings and what their bytes stand for: code points, numbers,
// tensors.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// Input 0 with one more dim.
Status AppendDim(InferenceContext* c, int64_t dim) {
  Shape out;
  HR_RETURN_IF_ERROR(
      c->Concatenate(c->input(0), InferenceContext::Vector(dim), &out));
  c->set_output(0, out);
  return OkStatus();
}

Status UnicodeDecodeShape(InferenceContext* c) {
  c->set_output(0, InferenceContext::Vector(
                       AddWithoutOverflow(c->input(0).num_elements(), 1)));
  for (int i = 1; i < c->num_outputs(); ++i) {
    c->set_output(i, InferenceContext::Vector(-1));
  }
  return OkStatus();
}

REGISTER_OP("EncodeBase64")
    .Input("input: string")
    .Output("output: string")
    .Attr("pad: bool = false")
    .KeepsShape();

REGISTER_OP("DecodeBase64")
    .Input("input: string")
    .Output("output: string")
    .KeepsShape();

REGISTER_OP("DecodeCompressed")
    .Input("bytes: string")
    .Output("output: string")
    .Attr("compression_type: string = ''")
    .KeepsShape();

REGISTER_OP("DecodeJSONExample")
    .Input("json_examples: string")
    .Output("binary_examples: string")
    .KeepsShape();

REGISTER_OP("StringToNumber")
    .Input("string_tensor: string")
    .Output("output: out_type")
    .Attr("out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT")
    .KeepsShape();

REGISTER_OP("DecodeRaw")
    .Input("bytes: string")
    .Output("output: out_type")
    .Attr(
        "out_type: {half, float, double, int32, uint16, uint8, int16, int8, "
        "int64, complex64, complex128, bool, bfloat16}")
    .Attr("little_endian: bool = true")
    .SetShapeFn([](InferenceContext* c) { return AppendDim(c, -1); });

REGISTER_OP("DecodePaddedRaw")
    .Input("input_bytes: string")
    .Input("fixed_length: int32")
    .Output("output: out_type")
    .Attr(
        "out_type: {half, float, double, int32, uint16, uint8, int16, int8, "
        "int64, bfloat16}")
    .Attr("little_endian: bool = true")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape unused;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
      DataType type;
      HR_RETURN_IF_ERROR(c->GetAttr("out_type", &type));
      const int64_t size = DataTypeSize(type);
      int64_t length;
      if (!c->ScalarInput(1, &length)) return AppendDim(c, -1);
      if (length <= 0 || length % size != 0) {
        return errors::InvalidArgument(
            "fixed_length must be a positive multiple of ", size, ", got ",
            length);
      }
      return AppendDim(c, length / size);
    });

REGISTER_OP("CompareAndBitpack")
    .Input("input: T")
    .Input("threshold: T")
    .Output("output: uint8")
    .Attr("T: {bool, half, float, double, int8, int16, int32, int64}")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape in, unused, out;
      HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &in));
      HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
      if (in.unknown_rank()) return shape_inference::UnknownShape(c);
      int64_t bytes = in.dim_size(in.dims() - 1);
      if (bytes >= 0) {
        HR_RETURN_IF_ERROR(c->Divide(bytes, 8, true, &bytes));
      }
      HR_RETURN_IF_ERROR(c->ReplaceDim(in, in.dims() - 1, bytes, &out));
      c->set_output(0, out);
      return OkStatus();
    });

REGISTER_OP("SerializeTensor")
    .Input("tensor: T")
    .Output("serialized: string")
    .Attr("T: type")
    .SetShapeFn(shape_inference::ScalarShape);

REGISTER_OP("ParseTensor")
    .Input("serialized: string")
    .Output("output: out_type")
    .Attr("out_type: type")
    .SetShapeFn(shape_inference::UnknownShape);

REGISTER_OP("Fingerprint")
    .Input("data: T")
    .Input("method: string")
    .Output("fingerprint: uint8")
    .Attr("T: type")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape data, unused;
      HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &data));
      HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
      c->set_output(0, InferenceContext::Matrix(c->Dim(data, 0), 8));
      return OkStatus();
    });

REGISTER_OP("UnicodeScript")
    .Input("input: int32")
    .Output("output: int32")
    .KeepsShape();

REGISTER_OP("UnicodeTranscode")
    .Input("input: string")
    .Output("output: string")
    .Attr("input_encoding: string")
    .Attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
    .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
    .Attr("replacement_char: int = 65533")
    .Attr("replace_control_characters: bool = false")
    .KeepsShape();

REGISTER_OP("UnicodeDecode")
    .Input("input: string")
    .Output("row_splits: Tsplits")
    .Output("char_values: int32")
    .Attr("input_encoding: string")
    .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
    .Attr("replacement_char: int = 65533")
    .Attr("replace_control_characters: bool = false")
    .Attr("Tsplits: {int32, int64} = DT_INT64")
    .SetShapeFn(UnicodeDecodeShape);

REGISTER_OP("UnicodeDecodeWithOffsets")
    .Input("input: string")
    .Output("row_splits: Tsplits")
    .Output("char_values: int32")
    .Output("char_to_byte_starts: int64")
    .Attr("input_encoding: string")
    .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
    .Attr("replacement_char: int = 65533")
    .Attr("replace_control_characters: bool = false")
    .Attr("Tsplits: {int32, int64} = DT_INT64")
    .SetShapeFn(UnicodeDecodeShape);

REGISTER_OP("UnicodeEncode")
    .Input("input_values: int32")
    .Input("input_splits: Tsplits")
    .Output("output: string")
    .Attr("errors: {'ignore', 'replace', 'strict'} = 'replace'")
    .Attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
    .Attr("replacement_char: int = 65533")
    .Attr("Tsplits: {int32, int64} = DT_INT64")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape unused, splits;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &unused));
      HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &splits));
      int64_t rows = c->Dim(splits, 0);
      if (rows >= 0) HR_RETURN_IF_ERROR(c->Subtract(rows, 1, &rows));
      c->set_output(0, InferenceContext::Vector(rows));
      return OkStatus();
    });

}  // namespace
}  // namespace headrace
