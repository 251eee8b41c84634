// StepCompiler: makes a session's CompiledSteps. It copies what a step needs of
// the client's graph, optimizes, places and partitions the copy, and makes an
// executor for each part.
#ifndef HEADRACE_SESSION_STEP_COMPILER_H_
#define HEADRACE_SESSION_STEP_COMPILER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "headrace/device.h"
#include "headrace/graph.h"
#include "headrace/mutex.h"
#include "runtime/function_runtime.h"
#include "runtime/placer.h"
#include "runtime/shared_kernels.h"
#include "session/compiled_step.h"
#include "session/session_options.h"

namespace headrace {

// Whether a step relies on the static shapes of what is fed. As in TensorFlow,
// a client may feed another shape; then the step is compiled once more, for
// any.
enum class FedShapes : size_t { kStatic, kAny };

// Thread-safe. Kernels with state belong to it, not to a step: one for each
// node, which all steps that contain the node share.
class StepCompiler {
 public:
  struct Request {
    absl::Span<const Endpoint> feeds, fetches;
    absl::Span<Node* const> targets;
    FedShapes shapes = FedShapes::kStatic;
    // For a PartialRun: _Arg nodes wait for their values.
    bool partial = false;
  };

  // All pointers live as long as this. `devices` are those of `resources`, the
  // first one being where feeds and fetches are.
  StepCompiler(const Session* session, const SessionOptions* options,
               std::vector<Device*> devices,
               std::shared_ptr<const void> resources,
               SessionFunctions* functions);

  // Takes the graph's mutex while it copies, and no other lock while it works.
  // Asks CheckInterrupt between its parts. Errors: InvalidArgument where there
  // is nothing to fetch or run; what the graph passes, the placer and kernels'
  // constructors say; the interrupt's.
  Status Compile(const Request& request,
                 std::shared_ptr<const CompiledStep>* out);

  // Lets go of the kernels with state; no step may be compiled after it.
  void DropKernels() { kernels_.Clear(); }

 private:
  Status BuildClient(const Request& request, CompiledStep* step,
                     GraphPassContext* context, std::unique_ptr<Graph>* client);
  PlacerOptions placer_options() const;
  Status BuildParts(std::unique_ptr<Graph> client, CompiledStep* step);
  Device* FindDevice(const std::string& name) const;

  const Session* const session_;
  const SessionOptions* const options_;
  const std::vector<Device*> devices_;
  const std::shared_ptr<const void> resources_;
  SessionFunctions* const functions_;
  SharedKernels kernels_;
  Mutex places_mu_;  // after the graph's mutex
  StatePlaces places_ GUARDED_BY(places_mu_);
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_STEP_COMPILER_H_
