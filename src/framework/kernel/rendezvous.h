// Rendezvous: carries tensors between producers and consumers of one step,
// matched by key. Send never blocks; RecvAsync calls `done` exactly once: with
// the tensor, or with the first error passed to StartAbort.
//
// Thread-safe. After StartAbort every later call fails with that same status.
#ifndef HEADRACE_FRAMEWORK_KERNEL_RENDEZVOUS_H_
#define HEADRACE_FRAMEWORK_KERNEL_RENDEZVOUS_H_

#include <functional>
#include <string>

#include "headrace/device_name.h"
#include "headrace/ref_count.h"
#include "headrace/status.h"
#include "headrace/tensor.h"

namespace headrace {

class CancellationManager;

class Rendezvous : public RefCounted {
 public:
  // "<src device>;<16 hex digits of its incarnation>;<dst device>;<edge
  // name>;<frame id>:<iteration>".
  static std::string CreateKey(absl::string_view src_device,
                               uint64_t src_incarnation,
                               absl::string_view dst_device,
                               absl::string_view edge_name,
                               uint64_t frame_id = 0, int64_t iteration = 0);
  struct ParsedKey {
    absl::string_view src_device;
    uint64_t src_incarnation = 0;
    absl::string_view dst_device;
    absl::string_view edge_name;
  };
  // Views into `key`.
  static Status ParseKey(absl::string_view key, ParsedKey* out);

  using DoneCallback =
      std::function<void(const Status&, const Tensor&, bool is_dead)>;

  // Hands `value` to the matching receive, now or later. Keys may repeat: the
  // n-th receive gets the n-th send.
  virtual Status Send(absl::string_view key, Tensor value, bool is_dead) = 0;
  // `cancellation` may be null; if it fires first, done gets Cancelled.
  virtual void RecvAsync(absl::string_view key,
                         CancellationManager* cancellation,
                         DoneCallback done) = 0;
  virtual void StartAbort(const Status& status) = 0;

  Status Recv(absl::string_view key, Tensor* value, bool* is_dead);
};

// In one process: a table of waiting sends or receives.
RefPtr<Rendezvous> NewLocalRendezvous();

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_RENDEZVOUS_H_
