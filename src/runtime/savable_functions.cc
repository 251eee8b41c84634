// Which functions the place of an iterator may leave out: those whose calls do
// not depend on earlier ones.
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "graph/function_library.h"
#include "headrace/op.h"
#include "runtime/function_runtime.h"

namespace headrace {
namespace {

// Datasets are stateful only for passes.
bool MakesDataset(const OpDef& op) {
  return op.outputs.size() == 1 && op.outputs[0].type == DT_VARIANT &&
         (absl::EndsWith(op.name, "Dataset") ||
          absl::EndsWith(op.name, "DatasetV2") ||
          absl::EndsWith(op.name, "DatasetV3"));
}

// Ops that only read what others keep, or keep nothing beyond the call. They
// are those that TensorFlow lets pass.
bool MayBeLeftOut(const OpDef& op) {
  static const absl::flat_hash_set<absl::string_view> kNames = {
      "Assert",
      "If",
      "While",
      "PartitionedCall",
      "ReduceDataset",
      "StatefulPartitionedCall",
      "Print",
      "PrintV2",
      "ReadVariableOp",
      "Timestamp",
      "LookupTableFind",
      "LookupTableFindV2",
      "LookupTableSize",
      "LookupTableSizeV2",
      "HashTable",
      "HashTableV2",
      "MutableHashTable",
      "MutableHashTableV2",
      "MutableDenseHashTable",
      "MutableDenseHashTableV2",
      "MutableHashTableOfTensors",
      "MutableHashTableOfTensorsV2"};
  return kNames.contains(op.name) || absl::StartsWith(op.name, "TensorArray") ||
         MakesDataset(op);
}

}  // namespace

Status SessionFunctions::CheckSavable(const std::string& function) const {
  std::shared_ptr<FunctionLibrary> library;
  {
    MutexLock lock(&mu_);
    library = library_;
  }
  if (library == nullptr) return OkStatus();
  std::vector<std::string> left = {function};
  absl::flat_hash_set<std::string> seen = {function};
  const auto add = [&](const std::string& name) {
    if (seen.insert(name).second) left.push_back(name);
  };
  while (!left.empty()) {
    const auto def = library->Find(left.back());
    left.pop_back();
    if (def == nullptr) continue;
    for (const pb::NodeDef& node : def->node_def()) {
      add(node.op());
      for (const auto& [name, attr] : node.attr()) {
        if (attr.has_func()) add(attr.func().name());
        for (const auto& f : attr.list().func()) add(f.name());
      }
      const OpDef* const op = OpRegistry::Global()->Find(node.op());
      if (op != nullptr && op->is_stateful && !MayBeLeftOut(*op)) {
        return errors::FailedPrecondition(op->name, " is stateful.");
      }
    }
  }
  return OkStatus();
}

}  // namespace headrace
