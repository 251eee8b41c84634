// TF_Function: a FunctionDef behind a handle.
#include "c_api/internal.h"

using headrace::FunctionLibrary;
using headrace::MutexLock;
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

TF_Function* TF_GraphToFunction(const TF_Graph*, const char* fn_name,
                                unsigned char, int, const TF_Operation* const*,
                                int, const TF_Output*, int, const TF_Output*,
                                const char* const*, const TF_FunctionOptions*,
                                const char*, TF_Status* status) {
  Set(status, errors::Unimplemented(
                  "TF_GraphToFunction: making function '", Text(fn_name),
                  "' of a graph is not supported yet; import its FunctionDef"));
  return nullptr;
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
