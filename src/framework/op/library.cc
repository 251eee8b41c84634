#include "framework/op/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "absl/strings/match.h"
#include "base/env.h"
#include "base/own_folder.h"
#include "framework/op/elf_soname.h"
#include "framework/op/op_clashes.h"
#include "headrace/mutex.h"
#include "headrace/op.h"

namespace headrace {
namespace {

struct Loaded {
  struct Entry {
    OpLibrary library;
    Status status;
  };
  Mutex mu;
  std::map<void*, Entry> by_handle GUARDED_BY(mu);
  static Loaded* Get() {
    static auto* const l = new Loaded;
    return l;
  }
};

// Of the library that this thread loads.
thread_local Status* t_failure = nullptr;

std::vector<const OpDef*> OpsWithout(const std::vector<const OpDef*>& before) {
  std::vector<const OpDef*> added;
  for (const OpDef* def : OpRegistry::Global()->All()) {
    if (!std::binary_search(
            before.begin(), before.end(), def,
            [](const OpDef* a, const OpDef* b) { return a->name < b->name; })) {
      added.push_back(def);
    }
  }
  return added;
}

bool IsInOwnFolder(const std::string& path) {
  const std::string own = OwnFolder();
  std::error_code error;  // then it is not
  return std::filesystem::equivalent(Dirname(path), own.empty() ? "." : own,
                                     error) &&
         !error;
}

// Refuses files that would end the process while they are loaded. One of them
// is a second copy of the runtime: it would register the messages and ops of
// the first one again, which protobuf does not survive.
Status RefuseFatalFiles(const std::string& path) {
  // The loader looks for a name without a slash, and finds ours by its SONAME.
  if (!absl::StrContains(path, '/')) return OkStatus();
  const auto file = Env::Default()->MapFile(path);
  if (!file.ok()) return OkStatus();  // the loader has the words for it
  if (ElfIsCutOff((*file)->view())) {
    return errors::NotFound("cannot load library '", path,
                            "': the file lacks its end, it has ",
                            (*file)->view().size(), " bytes");
  }
  const std::string soname(ElfSoname((*file)->view()));
  if (soname != "libheadrace.so" &&
      !absl::StartsWith(soname, "libtensorflow.so.")) {
    return OkStatus();
  }
  if (void* const known = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
    dlclose(known);
    return OkStatus();
  }
  if (IsInOwnFolder(path)) return OkStatus();
  return errors::InvalidArgument(
      "cannot load library '", path, "': it is another copy of ", soname,
      ", the runtime itself, which ",
      OwnFolder().empty() ? "the program" : OwnFolder(),
      " already has; wanted a library of ops or kernels");
}

}  // namespace

StatusOr<const OpLibrary*> LoadOpLibrary(const std::string& path) {
  HR_RETURN_IF_ERROR(RefuseFatalFiles(path));
  Loaded* const loaded = Loaded::Get();
  MutexLock lock(&loaded->mu);
  const std::vector<const OpDef*> before = OpRegistry::Global()->All();
  TakeOpClashes();  // those of other libraries
  Status failure;
  t_failure = &failure;
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    t_failure = nullptr;
    const char* const why = dlerror();
    return errors::NotFound("cannot load library '", path,
                            "': ", why == nullptr ? "" : why);
  }
  const auto [it, is_new] = loaded->by_handle.try_emplace(handle);
  Loaded::Entry& entry = it->second;
  if (is_new) {
    if (void* const init = dlsym(handle, "TF_InitKernel")) {
      reinterpret_cast<void (*)()>(init)();
    }
    for (const std::string& clash : TakeOpClashes()) {
      failure.Update(errors::AlreadyExists(clash));
    }
    entry.library = {handle, OpsWithout(before)};
    if (!failure.ok()) {
      entry.status = Status(
          failure.code(), StrCat("library '", path, "': ", failure.message()));
    }
  }
  t_failure = nullptr;
  if (!entry.status.ok()) return entry.status;
  return &entry.library;
}

void NoteRegistrationFailure(const Status& s) {
  if (t_failure != nullptr) t_failure->Update(s);
}

}  // namespace headrace
