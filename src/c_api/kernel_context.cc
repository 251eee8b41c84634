// TF_OpKernelContext: what a call of a client's kernel sees. A client writes
// outputs through handles that share their memory with the context, so outputs
// never lie inside the Tensor object itself.
#include <cstring>

#include "c_api/internal.h"
#include "c_api/kernel_internal.h"
#include "framework/op/tensor_proto.h"
#include "headrace/version.h"

using headrace::DataType;
using headrace::OkStatus;
using headrace::OpKernelContext;
using headrace::Status;
using headrace::Tensor;
using headrace::TensorShape;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;

namespace {

Status NoContext() {
  return errors::InvalidArgument("the context of the kernel's call is NULL");
}

// The errors name the node.
Status CheckInputIndex(TF_OpKernelContext* ctx, int i) {
  if (ctx == nullptr) return NoContext();
  if (i >= 0 && i < ToCpp(ctx)->num_inputs()) return OkStatus();
  return errors::OutOfRange("input index out of range: node '",
                            ToCpp(ctx)->op_kernel().name(), "' has ",
                            ToCpp(ctx)->num_inputs(), " inputs, no input ", i);
}

Status CheckOutputIndex(TF_OpKernelContext* ctx, int i) {
  if (ctx == nullptr) return NoContext();
  if (i >= 0 && i < ToCpp(ctx)->num_outputs()) return OkStatus();
  return errors::OutOfRange(
      "output index out of range: node '", ToCpp(ctx)->op_kernel().name(),
      "' has ", ToCpp(ctx)->num_outputs(), " outputs, no output ", i);
}

Status ShapeOf(const int64_t* dims, int num_dims, TensorShape* shape) {
  if (num_dims < 0 || (dims == nullptr && num_dims > 0)) {
    return errors::InvalidArgument("a shape of ", num_dims, " dims at ",
                                   dims == nullptr ? "NULL" : "an address");
  }
  return TensorShape::Build(absl::MakeConstSpan(dims, num_dims), shape);
}

Status CheckOutputType(TF_OpKernelContext* ctx, int i, DataType got) {
  const DataType wanted =
      headrace::BaseType(ToCpp(ctx)->expected_output_dtype(i));
  if (got == wanted) return OkStatus();
  return errors::InvalidArgument("output ", i, " of node '",
                                 ToCpp(ctx)->op_kernel().name(), "' is ",
                                 headrace::DataTypeString(wanted), ", got ",
                                 headrace::DataTypeString(got));
}

// A handle through which output i, which is set, can be written.
Status ShareOutput(OpKernelContext* ctx, int i, TF_Tensor** out) {
  Tensor* const t = ctx->mutable_output(i);
  if (t->dtype() == headrace::DT_STRING && kOffsetStrings) {
    return errors::Unimplemented(
        "output ", i, " of node '", ctx->op_kernel().name(),
        "' has strings, which this library gives out encoded: make a tensor "
        "and call TF_SetOutput");
  }
  if (t->IsInline()) {
    Tensor heap;
    HR_RETURN_IF_ERROR(t->DeepCopyTo(&heap, Tensor::kHeap));
    *t = std::move(heap);
  }
  *out = new TF_Tensor(*t);
  return OkStatus();
}

Status NewOutput(TF_OpKernelContext* ctx, int i, DataType dtype,
                 const int64_t* dims, int num_dims, TF_Tensor** out) {
  TensorShape shape;
  Tensor* made = nullptr;
  HR_RETURN_IF_ERROR(CheckOutputIndex(ctx, i));
  HR_RETURN_IF_ERROR(CheckOutputType(ctx, i, dtype));
  HR_RETURN_IF_ERROR(ShapeOf(dims, num_dims, &shape));
  HR_RETURN_IF_ERROR(ToCpp(ctx)->allocate_output(i, shape, &made));
  return ShareOutput(ToCpp(ctx), i, out);
}

Status ForwardOrNew(TF_OpKernelContext* ctx, const int* candidates,
                    int num_candidates, int output, const int64_t* dims,
                    int num_dims, int* forwarded, TF_Tensor** out) {
  TensorShape shape;
  Tensor* made = nullptr;
  HR_RETURN_IF_ERROR(CheckOutputIndex(ctx, output));
  HR_RETURN_IF_ERROR(ShapeOf(dims, num_dims, &shape));
  if (num_candidates < 0 || (candidates == nullptr && num_candidates > 0)) {
    return errors::InvalidArgument("TF_ForwardInputOrAllocateOutput: ",
                                   num_candidates, " candidate inputs");
  }
  for (int i = 0; i < num_candidates; ++i) {
    HR_RETURN_IF_ERROR(CheckInputIndex(ctx, candidates[i]));
  }
  HR_RETURN_IF_ERROR(ToCpp(ctx)->forward_input_or_allocate_output(
      absl::MakeConstSpan(candidates, num_candidates), output, shape, &made,
      forwarded));
  return ShareOutput(ToCpp(ctx), output, out);
}

Status NewTemporary(TF_OpKernelContext* ctx, DataType dtype,
                    const int64_t* dims, int num_dims,
                    const TF_AllocatorAttributes* attributes, TF_Tensor** out) {
  if (ctx == nullptr) return NoContext();
  if (attributes != nullptr &&
      attributes->struct_size < TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE) {
    return errors::InvalidArgument("TF_AllocatorAttributes has struct_size ",
                                   attributes->struct_size, ", wanted ",
                                   TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE);
  }
  if (!headrace::IsValidDataType(dtype) || headrace::IsRefType(dtype)) {
    return errors::InvalidArgument("TF_AllocateTemp: data type ",
                                   static_cast<int>(dtype));
  }
  TensorShape shape;
  HR_RETURN_IF_ERROR(ShapeOf(dims, num_dims, &shape));
  Tensor t;
  if (attributes != nullptr && attributes->on_host) {
    HR_RETURN_IF_ERROR(
        Tensor::Allocate(ToCpp(ctx)->device()->allocator(headrace::HOST_MEMORY),
                         dtype, shape, &t, Tensor::kHeap));
  } else {
    HR_RETURN_IF_ERROR(
        ToCpp(ctx)->allocate_temp(dtype, shape, &t, Tensor::kHeap));
  }
  return WrapTensor(std::move(t), out);
}

Status ReadOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor) {
  HR_RETURN_IF_ERROR(CheckOutputIndex(ctx, i));
  if (tensor == nullptr) {
    return errors::InvalidArgument("TF_SetOutput: output ", i, " of node '",
                                   ToCpp(ctx)->op_kernel().name(), "' is NULL");
  }
  Tensor t;
  HR_RETURN_IF_ERROR(ReadTensor(*tensor, &t));
  HR_RETURN_IF_ERROR(CheckOutputType(ctx, i, t.dtype()));
  ToCpp(ctx)->set_output(i, std::move(t));
  return OkStatus();
}

