// For tests of what runs a step: ops whose kernels do one thing each, and a
// fixture that runs a graph written as text (graph/node_text_test_util.h) on an
// executor of its own, without a session.
//
// The ops, all of int32 and in runtime/step_test_ops_test.cc:
//   StepAdd x y, StepLess x y   cheap
//   StepSlow x                  expensive; hands x on
//   StepMeet x parties=n        expensive; waits until n such kernels run
//   StepFail x message=m        DataLoss m
//   StepThrow x what=w          throws: w is "memory" or "other"
//   StepUnset x, StepWrong x    leave the output unset, or of another type
//   StepAsync x how=h           asynchronous; see StepAsyncOp
//   StepEffect                  no inputs and outputs; stateful
//   StepCount x                 x + how often this kernel ran before
//   StepVariable set=b          a reference to a variable, 0 if it is set
//   StepAssign ref x            writes x into the variable
#ifndef HEADRACE_RUNTIME_STEP_TEST_UTIL_H_
#define HEADRACE_RUNTIME_STEP_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "framework/kernel/op_tester.h"
#include "graph/graph_test_util.h"
#include "graph/node_text_test_util.h"
#include "runtime/executor.h"
#include "runtime/function_runtime.h"

namespace headrace {

// Which of the ops above ran, by node, in order. Thread-safe.
class StepLog {
 public:
  static void Add(const std::string& node);
  // "a b c", and forgets them.
  static std::string Take();
};

// The callbacks of StepAsync nodes with how=keep, in order. Thread-safe.
class KeptCallbacks {
 public:
  static void Add(std::function<void()> callback);
  static size_t size();
  static std::function<void()> Take();  // the oldest
};

inline bool HasControlFlow(const Graph& g) {
  bool has = false;
  g.ForEachNode([&](const Node* n) { has |= n->IsControlFlow(); });
  return has;
}

// The arguments and results of a step.
class TestFrame : public CallFrame {
 public:
  const Tensor* GetArg(int i) const override {
    return i >= 0 && i < static_cast<int>(args.size()) ? &args[i] : nullptr;
  }
  Status SetRetval(int i, const Tensor& value) override {
    MutexLock lock(&mu_);
    rets[i] = value;
    return OkStatus();
  }

  std::vector<Tensor> args;
  std::map<int, Tensor> rets;

 private:
  Mutex mu_;
};

class StepTest : public ::testing::Test {
 protected:
  StepTest() { StepLog::Take(); }

  Status Load(absl::string_view text, int parallel = 10) {
    graph_ = std::make_unique<Graph>();
    LoadNodes(text, graph_.get(), parallel);
    return Create({.control_flow = HasControlFlow(*graph_)});
  }
  Status Create(const Executor::Options& options) {
    return Executor::Create(
        &device_, *graph_, options,
        [this](const Node& n, std::shared_ptr<OpKernel>* kernel) {
          std::unique_ptr<OpKernel> made;
          HR_RETURN_IF_ERROR(CreateNodeKernel(&device_, n, &made));
          *kernel = std::move(made);
          return OkStatus();
        },
        &executor_);
  }

  // Why the step is not complete; OK if it is.
  Status Run(ThreadPool* pool = nullptr) {
    CancellationManager cancellation;
    return RunWith(&cancellation, pool);
  }
  Status RunWith(CancellationManager* cancellation, ThreadPool* pool = nullptr,
                 StepArgs args = {}) {
    frame_.rets.clear();
    args.cancellation = cancellation;
    args.call_frame = &frame_;
    args.pool = pool;
    TaskGroup group;
    args.group = &group;
    const bool complete = executor_->Run(args, RunMemory(), nullptr);
    EXPECT_TRUE(complete || cancellation->IsCancelled());
    return complete ? OkStatus() : cancellation->status();
  }
  // "0:5 2:true": the results that were set, of int32 or bool scalars.
  std::string Results() const {
    std::vector<std::string> s;
    for (const auto& [i, t] : frame_.rets) {
      s.push_back(absl::StrCat(i, ":", t.SummarizeValue(8)));
    }
    return absl::StrJoin(s, " ");
  }
  // What a run of the text gives, or its error.
  std::string Ran(absl::string_view text, int parallel = 10) {
    Status s = Load(text, parallel);
    if (s.ok()) s = Run();
    return s.ok() ? Results() : s.ToString();
  }

  TestDevice device_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Executor> executor_;
  TestFrame frame_;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_STEP_TEST_UTIL_H_
