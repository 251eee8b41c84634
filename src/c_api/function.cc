// TF_Function: a FunctionDef behind a handle.
#include "absl/container/flat_hash_set.h"
#include "base/exceptions.h"
#include "c_api/internal.h"
#include "framework/op/message_util.h"
#include "graph/function_def.h"

extern "C" {
// Of TensorFlow's c_api_experimental.h: takes a function out of the graph's
// library. INVALID_ARGUMENT if it is not there, FAILED_PRECONDITION if a node
// calls it.
TF_CAPI_EXPORT extern void TF_GraphRemoveFunction(TF_Graph* g,
                                                  const char* func_name,
                                                  TF_Status* status);
}

using headrace::Endpoint;
using headrace::FunctionLibrary;
using headrace::MutexLock;
using headrace::Node;
using headrace::OkStatus;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

// Null if the graph has no functions yet; keeps it while it is used.
std::shared_ptr<FunctionLibrary> LibraryOf(TF_Graph* g) {
  if (g == nullptr) return nullptr;
  MutexLock lock(&g->graph->mu());
  return g->graph->shared_functions();
}

std::shared_ptr<FunctionLibrary> MakeLibrary(TF_Graph* g) {
  MutexLock lock(&g->graph->mu());
  if (g->graph->functions() == nullptr) {
    g->graph->set_functions(std::make_shared<FunctionLibrary>());
  }
  return g->graph->shared_functions();
}

Status Copy(TF_Graph* g, const TF_Function* func, const TF_Function* grad) {
  if (g == nullptr || func == nullptr) {
    return errors::InvalidArgument("TF_GraphCopyFunction: the ",
                                   func == nullptr ? "function" : "graph",
                                   " is NULL");
  }
  const std::shared_ptr<FunctionLibrary> library = MakeLibrary(g);
  HR_RETURN_IF_ERROR(library->Add(func->def));
  if (grad == nullptr) return OkStatus();
  HR_RETURN_IF_ERROR(library->Add(grad->def));
  return library->AddGradient(func->def.signature().name(),
                              grad->def.signature().name());
}

// The arguments of TF_GraphToFunction.
struct ToFunctionArgs {
  const TF_Graph* graph;
  const char* name;
  int num_opers;
  const TF_Operation* const* opers;
  int ninputs;
  const TF_Output* inputs;
  int noutputs;
  const TF_Output* outputs;
  const char* const* output_names;
  int ncontrol;
  const TF_Operation* const* control;
  const char* const* control_names;
};

Status ReadOutputs(const ToFunctionArgs& a, const char* what,
                   const TF_Output* from, int n, std::vector<Endpoint>* to) {
  if (n < 0 || (n > 0 && from == nullptr)) {
    return errors::InvalidArgument(
        "TF_GraphToFunction: ", n, " ", what, "s, ",
        from == nullptr ? "but the list is NULL" : "wanted none or more");
  }
  for (int i = 0; i < n; ++i) {
    if (from[i].oper == nullptr) {
      return errors::InvalidArgument("TF_GraphToFunction: ", what, " ", i,
                                     " is NULL");
    }
    Node* const node = ToNode(from[i].oper);
    HR_RETURN_IF_ERROR(CheckOwned(*a.graph->graph, node));
    if (from[i].index < 0 || from[i].index >= node->num_outputs()) {
      return errors::OutOfRange(
          "Node '", node->name(), "' (type: '", node->type_string(),
          "', num of outputs: ", node->num_outputs(), ") does not have output ",
          from[i].index, "\n\tEncountered while processing ", what, " ", i,
          " into function '", Text(a.name), "'");
    }
    to->push_back({node, from[i].index});
  }
  return OkStatus();
}

Status ReadNodes(const ToFunctionArgs& a, const char* what,
                 const TF_Operation* const* from, int n,
                 std::vector<Node*>* to) {
  if (n < 0 || (n > 0 && from == nullptr)) {
    return errors::InvalidArgument("TF_GraphToFunction: ", n, " ", what,
                                   "s, but the list is NULL");
  }
  for (int i = 0; i < n; ++i) {
    if (from[i] == nullptr) {
      return errors::InvalidArgument("TF_GraphToFunction: ", what, " ", i,
                                     " is NULL");
    }
    to->push_back(ToNode(from[i]));
    HR_RETURN_IF_ERROR(CheckOwned(*a.graph->graph, to->back()));
  }
  return OkStatus();
}

