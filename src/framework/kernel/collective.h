// CollectiveExecutor: how the members of a collective op find each other and
// exchange bytes. A member is a device. A session gives all its devices one
// executor, under kContainer and kName; a task of a cluster, one that reaches
// the devices of other tasks.
#ifndef HEADRACE_FRAMEWORK_KERNEL_COLLECTIVE_H_
#define HEADRACE_FRAMEWORK_KERNEL_COLLECTIVE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "headrace/cancellation.h"
#include "headrace/resource_handle.h"
#include "headrace/status.h"

namespace headrace {

// One device's part in a group.
struct CollectiveMember {
  int32_t group_key = 0;
  int32_t group_size = 0;
  std::string device_type;
  std::string device;  // full name
};

// Callbacks are called once, from any thread, perhaps before the call returns.
// `cancellation` may be null; otherwise it outlives the callback, which gets
// its status if it is cancelled first. Thread-safe.
class CollectiveExecutor : public ResourceBase {
 public:
  static constexpr char kContainer[] = "_session";
  static constexpr char kName[] = "collectives";

  // The devices by rank.
  using GroupCallback =
      std::function<void(const Status&, const std::vector<std::string>&)>;
  using DeviceCallback =
      std::function<void(const Status&, const std::string& device)>;
  using DoneCallback = std::function<void(const Status&)>;

  // Waits until the group has all members. InvalidArgument if members name
  // different sizes or types, or if the group is full without this one.
  virtual void FindGroup(const CollectiveMember& member,
                         CancellationManager* cancellation,
                         GroupCallback done) = 0;
  // Waits until the device that sends in a broadcast has said so. The group is
  // complete.
  virtual void FindSource(const CollectiveMember& member, int32_t instance_key,
                          bool is_source, CancellationManager* cancellation,
                          DeviceCallback done) = 0;
  // Offers `bytes`, which `owner` keeps, to one Recv of the same step and key.
  // `taken` is called when the receiver has them.
  virtual void Send(int64_t step_id, const std::string& key,
                    absl::string_view bytes, std::shared_ptr<const void> owner,
                    CancellationManager* cancellation, DoneCallback taken) = 0;
  // Receives what device `from` sends into [to, to + size), which lives until
  // `done`. InvalidArgument if the sender has another number of bytes.
  virtual void Recv(int64_t step_id, const std::string& key,
                    const std::string& from, void* to, size_t size,
                    CancellationManager* cancellation, DoneCallback done) = 0;
  // An op of the group has failed: a member may have begun a new life, so that
  // the group has to be found again.
  virtual void Forget(int32_t group_key) = 0;
  // Who is in an incomplete group: "2 of 3 members are there: A, B". "" if the
  // group is complete or unknown.
  virtual std::string DescribeGroup(int32_t group_key) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_COLLECTIVE_H_
