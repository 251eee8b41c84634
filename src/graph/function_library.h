// FunctionLibrary: the FunctionDefs that came with graphs. Thread-safe.
#ifndef HEADRACE_GRAPH_FUNCTION_LIBRARY_H_
#define HEADRACE_GRAPH_FUNCTION_LIBRARY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/mutex.h"
#include "framework/op_def.h"
#include "headrace/graph.pb.h"

namespace headrace {

class FunctionLibrary {
 public:
  // Adding the same definition again is fine; another one under a taken name is
  // InvalidArgument.
  Status Add(const pb::FunctionDef& def);
  Status AddGradient(const std::string& function, const std::string& gradient);
  std::shared_ptr<const pb::FunctionDef> Find(absl::string_view name) const;
  // The function as an op that nodes can name; null if there is none.
  const OpDef* FindOpDef(absl::string_view name) const;
  std::string FindGradient(absl::string_view function) const;  // "" if none
  std::vector<std::string> Names() const;
  void ToProto(pb::FunctionDefLibrary* out) const;

 private:
  struct Entry {
    std::shared_ptr<const pb::FunctionDef> def;
    std::unique_ptr<OpDef> op_def;
  };
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, Entry> functions_ GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::string> gradients_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_GRAPH_FUNCTION_LIBRARY_H_
