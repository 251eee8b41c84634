// Readers: records of the files whose names a queue holds.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::NoOutputs;
using shape_inference::StringHandleShape;

// Handles are scalars, or, when they are strings, vectors of two.
Status CheckHandle(InferenceContext* c, int i) {
  Shape unused;
  const bool strings = c->op_def().inputs[i].type != DT_RESOURCE;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(i), strings ? 1 : 0, &unused));
  int64_t n = 0;
  return strings ? c->WithValue(c->Dim(c->input(i), 0), 2, &n) : OkStatus();
}

Status ScalarsOfReader(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckHandle(c, 0));
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->Scalar());
  return OkStatus();
}

Status ReadShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckHandle(c, 1));
  return ScalarsOfReader(c);
}

Status ReadUpToShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckHandle(c, 0));
  HR_RETURN_IF_ERROR(CheckHandle(c, 1));
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &unused));
  c->set_output(0, c->Vector(-1));
  c->set_output(1, c->Vector(-1));
  return OkStatus();
}

Status ReaderRestoreStateShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckHandle(c, 0));
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
  return NoOutputs(c);
}

Status ResetShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckHandle(c, 0));
  return NoOutputs(c);
}

Status HandleShape(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  return OkStatus();
}

REGISTER_OP("IdentityReader")
    .Output("reader_handle: Ref(string)")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("WholeFileReader")
    .Output("reader_handle: Ref(string)")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("TextLineReader")
    .Output("reader_handle: Ref(string)")
    .Attr("skip_header_lines: int = 0")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("TFRecordReader")
    .Output("reader_handle: Ref(string)")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("compression_type: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("FixedLengthRecordReader")
    .Output("reader_handle: Ref(string)")
    .Attr("header_bytes: int = 0")
    .Attr("record_bytes: int")
    .Attr("footer_bytes: int = 0")
    .Attr("hop_bytes: int = 0")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("LMDBReader")
    .Output("reader_handle: Ref(string)")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("IdentityReaderV2")
    .Output("reader_handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(HandleShape)
    .WritesState();
REGISTER_OP("WholeFileReaderV2")
    .Output("reader_handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(HandleShape)
    .WritesState();
REGISTER_OP("TextLineReaderV2")
    .Output("reader_handle: resource")
    .Attr("skip_header_lines: int = 0")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(HandleShape)
    .WritesState();
REGISTER_OP("TFRecordReaderV2")
    .Output("reader_handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("compression_type: string = ''")
    .SetIsStateful()
    .SetShapeFn(HandleShape)
    .WritesState();
REGISTER_OP("FixedLengthRecordReaderV2")
    .Output("reader_handle: resource")
    .Attr("header_bytes: int = 0")
    .Attr("record_bytes: int")
    .Attr("footer_bytes: int = 0")
    .Attr("hop_bytes: int = 0")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("encoding: string = ''")
    .SetIsStateful()
    .SetShapeFn(HandleShape)
    .WritesState();
REGISTER_OP("ReaderRead")
    .Input("reader_handle: Ref(string)")
    .Input("queue_handle: Ref(string)")
    .Output("key: string")
    .Output("value: string")
    .SetShapeFn(ReadShape)
    .WritesState()
    .ReadsFiles();
REGISTER_OP("ReaderReadV2")
    .Input("reader_handle: resource")
    .Input("queue_handle: resource")
    .Output("key: string")
    .Output("value: string")
    .SetIsStateful()
    .SetShapeFn(ReadShape)
    .WritesState()
    .ReadsFiles();
REGISTER_OP("ReaderReadUpTo")
    .Input("reader_handle: Ref(string)")
    .Input("queue_handle: Ref(string)")
    .Input("num_records: int64")
    .Output("keys: string")
    .Output("values: string")
    .SetShapeFn(ReadUpToShape)
    .WritesState()
    .ReadsFiles();
REGISTER_OP("ReaderReadUpToV2")
    .Input("reader_handle: resource")
    .Input("queue_handle: resource")
    .Input("num_records: int64")
    .Output("keys: string")
    .Output("values: string")
    .SetIsStateful()
    .SetShapeFn(ReadUpToShape)
    .WritesState()
    .ReadsFiles();
REGISTER_OP("ReaderNumRecordsProduced")
    .Input("reader_handle: Ref(string)")
    .Output("records_produced: int64")
    .SetShapeFn(ScalarsOfReader)
    .ReadsState();
REGISTER_OP("ReaderNumRecordsProducedV2")
    .Input("reader_handle: resource")
    .Output("records_produced: int64")
    .SetIsStateful()
    .SetShapeFn(ScalarsOfReader)
    .ReadsState();
REGISTER_OP("ReaderNumWorkUnitsCompleted")
    .Input("reader_handle: Ref(string)")
    .Output("units_completed: int64")
    .SetShapeFn(ScalarsOfReader)
    .ReadsState();
REGISTER_OP("ReaderNumWorkUnitsCompletedV2")
    .Input("reader_handle: resource")
    .Output("units_completed: int64")
    .SetIsStateful()
    .SetShapeFn(ScalarsOfReader)
    .ReadsState();
REGISTER_OP("ReaderSerializeState")
    .Input("reader_handle: Ref(string)")
    .Output("state: string")
    .SetShapeFn(ScalarsOfReader)
    .ReadsState();
REGISTER_OP("ReaderSerializeStateV2")
    .Input("reader_handle: resource")
    .Output("state: string")
    .SetIsStateful()
    .SetShapeFn(ScalarsOfReader)
    .ReadsState();
REGISTER_OP("ReaderReset")
    .Input("reader_handle: Ref(string)")
    .SetShapeFn(ResetShape)
    .WritesState();
REGISTER_OP("ReaderResetV2")
    .Input("reader_handle: resource")
    .SetIsStateful()
    .SetShapeFn(ResetShape)
    .WritesState();
REGISTER_OP("ReaderRestoreState")
    .Input("reader_handle: Ref(string)")
    .Input("state: string")
    .SetShapeFn(ReaderRestoreStateShape)
    .WritesState();
REGISTER_OP("ReaderRestoreStateV2")
    .Input("reader_handle: resource")
    .Input("state: string")
    .SetIsStateful()
    .SetShapeFn(ReaderRestoreStateShape)
    .WritesState();

REGISTER_OP("RecordInput")
    .Output("records: string")
    .Attr("file_pattern: string")
    .Attr("file_random_seed: int = 301")
    .Attr("file_shuffle_shift_ratio: float = 0")
    .Attr("file_buffer_size: int = 10000")
    .Attr("file_parallelism: int = 16")
    .Attr("batch_size: int = 32")
    .Attr("compression_type: string = ''")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      int64_t batch_size;
      HR_RETURN_IF_ERROR(c->GetAttr("batch_size", &batch_size));
      c->set_output(0, c->Vector(batch_size));
      return OkStatus();
    })
    .WritesState()
    .IsRandom()
    .ReadsFiles()
    .FileNameAttr("file_pattern");

}  // namespace
}  // namespace headrace