// All nodes but those of inputs, which must have one output.
Status AllNodes(const ToFunctionArgs& a, const std::vector<Endpoint>& inputs,
                std::vector<Node*>* to) {
  absl::flat_hash_set<const Node*> taken;
  for (const Endpoint& e : inputs) {
    taken.insert(e.node);
    if (e.node->num_outputs() == 1) continue;
    return errors::InvalidArgument(
        "When `num_opers` is set to -1, nodes referenced in `inputs` must "
        "have a single output. Node ",
        e.node->name(), " has ", e.node->num_outputs(),
        " outputs. Encountered while creating function '", Text(a.name), "'");
  }
  a.graph->graph->ForEachNode([&](Node* n) {
    if (!taken.contains(n)) to->push_back(n);
  });
  return OkStatus();
}

Status ToFunction(const ToFunctionArgs& a, bool append_hash,
                  pb::FunctionDef* def) {
  if (a.graph == nullptr || a.name == nullptr) {
    return errors::InvalidArgument("TF_GraphToFunction: the ",
                                   a.graph == nullptr ? "graph" : "name",
                                   " is NULL");
  }
  MutexLock lock(&a.graph->graph->mu());
  headrace::FunctionParts parts;
  parts.name = a.name;
  HR_RETURN_IF_ERROR(
      ReadOutputs(a, "input", a.inputs, a.ninputs, &parts.inputs));
  HR_RETURN_IF_ERROR(
      ReadOutputs(a, "output", a.outputs, a.noutputs, &parts.outputs));
  for (int i = 0; a.output_names != nullptr && i < a.noutputs; ++i) {
    parts.output_names.emplace_back(Text(a.output_names[i]));
  }
  HR_RETURN_IF_ERROR(a.num_opers == -1 ? AllNodes(a, parts.inputs, &parts.body)
                                       : ReadNodes(a, "operation", a.opers,
                                                   a.num_opers, &parts.body));
  std::vector<Node*> control;
  HR_RETURN_IF_ERROR(
      ReadNodes(a, "control output", a.control, a.ncontrol, &control));
  for (size_t i = 0; i < control.size(); ++i) {
    parts.control_outputs.emplace_back(
        a.control_names == nullptr ? "" : Text(a.control_names[i]), control[i]);
  }
  HR_RETURN_IF_ERROR(headrace::MakeFunctionDef(parts, def));
  if (append_hash) {
    const std::string bytes = headrace::DeterministicBytes(*def);
    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const char c : bytes) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    def->mutable_signature()->set_name(
        absl::StrCat(parts.name, "_", absl::Hex(hash, absl::kZeroPad16)));
  }
  return OkStatus();
}

}  // namespace

void TF_GraphCopyFunction(TF_Graph* g, const TF_Function* func,
                          const TF_Function* grad, TF_Status* status) {
  Set(status, Copy(g, func, grad));
}

int TF_GraphNumFunctions(TF_Graph* g) {
  const auto library = LibraryOf(g);
  return library == nullptr ? 0 : static_cast<int>(library->Names().size());
}

int TF_GraphGetFunctions(TF_Graph* g, TF_Function** funcs, int max_func,
                         TF_Status* status) {
  SetOk(status);
  const auto library = LibraryOf(g);
  if (library == nullptr || funcs == nullptr) return 0;
  int n = 0;
  for (const std::string& name : library->Names()) {
    if (n >= max_func) break;
    const auto def = library->Find(name);
    if (def != nullptr) funcs[n++] = new TF_Function{*def};
  }
  return n;
}

