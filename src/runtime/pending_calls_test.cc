#include "runtime/pending_calls.h"

#include "framework/kernel/function_runtime.h"
#include "runtime/step_test_util.h"

namespace headrace {
namespace {

REGISTER_OP("PendingTestCall").Input("x: int32").Output("y: int32");
class PendingTestCallOp : public FunctionCallKernel {
 public:
  using FunctionCallKernel::FunctionCallKernel;
  void ComputeAsync(OpKernelContext*, DoneCallback done) override { done(); }
};
REGISTER_KERNEL_BUILDER(Name("PendingTestCall").Device(DEVICE_CPU),
                        PendingTestCallOp);
REGISTER_OP("PendingTestThrows").Input("x: int32").Output("y: int32");
class PendingTestThrowsOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;
  void ComputeAsync(OpKernelContext*, DoneCallback done) override { done(); }
  std::string WaitsFor(OpKernelContext*) const override {
    throw std::bad_alloc();
  }
};
REGISTER_KERNEL_BUILDER(Name("PendingTestThrows").Device(DEVICE_CPU),
                        PendingTestThrowsOp);

// A kernel and its context, as a call in progress has them.
class Waiting {
 public:
  Waiting(const std::string& name, const std::string& op,
          const std::string& how, int32_t input)
      : input_(Tensor::Scalar(input)), value_{&input_, nullptr} {
    Graph g;
    const Endpoint c = Const(&g, "in", input_);
    const AttrMap attrs =
        how.empty() ? AttrMap() : AttrMap{{"how", AttrValue(how)}};
    const Node* const n = AddOp(&g, name, op, {c}, attrs);
    EXPECT_EQ(CreateOpKernel(&device_, n->shared_def(), &n->op_def(), &kernel_),
              OkStatus());
    params_.kernel = kernel_.get();
    params_.device = &device_;
    params_.inputs = absl::MakeConstSpan(&value_, 1);
    context_.emplace(&params_);
    entry.kernel = kernel_->AsAsync();
    entry.ctx = &*context_;
  }

  PendingCalls::Entry entry;

 private:
  TestDevice device_;
  Tensor input_;
  TensorValue value_;
  std::unique_ptr<OpKernel> kernel_;
  OpKernelContext::Params params_;
  std::optional<OpKernelContext> context_;
};

TEST(PendingCallsTest, NamesThemInTheOrderInWhichTheyBegan) {
  PendingCalls calls;
  EXPECT_EQ(calls.Describe(), "");
  Waiting a("a", "StepAsync", "wait", 5), b("b", "StepAsync", "keep", 6),
      c("c", "StepAsync", "wait", 7);
  for (Waiting* w : {&a, &b, &c}) calls.Add(&w->entry);
  EXPECT_EQ(calls.Describe(),
            "; still waiting: node 'a' (StepAsync) for the end, with 5, node "
            "'b' (StepAsync), node 'c' (StepAsync) for the end, with 7");
  calls.Remove(&a.entry);
  calls.Remove(&c.entry);
  EXPECT_EQ(calls.Describe(), "; still waiting: node 'b' (StepAsync)");
  calls.Remove(&b.entry);
  EXPECT_EQ(calls.Describe(), "");
  calls.Add(&a.entry);  // again
  EXPECT_EQ(calls.Describe(),
            "; still waiting: node 'a' (StepAsync) for the end, with 5");
}

TEST(PendingCallsTest, ThoseOfManyAreCounted) {
  PendingCalls calls;
  std::vector<std::unique_ptr<Waiting>> waiting;
  for (int i = 0; i < 11; ++i) {
    waiting.push_back(std::make_unique<Waiting>(absl::StrCat("n", i),
                                                "StepAsync", "keep", i));
    calls.Add(&waiting.back()->entry);
  }
  const std::string text = calls.Describe();
  EXPECT_NE(text.find("node 'n7'"), std::string::npos) << text;
  EXPECT_EQ(text.find("node 'n8'"), std::string::npos) << text;
  EXPECT_NE(text.find(" and 3 more nodes"), std::string::npos) << text;
}

// What a called function waits for has an entry of its own.
TEST(PendingCallsTest, CallsOfFunctionsAreNotNamed) {
  PendingCalls calls;
  Waiting call("call", "PendingTestCall", "", 1),
      a("a", "StepAsync", "keep", 1);
  calls.Add(&call.entry);
  EXPECT_EQ(calls.Describe(), "");
  calls.Add(&a.entry);
  EXPECT_EQ(calls.Describe(), "; still waiting: node 'a' (StepAsync)");
}

TEST(PendingCallsTest, WithoutMemoryThereAreNoWords) {
  PendingCalls calls;
  Waiting bad("bad", "PendingTestThrows", "", 1);
  calls.Add(&bad.entry);
  EXPECT_EQ(calls.Describe(), "");
}

}  // namespace
}  // namespace headrace
