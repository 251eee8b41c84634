// LocalCollectives: groups and exchanged bytes of collective ops in this
// process. For a task of a cluster it has what other tasks ask this one for.
#ifndef HEADRACE_RUNTIME_LOCAL_COLLECTIVES_H_
#define HEADRACE_RUNTIME_LOCAL_COLLECTIVES_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/kernel/collective.h"
#include "headrace/mutex.h"

namespace headrace {

// Thread-safe. No lock is held while callbacks run.
class LocalCollectives : public CollectiveExecutor {
 public:
  // `bytes` are alive as long as `owner`.
  using TakeCallback =
      std::function<void(const Status&, absl::string_view bytes,
                         const std::shared_ptr<const void>& owner)>;

  std::string DebugString() const override { return "collective ops"; }
  void FindGroup(const CollectiveMember& member,
                 CancellationManager* cancellation,
                 GroupCallback done) override;
  void FindSource(const CollectiveMember& member, int32_t instance_key,
                  bool is_source, CancellationManager* cancellation,
                  DeviceCallback done) override;
  void Send(int64_t step_id, const std::string& key, absl::string_view bytes,
            std::shared_ptr<const void> owner,
            CancellationManager* cancellation, DoneCallback taken) override;
  void Recv(int64_t step_id, const std::string& key, const std::string& from,
            void* to, size_t size, CancellationManager* cancellation,
            DoneCallback done) override;
  void Forget(int32_t) override {}
  std::string DescribeGroup(int32_t group_key) override;

  // What Send offers under `key`, now or later, without a copy. `wanted` is the
  // number of bytes, or -1 for any.
  void Take(int64_t step_id, const std::string& key, int64_t wanted,
            CancellationManager* cancellation, TakeCallback done);

 private:
  // Something that waits under an id, and how its cancellation finds it.
  struct Waits {
    CancellationManager* cancellation = nullptr;
    CancellationManager::Token token = 0;
  };
  struct Group {
    int32_t size = 0;
    std::string device_type;
    std::vector<std::string> devices;  // in order of rank once it is complete
    std::map<int64_t, std::pair<Waits, GroupCallback>> waiting;
  };
  struct Source {
    std::string device;
    std::map<int64_t, std::pair<Waits, DeviceCallback>> waiting;
  };
  struct Offer {
    absl::string_view bytes;
    std::shared_ptr<const void> owner;
    DoneCallback taken;
  };
  struct Exchange {
    int64_t offer_id = 0, take_id = 0;  // 0: none
    Waits offer_waits, take_waits;
    Offer offer;
    int64_t wanted = -1;
    TakeCallback take;
  };
  using ExchangeKey = std::pair<int64_t, std::string>;

  // Registers `cancel` for what waits. False if it is cancelled already.
  static bool Watch(CancellationManager* cancellation, Waits* waits,
                    std::function<void()> cancel);
  static void Unwatch(const Waits& waits);
  static void Match(Exchange exchange);
  void CancelOffer(const ExchangeKey& key, int64_t id, const Status& why);
  void CancelTake(const ExchangeKey& key, int64_t id, const Status& why);

  Mutex mu_;
  int64_t next_id_ GUARDED_BY(mu_) = 1;
  std::map<int32_t, Group> groups_ GUARDED_BY(mu_);
  std::map<std::pair<int32_t, int32_t>, Source> sources_ GUARDED_BY(mu_);
  std::map<ExchangeKey, Exchange> exchanges_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_LOCAL_COLLECTIVES_H_
