// The version, the registries of ops and kernels, and libraries that add to
// them.
#include "absl/strings/str_split.h"
#include "c_api/internal.h"
#include "framework/kernel/print_listeners.h"
#include "framework/op/library.h"
#include "framework/op/tensor_proto.h"
#include "headrace/op.h"
#include "headrace/op_def.pb.h"
#include "headrace/op_kernel.h"
#include "headrace/version.h"

using headrace::KernelRegistry;
using headrace::OkStatus;
using headrace::OpDef;
using headrace::OpRegistry;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

pb::OpList ListOps(const std::vector<const OpDef*>& ops) {
  pb::OpList list;
  for (const OpDef* def : ops) headrace::OpDefToProto(*def, list.add_op());
  return list;
}

// Reads the registry's description of a kernel's constraints, "T in [float,
// int32]; Tidx in [int32]".
void AddConstraints(absl::string_view words, pb::KernelDef* kernel) {
  for (absl::string_view one : absl::StrSplit(words, "; ", absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(one, absl::MaxSplits(" in ", 1));
    pb::KernelDef::AttrConstraint* c = kernel->add_constraint();
    c->set_name(std::string(parts.first));
    for (absl::string_view type : absl::StrSplit(
             parts.second, absl::ByAnyChar("[], "), absl::SkipEmpty())) {
      headrace::DataType t;
      if (!headrace::DataTypeFromString(type, &t)) continue;
      c->mutable_allowed_values()->mutable_list()->add_type(
          static_cast<pb::DataType>(t));
    }
  }
}

// Lists the kernels of `op`, or of all ops if `op` is null.
pb::KernelList ListKernels(const char* op) {
  pb::KernelList list;
  for (const KernelRegistry::Info& info : KernelRegistry::Global()->All()) {
    if (op != nullptr && info.op != op) continue;
    pb::KernelDef* k = list.add_kernel();
    k->set_op(info.op);
    k->set_device_type(info.device);
    AddConstraints(info.constraints, k);
  }
  return list;
}

}  // namespace

const char* TF_Version() { return headrace::kTensorFlowVersion; }

TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status) {
  if (library_filename == nullptr) {
    Set(status, errors::NotFound("cannot load library '': no name"));
    return nullptr;
  }
  const headrace::OpLibrary* library = nullptr;
  const Status s =
      headrace::MoveTo(headrace::LoadOpLibrary(library_filename), &library);
  Set(status, s);
  if (!s.ok()) return nullptr;
  return new TF_Library{library->handle,
                        ListOps(library->ops).SerializeAsString()};
}

void TF_RegisterLogListener(void (*listener)(const char*)) {
  if (listener != nullptr) headrace::AddPrintListener(listener);
}

void TF_RegisterFilesystemPlugin(const char* plugin_filename,
                                 TF_Status* status) {
  Set(status, errors::Unimplemented(
                  "TF_RegisterFilesystemPlugin('", Text(plugin_filename),
                  "'): files are those of the system, without plug-ins"));
}

TF_Buffer TF_GetOpList(TF_Library* lib_handle) {
  if (lib_handle == nullptr) return {nullptr, 0, nullptr};
  return {lib_handle->op_list.data(), lib_handle->op_list.size(), nullptr};
}

void TF_DeleteLibraryHandle(TF_Library* lib_handle) { delete lib_handle; }

TF_Buffer* TF_GetAllOpList() {
  return NewBuffer(ListOps(OpRegistry::Global()->All()));
}

TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status) {
  SetOk(status);
  return NewBuffer(ListKernels(nullptr));
}

TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status) {
  SetOk(status);
  return NewBuffer(ListKernels(name == nullptr ? "" : name));
}
