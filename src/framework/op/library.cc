#include "framework/op/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>

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

}  // namespace

StatusOr<const OpLibrary*> LoadOpLibrary(const std::string& path) {
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
