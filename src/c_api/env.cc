// env.h: files, time, threads and shared libraries.
#include "tensorflow/c/env.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/env.h"
#include "c_api/internal.h"

using headrace::Env;
using headrace::OkStatus;
using headrace::Status;
using headrace::StatusOr;
using headrace::WritableFile;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;

struct TF_WritableFileHandle {
  std::unique_ptr<WritableFile> file;
};

struct TF_StringStream {
  std::vector<std::string> strings;
  size_t next = 0;
};

struct TF_Thread {
  pthread_t thread;
  void (*work)(void*);
  void* param;
};

namespace {

static_assert(sizeof(TF_FileStatistics) == 24);
static_assert(sizeof(TF_ThreadOptions) == 24);

// Runs fn(path) unless the path is NULL.
template <typename F>
void WithPath(const char* function, const char* path, TF_Status* status,
              const F& fn) {
  if (path == nullptr) {
    return Set(status, errors::InvalidArgument(function, ": the path is NULL"));
  }
  Set(status, fn(std::string(path)));
}

// Runs fn(file) unless the handle is NULL.
template <typename F>
void WithFile(const char* function, TF_WritableFileHandle* handle,
              TF_Status* status, const F& fn) {
  Set(status, handle == nullptr
                  ? errors::InvalidArgument(function, ": the file is NULL")
                  : fn(handle->file.get()));
}

Status StatOf(const std::string& path, struct stat* out) {
  if (stat(path.c_str(), out) == 0) return OkStatus();
  return headrace::ErrnoToStatus(errno, path);
}

// What of a tree could not be deleted.
struct Undeleted {
  int64_t files = 0, folders = 0;
  Status first;
};

void DeleteTree(const std::string& folder, Undeleted* left) {
  Env* const env = Env::Default();
  std::vector<std::string> names;
  if (Status s = env->GetChildren(folder, &names); !s.ok()) {
    left->first.Update(s);
    ++left->folders;
    return;
  }
  for (const std::string& name : names) {
    const std::string path = headrace::JoinPath(folder, name);
    struct stat info;
    // A link to a folder is a file here.
    const bool is_folder =
        lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
    if (is_folder) {
      DeleteTree(path, left);
    } else if (Status s = env->DeleteFile(path); !s.ok()) {
      left->first.Update(s);
      ++left->files;
    }
  }
  if (Status s = env->DeleteDir(folder); !s.ok()) {
    left->first.Update(s);
    ++left->folders;
  }
}

std::vector<std::string> TemporaryFolders() {
  for (const char* variable : {"TEST_TMPDIR", "TMPDIR", "TMP", ""}) {
    const char* const set = *variable == '\0' ? "/tmp" : std::getenv(variable);
    if (set == nullptr || *set == '\0' || !Env::Default()->IsDirectory(set)) {
      continue;
    }
    std::string folder = set;
    if (folder.back() != '/') folder += '/';
    return {folder};
  }
  return {};
}

void* RunThread(void* arg) {
  auto* const t = static_cast<TF_Thread*>(arg);
  t->work(t->param);
  return nullptr;
}

}  // namespace

void TF_CreateDir(const char* dirname, TF_Status* status) {
  WithPath("TF_CreateDir", dirname, status, [](const std::string& path) {
    return Env::Default()->CreateDir(path);
  });
}

void TF_DeleteDir(const char* dirname, TF_Status* status) {
  WithPath("TF_DeleteDir", dirname, status, [](const std::string& path) {
    return Env::Default()->DeleteDir(path);
  });
}

void TF_DeleteRecursively(const char* dirname, int64_t* undeleted_file_count,
                          int64_t* undeleted_dir_count, TF_Status* status) {
  Undeleted left;
  WithPath("TF_DeleteRecursively", dirname, status, [&](const std::string& p) {
    DeleteTree(p, &left);
    return left.first;
  });
  if (undeleted_file_count != nullptr) *undeleted_file_count = left.files;
  if (undeleted_dir_count != nullptr) *undeleted_dir_count = left.folders;
}

void TF_FileStat(const char* filename, TF_FileStatistics* stats,
                 TF_Status* status) {
  WithPath("TF_FileStat", filename, status, [&](const std::string& path) {
    struct stat info;
    HR_RETURN_IF_ERROR(StatOf(path, &info));
    if (stats == nullptr) {
      return errors::InvalidArgument("TF_FileStat: the statistics are NULL");
    }
    *stats = {info.st_size,
              info.st_mtim.tv_sec * int64_t{1000000000} + info.st_mtim.tv_nsec,
              S_ISDIR(info.st_mode)};
    return OkStatus();
  });
}

void TF_NewWritableFile(const char* filename, TF_WritableFileHandle** handle,
                        TF_Status* status) {
  if (handle == nullptr) {
    return Set(status, errors::InvalidArgument(
                           "TF_NewWritableFile: the place for the file is "
                           "NULL"));
  }
  *handle = nullptr;
  WithPath("TF_NewWritableFile", filename, status, [&](const std::string& p) {
    auto made = std::make_unique<TF_WritableFileHandle>();
    HR_ASSIGN_OR_RETURN(made->file, Env::Default()->NewWritableFile(p));
    *handle = made.release();
    return OkStatus();
  });
}

