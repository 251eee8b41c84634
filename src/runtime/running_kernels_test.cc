#include "runtime/running_kernels.h"

#include <array>
#include <memory>
#include <optional>

#include "runtime/step_test_util.h"

namespace headrace {
namespace {

class RunningKernelsTest : public ::testing::Test {
 protected:
  std::unique_ptr<OpKernel> Kernel(const std::string& name,
                                   const std::string& op,
                                   std::vector<Endpoint> inputs = {}) {
    const Node* const n = AddOp(&graph_, name, op, std::move(inputs));
    std::unique_ptr<OpKernel> kernel;
    EXPECT_EQ(CreateOpKernel(&device_, n->shared_def(), &n->op_def(), &kernel),
              OkStatus());
    return kernel;
  }
  bool Leave() { return running_.Leave(&which_); }

  TestDevice device_;
  Graph graph_;
  const Endpoint c_ = Const(&graph_, "c", Tensor::Scalar<int32_t>(1));
  const std::unique_ptr<OpKernel> slow_ = Kernel("slow", "StepSlow", {c_});
  const std::unique_ptr<OpKernel> more_ = Kernel("more", "StepSlow", {c_});
  const std::unique_ptr<OpKernel> effect_ = Kernel("effect", "StepEffect");
  RunningKernels running_;
  std::string which_;
};

TEST_F(RunningKernelsTest, AStepInWhichNothingRunsIsNotLeft) {
  EXPECT_FALSE(Leave());
  EXPECT_EQ(which_, "");
  { const RunningKernels::Call call(&running_, slow_.get()); }
  EXPECT_FALSE(Leave());
  const RunningKernels::Call call(&running_, slow_.get());
  EXPECT_TRUE(call.may_run());  // it was not left
}

TEST_F(RunningKernelsTest, KernelsThatOnlyComputeMayBeLeft) {
  const RunningKernels::Call a(&running_, slow_.get());
  const RunningKernels::Call b(&running_, more_.get());
  EXPECT_TRUE(Leave());
  EXPECT_EQ(which_, "node 'more' (StepSlow), node 'slow' (StepSlow)");
  const RunningKernels::Call late(&running_, slow_.get());
  EXPECT_FALSE(late.may_run());
}

TEST_F(RunningKernelsTest, KernelsThatChangeSomethingAreWaitedFor) {
  const RunningKernels::Call a(&running_, slow_.get());
  {
    const RunningKernels::Call b(&running_, effect_.get());
    EXPECT_FALSE(Leave());
    EXPECT_EQ(which_, "node 'effect' (StepEffect)");
    const RunningKernels::Call c(&running_, more_.get());
    EXPECT_TRUE(c.may_run());
  }
  EXPECT_TRUE(Leave());  // once they are through
  EXPECT_EQ(which_, "node 'slow' (StepSlow)");
}

TEST_F(RunningKernelsTest, KernelsOfReferencesAndResourcesAreWaitedFor) {
  const Endpoint v{AddOp(&graph_, "v", "StepVariable"), 0};
  const auto assign = Kernel("assign", "StepAssign", {v, c_});
  const RunningKernels::Call call(&running_, assign.get());
  EXPECT_FALSE(Leave());
  EXPECT_EQ(which_, "node 'assign' (StepAssign)");
}

TEST_F(RunningKernelsTest, CallsEndInAnyOrder) {
  const OpKernel* const kernels[] = {slow_.get(), more_.get(), effect_.get()};
  for (const auto& order :
       {std::array<int, 3>{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}}) {
    RunningKernels running;
    std::optional<RunningKernels::Call> calls[3];
    for (int i = 0; i < 3; ++i) calls[i].emplace(&running, kernels[i]);
    calls[order[0]].reset();
    calls[order[1]].reset();
    const OpKernel& left = *kernels[order[2]];
    EXPECT_EQ(running.Leave(&which_), order[2] != 2) << left.name();
    EXPECT_EQ(which_, absl::StrCat("node '", left.name(), "' (",
                                   left.type_string(), ")"));
  }
}

TEST_F(RunningKernelsTest, WithoutAListEverythingRuns) {
  const RunningKernels::Call call(nullptr, slow_.get());
  EXPECT_TRUE(call.may_run());
}

}  // namespace
}  // namespace headrace
