#include "runtime/placer.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/interrupt.h"
#include "headrace/device_factory.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

using DeviceTypes = std::vector<std::string>;

// From there on a look-up costs less than asking each device.
constexpr size_t kManyDevices = 32;

// True if the attrs that decide which kernels fit are surely the same.
bool SameTypeAttrs(const AttrMap& a, const AttrMap& b) {
  if (a.size() != b.size()) return false;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
    if (x->first != y->first || x->first == "_kernel" ||
        x->second.GetList<DataType>() != nullptr ||
        y->second.GetList<DataType>() != nullptr) {
      return false;
    }
    const DataType* const s = x->second.Get<DataType>();
    const DataType* const t = y->second.Get<DataType>();
    if ((s == nullptr) != (t == nullptr) || (s != nullptr && *s != *t)) {
      return false;
    }
  }
  return true;
}

// What the nodes of one colocation group agree on.
struct Group {
  DeviceName wanted;
  const Node* asked_by = nullptr;  // who set `wanted` first
  // Where the state of a member is. `wanted` is its name.
  const StatePlaces::Place* place = nullptr;
  // Device types that all members support; set with types_by.
  const DeviceTypes* types = nullptr;
  const Node* types_by = nullptr;  // the member with a kernel of its own
  const Node* first = nullptr;
  int members = 0;
  bool fails = false;  // its members cannot be together
};

class Placer {
 public:
  Placer(const PlacerOptions& options, const std::vector<Device*>& devices,
         const StatePlaces& state, const Graph& graph)
      : options_(options), devices_(devices), state_(state), graph_(graph) {
    parent_.resize(graph.num_node_ids());
    std::iota(parent_.begin(), parent_.end(), 0);
    groups_.resize(graph.num_node_ids());
    follows_.resize(graph.num_node_ids());
    for (const Device* d : devices) {
      priorities_.push_back(DeviceFactories::PriorityOf(d->device_type()));
    }
  }

  // Finds the groups and what they ask for. `on_error` gets the error of each
  // node that does not fit into its group, and says whether to go on.
  Status Prepare(absl::FunctionRef<Status(const Status&)> on_error) {
    Status s = FormGroups();
    const auto for_each = [&](auto f) {
      graph_.ForEachNode([&](const Node* n) {
        if (!s.ok()) return;
        const Status fits = f(n);
        if (fits.ok()) return;
        groups_[Find(n->id())].fails = true;
        s = on_error(fits);
      });
    };
    if (!state_.empty()) {
      for_each([&](const Node* n) { return FindState(n); });
    }
    for (const bool follows : {false, true}) {
      for_each([&](const Node* n) {
        return follows_[n->id()] == follows ? Constrain(n) : OkStatus();
      });
    }
    return s;
  }

  // After Prepare.
  Status PlaceOf(const Node* n, StatePlaces::Place* place) {
    const Group& g = groups_[Find(n->id())];
    Device* device = Best(g, g.wanted);
    bool soft = false;
    if (device == nullptr && options_.allow_soft_placement &&
        g.place == nullptr) {
      DeviceName loose = g.wanted;
      loose.has_id = false;
      device = Best(g, loose);
      if (device == nullptr) {
        loose.has_type = false;
        device = Best(g, loose);
      }
      soft = device != nullptr;
    }
    if (device == nullptr) return NoDevice(n, g);
    *place = {n->type_string(), device, Reason(*n, g, *device, soft)};
    return OkStatus();
  }

  bool Fails(const Node* n) { return groups_[Find(n->id())].fails; }

 private:
  int Find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Union(const Node* a, const Node* b) {
    parent_[Find(a->id())] = Find(b->id());
  }

  Status FormGroups() {
    Status s;
    graph_.ForEachNode([&](const Node* n) {
      if (s.ok()) s = CheckInterrupt();
      if (!s.ok()) return;
      std::vector<std::string> classes;
      if (n->attrs().Find("_class") != nullptr &&
          n->attrs().Get("_class", &classes).ok()) {
        for (const std::string& c : classes) {
          absl::string_view name = c;
          if (!absl::ConsumePrefix(&name, "loc:@")) continue;
          // A peer that this step does not need constrains nothing.
          if (const Node* peer = graph_.FindNode(name)) Union(n, peer);
        }
      }
      for (const Edge* e : n->data_inputs()) {
        if (e == nullptr) continue;
        const DataType t = e->src()->output_type(e->src_output());
        const bool reads_ref =
            IsRefType(t) && IsRefType(n->input_type(e->dst_input()));
        const bool handle = t == DT_RESOURCE && !e->src()->IsArg();
        if (!reads_ref && !handle) continue;
        Union(n, e->src());
        follows_[n->id()] = true;
      }
    });
    return s;
  }

