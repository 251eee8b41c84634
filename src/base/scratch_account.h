// ScratchAccount: while one lives on a thread, what the library takes there by
// `new` and for strings in pieces of at least kMinPiece counts against a
// budget, and so in the parallel loops of that thread. For kernels, whose
// buffers beside tensors are vectors and tables.
//
// A piece counts until the account ends, even if it is freed before: a vector
// that grows counts twice.
#ifndef HEADRACE_BASE_SCRATCH_ACCOUNT_H_
#define HEADRACE_BASE_SCRATCH_ACCOUNT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headrace {

// Bytes that may be taken at once. Thread-safe.
class MemoryCounter {
 public:
  virtual ~MemoryCounter() = default;
  // False, and nothing is taken, if that would be too many.
  virtual bool Reserve(int64_t bytes) = 0;
  virtual void Release(int64_t bytes) = 0;
};

class ScratchAccount {
 public:
  static constexpr size_t kMinPiece = size_t{64} << 10;

  // `counter` may be null: then nothing is counted.
  explicit ScratchAccount(MemoryCounter* counter);
  ~ScratchAccount();
  ScratchAccount(const ScratchAccount&) = delete;
  ScratchAccount& operator=(const ScratchAccount&) = delete;

  // The thread's. For ThreadPool, which makes it that of its workers.
  static ScratchAccount* Current();
  static ScratchAccount* SetCurrent(ScratchAccount* account);

  // What `new` asks, on any thread. False: refuse.
  static bool Admits(size_t bytes) {
    return bytes < kMinPiece || AdmitsLarge(bytes);
  }

 private:
  static bool AdmitsLarge(size_t bytes);

  MemoryCounter* const counter_;
  ScratchAccount* const outer_;
  std::atomic<int64_t> taken_{0};
};

}  // namespace headrace

#endif  // HEADRACE_BASE_SCRATCH_ACCOUNT_H_
