#include "kernels/flow/function_call.h"

#include "base/exceptions.h"
#include "headrace/tstring.h"

namespace headrace {

Status FunctionAttr::Get(OpKernelContext* ctx,
                         const FunctionRuntime::Function** out) {
  *out = function_.load(std::memory_order_acquire);
  if (*out != nullptr) [[likely]]
    return OkStatus();
  if (ctx->functions() == nullptr) {
    return errors::FailedPrecondition("function '", name_.name,
                                      "' cannot be called outside a session");
  }
  HR_RETURN_IF_ERROR(
      ctx->functions()->Instantiate(name_, ctx->device()->name(), out));
  function_.store(*out, std::memory_order_release);
  return OkStatus();
}

std::vector<Tensor> CopyInputs(OpKernelContext* ctx, int begin) {
  std::vector<Tensor> out;
  out.reserve(ctx->num_inputs() - begin);
  for (int i = begin; i < ctx->num_inputs(); ++i) {
    out.push_back(ctx->input(i));
  }
  return out;
}

Status CheckResults(const OpKernelContext& ctx,
                    const FunctionRuntime::Function& f) {
  const DataTypeVector& got = f.ret_types();
  if (static_cast<int>(got.size()) != ctx.num_outputs()) {
    return errors::InvalidArgument("function '", f.name(), "' has ", got.size(),
                                   " results, wanted ", ctx.num_outputs());
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    if (got[i] != ctx.expected_output_dtype(i)) {
      return errors::InvalidArgument(
          "result ", i, " of function '", f.name(), "' is ",
          DataTypeString(got[i]), ", wanted ",
          DataTypeString(ctx.expected_output_dtype(i)));
    }
  }
  return OkStatus();
}

void EndCallKernel(OpKernelContext* ctx, const Status& s,
                   std::vector<Tensor> results,
                   const AsyncOpKernel::DoneCallback& done) {
  if (s.ok()) {
    for (size_t i = 0; i < results.size(); ++i) {
      ctx->set_output(static_cast<int>(i), std::move(results[i]));
    }
  } else {
    ctx->CtxFailure(s);
  }
  done();
}

void CallForOutputs(OpKernelContext* ctx, const FunctionRuntime::Function& f,
                    std::vector<Tensor> args,
                    AsyncOpKernel::DoneCallback done) {
  OP_REQUIRES_OK_ASYNC(ctx, CheckResults(*ctx, f), done);
  ctx->functions()->Call(f, ctx->op_kernel(), std::move(args),
                         [ctx, done = std::move(done)](
                             const Status& s, std::vector<Tensor> results) {
                           EndCallKernel(ctx, s, std::move(results), done);
                         });
}

Status TensorAsBool(const Tensor& t, bool* out) {
  if (t.dims() > 0) {
    *out = t.NumElements() > 0;
    return OkStatus();
  }
  switch (t.dtype()) {
    case DT_FLOAT:
      *out = t.scalar<float>() != 0;
      return OkStatus();
    case DT_DOUBLE:
      *out = t.scalar<double>() != 0;
      return OkStatus();
    case DT_INT64:
      *out = t.scalar<int64_t>() != 0;
      return OkStatus();
    case DT_INT32:
      *out = t.scalar<int32_t>() != 0;
      return OkStatus();
    case DT_INT16:
      *out = t.scalar<int16_t>() != 0;
      return OkStatus();
    case DT_UINT8:
      *out = t.scalar<uint8_t>() != 0;
      return OkStatus();
    case DT_INT8:
      *out = t.scalar<int8_t>() != 0;
      return OkStatus();
    case DT_BOOL:
      *out = t.scalar<bool>();
      return OkStatus();
    case DT_STRING:
      *out = !t.scalar<tstring>().empty();
      return OkStatus();
    default:
      return errors::InvalidArgument("DataType ", DataTypeString(t.dtype()),
                                     " cannot be a condition");
  }
}

void CallSequence::Run() {
  for (;;) {
    first_is_through_.store(false, std::memory_order_relaxed);
    bool goes_on = false;
    try {
      goes_on = Next();
    } catch (const std::exception& e) {  // then no call has begun
      ctx_->CtxFailure(StatusOf(e));
    }
    if (!goes_on) {
      const AsyncOpKernel::DoneCallback done = std::move(done_);
      delete this;
      done();
      return;
    }
    if (!first_is_through_.exchange(true, std::memory_order_acq_rel)) return;
  }
}

void CallSequence::Call(const FunctionRuntime::Function& f,
                        std::vector<Tensor> args) {
  ctx_->functions()->Call(f, ctx_->op_kernel(), std::move(args),
                          [this](const Status& s, std::vector<Tensor> results) {
                            EndCall(s, std::move(results));
                          });
}

void CallSequence::CallCondition(const FunctionRuntime::Function& f,
                                 std::vector<Tensor> args) {
  Device* const device = f.device();
  if (device->IsHostMemory() || StaysOnHostInCalls(f.ret_types()[0])) {
    return Call(f, std::move(args));
  }
  ctx_->functions()->Call(
      f, ctx_->op_kernel(), std::move(args),
      [this, device](const Status& s, std::vector<Tensor> results) {
        if (!s.ok()) return EndCall(s, {});
        const auto host = std::make_shared<Tensor>();
        device->CopyToHost(
            results[0], host.get(),
            [this, host](const Status& copied) { EndCall(copied, {*host}); });
      });
}

void CallSequence::EndCall(const Status& s, std::vector<Tensor> results) {
  status_ = s;
  results_ = std::move(results);
  if (first_is_through_.exchange(true, std::memory_order_acq_rel)) Run();
}

namespace {

// Owns itself until it calls `done`.
class Copies {
 public:
  using Done = std::function<void(const Status&, std::vector<Tensor>)>;
  Copies(Device* from, Device* to, std::vector<Tensor> values, Done done)
      : from_(from),
        to_(to),
        values_(std::move(values)),
        done_(std::move(done)) {}

  void Next(const Status& s) {
    if (!s.ok()) values_.clear();
    while (at_ < values_.size() && StaysOnHostInCalls(values_[at_].dtype())) {
      ++at_;
    }
    if (at_ >= values_.size()) {
      const Done done = std::move(done_);
      std::vector<Tensor> values = std::move(values_);
      delete this;
      return done(s, std::move(values));
    }
    from_->CopyToHost(values_[at_], &host_, [this](const Status& s) {
      if (!s.ok()) return Next(s);
      to_->CopyFromHost(host_, &values_[at_], [this](const Status& s) {
        ++at_;
        Next(s);
      });
    });
  }

 private:
  Device* const from_;
  Device* const to_;
  std::vector<Tensor> values_;
  Tensor host_;
  size_t at_ = 0;
  Done done_;
};

}  // namespace

void CopyBetween(Device* from, Device* to, std::vector<Tensor> values,
                 std::function<void(const Status&, std::vector<Tensor>)> done) {
  if (from == to || (from->IsHostMemory() && to->IsHostMemory())) {
    return done(OkStatus(), std::move(values));
  }
  (new Copies(from, to, std::move(values), std::move(done)))->Next(OkStatus());
}

}  // namespace headrace
