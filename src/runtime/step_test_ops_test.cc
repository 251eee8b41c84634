// The ops of runtime/step_test_util.h.
#include <deque>
#include <new>
#include <stdexcept>
#include <thread>

#include "absl/time/clock.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "runtime/step_test_util.h"

namespace headrace {
namespace {

Mutex log_mu, kept_mu, meeting_mu;
std::vector<std::string>* LogList() {
  static auto* const list = new std::vector<std::string>;
  return list;
}
std::deque<std::function<void()>>* KeptList() {
  static auto* const list = new std::deque<std::function<void()>>;
  return list;
}

}  // namespace

void StepLog::Add(const std::string& node) {
  MutexLock lock(&log_mu);
  LogList()->push_back(node);
}
std::string StepLog::Take() {
  MutexLock lock(&log_mu);
  const std::string all = absl::StrJoin(*LogList(), " ");
  LogList()->clear();
  return all;
}

void KeptCallbacks::Add(std::function<void()> callback) {
  MutexLock lock(&kept_mu);
  KeptList()->push_back(std::move(callback));
}
size_t KeptCallbacks::size() {
  MutexLock lock(&kept_mu);
  return KeptList()->size();
}
std::function<void()> KeptCallbacks::Take() {
  MutexLock lock(&kept_mu);
  std::function<void()> first = std::move(KeptList()->front());
  KeptList()->pop_front();
  return first;
}

namespace {

using shape_inference::UnchangedShape;

REGISTER_OP("StepAdd")
    .Input("x: int32")
    .Input("y: int32")
    .Output("z: int32")
    .SetShapeFn(UnchangedShape);
REGISTER_OP("StepLess").Input("x: int32").Input("y: int32").Output("z: bool");
REGISTER_OP("StepSlow")
    .Input("x: int32")
    .Output("y: int32")
    .SetShapeFn(UnchangedShape);
REGISTER_OP("StepMeet")
    .Input("x: int32")
    .Output("y: int32")
    .Attr("parties: int");
REGISTER_OP("StepFail")
    .Input("x: int32")
    .Output("y: int32")
    .Attr("message: string");
REGISTER_OP("StepThrow")
    .Input("x: int32")
    .Output("y: int32")
    .Attr("what: string");
REGISTER_OP("StepUnset").Input("x: int32").Output("y: int32");
REGISTER_OP("StepWrong").Input("x: int32").Output("y: int32");
REGISTER_OP("StepAsync")
    .Input("x: int32")
    .Output("y: int32")
    .Attr("how: string")
    .SetIsStateful();
REGISTER_OP("StepEffect").SetIsStateful();
REGISTER_OP("StepCount").Input("x: int32").Output("y: int32").SetIsStateful();
REGISTER_OP("StepVariable")
    .Output("ref: Ref(int32)")
    .Attr("set: bool = true")
    .SetIsStateful();
REGISTER_OP("StepAssign")
    .Input("ref: Ref(int32)")
    .Input("x: int32")
    .Output("out: Ref(int32)")
    .SetAllowsUninitializedInput();

class CheapOp : public OpKernel {
 public:
  explicit CheapOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
};

class StepAddOp : public CheapOp {
 public:
  using CheapOp::CheapOp;
  void Compute(OpKernelContext* ctx) override {
    StepLog::Add(name());
    const int32_t sum =
        ctx->input(0).scalar<int32_t>() + ctx->input(1).scalar<int32_t>();
    Tensor* z = nullptr;
    OP_REQUIRES_OK(ctx,
                   ctx->forward_input_or_allocate_output({0, 1}, 0, {}, &z));
    z->scalar<int32_t>() = sum;
  }
};
class StepLessOp : public CheapOp {
 public:
  using CheapOp::CheapOp;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, Tensor::Scalar(ctx->input(0).scalar<int32_t>() <
                                      ctx->input(1).scalar<int32_t>()));
  }
};
class StepSlowOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    StepLog::Add(name());
    ctx->set_output(0, ctx->input(0));
  }
};
class StepMeetOp : public OpKernel {
 public:
  explicit StepMeetOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("parties", &parties_));
  }
  void Compute(OpKernelContext* ctx) override {
    static int arrived = 0;
    static CondVar changed;
    MutexLock lock(&meeting_mu);
    ++arrived;
    changed.SignalAll();
    const absl::Time until = absl::Now() + absl::Seconds(20);
    while (arrived % parties_ != 0) {
      OP_REQUIRES(ctx, !changed.WaitWithDeadline(&meeting_mu, until),
                  errors::DeadlineExceeded("nobody came to ", name()));
    }
    ctx->set_output(0, ctx->input(0));
  }

 private:
  int parties_ = 0;
};
class StepFailOp : public CheapOp {
 public:
  explicit StepFailOp(OpKernelConstruction* ctx) : CheapOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("message", &message_));
  }
  void Compute(OpKernelContext* ctx) override {
    ctx->CtxFailure(errors::DataLoss(message_));
  }

 private:
  std::string message_;
};
class StepThrowOp : public CheapOp {
 public:
  explicit StepThrowOp(OpKernelConstruction* ctx) : CheapOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("what", &what_));
  }
  void Compute(OpKernelContext*) override {
    if (what_ == "memory") throw std::bad_alloc();
    throw std::runtime_error("thrown by a test");
  }

 private:
  std::string what_;
};
class StepUnsetOp : public CheapOp {
 public:
  using CheapOp::CheapOp;
  void Compute(OpKernelContext*) override {}
};
class StepWrongOp : public CheapOp {
 public:
  using CheapOp::CheapOp;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, Tensor::Scalar(1.f));
  }
};

