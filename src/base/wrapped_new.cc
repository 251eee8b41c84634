// What `new` calls in this library, by the linker's --wrap: the program's own
// operator new. Large pieces are refused before that if the machine or the run
// has no room for them (base/scratch_account.h), small ones have a reserve
// (base/memory_reserve.h). What is thrown says how much was asked for.
#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/exceptions.h"
#include "base/memory_reserve.h"
#include "base/scratch_account.h"

// The linker's names for the wrapped functions and for the wrappers.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __real__Znwm(size_t bytes);
void* __real__Znam(size_t bytes);
void* __real__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment);
}

namespace headrace {
namespace {

// Of addresses alone: what is not touched takes no memory.
constexpr size_t kReserve = size_t{4} << 20;
std::atomic<void*> reserve{std::malloc(kReserve)};

constinit thread_local bool took_from_reserve = false;
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
    took_from_reserve = true;
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
  if (reserve.load(std::memory_order_relaxed) != nullptr) [[likely]]
    return false;
  return std::exchange(took_from_reserve, false);
}

void RefillMemoryReserve() {
  if (reserve.load(std::memory_order_relaxed) != nullptr) return;
  void* const block = std::malloc(kReserve);
  void* none = nullptr;
  if (!reserve.compare_exchange_strong(none, block)) std::free(block);
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
