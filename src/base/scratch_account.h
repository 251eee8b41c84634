// ScratchAccount: charges a thread's allocations to a budget. It counts blocks
// of at least kMinPiece bytes that the library takes by `new` or for strings,
// on its thread and in the parallel loops of that thread. It is for kernels
// whose buffers, besides tensors, are vectors and tables.
//
// A block counts until the account ends, even if it is freed earlier. A vector
// that grows counts twice.
#ifndef HEADRACE_BASE_SCRATCH_ACCOUNT_H_
#define HEADRACE_BASE_SCRATCH_ACCOUNT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headrace {

// A budget of bytes in use. Thread-safe.
class MemoryCounter {
 public:
  virtual ~MemoryCounter() = default;
  // Returns false and takes nothing if the budget does not allow it.
  virtual bool Reserve(int64_t bytes) = 0;
  virtual void Release(int64_t bytes) = 0;
};

class ScratchAccount {
 public:
  static constexpr size_t kMinPiece = size_t{64} << 10;

  // `counter` may be null: then nothing is counted. It must outlive the
  // account.
  explicit ScratchAccount(MemoryCounter* counter);
  ~ScratchAccount();
  ScratchAccount(const ScratchAccount&) = delete;
  ScratchAccount& operator=(const ScratchAccount&) = delete;

  // The account of this thread. ThreadPool passes it on to its workers.
  static ScratchAccount* Current();
  static ScratchAccount* SetCurrent(ScratchAccount* account);

  // `new` calls it on any thread. False: the allocation must fail.
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
