// CompiledStep: one combination of feeds, fetches and targets, compiled. A
// StepCompiler makes it; from then on it is const, and any number of runs use
// it at once. What runs teach about it is in its StepHistory.
#ifndef HEADRACE_SESSION_COMPILED_STEP_H_
#define HEADRACE_SESSION_COMPILED_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "headrace/session.h"
#include "runtime/executor.h"
#include "runtime/memory_plan.h"
#include "runtime/passes/graph_pass.h"

namespace headrace {

class StepHistory;  // session/step_history.h

class Session::Prepared {
 public:
  virtual ~Prepared() = default;
};

// Shared by pointer to const: the session's cache, every run and every callable
// hold one. It may outlive the session.
class CompiledStep : public Session::Prepared,
                     public std::enable_shared_from_this<CompiledStep> {
 public:
  struct FeedInfo {
    std::string name;  // "x:0"
    DataType dtype;
    // What the step was compiled for: the static shape, or any.
    PartialTensorShape shape;
  };
  // What runs on one device.
  struct Part {
    Device* device = nullptr;
    std::unique_ptr<Graph> graph;  // for RunMetadata and memory plans
    std::unique_ptr<Executor> executor;
  };

  CompiledStep();
  ~CompiledStep() override;

  // InvalidArgument if a value is not of feed i's type.
  Status CheckFeed(size_t i, const Tensor& value) const;
  // False if the step was not compiled for this value's shape.
  bool FitsFeed(size_t i, const Tensor& value) const {
    return feeds[i].shape.IsCompatibleWith(value.shape());
  }
  // Plans the memory, in bytes, of a run with feeds of these shapes. The plans
  // of the parts lie side by side, for they run at the same time. `notes` may
  // be null. Errors: those of headrace::PlanMemory.
  Status PlanMemory(absl::Span<const TensorShape> feeds, MemoryPlan* plan,
                    const ReuseNotes* notes = nullptr) const;

  // Devices and threads of the session, to which kernels refer. First, so that
  // they are destroyed last.
  std::shared_ptr<const void> resources;
  const Session* session = nullptr;  // that compiled it; may be gone
  std::vector<FeedInfo> feeds;
  std::vector<std::string> fetches;  // names
  // What the client asked for.
  std::vector<Endpoint> feed_endpoints, fetch_endpoints;
  std::vector<Node*> targets;
  std::vector<GraphPassReport> passes;  // what each pass did
  std::vector<Part> parts;
  bool needs_rendezvous = false;
  bool may_run_long = false;  // see Executor
  // A tensor of strings may be made; no plan knows how many bytes those take.
  bool has_strings = false;
  // A memory plan may be worth an arena; see MayHaveArena.
  bool may_have_arena = false;
  // By number, the fetches that are session handles: what a handle names
  // outlives the step.
  std::vector<int> handle_fetches;
  // For each fetch the feeds that it needs. Empty unless the run is partial.
  std::vector<std::vector<int>> fetch_needs;

  const std::unique_ptr<StepHistory> history;
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_COMPILED_STEP_H_