Status SerializeResource(TF_OpKernelContext* ctx, int i, TF_Buffer* out) {
  HR_RETURN_IF_ERROR(CheckInputIndex(ctx, i));
  const Tensor& t = ToCpp(ctx)->input(i);
  if (t.dtype() != headrace::DT_RESOURCE || t.NumElements() != 1) {
    return errors::InvalidArgument(
        "input ", i, " of node '", ToCpp(ctx)->op_kernel().name(), "' is ",
        headrace::DataTypeString(t.dtype()), " of shape ",
        t.shape().DebugString(), ", wanted one resource");
  }
  return BytesToBuffer(
      "a resource handle",
      headrace::ResourceHandleToBytes(t.scalar<headrace::ResourceHandle>()),
      out);
}

// Sets the status, and returns what make(&tensor) made if it is OK.
template <typename F>
TF_Tensor* Make(TF_Status* status, const F& make) {
  TF_Tensor* made = nullptr;
  const Status s = make(&made);
  Set(status, s);
  return s.ok() ? made : nullptr;
}

}  // namespace

int TF_NumInputs(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? 0 : ToCpp(ctx)->num_inputs();
}

int TF_NumOutputs(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? 0 : ToCpp(ctx)->num_outputs();
}

void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor,
                 TF_Status* status) {
  Status s = CheckInputIndex(ctx, i);
  if (s.ok() && tensor == nullptr) {
    s = errors::InvalidArgument(
        "TF_GetInput: the place for the tensor is NULL");
  }
  if (!s.ok()) return Set(status, s);
  *tensor = nullptr;
  Set(status,
      WrapTensor(ToCpp(ctx)->mutable_input(i, /*lock_held=*/false), tensor));
}

void TF_InputRange(TF_OpKernelContext* ctx, const char* name,
                   TF_InputRange_Args* args) {
  if (args == nullptr) return;
  if (args->struct_size < TF_InputRange_Args_STRUCT_SIZE) {
    // `status` is the last member: it may not be there.
    return;
  }
  args->start = args->stop = -1;
  Set(args->status, ctx == nullptr
                        ? NoContext()
                        : ToCpp(ctx)->op_kernel().InputRange(
                              Text(name), &args->start, &args->stop));
}

TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index) {
  return CheckInputIndex(ctx, index).ok()
             ? FromDataType(ToCpp(ctx)->input_dtype(index))
             : FromDataType(headrace::DT_INVALID);
}

bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status) {
  const Status s = CheckInputIndex(ctx, i);
  Set(status, s);
  return s.ok() && (ToCpp(ctx)->op_kernel().input_memory_type(i) ==
                        headrace::HOST_MEMORY ||
                    ToCpp(ctx)->device()->IsHostMemory());
}

TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i) {
  return CheckOutputIndex(ctx, i).ok()
             ? FromDataType(ToCpp(ctx)->expected_output_dtype(i))
             : FromDataType(headrace::DT_INVALID);
}

bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i, TF_Status* status) {
  const Status s = CheckOutputIndex(ctx, i);
  Set(status, s);
  return s.ok() && (ToCpp(ctx)->op_kernel().output_memory_type(i) ==
                        headrace::HOST_MEMORY ||
                    ToCpp(ctx)->device()->IsHostMemory());
}

TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* context, int index,
                             TF_DataType dtype, const int64_t* dims,
                             int num_dims, size_t /*len*/, TF_Status* status) {
  return Make(status, [&](TF_Tensor** made) {
    return NewOutput(context, index, ToDataType(dtype), dims, num_dims, made);
  });
}

TF_Tensor* TF_ForwardInputOrAllocateOutput(
    TF_OpKernelContext* context, const int* candidate_input_indices,
    int num_candidate_input_indices, int output_index,
    const int64_t* output_dims, int output_num_dims, int* forwarded_input,
    TF_Status* status) {
  return Make(status, [&](TF_Tensor** made) {
    return ForwardOrNew(context, candidate_input_indices,
                        num_candidate_input_indices, output_index, output_dims,
                        output_num_dims, forwarded_input, made);
  });
}

void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor,
                  TF_Status* status) {
  Set(status, ReadOutput(ctx, i, tensor));
}

TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i,
                               TF_Status* status) {
  return Make(status, [&](TF_Tensor** made) -> Status {
    HR_RETURN_IF_ERROR(CheckOutputIndex(ctx, i));
    if (ToCpp(ctx)->mutable_output(i) == nullptr) return OkStatus();
    return ShareOutput(ToCpp(ctx), i, made);
  });
}

TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* context, TF_DataType dtype,
                           const int64_t* dims, int num_dims,
                           TF_AllocatorAttributes* alloc_attrs,
                           TF_Status* status) {
  return Make(status, [&](TF_Tensor** made) {
    return NewTemporary(context, ToDataType(dtype), dims, num_dims, alloc_attrs,
                        made);
  });
}

void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status) {
  if (ctx != nullptr && status != nullptr) {
    ToCpp(ctx)->CtxFailure(status->status);
  }
}

TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? TF_StringView{nullptr, 0}
                        : ViewOf(ToCpp(ctx)->op_kernel().name());
}

TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx,
                                           size_t index) {
  if (ctx == nullptr) return {nullptr, 0};
  const auto& inputs = ToCpp(ctx)->op_kernel().def().inputs;
  return index < inputs.size() ? ViewOf(inputs[index])
                               : TF_StringView{nullptr, 0};
}

int64_t TF_StepId(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? -1 : ToCpp(ctx)->step_id();
}

int64_t TF_GetStepId(TF_OpKernelContext* ctx) { return TF_StepId(ctx); }

uint64_t TF_GetFrameId(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? 0 : ToCpp(ctx)->params().frame_id;
}

int64_t TF_GetIterId(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? 0 : ToCpp(ctx)->params().frame_iter;
}

int TF_GetDeviceId(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? -1 : ToCpp(ctx)->device()->parsed_name().id;
}

TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? TF_StringView{nullptr, 0}
                        : ViewOf(ToCpp(ctx)->device()->name());
}

TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* ctx) {
  return ctx == nullptr
             ? TF_StringView{nullptr, 0}
             : ViewOf(ToCpp(ctx)->resource_manager()->default_container());
}

int TF_GetGraphDefVersion(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? -1 : headrace::kGraphDefProducer;
}

void TF_GetSerializedResourceHandleProto(
    TF_OpKernelContext* ctx, int i, TF_Buffer* serialized_resource_handle_proto,
    TF_Status* status) {
  Set(status, SerializeResource(ctx, i, serialized_resource_handle_proto));
}

void TF_GetSerializedConfigProto(TF_OpKernelContext* ctx, TF_Buffer*,
                                 TF_Status* status) {
  Set(status, ctx == nullptr
                  ? NoContext()
                  : errors::Unimplemented(
                        "TF_GetSerializedConfigProto: kernels do not see the "
                        "session's options"));
}

void TF_GetSerializedFunctionDefLibrary(TF_OpKernelContext* ctx, TF_Buffer*,
                                        TF_Status* status) {
  Set(status, ctx == nullptr
                  ? NoContext()
                  : errors::Unimplemented(
                        "TF_GetSerializedFunctionDefLibrary: kernels do not "
                        "see the definitions of functions"));
}

SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status) {
  Set(status, ctx == nullptr
                  ? NoContext()
                  : errors::Unimplemented(
                        "TF_GetStream: device ", ToCpp(ctx)->device()->name(),
                        " has no stream of StreamExecutor's"));
  return nullptr;
}

TF_RendezvousThunk TF_GetRendezvous(TF_OpKernelContext*) {
  return {nullptr, nullptr, nullptr, nullptr};
}
