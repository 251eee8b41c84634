// Ops on readers. Input 0 is the reader's handle.
#include <utility>

#include "kernels/io/reader_base.h"
#include "kernels/lib/handle_lookup.h"

namespace headrace {
namespace {

Status ReaderInput(OpKernelContext* ctx, RefPtr<ReaderBase>* out) {
  return LookupInput<ReaderBase>(*ctx, 0, ctx->resource_manager(), out);
}

Tensor Strings(const std::vector<std::string>& v) {
  Tensor t(DT_STRING, TensorShape({static_cast<int64_t>(v.size())}));
  for (size_t i = 0; i < v.size(); ++i) t.data<tstring>()[i] = v[i];
  return t;
}

template <bool kMany>
class ReaderReadOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<ReaderBase> reader;
    RefPtr<QueueBase> queue;
    OP_REQUIRES_OK_ASYNC(ctx, ReaderInput(ctx, &reader), done);
    OP_REQUIRES_OK_ASYNC(
        ctx, LookupInput<QueueBase>(*ctx, 1, ctx->resource_manager(), &queue),
        done);
    int64_t n = 1;
    if (kMany) {
      const Tensor& t = ctx->input(2);
      OP_REQUIRES_ASYNC(
          ctx, t.dims() == 0,
          errors::InvalidArgument("num_records must be a scalar, got shape ",
                                  t.shape().DebugString()),
          done);
      n = t.scalar<int64_t>();
      OP_REQUIRES_ASYNC(
          ctx, n > 0,
          errors::InvalidArgument("num_records must be > 0, got ", n), done);
    }
    reader->Read(
        ctx, std::move(queue), n,
        [ctx](ReaderBase::Records r) {
          if (kMany) {
            ctx->set_output(0, Strings(r.keys));
            ctx->set_output(1, Strings(r.values));
          } else {
            ctx->set_output(0, Tensor::Scalar(tstring(r.keys[0])));
            ctx->set_output(1, Tensor::Scalar(tstring(r.values[0])));
          }
          return OkStatus();
        },
        std::move(done));
  }
  std::string WaitsFor(OpKernelContext*) const override {
    return "a work unit for a reader";
  }
};
REGISTER_KERNEL_BUILDER(Name("ReaderRead").Device(DEVICE_CPU),
                        ReaderReadOp<false>);
REGISTER_KERNEL_BUILDER(Name("ReaderReadV2").Device(DEVICE_CPU),
                        ReaderReadOp<false>);
REGISTER_KERNEL_BUILDER(Name("ReaderReadUpTo").Device(DEVICE_CPU),
                        ReaderReadOp<true>);
REGISTER_KERNEL_BUILDER(Name("ReaderReadUpToV2").Device(DEVICE_CPU),
                        ReaderReadOp<true>);

template <int64_t (ReaderBase::*kCount)()>
class ReaderCountOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ReaderBase> reader;
    OP_REQUIRES_OK(ctx, ReaderInput(ctx, &reader));
    ctx->set_output(0, Tensor::Scalar<int64_t>((reader.get()->*kCount)()));
  }
};
REGISTER_KERNEL_BUILDER(Name("ReaderNumRecordsProduced").Device(DEVICE_CPU),
                        ReaderCountOp<&ReaderBase::records_produced>);
REGISTER_KERNEL_BUILDER(Name("ReaderNumRecordsProducedV2").Device(DEVICE_CPU),
                        ReaderCountOp<&ReaderBase::records_produced>);
REGISTER_KERNEL_BUILDER(Name("ReaderNumWorkUnitsCompleted").Device(DEVICE_CPU),
                        ReaderCountOp<&ReaderBase::work_units_completed>);
REGISTER_KERNEL_BUILDER(
    Name("ReaderNumWorkUnitsCompletedV2").Device(DEVICE_CPU),
    ReaderCountOp<&ReaderBase::work_units_completed>);

class ReaderResetOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ReaderBase> reader;
    OP_REQUIRES_OK(ctx, ReaderInput(ctx, &reader));
    reader->Reset();
  }
};
REGISTER_KERNEL_BUILDER(Name("ReaderReset").Device(DEVICE_CPU), ReaderResetOp);
REGISTER_KERNEL_BUILDER(Name("ReaderResetV2").Device(DEVICE_CPU),
                        ReaderResetOp);

class ReaderSerializeStateOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ReaderBase> reader;
    OP_REQUIRES_OK(ctx, ReaderInput(ctx, &reader));
    std::string state;
    OP_REQUIRES_OK(ctx, reader->Serialize(&state));
    ctx->set_output(0, Tensor::Scalar(tstring(state)));
  }
};
REGISTER_KERNEL_BUILDER(Name("ReaderSerializeState").Device(DEVICE_CPU),
                        ReaderSerializeStateOp);
REGISTER_KERNEL_BUILDER(Name("ReaderSerializeStateV2").Device(DEVICE_CPU),
                        ReaderSerializeStateOp);

class ReaderRestoreStateOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ReaderBase> reader;
    OP_REQUIRES_OK(ctx, ReaderInput(ctx, &reader));
    const Tensor& state = ctx->input(1);
    OP_REQUIRES(ctx, state.dims() == 0,
                errors::InvalidArgument("state must be a scalar, got shape ",
                                        state.shape().DebugString()));
    OP_REQUIRES_OK(ctx, reader->Restore(std::string(state.scalar<tstring>())));
  }
};
REGISTER_KERNEL_BUILDER(Name("ReaderRestoreState").Device(DEVICE_CPU),
                        ReaderRestoreStateOp);
REGISTER_KERNEL_BUILDER(Name("ReaderRestoreStateV2").Device(DEVICE_CPU),
                        ReaderRestoreStateOp);

}  // namespace
}  // namespace headrace
