// CollectiveTransport: another way than gRPC by which the bytes of collective
// ops go from task to task. One that needs a library of its own is a plug-in,
// libheadrace_<name>.so, loaded from beside libheadrace.so when it is asked
// for.
#ifndef HEADRACE_FRAMEWORK_KERNEL_COLLECTIVE_TRANSPORT_H_
#define HEADRACE_FRAMEWORK_KERNEL_COLLECTIVE_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "headrace/cancellation.h"
#include "headrace/status.h"

namespace headrace {

// Thread-safe. The destructor waits until no Serve runs; it fails the Recvs
// that have not ended.
class CollectiveTransport {
 public:
  using DoneCallback = std::function<void(const Status&)>;
  // Gives `bytes`, which `owner` keeps, or a failure.
  using GiveCallback =
      std::function<void(const Status&, absl::string_view bytes,
                         const std::shared_ptr<const void>& owner)>;
  // Finds what this task offers under `key`, now or later: `wanted` bytes.
  // Calls `give` once, from any thread. `cancellation` lives until then.
  using Serve = std::function<void(
      int64_t step_id, const std::string& key, int64_t wanted,
      CancellationManager* cancellation, GiveCallback give)>;

  virtual ~CollectiveTransport() = default;
  // True if `task` can be asked. Constant.
  virtual bool Reaches(const std::string& task) const = 0;
  // Receives what `task` offers into [to, to + size), which lives until `done`.
  // `done` is called once, from any thread. `cancellation` may be null;
  // otherwise it lives until `done`, which gets its status if it comes first.
  virtual void Recv(const std::string& task, int64_t step_id,
                    const std::string& key, void* to, size_t size,
                    CancellationManager* cancellation, DoneCallback done) = 0;
  // This task offers something now: others are about to ask.
  virtual void Expect() = 0;
};

// Makes the transport of task `task`. May wait for the other tasks.
using CollectiveTransportFactory =
    StatusOr<std::unique_ptr<CollectiveTransport>> (*)(
        const std::string& task, CollectiveTransport::Serve serve);
void RegisterCollectiveTransport(const std::string& name,
                                 CollectiveTransportFactory factory);

// InvalidArgument for a name that is none; Unimplemented, with the reason, if
// the plug-in cannot be loaded; the factory's failures.
StatusOr<std::unique_ptr<CollectiveTransport>> NewCollectiveTransport(
    const std::string& name, const std::string& task,
    CollectiveTransport::Serve serve);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_COLLECTIVE_TRANSPORT_H_
