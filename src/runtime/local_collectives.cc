#include "runtime/local_collectives.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "absl/strings/str_join.h"
#include "headrace/device_name.h"

namespace headrace {
namespace {

// Devices of a group, and groups, that are remembered: keys come from clients.
constexpr int32_t kMaxGroupSize = 1 << 16;
constexpr size_t kMaxTable = 100000;

// By job, task, type and number, so that task 10 comes after task 2.
bool RankLess(const std::string& a, const std::string& b) {
  DeviceName x, y;
  if (!DeviceName::Parse(a, &x).ok() || !DeviceName::Parse(b, &y).ok()) {
    return a < b;
  }
  return std::tie(x.job, x.task, x.type, x.id) <
         std::tie(y.job, y.task, y.type, y.id);
}

Status Full(const char* what) {
  return errors::ResourceExhausted("collective ops: too many ", what);
}

}  // namespace

bool LocalCollectives::Watch(CancellationManager* cancellation, Waits* waits,
                             std::function<void()> cancel) {
  if (cancellation == nullptr) return true;
  waits->cancellation = cancellation;
  waits->token = cancellation->NextToken();
  return cancellation->RegisterCallback(waits->token, std::move(cancel));
}

void LocalCollectives::Unwatch(const Waits& waits) {
  if (waits.cancellation != nullptr) {
    waits.cancellation->TryDeregisterCallback(waits.token);
  }
}

void LocalCollectives::FindGroup(const CollectiveMember& member,
                                 CancellationManager* cancellation,
                                 GroupCallback done) {
  Status s;
  std::vector<std::string> devices;
  std::map<int64_t, std::pair<Waits, GroupCallback>> ready;
  {
    MutexLock lock(&mu_);
    const bool is_new = !groups_.contains(member.group_key);
    if (member.group_size < 1 || member.group_size > kMaxGroupSize) {
      s = errors::InvalidArgument("group ", member.group_key, " has size ",
                                  member.group_size, ", wanted 1 to ",
                                  kMaxGroupSize);
    } else if (is_new && groups_.size() >= kMaxTable) {
      s = Full("groups");
    } else {
      Group& g = groups_[member.group_key];
      if (is_new) {
        g.size = member.group_size;
        g.device_type = member.device_type;
      }
      const bool joins = std::find(g.devices.begin(), g.devices.end(),
                                   member.device) == g.devices.end();
      const bool full = g.devices.size() == static_cast<size_t>(g.size);
      if (g.size != member.group_size || g.device_type != member.device_type) {
        s = errors::InvalidArgument(
            "Device ", member.device, " is joining group ", member.group_key,
            " of ", member.group_size, " ", member.device_type,
            " devices, but that group has ", g.size, " ", g.device_type,
            " devices");
      } else if (joins && full) {
        s = errors::InvalidArgument(
            "Device ", member.device, " is joining group ", member.group_key,
            ", but that group is complete: ", absl::StrJoin(g.devices, ", "));
      } else {
        if (joins) g.devices.push_back(member.device);
        if (g.devices.size() == static_cast<size_t>(g.size)) {
          if (joins) std::sort(g.devices.begin(), g.devices.end(), RankLess);
          devices = g.devices;
          ready.swap(g.waiting);
        } else {
          const int64_t id = next_id_++;
          Waits waits;
          // The callback may run as soon as it is registered, and then waits
          // for mu_.
          const bool watched =
              Watch(cancellation, &waits,
                    [self = RefPtr<LocalCollectives>::NewRef(this),
                     key = member.group_key, id, cancellation] {
                      GroupCallback gone;
                      {
                        MutexLock lock(&self->mu_);
                        const auto g = self->groups_.find(key);
                        if (g == self->groups_.end()) return;
                        const auto it = g->second.waiting.find(id);
                        if (it == g->second.waiting.end()) return;
                        gone = std::move(it->second.second);
                        g->second.waiting.erase(it);
                      }
                      gone(cancellation->status(), {});
                    });
          if (watched) {
            g.waiting.emplace(id, std::make_pair(waits, std::move(done)));
            return;
          }
          s = cancellation->status();
        }
      }
    }
  }
  for (auto& [id, waiting] : ready) {
    Unwatch(waiting.first);
    waiting.second(OkStatus(), devices);
  }
  done(s, devices);
}

void LocalCollectives::FindSource(const CollectiveMember& member,
                                  int32_t instance_key, bool is_source,
                                  CancellationManager* cancellation,
                                  DeviceCallback done) {
  const std::pair<int32_t, int32_t> key{member.group_key, instance_key};
  Status s;
  std::string device;
  std::map<int64_t, std::pair<Waits, DeviceCallback>> ready;
  {
    MutexLock lock(&mu_);
    if (!sources_.contains(key) && sources_.size() >= kMaxTable) {
      s = Full("instances");
    } else {
      Source& source = sources_[key];
      if (is_source && source.device.empty()) source.device = member.device;
      if (is_source && source.device != member.device) {
        s = errors::InvalidArgument("both ", source.device, " and ",
                                    member.device, " send the broadcast ",
                                    instance_key, " of group ",
                                    member.group_key);
      } else if (!source.device.empty()) {
        device = source.device;
        ready.swap(source.waiting);
      } else {
        const int64_t id = next_id_++;
        Waits waits;
        const bool watched =
            Watch(cancellation, &waits,
                  [self = RefPtr<LocalCollectives>::NewRef(this), key, id,
                   cancellation] {
                    DeviceCallback gone;
                    {
                      MutexLock lock(&self->mu_);
                      const auto source = self->sources_.find(key);
                      if (source == self->sources_.end()) return;
                      const auto it = source->second.waiting.find(id);
                      if (it == source->second.waiting.end()) return;
                      gone = std::move(it->second.second);
                      source->second.waiting.erase(it);
                    }
                    gone(cancellation->status(), "");
                  });
        if (watched) {
          source.waiting.emplace(id, std::make_pair(waits, std::move(done)));
          return;
        }
        s = cancellation->status();
      }
    }
  }
  for (auto& [id, waiting] : ready) {
    Unwatch(waiting.first);
    waiting.second(OkStatus(), device);
  }
  done(s, device);
}

void LocalCollectives::Match(Exchange e) {
  Unwatch(e.offer_waits);
  Unwatch(e.take_waits);
  Status s;
  if (e.wanted >= 0 && static_cast<size_t>(e.wanted) != e.offer.bytes.size()) {
    s = errors::InvalidArgument(
        "a member of the group sends ", e.offer.bytes.size(),
        " bytes, another one receives ", e.wanted,
        ": their tensors have different shapes or types");
  }
  e.take(s, e.offer.bytes, e.offer.owner);
  e.offer.taken(s);
}

void LocalCollectives::CancelOffer(const ExchangeKey& key, int64_t id,
                                   const Status& why) {
  DoneCallback gone;
  {
    MutexLock lock(&mu_);
    const auto it = exchanges_.find(key);
    if (it == exchanges_.end() || it->second.offer_id != id) return;
    gone = std::move(it->second.offer.taken);
    exchanges_.erase(it);  // nobody waits for it, or they had met
  }
  gone(why);
}

void LocalCollectives::CancelTake(const ExchangeKey& key, int64_t id,
                                  const Status& why) {
  TakeCallback gone;
  {
    MutexLock lock(&mu_);
    const auto it = exchanges_.find(key);
    if (it == exchanges_.end() || it->second.take_id != id) return;
    gone = std::move(it->second.take);
    exchanges_.erase(it);
  }
  gone(why, {}, nullptr);
}

void LocalCollectives::Send(int64_t step_id, const std::string& key,
                            absl::string_view bytes,
                            std::shared_ptr<const void> owner,
                            CancellationManager* cancellation,
                            DoneCallback taken) {
  const ExchangeKey at{step_id, key};
  Status s;
  Exchange met;
  {
    MutexLock lock(&mu_);
    Exchange& e = exchanges_[at];
    if (e.offer_id != 0) {
      s = errors::InvalidArgument(
          "'", key,
          "' is sent twice in a step: two ops of a device have one "
          "group and instance key");
    } else if (e.take_id != 0) {
      e.offer = {bytes, std::move(owner), std::move(taken)};
      met = std::move(e);
      exchanges_.erase(at);
    } else {
      const int64_t id = next_id_++;
      if (Watch(cancellation, &e.offer_waits,
                [self = RefPtr<LocalCollectives>::NewRef(this), at, id,
                 cancellation] {
                  self->CancelOffer(at, id, cancellation->status());
                })) {
        e.offer_id = id;
        e.offer = {bytes, std::move(owner), std::move(taken)};
        return;
      }
      exchanges_.erase(at);
      s = cancellation->status();
    }
  }
  if (!s.ok()) return taken(s);
  Match(std::move(met));
}

void LocalCollectives::Take(int64_t step_id, const std::string& key,
                            int64_t wanted, CancellationManager* cancellation,
                            TakeCallback done) {
  const ExchangeKey at{step_id, key};
  Status s;
  Exchange met;
  {
    MutexLock lock(&mu_);
    if (!exchanges_.contains(at) && exchanges_.size() >= kMaxTable) {
      s = Full("exchanges");
    } else {
      Exchange& e = exchanges_[at];
      if (e.take_id != 0) {
        s = errors::InvalidArgument("'", key, "' is received twice in a step");
      } else if (e.offer_id != 0) {
        e.wanted = wanted;
        e.take = std::move(done);
        met = std::move(e);
        exchanges_.erase(at);
      } else {
        const int64_t id = next_id_++;
        if (Watch(cancellation, &e.take_waits,
                  [self = RefPtr<LocalCollectives>::NewRef(this), at, id,
                   cancellation] {
                    self->CancelTake(at, id, cancellation->status());
                  })) {
          e.take_id = id;
          e.wanted = wanted;
          e.take = std::move(done);
          return;
        }
        exchanges_.erase(at);
        s = cancellation->status();
      }
    }
  }
  if (!s.ok()) return done(s, {}, nullptr);
  Match(std::move(met));
}

void LocalCollectives::Recv(int64_t step_id, const std::string& key,
                            const std::string& /*from*/, void* to, size_t size,
                            CancellationManager* cancellation,
                            DoneCallback done) {
  Take(step_id, key, static_cast<int64_t>(size), cancellation,
       [to, done = std::move(done)](const Status& s, absl::string_view bytes,
                                    const std::shared_ptr<const void>&) {
         if (s.ok() && !bytes.empty()) {
           std::memcpy(to, bytes.data(), bytes.size());
         }
         done(s);
       });
}

std::string LocalCollectives::DescribeGroup(int32_t group_key) {
  MutexLock lock(&mu_);
  const auto it = groups_.find(group_key);
  if (it == groups_.end()) return "";
  const Group& g = it->second;
  if (g.devices.size() == static_cast<size_t>(g.size)) return "";
  return absl::StrCat(g.devices.size(), " of ", g.size,
                      " members are there: ", absl::StrJoin(g.devices, ", "));
}

}  // namespace headrace
