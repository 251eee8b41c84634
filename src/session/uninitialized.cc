#include "session/uninitialized.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/error_cause.h"
#include "framework/kernel/resource_var.h"
#include "headrace/device.h"

namespace headrace {
namespace {

constexpr int kNamed = 100;

bool IsVariable(const Node& n) {
  return n.traits().variable_use == VariableUse::kHolds;
}

// Whether consumer `e` of a variable can do without a value.
bool NeedsNoValue(const Edge& e) {
  const VariableUse use = e.dst()->traits().variable_use;
  return e.IsControlEdge() || e.dst()->op_def().allows_uninitialized_input ||
         use == VariableUse::kInitializes || use == VariableUse::kNeedsNoValue;
}

bool IsRead(const Node& n) {
  for (const Edge* e : n.out_edges()) {
    if (!NeedsNoValue(*e)) return true;
  }
  return false;
}

template <typename V>
bool HasValue(ResourceMgr* mgr, const std::string& container,
              const std::string& name) {
  RefPtr<V> var;
  if (!mgr->Lookup<V>(container, name, &var).ok()) return false;
  MutexLock lock(var->mu());
  return var->is_initialized();
}

bool HasValue(const Node& n, ResourceMgr* mgr) {
  std::string container, name;
  n.attrs().Get("container", &container).IgnoreError();
  n.attrs().Get("shared_name", &name).IgnoreError();
  if (container.empty()) container = mgr->default_container();
  if (name.empty()) name = n.name();
  return n.output_type(0) == DT_RESOURCE
             ? HasValue<Var>(mgr, container, name)
             : HasValue<LegacyVar>(mgr, container, name);
}

// The node that gives `variable` its first value: NAME/Assign, as clients call
// it, or else the first in the graph that assigns. Null if there is none.
const Node* Initializer(const Graph& graph, const std::string& variable) {
  const Node* v = graph.FindNode(variable);
  if (v == nullptr) return nullptr;
  const Node* first = nullptr;
  for (const Edge* e : v->out_edges()) {
    const Node* n = e->dst();
    if (e->IsControlEdge() || e->dst_input() != 0 ||
        n->traits().variable_use != VariableUse::kInitializes) {
      continue;
    }
    if (n->name() == absl::StrCat(variable, "/Assign")) return n;
    if (first == nullptr || n->id() < first->id()) first = n;
  }
  return first;
}

}  // namespace

Status ListUninitialized(const Status& status, const CompiledStep& step,
                         const Graph& graph) {
  if (!HasCause(status, ErrorCause::kUninitializedVariable)) return status;
  std::set<std::string> missing;
  for (const CompiledStep::Part& part : step.parts) {
    part.graph->ForEachNode([&](const Node* n) {
      if (IsVariable(*n) && IsRead(*n) &&
          !HasValue(*n, part.device->resource_manager())) {
        missing.insert(n->name());
      }
    });
  }
  if (missing.empty()) return status;
  std::string text =
      absl::StrCat("\n\t Variables without a value that this step reads (",
                   missing.size(), "):");
  int named = 0;
  ReaderMutexLock lock(&graph.mu());
  for (const std::string& name : missing) {
    if (named == kNamed) {
      absl::StrAppend(&text, " and ", missing.size() - kNamed, " more");
      break;
    }
    const Node* initializer = Initializer(graph, name);
    absl::StrAppend(
        &text, named++ == 0 ? " '" : ", '", name,
        initializer == nullptr
            ? "' (no node of the graph assigns it)"
            : absl::StrCat("' (initializer '", initializer->name(), "')"));
  }
  return Annotate(status, text);
}

}  // namespace headrace
