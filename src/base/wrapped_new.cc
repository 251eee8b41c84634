// Wraps, by the linker's --wrap, operator new for this library; it calls the
// program's operator new. A large allocation is refused first if the machine or
// the run has no memory for it (base/scratch_account.h). Small allocations have
// a reserve (base/memory_reserve.h). The exception contains the number of bytes
// asked for.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/exceptions.h"
#include "base/memory_reserve.h"
#include "base/require_memory.h"
#include "base/scratch_account.h"

// The linker's names for the wrapped functions and for the wrappers.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __real__Znwm(size_t bytes);
void* __real__Znam(size_t bytes);
void* __real__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment);
}

namespace headrace {

std::atomic<void*> require_memory_internal::reserve{nullptr};

namespace {

using require_memory_internal::reserve;

// Address space only: untouched pages take no memory.
constexpr size_t kReserve = size_t{4} << 20;

// Counts how often the reserve was filled; `took_from` is the one of them that
// this thread used last, 0 if none.
std::atomic<uint64_t> filled{1};
constinit thread_local uint64_t took_from = 0;
constinit thread_local void* next_piece = nullptr;
constinit thread_local size_t next_piece_bytes = 0;

void* TakeNextPiece(size_t bytes) {
  if (next_piece == nullptr || bytes > next_piece_bytes ||
      bytes <= next_piece_bytes / 2) {
    return nullptr;
  }
  return std::exchange(next_piece, nullptr);
}

// `allocate` is an operator new.
template <typename F>
void* New(size_t bytes, const F& allocate) {
  if (!ScratchAccount::Admits(bytes)) throw OutOfMemory(bytes);
  try {
    return allocate();
  } catch (const std::bad_alloc&) {
    if (bytes > kSmallPiece) throw OutOfMemory(bytes);
    took_from = filled.load();
    std::free(reserve.exchange(nullptr));
  }
  try {
    return allocate();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(bytes);
  }
}

}  // namespace

bool TookFromMemoryReserve() {
  return !MemoryReserveIsFull() && std::exchange(took_from, 0) == filled.load();
}

void RefillMemoryReserve() {
  if (MemoryReserveIsFull()) return;
  void* const block = std::malloc(kReserve);
  if (block == nullptr) return;
  filled.fetch_add(1);
  void* none = nullptr;
  if (!reserve.compare_exchange_strong(none, block)) std::free(block);
}

Status require_memory_internal::Refill() {
  RefillMemoryReserve();
  if (MemoryReserveIsFull()) return OkStatus();
  return errors::ResourceExhausted(
      "out of memory: nothing new is begun while there are no ", kReserve,
      " bytes to keep for what goes on");
}

NextPiece::NextPiece(size_t bytes) {
  ::operator delete(std::exchange(next_piece, nullptr));
  if (bytes <= kSmallPiece) return;
  next_piece = ::operator new(bytes);
  next_piece_bytes = bytes;
}

NextPiece::~NextPiece() {
  ::operator delete(std::exchange(next_piece, nullptr));
}

}  // namespace headrace

extern "C" {
void* __wrap__Znwm(size_t bytes) {
  if (bytes > headrace::kSmallPiece) {
    if (void* const piece = headrace::TakeNextPiece(bytes)) return piece;
  }
  return headrace::New(bytes, [bytes] { return __real__Znwm(bytes); });
}
void* __wrap__Znam(size_t bytes) {
  return headrace::New(bytes, [bytes] { return __real__Znam(bytes); });
}
void* __wrap__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment) {
  return headrace::New(bytes, [bytes, alignment] {
    return __real__ZnwmSt11align_val_t(bytes, alignment);
  });
}
}
// NOLINTEND(bugprone-reserved-identifier)
