// Session: runs parts of a graph. It shares the client's Graph. For each new
// combination of feeds, fetches and targets it compiles a step: it copies what
// the step needs of the graph, optimizes, places and partitions the copy, and
// keeps the result for the next run. Nodes that are added to the graph later
// are seen by combinations that are new then.
//
// Thread-safe: threads may run steps at once while another adds nodes (under
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
#include "headrace/memory_plan.h"
#include "headrace/tensor.h"

namespace headrace {

class Device;
class WaitHook;

// How the caller stops a run, and what its thread does meanwhile.
struct RunToken {
  RunToken(CancellationManager* m = nullptr)  // NOLINT: so that one will do
      : manager(m) {}

  CancellationManager* manager;  // cancels the run; null: nobody does
  // True: a run that `manager` cancels returns within some milliseconds, even
  // from a kernel that cannot be interrupted. For that the run needs a thread
  // of its own, which costs some 20 us. False: where runs of this step have
  // been quick, the run stays on the caller's thread, and when it is cancelled
  // the call waits for the kernel that it is in.
  bool leaves_kernels = true;
  // Called now and then while the thread only waits for the run. May be null.
  WaitHook* waits = nullptr;
};

class Session {
 public:
  using Feed = std::pair<Endpoint, Tensor>;
  // A combination of feeds, fetches and targets, compiled. It holds all that a
  // run needs, so that RunPrepared looks nothing up. It may outlive the
  // session, which alone can run it.
  class Prepared;

  virtual ~Session() = default;

  // Runs a step and waits until every node of it has ended. On OK, and only
  // then, `outputs` are the values of `fetches`, in their order; it may be
  // null. `metadata` may be null; it is filled as far as `options` ask, after a
  // failure too.
  //
  // A feed may have another shape than the graph says. Then the step is
  // compiled once more, for feeds of any shape.
  //
  // Three things stop a run: its deadline (options.timeout_in_ms, in ms, which
  // includes compiling), `token`, and Close. A stopped run returns within some
  // milliseconds. If it is then in a kernel that cannot be interrupted and that
  // changes no state, the kernel goes on by itself, its result is dropped, and
  // the message names it; the session's destructor waits for it. There is one
  // exception: a run without deadline and token that Close stops may wait for
  // its kernel, if the last run of the same step with feeds as large took less
  // than 20 ms.
  //
  // Errors: InvalidArgument: a feed of the wrong type, an endpoint fed twice,
  // nothing to fetch or run. DeadlineExceeded and Cancelled: the run was
  // stopped ("Session has been closed." by Close). ResourceExhausted: no
  // memory, or more than the run's memory budget. Else the first failure of a
  // node; the message names the node.
  virtual Status Run(const pb::RunOptions& options,
                     absl::Span<const Feed> feeds,
                     absl::Span<const Endpoint> fetches,
                     absl::Span<Node* const> targets,
                     std::vector<Tensor>* outputs,
                     pb::RunMetadata* metadata = nullptr,
                     RunToken token = {}) = 0;

  // The same by names: feeds and fetches "a:0", targets "b". Also NotFound
  // "FetchOutputs node x: not found" and the like.
  Status Run(const std::vector<std::pair<std::string, Tensor>>& feeds,
             const std::vector<std::string>& fetches,
             const std::vector<std::string>& targets,
             std::vector<Tensor>* outputs);
  Status Run(const pb::RunOptions& options,
             const std::vector<std::pair<std::string, Tensor>>& feeds,
             const std::vector<std::string>& fetches,
             const std::vector<std::string>& targets,
             std::vector<Tensor>* outputs, pb::RunMetadata* metadata);