  Status FindState(const Node* n) {
    const StatePlaces::Place* const place = state_.Find(*n);
    if (place == nullptr) return OkStatus();
    Group& g = groups_[Find(n->id())];
    if (g.place != nullptr && g.place->device != place->device) {
      return errors::InvalidArgument(
          "Cannot colocate nodes ", NodeErrorSuffix(n->def()), " and ",
          NodeErrorSuffix(g.asked_by->def()), ": the first is on ",
          place->device->name(), ", the other on ", g.place->device->name());
    }
    g.place = place;
    g.wanted = place->device->parsed_name();
    g.asked_by = n;
    return OkStatus();
  }

  Status Constrain(const Node* n) {
    Group& g = groups_[Find(n->id())];
    ++g.members;
    if (g.first == nullptr) g.first = n;
    if (!n->requested_device().empty()) {
      DeviceName asked;
      HR_RETURN_IF_ERROR(
          Annotate(DeviceName::Parse(n->requested_device(), &asked),
                   absl::StrCat("\n\t [[", NodeErrorSuffix(n->def()), "]]")));
      DeviceName wanted = g.wanted;
      const bool follows = follows_[n->id()];
      const Status merged =
          wanted.Merge(asked, options_.allow_soft_placement && !follows);
      if (merged.ok()) {
        if (g.place == nullptr) g.wanted = wanted;
      } else if (!follows) {
        return errors::InvalidArgument(
            "Cannot colocate nodes ", NodeErrorSuffix(n->def()), " and ",
            NodeErrorSuffix(g.asked_by->def()), ": ", merged.message());
      }
      if (merged.ok() && g.asked_by == nullptr && !asked.Empty()) {
        g.asked_by = n;
      }
    }
    // A node without any kernel is left to kernel creation, which says so.
    const DeviceTypes* const types = SupportedDevices(*n);
    if (types->empty() || absl::c_linear_search(*types, DEVICE_DEFAULT)) {
      return OkStatus();
    }
    if (g.types_by == nullptr) {
      g.types = types;
      g.types_by = n;
      return OkStatus();
    }
    DeviceTypes both;
    for (const std::string& t : *g.types) {
      if (absl::c_linear_search(*types, t)) both.push_back(t);
    }
    if (both.empty()) {
      return errors::InvalidArgument(
          "Cannot colocate nodes ", NodeErrorSuffix(n->def()), " and ",
          NodeErrorSuffix(g.types_by->def()),
          " because no device type supports both of those nodes and the other "
          "nodes colocated with them");
    }
    g.types = &type_lists_.emplace_back(std::move(both));
    return OkStatus();
  }

  // Asks the registry once for nodes of one op and type that follow each other.
  const DeviceTypes* SupportedDevices(const Node& n) {
    auto& [like, types] = last_of_op_[n.type_string()];
    if (like == nullptr || !SameTypeAttrs(like->attrs(), n.attrs())) {
      like = &n;
      types = &type_lists_.emplace_back(
          KernelRegistry::Global()->SupportedDevices(n.def()));
    }
    return types;
  }

  bool Supports(const Group& g, const Device& d) const {
    return g.types_by == nullptr ||
           absl::c_linear_search(*g.types, d.device_type());
  }

  // The best device that fits `wanted`; null if none does. Of many devices the
  // answers are kept: most nodes of a task ask for the same.
  Device* Best(const Group& g, const DeviceName& wanted) {
    if (devices_.size() < kManyDevices) return Search(g, wanted);
    std::string key = wanted.ToString();
    if (g.types_by != nullptr) {
      for (const std::string& t : *g.types) absl::StrAppend(&key, ";", t);
    }
    const auto [it, is_new] = best_.try_emplace(std::move(key), nullptr);
    if (is_new) it->second = Search(g, wanted);
    return it->second;
  }
  Device* Search(const Group& g, const DeviceName& wanted) const {
    Device* best = nullptr;
    int best_priority = 0;
    for (size_t i = 0; i < devices_.size(); ++i) {
      Device* const d = devices_[i];
      if (best != nullptr && priorities_[i] <= best_priority) continue;
      if (!wanted.Matches(d->parsed_name()) || !Supports(g, *d)) continue;
      best = d;
      best_priority = priorities_[i];
    }
    return best;
  }