// Calls back: "now"; "thread": from another thread; "twice"; "fail": with a
// failure; "drop": never, the callback goes; "throw": never, it throws; "keep":
// when the test does (KeptCallbacks); "wait": when the step is cancelled.
class StepAsyncOp : public AsyncOpKernel {
 public:
  explicit StepAsyncOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("how", &how_));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    StepLog::Add(name());
    if (how_ == "drop") return;
    if (how_ == "throw") throw std::bad_alloc();
    if (how_ == "fail") {
      ctx->CtxFailure(errors::DataLoss("asynchronous failure"));
      return done();
    }
    if (how_ == "wait") {
      CancellationManager* const c = ctx->cancellation_manager();
      const auto wake = [ctx, done] {
        ctx->CtxFailure(errors::Cancelled("woken"));
        done();
      };
      if (!c->RegisterCallback(c->NextToken(), wake)) wake();
      return;
    }
    ctx->set_output(0, ctx->input(0));
    if (how_ == "keep") return KeptCallbacks::Add(done);
    if (how_ == "thread") {
      std::thread([done] {
        absl::SleepFor(absl::Milliseconds(5));
        done();
      }).detach();
      return;
    }
    done();
    if (how_ == "twice") done();
  }
  std::string WaitsFor(OpKernelContext* ctx) const override {
    return how_ == "wait"
               ? absl::StrCat("the end, with ", ctx->input(0).SummarizeValue(1))
               : "";
  }

 private:
  std::string how_;
};

class StepEffectOp : public CheapOp {
 public:
  using CheapOp::CheapOp;
  void Compute(OpKernelContext*) override { StepLog::Add(name()); }
};
class StepCountOp : public CheapOp {
 public:
  using CheapOp::CheapOp;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(
        0, Tensor::Scalar<int32_t>(ctx->input(0).scalar<int32_t>() + count_++));
  }

 private:
  std::atomic<int32_t> count_{0};
};
class StepVariableOp : public CheapOp {
 public:
  explicit StepVariableOp(OpKernelConstruction* ctx) : CheapOp(ctx) {
    bool set = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("set", &set));
    if (set) value_ = Tensor::Scalar<int32_t>(0);
  }
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output_ref(0, &mu_, &value_);
  }

 private:
  Mutex mu_;
  Tensor value_;
};
class StepAssignOp : public CheapOp {
 public:
  using CheapOp::CheapOp;
  void Compute(OpKernelContext* ctx) override {
    ctx->replace_ref_input(0, ctx->input(1), /*lock_held=*/false);
    ctx->forward_ref_input_to_ref_output(0, 0);
  }
};

REGISTER_KERNEL_BUILDER(Name("StepAdd").Device(DEVICE_CPU), StepAddOp);
REGISTER_KERNEL_BUILDER(Name("StepLess").Device(DEVICE_CPU), StepLessOp);
REGISTER_KERNEL_BUILDER(Name("StepSlow").Device(DEVICE_CPU), StepSlowOp);
REGISTER_KERNEL_BUILDER(Name("StepMeet").Device(DEVICE_CPU), StepMeetOp);
REGISTER_KERNEL_BUILDER(Name("StepFail").Device(DEVICE_CPU), StepFailOp);
REGISTER_KERNEL_BUILDER(Name("StepThrow").Device(DEVICE_CPU), StepThrowOp);
REGISTER_KERNEL_BUILDER(Name("StepUnset").Device(DEVICE_CPU), StepUnsetOp);
REGISTER_KERNEL_BUILDER(Name("StepWrong").Device(DEVICE_CPU), StepWrongOp);
REGISTER_KERNEL_BUILDER(Name("StepAsync").Device(DEVICE_CPU), StepAsyncOp);
REGISTER_KERNEL_BUILDER(Name("StepEffect").Device(DEVICE_CPU), StepEffectOp);
REGISTER_KERNEL_BUILDER(Name("StepCount").Device(DEVICE_CPU), StepCountOp);
REGISTER_KERNEL_BUILDER(Name("StepVariable").Device(DEVICE_CPU),
                        StepVariableOp);
REGISTER_KERNEL_BUILDER(Name("StepAssign").Device(DEVICE_CPU), StepAssignOp);

}  // namespace
}  // namespace headrace
