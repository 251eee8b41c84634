// The version, the registries of ops and kernels, and libraries that add to
// them.
#include <dlfcn.h>

#include <algorithm>
#include <map>

#include "absl/strings/str_split.h"
#include "c_api/internal.h"
#include "framework/kernel/print_listeners.h"
#include "framework/op/op_clashes.h"
#include "framework/op/tensor_proto.h"
#include "headrace/mutex.h"
#include "headrace/op.h"
#include "headrace/op_def.pb.h"
#include "headrace/op_kernel.h"
#include "headrace/version.h"

using headrace::KernelRegistry;
using headrace::Mutex;
using headrace::MutexLock;
using headrace::OkStatus;
using headrace::OpDef;
using headrace::OpRegistry;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

// Every registered op but those of `without`, which is sorted by name too.
pb::OpList ListOps(const std::vector<const OpDef*>& without) {
  pb::OpList list;
  for (const OpDef* def : OpRegistry::Global()->All()) {
    if (!std::binary_search(
            without.begin(), without.end(), def,
            [](const OpDef* a, const OpDef* b) { return a->name < b->name; })) {
      headrace::OpDefToProto(*def, list.add_op());
    }
  }
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

// What came of each library when it was first loaded, by the loader's handle.
struct Loaded {
  struct Library {
    std::string op_list;  // what it added
    Status status;        // the first thing that it could not register
  };
  Mutex mu;
  std::map<void*, Library> libraries GUARDED_BY(mu);
  static Loaded* Get() {
    static Loaded* const l = new Loaded;
    return l;
  }
};

// Of the library that this thread loads.
thread_local Status* t_registration_failure = nullptr;

// Opens the library, and lets it register what it has.
void* Open(const char* filename, Status* failure) {
  headrace::TakeOpClashes();  // those of other libraries
  t_registration_failure = failure;
  void* const handle = dlopen(filename, RTLD_NOW | RTLD_LOCAL);
  t_registration_failure = nullptr;
  return handle;
}

Loaded::Library Examine(const char* filename, void* handle, Status failure,
                        const std::vector<const OpDef*>& before) {
  if (auto* init = reinterpret_cast<void (*)()>(dlsym(handle, "TF_InitKernel"))) {
    t_registration_failure = &failure;
    init();
    t_registration_failure = nullptr;
  }
  for (const std::string& clash : headrace::TakeOpClashes()) {
    failure.Update(errors::AlreadyExists(clash));
  }
  if (!failure.ok()) {
    failure = Status(failure.code(), absl::StrCat("library '", filename, "': ",
                                                  failure.message()));
  }
  return {ListOps(before).SerializeAsString(), std::move(failure)};
}

}  // namespace

void headrace::c_api::NoteRegistrationFailure(const Status& s) {
  if (t_registration_failure != nullptr) t_registration_failure->Update(s);
}

const char* TF_Version() { return headrace::kTensorFlowVersion; }

TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status) {
  if (library_filename == nullptr) {
    Set(status, errors::NotFound("cannot load library '': no name"));
    return nullptr;
  }
  Loaded* loaded = Loaded::Get();
  MutexLock lock(&loaded->mu);
  const std::vector<const OpDef*> before = OpRegistry::Global()->All();
  Status failure;
  void* handle = Open(library_filename, &failure);
  if (handle == nullptr) {
    Set(status, errors::NotFound("cannot load library '", library_filename,
                                 "': ", Text(dlerror())));
    return nullptr;
  }
  auto it = loaded->libraries.find(handle);
  if (it == loaded->libraries.end()) {
    it = loaded->libraries
             .emplace(handle, Examine(library_filename, handle,
                                      std::move(failure), before))
             .first;
  }
  Set(status, it->second.status);
  return it->second.status.ok() ? new TF_Library{handle, it->second.op_list}
                                : nullptr;
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

TF_Buffer* TF_GetAllOpList() { return NewBuffer(ListOps({})); }

TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status) {
  SetOk(status);
  return NewBuffer(ListKernels(nullptr));
}

TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status) {
  SetOk(status);
  return NewBuffer(ListKernels(name == nullptr ? "" : name));
}
