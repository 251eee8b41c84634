// While and For: function calls, one iteration after the other. The loop
// releases its values before it calls the body, so that the body may write into
// buffers without other owners. A list that grows by one element per iteration
// is therefore not copied each time.
#include "kernels/flow/function_call.h"

namespace headrace {
namespace {

void SetOutputs(OpKernelContext* ctx, std::vector<Tensor>* values) {
  for (size_t i = 0; i < values->size(); ++i) {
    ctx->set_output(static_cast<int>(i), std::move((*values)[i]));
  }
}

// values = input; while (cond(values)) values = body(values); output = values.
class WhileLoop : public CallSequence {
 public:
  WhileLoop(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done,
            const FunctionRuntime::Function& cond, FunctionAttr* body)
      : CallSequence(ctx, std::move(done)),
        cond_(cond),
        body_(body),
        values_(CopyInputs(ctx, 0)) {}

 protected:
  bool Next() override {
    if (!status_.ok()) {
      ctx_->CtxFailure(status_);
      return false;
    }
    if (ran_ == kCond) return AfterCond();
    if (ran_ == kBody) values_ = std::move(results_);
    ran_ = kCond;
    CallCondition(cond_, values_);
    return true;
  }

 private:
  bool AfterCond() {
    bool go_on = false;
    Status s = TensorAsBool(results_[0], &go_on);
    const FunctionRuntime::Function* body = nullptr;
    if (s.ok() && go_on) s = body_->Get(ctx_, &body);
    if (s.ok() && go_on) s = CheckResults(*ctx_, *body);
    if (!s.ok()) {
      ctx_->CtxFailure(s);
      return false;
    }
    if (!go_on) {
      SetOutputs(ctx_, &values_);
      return false;
    }
    ran_ = kBody;
    Call(*body, std::move(values_));
    return true;
  }

  const FunctionRuntime::Function& cond_;
  FunctionAttr* const body_;
  std::vector<Tensor> values_;
  enum { kNothing, kCond, kBody } ran_ = kNothing;
};

class WhileOp : public FunctionCallKernel {
 public:
  explicit WhileOp(OpKernelConstruction* ctx) : FunctionCallKernel(ctx) {
    OP_REQUIRES_OK(ctx, cond_.Init(ctx, "cond"));
    OP_REQUIRES_OK(ctx, body_.Init(ctx, "body"));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    const FunctionRuntime::Function* cond;
    OP_REQUIRES_OK_ASYNC(ctx, cond_.Get(ctx, &cond), done);
    OP_REQUIRES_ASYNC(
        ctx, cond->ret_types().size() == 1,
        errors::InvalidArgument(
            "Expected a single scalar return value from WhileOp cond, got ",
            cond->ret_types().size(), " tensors."),
        done);
    (new WhileLoop(ctx, std::move(done), *cond, &body_))->Run();
  }

 private:
  FunctionAttr cond_, body_;
};
REGISTER_KERNEL_BUILDER(Name("While").Device(DEVICE_DEFAULT), WhileOp);
REGISTER_KERNEL_BUILDER(Name("StatelessWhile").Device(DEVICE_DEFAULT), WhileOp);
REGISTER_KERNEL_BUILDER(Name("_While").Device(DEVICE_DEFAULT), WhileOp);

// for (i = start; i is before limit; i += delta) values = body(i, values).
class ForLoop : public CallSequence {
 public:
  ForLoop(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done,
          FunctionAttr* body, int64_t start, int64_t limit, int64_t delta)
      : CallSequence(ctx, std::move(done)),
        body_(body),
        i_(start),
        limit_(limit),
        delta_(delta) {
    results_ = CopyInputs(ctx, 3);
  }

 protected:
  bool Next() override {
    if (!status_.ok()) {
      ctx_->CtxFailure(status_);
      return false;
    }
    if (delta_ == 0 || (delta_ > 0 ? i_ >= limit_ : i_ <= limit_)) {
      SetOutputs(ctx_, &results_);
      return false;
    }
    const FunctionRuntime::Function* body;
    Status s = body_->Get(ctx_, &body);
    if (s.ok()) s = CheckResults(*ctx_, *body);
    if (!s.ok()) {
      ctx_->CtxFailure(s);
      return false;
    }
    std::vector<Tensor> args;
    args.reserve(results_.size() + 1);
    args.push_back(Tensor::Scalar<int32_t>(static_cast<int32_t>(i_)));
    for (Tensor& t : results_) args.push_back(std::move(t));
    i_ += delta_;
    Call(*body, std::move(args));
    return true;
  }

 private:
  FunctionAttr* const body_;
  int64_t i_;
  const int64_t limit_, delta_;
};

class ForOp : public FunctionCallKernel {
 public:
  explicit ForOp(OpKernelConstruction* ctx) : FunctionCallKernel(ctx) {
    OP_REQUIRES_OK(ctx, body_.Init(ctx, "body"));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    static constexpr const char* kNames[] = {"start", "limit", "delta"};
    int64_t v[3];
    for (int i = 0; i < 3; ++i) {
      OP_REQUIRES_ASYNC(
          ctx, ctx->input(i).dims() == 0,
          errors::InvalidArgument(kNames[i], " must be a scalar, got ",
                                  ctx->input(i).shape().DebugString()),
          done);
      v[i] = ctx->input(i).scalar<int32_t>();
    }
    OP_REQUIRES_ASYNC(ctx,
                      v[2] > 0   ? v[0] <= v[1]
                      : v[2] < 0 ? v[0] >= v[1]
                                 : v[0] == v[1],
                      errors::InvalidArgument("Invalid start/limit/delta: ",
                                              v[0], " ", v[1], " ", v[2]),
                      done);
    (new ForLoop(ctx, std::move(done), &body_, v[0], v[1], v[2]))->Run();
  }

 private:
  FunctionAttr body_;
};
REGISTER_KERNEL_BUILDER(Name("For")
                            .Device(DEVICE_DEFAULT)
                            .HostMemory("start")
                            .HostMemory("limit")
                            .HostMemory("delta"),
                        ForOp);

}  // namespace
}  // namespace headrace
