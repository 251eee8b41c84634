// A run that finds no memory fails with ResourceExhausted, and the next goes
// on: whatever thread it was on, and whatever a kernel did with its callback.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exceptions.h"
#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "graph/graph_test_util.h"
#include "session/direct_session.h"

namespace headrace {
namespace {

#define HR_TEST_OP(NAME)  \
  REGISTER_OP(NAME)       \
      .Input("x: float")  \
      .Output("y: float") \
      .SetIsStateful()    \
      .SetShapeFn(shape_inference::UnchangedShape)

// Throws on the thread that calls it.
HR_TEST_OP("OomInCompute");
class OomInComputeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override { throw OutOfMemory(77); }
};
REGISTER_KERNEL_BUILDER(Name("OomInCompute").Device(DEVICE_CPU),
                        OomInComputeOp);

// Throws in the middle of a parallel loop.
HR_TEST_OP("OomInLoop");
class OomInLoopOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->thread_pool()->ParallelFor(1000, 1, [](int64_t begin, int64_t) {
      if (begin == 700) throw OutOfMemory(77);
    });
    ctx->set_output(0, ctx->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("OomInLoop").Device(DEVICE_CPU), OomInLoopOp);

HR_TEST_OP("OomInConstructor");
class OomInConstructorOp : public OpKernel {
 public:
  explicit OomInConstructorOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    throw OutOfMemory(77);
  }
  void Compute(OpKernelContext*) override {}
};
REGISTER_KERNEL_BUILDER(Name("OomInConstructor").Device(DEVICE_CPU),
                        OomInConstructorOp);

// Asynchronous kernels that fail in the ways in which one may.
HR_TEST_OP("OomAsync").Attr("how: string");
class OomAsyncOp : public AsyncOpKernel {
 public:
  explicit OomAsyncOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("how", &how_));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    ctx->set_output(0, ctx->input(0));
    if (how_ == "throws") throw OutOfMemory(77);
    if (how_ == "drops") return;
    if (how_ == "throws after done") {
      done();
      throw OutOfMemory(77);
    }
    if (how_ == "drops later") {
      std::thread([done = std::move(done)] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }).detach();
      return;
    }
    if (how_ == "throws while another calls") {
      std::thread([done = std::move(done)] { done(); }).detach();
      throw OutOfMemory(77);
    }
    // Waits; the failure of the step is what ends it.
    CancellationManager* const c = ctx->cancellation_manager();
    if (!c->RegisterCallback(c->NextToken(), [ctx, done] {
          ctx->CtxFailure(errors::Cancelled("cancelled"));
          done();
        })) {
      return done();
    }
    throw OutOfMemory(77);
  }

 private:
  std::string how_;
};
REGISTER_KERNEL_BUILDER(Name("OomAsync").Device(DEVICE_CPU), OomAsyncOp);

class OutOfMemoryTest : public ::testing::Test {
 protected:
  Endpoint Add(const std::string& name, const std::string& op,
               std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    NodeDef def;
    def.name = name;
    def.op = op;
    def.attrs = std::move(attrs);
    MutexLock lock(&graph_->mu());
    auto n = graph_->AddNode(std::move(def), inputs);
    EXPECT_TRUE(n.ok()) << n.status();
    return {n.ok() ? *n : nullptr, 0};
  }
  Endpoint Const(const std::string& name, Tensor value) {
    const DataType t = value.dtype();
    return Add(name, "Const", {}, {{"dtype", t}, {"value", std::move(value)}});
  }
  Status Run(const Endpoint& fetch, int64_t budget = 0) {
    if (session_ == nullptr) {
      HR_RETURN_IF_ERROR(MoveTo(NewSession({}, "", graph_), &session_));
    }
    pb::RunOptions options;
    options.mutable_headrace()->set_memory_budget_bytes(budget);
    std::vector<Tensor> out;
    return session_->Run(options, {}, {fetch}, {}, &out);
  }

  const std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unique_ptr<Session> session_;
};