void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  WithFile("TF_CloseWritableFile", handle, status,
           [](WritableFile* f) { return f->Close(); });
  delete handle;
}

void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  WithFile("TF_SyncWritableFile", handle, status,
           [](WritableFile* f) { return f->Sync(); });
}

void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  WithFile("TF_FlushWritableFile", handle, status,
           [](WritableFile* f) { return f->Flush(); });
}

void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data,
                           size_t length, TF_Status* status) {
  WithFile("TF_AppendWritableFile", handle, status, [&](WritableFile* f) {
    if (data == nullptr && length > 0) {
      return errors::InvalidArgument("TF_AppendWritableFile: ", length,
                                     " bytes at NULL");
    }
    return f->Append(std::string_view(data, length));
  });
}

void TF_DeleteFile(const char* filename, TF_Status* status) {
  WithPath("TF_DeleteFile", filename, status, [](const std::string& path) {
    return Env::Default()->DeleteFile(path);
  });
}

bool TF_StringStreamNext(TF_StringStream* list, const char** result) {
  const bool more = list != nullptr && list->next < list->strings.size();
  if (result != nullptr) {
    *result = more ? list->strings[list->next].c_str() : nullptr;
  }
  if (more) ++list->next;
  return more;
}

void TF_StringStreamDone(TF_StringStream* list) { delete list; }

TF_StringStream* TF_GetChildren(const char* filename, TF_Status* status) {
  auto stream = std::make_unique<TF_StringStream>();
  Status s;
  WithPath("TF_GetChildren", filename, status, [&](const std::string& path) {
    s = Env::Default()->GetChildren(path, &stream->strings);
    return s;
  });
  return filename != nullptr && s.ok() ? stream.release() : nullptr;
}

TF_StringStream* TF_GetLocalTempDirectories() {
  return new TF_StringStream{TemporaryFolders()};
}

char* TF_GetTempFileName(const char* extension) {
  const absl::string_view ending = Text(extension);
  for (const std::string& folder : TemporaryFolders()) {
    const std::string suffix = ending.empty() ? "" : absl::StrCat(".", ending);
    char* const path = NewText(absl::StrCat(folder, "tmp_file_headrace_",
                                            getpid(), "_XXXXXX", suffix));
    if (path == nullptr) return nullptr;
    const int file = mkstemps(path, static_cast<int>(suffix.size()));
    if (file >= 0) {
      close(file);
      return path;
    }
    std::free(path);
  }
  return nullptr;
}

uint64_t TF_NowNanos() { return Env::Default()->NowNanos(); }

uint64_t TF_NowMicros() { return Env::Default()->NowMicros(); }

uint64_t TF_NowSeconds() { return Env::Default()->NowMicros() / 1000000; }

void TF_DefaultThreadOptions(TF_ThreadOptions* options) {
  if (options != nullptr) *options = {0, 0, -1};
}

TF_Thread* TF_StartThread(const TF_ThreadOptions* options,
                          const char* thread_name, void (*work_func)(void*),
                          void* param) {
  if (work_func == nullptr) return nullptr;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return nullptr;
  bool ok = true;
  if (options != nullptr && options->stack_size > 0) {
    ok = pthread_attr_setstacksize(&attributes, options->stack_size) == 0;
  }
  if (ok && options != nullptr && options->guard_size > 0) {
    ok = pthread_attr_setguardsize(&attributes, options->guard_size) == 0;
  }
  auto thread = std::make_unique<TF_Thread>();
  thread->work = work_func;
  thread->param = param;
  ok = ok && pthread_create(&thread->thread, &attributes, &RunThread,
                            thread.get()) == 0;
  pthread_attr_destroy(&attributes);
  if (!ok) return nullptr;
  // The system's names have at most 15 characters.
  pthread_setname_np(thread->thread,
                     std::string(Text(thread_name).substr(0, 15)).c_str());
  return thread.release();
}

void TF_JoinThread(TF_Thread* thread) {
  if (thread == nullptr) return;
  pthread_join(thread->thread, nullptr);
  delete thread;
}

void* TF_LoadSharedLibrary(const char* library_filename, TF_Status* status) {
  void* handle = nullptr;
  WithPath("TF_LoadSharedLibrary", library_filename, status,
           [&](const std::string& path) {
             handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
             return handle != nullptr
                        ? OkStatus()
                        : errors::NotFound("cannot load library '", path,
                                           "': ", Text(dlerror()));
           });
  return handle;
}

void* TF_GetSymbolFromLibrary(void* handle, const char* symbol_name,
                              TF_Status* status) {
  if (handle == nullptr || symbol_name == nullptr) {
    Set(status, errors::InvalidArgument("TF_GetSymbolFromLibrary: the ",
                                        handle == nullptr ? "library" : "name",
                                        " is NULL"));
    return nullptr;
  }
  dlerror();
  void* const symbol = dlsym(handle, symbol_name);
  const char* const why = symbol == nullptr ? dlerror() : nullptr;
  Set(status, symbol != nullptr
                  ? OkStatus()
                  : errors::NotFound("no symbol '", symbol_name,
                                     "' in the library: ", Text(why)));
  return symbol;
}