  std::string Reason(const Node& n, const Group& g, const Device& d,
                     bool soft) const {
    if (soft) {
      return absl::StrCat("soft placement: no device fits ",
                          g.wanted.ToString());
    }
    if (g.place != nullptr) {
      return g.asked_by == &n
                 ? g.place->reason
                 : absl::StrCat("colocated with '", g.asked_by->name(),
                                "', which is there: ", g.place->reason);
    }
    if (g.asked_by == &n) {
      return absl::StrCat("asked for: ", n.requested_device());
    }
    if (g.asked_by != nullptr) {
      return absl::StrCat("colocated with '", g.asked_by->name(),
                          "', which asked for ",
                          g.asked_by->requested_device());
    }
    int choices = 0;
    for (const Device* o : devices_) choices += Supports(g, *o) ? 1 : 0;
    if (choices == 1) {
      return devices_.size() == 1
                 ? "the only device"
                 : absl::StrCat("only ", d.device_type(), " has a kernel");
    }
    return "default: first device of the preferred type";
  }

  Status NoDevice(const Node* n, const Group& g) const {
    std::vector<std::string> names;
    for (const Device* d : devices_) names.push_back(d->name());
    std::string why;
    bool exists = false;
    for (const Device* d : devices_) {
      exists |= g.wanted.Matches(d->parsed_name());
    }
    if (!exists) {
      why = absl::StrCat(
          "Operation was explicitly assigned to ", g.wanted.ToString(),
          " but available devices are [ ", absl::StrJoin(names, ", "),
          " ]. Make sure the device specification refers to a valid device.");
    } else if (g.place != nullptr) {
      why = absl::StrCat(
          "it must be on ", g.wanted.ToString(), ", where '",
          g.asked_by->name(),
          "' was placed with all nodes that the graph had then, but no "
          "supported kernel for it is available there. Supported device "
          "types: ",
          absl::StrJoin(g.types_by == nullptr ? DeviceTypes() : *g.types, ", "),
          ".");
    } else {
      why = absl::StrCat(
          "Could not satisfy explicit device specification '",
          g.wanted.ToString(),
          "' because no supported kernel for it is available. Supported device "
          "types: ",
          absl::StrJoin(g.types_by == nullptr ? DeviceTypes() : *g.types, ", "),
          ".");
    }
    return errors::InvalidArgument("Cannot assign a device for operation ",
                                   n->name(), ": ", why, "\n\t [[",
                                   NodeErrorSuffix(n->def()), "]]");
  }

  const PlacerOptions& options_;
  const std::vector<Device*>& devices_;
  std::vector<int> priorities_;  // of their types
  const StatePlaces& state_;
  const Graph& graph_;
  std::vector<int> parent_;
  std::vector<Group> groups_;
  // By node id: it gets a handle or a reference, and runs where that lives,
  // whatever device was asked for.
  std::vector<bool> follows_;
  std::deque<DeviceTypes> type_lists_;
  absl::flat_hash_map<std::string, Device*> best_;  // by what is wanted
  absl::flat_hash_map<absl::string_view,
                      std::pair<const Node*, const DeviceTypes*>>
      last_of_op_;
};

}  // namespace

Status StatePlaces::Extend(const PlacerOptions& options,
                           const std::vector<Device*>& devices,
                           const Graph& graph) {
  if (devices.size() < 2 || graph.num_node_ids() == known_ids_) {
    return OkStatus();
  }
  Placer placer(options, devices, *this, graph);
  HR_RETURN_IF_ERROR(placer.Prepare([](const Status&) { return OkStatus(); }));
  absl::flat_hash_map<std::string, Place> found;
  graph.ForEachNode([&](const Node* n) {
    Place place;
    if (n->op_def().is_stateful && !placer.Fails(n) && Find(*n) == nullptr &&
        placer.PlaceOf(n, &place).ok()) {
      found.emplace(n->name(), std::move(place));
    }
  });
  places_.merge(found);
  known_ids_ = graph.num_node_ids();
  return OkStatus();
}

const StatePlaces::Place* StatePlaces::Find(const Node& n) const {
  if (places_.empty() || !n.op_def().is_stateful) return nullptr;
  const auto it = places_.find(n.name());
  return it == places_.end() || it->second.op != n.type_string() ? nullptr
                                                                 : &it->second;
}

Status PlaceGraph(const PlacerOptions& options,
                  const std::vector<Device*>& devices, const StatePlaces& state,
                  Graph* graph) {
  Placer placer(options, devices, state, *graph);
  HR_RETURN_IF_ERROR(placer.Prepare([](const Status& s) { return s; }));
  Status s;
  graph->ForEachNode([&](Node* n) {
    if (!s.ok() || !n->assigned_device().empty()) return;
    StatePlaces::Place place;
    s = placer.PlaceOf(n, &place);
    if (!s.ok()) return;
    n->set_assigned_device(place.device->name());
    n->set_placement_reason(std::move(place.reason));
    if (options.log_placement) {
      std::fprintf(stderr, "%s: (%s): %s  (%s)\n", n->name().c_str(),
                   n->type_string().c_str(), n->assigned_device().c_str(),
                   n->placement_reason().c_str());
    }
  });
  return s;
}

}  // namespace headrace