TEST_F(OutOfMemoryTest, AKernelThatThrowsFailsItsStep) {
  const Endpoint x = Const("x", MakeScalar(1.0f));
  for (const char* op : {"OomInCompute", "OomInLoop", "OomInConstructor"}) {
    const Endpoint bad = Add(absl::StrCat("bad_", op), op, {x});
    for (int i = 0; i < 3; ++i) {
      const Status s = Run(bad);
      ExpectError(s, absl::StatusCode::kResourceExhausted, "77 bytes");
      ExpectError(s, absl::StatusCode::kResourceExhausted,
                  absl::StrCat("node bad_", op));
    }
  }
  EXPECT_EQ(Run(Add("good", "Identity", {x})), OkStatus());
}

TEST_F(OutOfMemoryTest, AnAsynchronousKernelEndsItsStepWhateverItThrows) {
  const Endpoint x = Const("x", MakeScalar(1.0f));
  int i = 0;
  for (const char* how : {"throws", "drops", "throws after done", "drops later",
                          "throws while another calls", "waits and throws"}) {
    const Endpoint bad = Add(absl::StrCat("bad", i++), "OomAsync", {x},
                             {{"how", std::string(how)}});
    for (int k = 0; k < 20; ++k) {
      const Status s = Run(bad);
      EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted)
          << how << ": " << s;
      EXPECT_TRUE(absl::StrContains(s.message(), "node bad")) << s;
    }
  }
  EXPECT_EQ(Run(Add("good", "Identity", {x})), OkStatus());
}

// Died at the size of the machine, in the compilation of the step already.
TEST_F(OutOfMemoryTest, StringsThatGrowTenfoldTwelveTimes) {
  Endpoint s = Const("s", MakeScalar<tstring>("0123456789"));
  for (int i = 0; i < 12; ++i) {
    s = Add(absl::StrCat("join", i), "StringJoin", std::vector<Endpoint>(10, s),
            {{"N", int64_t{10}}});
  }
  // So that the test takes little of the machine.
  const Status status = Run(s, /*budget=*/int64_t{64} << 20);
  ExpectError(status, absl::StatusCode::kResourceExhausted, " bytes");
  ExpectError(status, absl::StatusCode::kResourceExhausted, "node join");
}

// Each is within the budget; all that live at once are not.
TEST_F(OutOfMemoryTest, CharactersOfStringsCountAsLongAsTheyLive) {
  Tensor text(DT_STRING, TensorShape({}));
  text.scalar<tstring>() = std::string(1 << 20, 'x');
  const Endpoint x = Add("x", "Placeholder", {}, {{"dtype", DT_STRING}});
  std::vector<Endpoint> joined;
  for (int i = 0; i < 8; ++i) {
    joined.push_back(
        Add(absl::StrCat("j", i), "StringJoin", {x, x},
            {{"N", int64_t{2}}, {"separator", std::string(1, 'a' + i)}}));
  }
  const Endpoint all =
      Add("all", "StringLength",
          {Add("last", "StringJoin", joined, {{"N", int64_t{8}}})});
  ASSERT_EQ(MoveTo(NewSession({}, "", graph_), &session_), OkStatus());
  for (const int mib : {20, 60}) {
    pb::RunOptions options;
    options.mutable_headrace()->set_memory_budget_bytes(int64_t{mib} << 20);
    std::vector<Tensor> out;
    for (int i = 0; i < 3; ++i) {
      const Status s = session_->Run(options, {{x, text}}, {all}, {}, &out);
      if (mib == 60) {
        EXPECT_EQ(s, OkStatus());
      } else {
        ExpectError(s, absl::StatusCode::kResourceExhausted, " bytes");
      }
    }
  }
}

// Its table and lists are no tensors.
TEST_F(OutOfMemoryTest, VectorsOfAKernelCountInTheBudget) {
  Tensor values(DT_INT32, TensorShape({int64_t{1} << 20}));
  for (int64_t i = 0; i < values.NumElements(); ++i) {
    values.data<int32_t>()[i] = static_cast<int32_t>(i);
  }
  // Unique's size is not known before it runs.
  const Endpoint unique =
      Add("unique", "Unique", {Const("values", std::move(values))},
          {{"T", DT_INT32}});
  EXPECT_EQ(Run(unique, int64_t{256} << 20), OkStatus());
  const Status s = Run(unique, int64_t{12} << 20);
  ExpectError(s, absl::StatusCode::kResourceExhausted, " bytes");
  ExpectError(s, absl::StatusCode::kResourceExhausted, "node unique");
}

}  // namespace
}  // namespace headrace
