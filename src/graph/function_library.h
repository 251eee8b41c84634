// FunctionLibrary: the FunctionDefs of graphs. Thread-safe.
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
  // OK if the same definition exists. InvalidArgument if the name has another
  // definition.
  Status Add(const pb::FunctionDef& def);
  // Adds all functions of a library, or none on error. Appends the names of new
  // functions to `added`, so that the caller can remove them again.
  Status AddLibrary(const pb::FunctionDefLibrary& library,
                    std::vector<std::string>* added = nullptr);
  // No node may use these functions any more.
  void Remove(absl::Span<const std::string> names);
  Status AddGradient(const std::string& function, const std::string& gradient);
  std::shared_ptr<const pb::FunctionDef> Find(absl::string_view name) const;
  // The function as an op that nodes can have. Null if there is no such
  // function.
  const OpDef* FindOpDef(absl::string_view name) const;
  std::string FindGradient(absl::string_view function) const;  // "" if none
  std::vector<std::string> Names() const;
  // In order of names.
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