TF_Function* TF_GraphToFunctionWithControlOutputs(
    const TF_Graph* fn_body, const char* fn_name,
    unsigned char append_hash_to_fn_name, int num_opers,
    const TF_Operation* const* opers, int ninputs, const TF_Output* inputs,
    int noutputs, const TF_Output* outputs, const char* const* output_names,
    int ncontrol_outputs, const TF_Operation* const* control_outputs,
    const char* const* control_output_names, const TF_FunctionOptions* opts,
    const char* description, TF_Status* status) {
  auto func = std::make_unique<TF_Function>();
  const Status s = headrace::CatchExceptions([&] {
    return ToFunction(
        {fn_body, fn_name, num_opers, opers, ninputs, inputs, noutputs, outputs,
         output_names, ncontrol_outputs, control_outputs, control_output_names},
        append_hash_to_fn_name != 0, &func->def);
  });
  Set(status, s);
  if (!s.ok()) return nullptr;
  func->def.mutable_signature()->set_description(
      std::string(Text(description)));
  return func.release();
}

TF_Function* TF_GraphToFunction(const TF_Graph* fn_body, const char* fn_name,
                                unsigned char append_hash_to_fn_name,
                                int num_opers, const TF_Operation* const* opers,
                                int ninputs, const TF_Output* inputs,
                                int noutputs, const TF_Output* outputs,
                                const char* const* output_names,
                                const TF_FunctionOptions* opts,
                                const char* description, TF_Status* status) {
  return TF_GraphToFunctionWithControlOutputs(
      fn_body, fn_name, append_hash_to_fn_name, num_opers, opers, ninputs,
      inputs, noutputs, outputs, output_names, 0, nullptr, nullptr, opts,
      description, status);
}

void TF_GraphRemoveFunction(TF_Graph* g, const char* func_name,
                            TF_Status* status) {
  const std::string name(Text(func_name));
  const auto library = LibraryOf(g);
  if (library == nullptr || library->Find(name) == nullptr) {
    return Set(status,
               errors::InvalidArgument("TF_GraphRemoveFunction: function '",
                                       name, "' is not in the graph"));
  }
  // A node keeps its function's signature for as long as it lives.
  const headrace::Node* user = nullptr;
  MutexLock lock(&g->graph->mu());
  g->graph->ForEachNode([&](const headrace::Node* n) {
    if (n->type_string() == name) user = n;
  });
  if (user != nullptr) {
    return Set(status, errors::FailedPrecondition(
                           "TF_GraphRemoveFunction: node '", user->name(),
                           "' calls function '", name, "'"));
  }
  library->Remove({name});
  SetOk(status);
}

const char* TF_FunctionName(TF_Function* func) {
  return func == nullptr ? "" : func->def.signature().name().c_str();
}

void TF_FunctionToFunctionDef(TF_Function* func, TF_Buffer* output_func_def,
                              TF_Status* status) {
  Set(status, func == nullptr
                  ? errors::InvalidArgument("TF_FunctionToFunctionDef: NULL")
                  : ToBuffer(func->def, output_func_def));
}

TF_Function* TF_FunctionImportFunctionDef(const void* proto, size_t proto_len,
                                          TF_Status* status) {
  auto func = std::make_unique<TF_Function>();
  const Status s =
      ParseProto("TF_FunctionImportFunctionDef", proto, proto_len, &func->def);
  Set(status, s);
  return s.ok() ? func.release() : nullptr;
}

void TF_FunctionSetAttrValueProto(TF_Function* func, const char* attr_name,
                                  const void* proto, size_t proto_len,
                                  TF_Status* status) {
  if (func == nullptr) {
    return Set(status,
               errors::InvalidArgument("TF_FunctionSetAttrValueProto: NULL"));
  }
  pb::AttrValue value;
  const Status s = ParseProto(absl::StrCat("attr '", Text(attr_name), "'"),
                              proto, proto_len, &value);
  if (s.ok()) (*func->def.mutable_attr())[std::string(Text(attr_name))] = value;
  Set(status, s);
}

void TF_FunctionGetAttrValueProto(TF_Function* func, const char* attr_name,
                                  TF_Buffer* output_attr_value,
                                  TF_Status* status) {
  if (func == nullptr) {
    return Set(status,
               errors::InvalidArgument("TF_FunctionGetAttrValueProto: NULL"));
  }
  const auto it = func->def.attr().find(std::string(Text(attr_name)));
  if (it == func->def.attr().end()) {
    return Set(status, errors::InvalidArgument(
                           "Function '", func->def.signature().name(),
                           "' has no attr named '", Text(attr_name), "'."));
  }
  Set(status, ToBuffer(it->second, output_attr_value));
}

void TF_DeleteFunction(TF_Function* func) { delete func; }
