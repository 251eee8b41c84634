// A library to preload (LD_PRELOAD) that makes chosen allocations of a process
// fail: malloc and its kin, operator new, mmap. Tests arm it around the call
// that they look at:
//
//   hr_fail_allocations(3, 1, 0);      // the third from now on
//   hr_fail_allocations(3, 9, 1000);   // 9 from the third of >= 1000 bytes
//   ... hr_allocations() ...           // how many there were since
//   hr_fail_allocations(0, 0, 0);      // none any more
//
//   hr_limit_memory(1 << 20);   // no more than a MiB beyond what there is now
//   hr_limit_memory(-1);        // no limit any more
//
// Allocations of all threads count, but for those of the dynamic linker: it
// ends the process if it gets no memory for a thread's variables.
// framework/memory/failing_allocations.h finds it.
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace {

std::atomic<bool> armed{false};
std::atomic<int64_t> first{0}, count{0}, least{0}, seen{0};
std::atomic<bool> limited{false};
std::atomic<int64_t> left{0}, least_left{0};

// Bytes that are taken, or given back if there are fewer than none.
bool IsBeyondLimit(int64_t bytes) {
  const int64_t now = left.fetch_sub(bytes) - bytes;
  if (bytes > 0 && now < 0) {
    left.fetch_add(bytes);
    errno = ENOMEM;
    return true;
  }
  int64_t before = least_left.load();
  while (now < before && !least_left.compare_exchange_weak(before, now)) {
  }
  return false;
}

bool Fails(size_t bytes) {
  if (limited.load(std::memory_order_relaxed) &&
      IsBeyondLimit(static_cast<int64_t>(bytes))) {
    return true;
  }
  if (!armed.load(std::memory_order_relaxed) ||
      bytes < static_cast<size_t>(least.load())) {
    return false;
  }
  const int64_t n = seen.fetch_add(1) + 1;
  const int64_t from = first.load();
  if (from == 0 || n < from || n - from >= count.load()) return false;
  errno = ENOMEM;
  return true;
}

// The functions behind these. dlsym itself may allocate: that comes from a
// block of our own, which is never freed.
struct Next {
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void (*free)(void*);
  void* (*aligned_alloc)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*memalign)(size_t, size_t);
};
Next next;
std::atomic<int> state{0};  // 1: being looked up, 2: there
alignas(64) char early[1 << 16];
std::atomic<size_t> early_used{0};

void* Early(size_t bytes) {
  const size_t at = early_used.fetch_add((bytes + 63) / 64 * 64 + 64);
  return at + bytes <= sizeof(early) ? early + at : nullptr;
}
bool IsEarly(const void* p) { return p >= early && p < early + sizeof(early); }

// Of a piece that is about to be freed.
void GiveBack(size_t bytes) {
  if (limited.load(std::memory_order_relaxed)) {
    IsBeyondLimit(-static_cast<int64_t>(bytes));
  }
}
void GiveBack(void* p) {
  if (limited.load(std::memory_order_relaxed)) GiveBack(malloc_usable_size(p));
}

template <typename F>
void Find(const char* name, F* f) {
  void* const p = dlsym(RTLD_NEXT, name);
  std::memcpy(f, &p, sizeof(p));
}

std::atomic<uintptr_t> linker_begin{0}, linker_end{0};

int FindLinker(dl_phdr_info* info, size_t, void*) {
  if (std::strstr(info->dlpi_name, "/ld-linux") == nullptr) return 0;
  uintptr_t end = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const uintptr_t last = info->dlpi_addr + part.p_vaddr + part.p_memsz;
    if (last > end) end = last;
  }
  linker_begin = info->dlpi_addr;
  linker_end = end;
  return 1;
}

bool IsLinker(const void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  return at >= linker_begin && at < linker_end;
}

// False while they are looked up.
bool Ready() {
  if (state.load(std::memory_order_acquire) == 2) return true;
  int none = 0;
  if (!state.compare_exchange_strong(none, 1)) return false;
  Find("malloc", &next.malloc);
  Find("calloc", &next.calloc);
  Find("realloc", &next.realloc);
  Find("free", &next.free);
  Find("aligned_alloc", &next.aligned_alloc);
  Find("posix_memalign", &next.posix_memalign);
  Find("memalign", &next.memalign);
  dl_iterate_phdr(&FindLinker, nullptr);
  state.store(2, std::memory_order_release);
  return true;
}

}  // namespace

