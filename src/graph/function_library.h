// FunctionLibrary: the FunctionDefs that came with graphs. Thread-safe.
#ifndef HEADRACE_GRAPH_FUNCTION_LIBRARY_H_
#define HEADRACE_GRAPH_FUNCTION_LIBRARY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "headrace/graph.pb.h"
#include "headrace/mutex.h"
#include "headrace/op_def.h"

namespace headrace {

class FunctionLibrary {
 public:
  // Adding the same definition again is fine; another one under a taken name is
  // InvalidArgument.
  Status Add(const pb::FunctionDef& def);
  // All of a library, or nothing on error. The names of functions that were not
  // there before are appended to `added`, for who has to take them out again.
  Status AddLibrary(const pb::FunctionDefLibrary& library,
                    std::vector<std::string>* added = nullptr);
  // No node may name them any more.
  void Remove(absl::Span<const std::string> names);
  Status AddGradient(const std::string& function, const std::string& gradient);
  std::shared_ptr<const pb::FunctionDef> Find(absl::string_view name) const;
  // The function as an op that nodes can name; null if there is none.
  const OpDef* FindOpDef(absl::string_view name) const;
  std::string FindGradient(absl::string_view function) const;  // "" if none
  std::vector<std::string> Names() const;
  // Sorted by name.
  void ToProto(pb::FunctionDefLibrary* out) const;

 private:
  struct Entry {
    std::shared_ptr<const pb::FunctionDef> def;
    std::unique_ptr<OpDef> op_def;
  };
  Status AddLocked(const pb::FunctionDef& def, bool* is_new) REQUIRES(mu_);
  Status AddGradientLocked(const std::string& function,
                           const std::string& gradient) REQUIRES(mu_);

  mutable Mutex mu_;
  absl::flat_hash_map<std::string, Entry> functions_ GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::string> gradients_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_GRAPH_FUNCTION_LIBRARY_H_
