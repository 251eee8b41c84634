// The registry of gradient functions.
#include <algorithm>

#include "absl/container/node_hash_map.h"
#include "headrace/gradients.h"

namespace headrace {
namespace {

struct Entries {
  Mutex mu;
  // Nodes do not move: callers keep pointers.
  absl::node_hash_map<std::string, GradientEntry> by_op GUARDED_BY(mu);
};

Entries& TheEntries() {
  static Entries* const entries = new Entries();
  return *entries;
}

}  // namespace

GradientRegistrar::GradientRegistrar(std::initializer_list<const char*> ops,
                                     GradientFn fn, const char* reason) {
  Entries& entries = TheEntries();
  MutexLock lock(&entries.mu);
  for (const char* op : ops) {
    entries.by_op.emplace(op, GradientEntry{fn, reason});
  }
}

const GradientEntry* GradientRegistry::Find(absl::string_view op) {
  Entries& entries = TheEntries();
  MutexLock lock(&entries.mu);
  const auto it = entries.by_op.find(op);
  return it == entries.by_op.end() ? nullptr : &it->second;
}

std::vector<std::string> GradientRegistry::All() {
  Entries& entries = TheEntries();
  std::vector<std::string> names;
  {
    MutexLock lock(&entries.mu);
    for (const auto& [name, entry] : entries.by_op) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace headrace