extern "C" {

void hr_fail_allocations(int64_t from, int64_t how_many, int64_t bytes) {
  armed.store(false);
  if (from == 0) return;  // what was seen can still be asked for
  least.store(bytes);
  first.store(from);
  count.store(how_many);
  seen.store(0);
  armed.store(true);
}
int64_t hr_allocations() { return seen.load(); }

void hr_limit_memory(int64_t bytes) {
  limited.store(false);
  if (bytes < 0) return;
  left.store(bytes);
  least_left.store(bytes);
  limited.store(true);
}
// How much of the limit was left when least was. Pieces count as what was asked
// for when they are taken, and as what malloc made of it when they are freed.
int64_t hr_least_memory_left() { return least_left.load(); }

namespace {
int64_t Call(void* function, const int64_t* a) {
  using F = int64_t (*)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                        int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
  F f;
  std::memcpy(&f, &function, sizeof(f));
  return f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
           a[11]);
}
}  // namespace

// Calls a C function of up to 12 arguments, none a floating-point number, with
// that armed: from Python, whose own allocations are not to fail.
int64_t hr_call_failing(int64_t from, int64_t how_many, int64_t bytes,
                        void* function, const int64_t* a) {
  hr_fail_allocations(from, how_many, bytes);
  const int64_t result = Call(function, a);
  armed.store(false);
  return result;
}
int64_t hr_call_limited(int64_t bytes, void* function, const int64_t* a) {
  hr_limit_memory(bytes);
  const int64_t result = Call(function, a);
  limited.store(false);
  return result;
}

void* malloc(size_t bytes) {
  if (!Ready()) return Early(bytes);
  if (IsLinker(__builtin_return_address(0))) return next.malloc(bytes);
  return Fails(bytes) ? nullptr : next.malloc(bytes);
}
void* calloc(size_t n, size_t bytes) {
  if (!Ready()) return Early(n * bytes);  // zeros
  if (IsLinker(__builtin_return_address(0))) return next.calloc(n, bytes);
  return Fails(n * bytes) ? nullptr : next.calloc(n, bytes);
}
void* realloc(void* p, size_t bytes) {
  if (!Ready() || IsEarly(p)) {
    void* const q = malloc(bytes);
    // Up to its end: what lies behind is ours, too.
    if (q != nullptr && p != nullptr) {
      const size_t left = early + sizeof(early) - static_cast<char*>(p);
      std::memcpy(q, p, bytes < left ? bytes : left);
    }
    return q;
  }
  if (Fails(bytes)) return nullptr;
  const size_t old = p == nullptr ? 0 : malloc_usable_size(p);
  void* const q = next.realloc(p, bytes);
  if (q != nullptr) GiveBack(old);
  return q;
}
void free(void* p) {
  if (p == nullptr || IsEarly(p) || !Ready()) return;
  GiveBack(p);
  next.free(p);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  if (!Ready()) return Early(bytes);
  return Fails(bytes) ? nullptr : next.aligned_alloc(alignment, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  if (!Ready()) return Early(bytes);
  return Fails(bytes) ? nullptr : next.memalign(alignment, bytes);
}
int posix_memalign(void** p, size_t alignment, size_t bytes) {
  if (!Ready()) return ENOMEM;
  return Fails(bytes) ? ENOMEM : next.posix_memalign(p, alignment, bytes);
}
void* mmap(void* at, size_t bytes, int protection, int flags, int fd,
           off_t offset) {
  if (Fails(bytes)) return MAP_FAILED;
  return reinterpret_cast<void*>(  // NOLINT: the system call's number
      syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}
int munmap(void* at, size_t bytes) noexcept {
  GiveBack(bytes);
  return static_cast<int>(syscall(SYS_munmap, at, bytes));
}

}  // extern "C"

// Not the sanitizer's, which end the process when there is no memory.
namespace {
void* New(size_t bytes) {
  void* const p = malloc(bytes == 0 ? 1 : bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void* New(size_t bytes, std::align_val_t alignment) {
  const auto a = static_cast<size_t>(alignment);
  void* const p = aligned_alloc(a, (bytes + a) / a * a);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(size_t n) { return New(n); }
void* operator new[](size_t n) { return New(n); }
void* operator new(size_t n, std::align_val_t a) { return New(n, a); }
void* operator new[](size_t n, std::align_val_t a) { return New(n, a); }
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  return malloc(n == 0 ? 1 : n);
}
void* operator new[](size_t n, const std::nothrow_t&) noexcept {
  return malloc(n == 0 ? 1 : n);
}
void operator delete(void* p) noexcept { free(p); }
void operator delete[](void* p) noexcept { free(p); }
void operator delete(void* p, size_t) noexcept { free(p); }
void operator delete[](void* p, size_t) noexcept { free(p); }
void operator delete(void* p, std::align_val_t) noexcept { free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { free(p); }