  // Compiles a step for RunPrepared. The session's operation_timeout_in_ms
  // limits how long that takes. Errors as Run's before a kernel runs.
  virtual StatusOr<std::shared_ptr<const Prepared>> Prepare(
      absl::Span<const Endpoint> feeds, absl::Span<const Endpoint> fetches,
      absl::Span<Node* const> targets) = 0;
  // As Run. `feeds` are values for the feeds of Prepare, in their order. Also
  // InvalidArgument if there are more or fewer, or another session prepared.
  virtual Status RunPrepared(const Prepared& prepared,
                             const pb::RunOptions& options,
                             absl::Span<const Tensor> feeds,
                             std::vector<Tensor>* outputs,
                             pb::RunMetadata* metadata = nullptr,
                             RunToken token = {}) = 0;

  // Prepare by names, as CallableOptions give them. InvalidArgument if
  // feed_devices or fetch_devices name a device that this session does not
  // have, Unimplemented for tensor_connection, NotFound for an unknown name.
  StatusOr<std::shared_ptr<const Prepared>> MakeCallable(
      const pb::CallableOptions& options);

  // A partial run is a step that is fed and fetched in several calls. PRunSetup
  // declares all that will be fed and fetched, and the targets, and starts the
  // step. Each PRun gives some feeds and takes some fetches. The run ends when
  // every feed was given and every fetch taken, by PRunClose, by `token`, or by
  // the deadline of a call, which its `options` give. A session keeps 1000
  // partial runs; of more it cancels the one that was longest idle.
  //
  // Errors of PRun: InvalidArgument for an unknown or finished handle, for what
  // was not declared or is given twice, and for a fetch whose feeds have not
  // come; then nothing has happened. Else as Run.
  virtual StatusOr<std::string> PRunSetup(absl::Span<const Endpoint> feeds,
                                          absl::Span<const Endpoint> fetches,
                                          absl::Span<Node* const> targets) = 0;
  virtual Status PRun(const std::string& handle, const pb::RunOptions& options,
                      absl::Span<const Feed> feeds,
                      absl::Span<const Endpoint> fetches,
                      std::vector<Tensor>* outputs, RunToken token = {}) = 0;
  // Cancels a partial run. Does nothing for an unknown handle.
  virtual void PRunClose(const std::string& handle) = 0;

  // The memory, in bytes, that the tensors of such a run would take at once,
  // with feeds of these shapes; see headrace/memory_plan.h. Compiles the step
  // if it is new, and runs nothing. Errors as Prepare's and
  // headrace::PlanMemory's.
  virtual StatusOr<MemoryPlan> PlanMemory(
      absl::Span<const std::pair<Endpoint, TensorShape>> feeds,
      absl::Span<const Endpoint> fetches, absl::Span<Node* const> targets) = 0;

  // Cancels the runs in progress; later runs fail with Cancelled. Does not wait
  // for runs to end. May be called again.
  virtual Status Close() = 0;
  // The first one is the CPU on which feeds and fetches are. The session owns
  // them.
  virtual std::vector<Device*> ListDevices() = 0;

  const std::shared_ptr<Graph>& graph() const { return graph_; }

 protected:
  explicit Session(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {}

 private:
  const std::shared_ptr<Graph> graph_;
};

// Makes a session on `target`: "" is this process; for others the registered
// factory is called whose scheme `target` begins with (NotFound if there is
// none). InvalidArgument if `config` makes no sense.
StatusOr<std::unique_ptr<Session>> NewSession(const pb::ConfigProto& config,
                                              const std::string& target,
                                              std::shared_ptr<Graph> graph);

// Closes all sessions on `target` and drops the variables, queues and tables
// that they keep in `containers`; if no container is named, in the default one.
// Unimplemented for other targets than this process.
Status ResetSessions(const std::string& target,
                     const std::vector<std::string>& containers);

// Makes a session on `target`. Remote sessions plug in by it.
using SessionFactory = StatusOr<std::unique_ptr<Session>> (*)(
    const pb::ConfigProto& config, const std::string& target,
    std::shared_ptr<Graph> graph);
// For targets that begin with `scheme` ("grpc://"). Thread-safe.
void RegisterSessionFactory(const std::string& scheme, SessionFactory factory);

}  // namespace headrace

#endif  // HEADRACE_SESSION_H_
