// Session: runs parts of a graph. It shares the client's Graph and, for each
// new combination of feeds, fetches and targets, copies what that step needs,
// optimizes, places and partitions it, and keeps the result for the next run;
// nodes added to the graph later are seen by later combinations.
//
// Thread-safe: several threads may Run at once, while another adds nodes (under
// graph->mu()) or closes the session.
#ifndef HEADRACE_SESSION_H_
#define HEADRACE_SESSION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headrace/cancellation.h"
#include "headrace/config.pb.h"
#include "headrace/graph.h"
#include "headrace/tensor.h"

namespace headrace {

class Device;
class WaitHook;
struct MemoryPlan;

// By what the caller of a run stops it.
struct RunToken {
  RunToken(CancellationManager* m = nullptr)  // NOLINT: so that one will do
      : manager(m) {}

  CancellationManager* manager;  // null: nothing
  // Whether a stopped run returns at once even where it is in a kernel that
  // cannot be interrupted, as it does at its deadline. If not, it may wait for
  // the kernel, if runs of its kind have been quick, and then does without a
  // thread of its own, which costs some 20 us.
  bool leaves_kernels = true;
  // What the caller's thread does while it only waits for the run. May be null.
  WaitHook* waits = nullptr;
};

class Session {
 public:
  using Feed = std::pair<Endpoint, Tensor>;
  // What a combination of feeds, fetches and targets was compiled into; made by
  // Prepare, holds everything a run needs, so that RunPrepared looks nothing
  // up.
  class Prepared;

  virtual ~Session() = default;

  // Outputs are set only on OK. `metadata` may be null; it is filled as far as
  // `options` ask. A run with a deadline, or that `token` cancels, returns soon
  // after, whatever runs: a kernel that cannot be interrupted and changes no
  // state goes on by itself, and the message names it; `this` waits for it in
  // the end. So does a run that Close cancels, but for one that has neither
  // deadline nor token and of whose kind (the same step, no larger feeds) the
  // last took less than 20 ms: that may wait for the kernel it is in.
  // A feed may have another shape than the graph says: then a step is compiled
  // that takes any.
  // Errors: InvalidArgument (feed of wrong type, fed twice,
  // nothing to do), DeadlineExceeded (timeout_in_ms), Cancelled ("Session has
  // been closed."), or the first failure of a node, with the node named.
  virtual Status Run(const pb::RunOptions& options,
                     absl::Span<const Feed> feeds,
                     absl::Span<const Endpoint> fetches,
                     absl::Span<Node* const> targets,
                     std::vector<Tensor>* outputs,
                     pb::RunMetadata* metadata = nullptr,
                     RunToken token = {}) = 0;

  // With default options, by name: feeds and fetches "a:0", targets "b".
  // NotFound "FetchOutputs node x: not found" and the like.
  Status Run(const std::vector<std::pair<std::string, Tensor>>& feeds,
             const std::vector<std::string>& fetches,
             const std::vector<std::string>& targets,
             std::vector<Tensor>* outputs);
  Status Run(const pb::RunOptions& options,
             const std::vector<std::pair<std::string, Tensor>>& feeds,
             const std::vector<std::string>& fetches,
             const std::vector<std::string>& targets,
             std::vector<Tensor>* outputs, pb::RunMetadata* metadata);

  virtual StatusOr<std::shared_ptr<Prepared>> Prepare(
      absl::Span<const Endpoint> feeds, absl::Span<const Endpoint> fetches,
      absl::Span<Node* const> targets) = 0;
  virtual Status RunPrepared(const Prepared& prepared,
                             const pb::RunOptions& options,
                             absl::Span<const Tensor> feeds,
                             std::vector<Tensor>* outputs,
                             pb::RunMetadata* metadata = nullptr,
                             RunToken token = {}) = 0;

  // As RunPrepared, into tensors that the caller owns: each of `outputs` has
  // the fetch's type and shape already, and its buffer is written.
  // InvalidArgument if one does not fit.
  Status RunPreparedInto(const Prepared& prepared,
                         const pb::RunOptions& options,
                         absl::Span<const Tensor> feeds,
                         absl::Span<Tensor> outputs,
                         pb::RunMetadata* metadata = nullptr,
                         RunToken token = {});
  // Prepare by names, as CallableOptions give them. feed_devices and
  // fetch_devices must name this session's devices.
  StatusOr<std::shared_ptr<Prepared>> MakeCallable(
      const pb::CallableOptions& options);

  // A step that is fed and fetched piece by piece: declare everything that will
  // be fed and fetched, and the targets, then call PRun until every feed was
  // given and every fetch taken, or end it by PRunClose. `options` of a call
  // give its deadline, whose expiry ends the partial run, and `token` does so
  // too; other runs of the session are not touched. Errors: InvalidArgument for
  // an unknown or finished handle, for what was not declared or is given twice,
  // and for a fetch whose feeds have not come.
  virtual Status PRunSetup(absl::Span<const Endpoint> feeds,
                           absl::Span<const Endpoint> fetches,
                           absl::Span<Node* const> targets,
                           std::string* handle) = 0;
  virtual Status PRun(const std::string& handle, const pb::RunOptions& options,
                      absl::Span<const Feed> feeds,
                      absl::Span<const Endpoint> fetches,
                      std::vector<Tensor>* outputs, RunToken token = {}) = 0;
  // Ends a partial run early; an unknown handle is fine.
  virtual void PRunClose(const std::string& handle) = 0;

  // What the tensors of such a run would take at once, with feeds of these
  // shapes; see runtime/memory_plan.h. Compiles the step if it is new, runs
  // nothing.
  virtual Status PlanMemory(
      absl::Span<const std::pair<Endpoint, TensorShape>> feeds,
      absl::Span<const Endpoint> fetches, absl::Span<Node* const> targets,
      MemoryPlan* plan) = 0;

  // Later runs fail with Cancelled, runs in progress are cancelled.
  virtual Status Close() = 0;
  virtual std::vector<Device*> ListDevices() = 0;

  const std::shared_ptr<Graph>& graph() const { return graph_; }

 protected:
  explicit Session(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {}

 private:
  const std::shared_ptr<Graph> graph_;
};

// `target` "" is this process; other schemes are found among the registered
// session factories (NotFound if there is none).
Status NewSession(const pb::ConfigProto& config, const std::string& target,
                  std::shared_ptr<Graph> graph, std::unique_ptr<Session>* out);

// Closes the sessions on `target` and drops what they keep in `containers`;
// none means the default container. Unimplemented for other targets than this
// process.
Status ResetSessions(const std::string& target,
                     const std::vector<std::string>& containers);

// How remote sessions plug in.
using SessionFactory = Status (*)(const pb::ConfigProto& config,
                                  const std::string& target,
                                  std::shared_ptr<Graph> graph,
                                  std::unique_ptr<Session>* out);
// For targets that begin with `scheme` ("grpc://").
void RegisterSessionFactory(const std::string& scheme, SessionFactory factory);

}  // namespace headrace

#endif  // HEADRACE_SESSION_H_
