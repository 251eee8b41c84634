// BfcAllocator: gives pieces of large regions of a device's memory, the
// smallest free piece that is large enough. Neighbouring free pieces of a
// region are joined. Regions come from the device: one of the whole limit, or
// with allow_growth one after the other, each twice as large as the last.
//
// It never touches the memory. Pieces are multiples of 256 bytes and aligned
// so. Thread-safe.
#ifndef HEADRACE_DEVICE_GPU_BFC_ALLOCATOR_H_
#define HEADRACE_DEVICE_GPU_BFC_ALLOCATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "headrace/allocator.h"
#include "headrace/mutex.h"
#include "headrace/status.h"

namespace headrace::gpu {

// True if `address` lies in one of the regions, given by address: bytes.
bool LiesIn(const std::map<char*, size_t>& regions, const void* address);

class BfcAllocator : public Allocator {
 public:
  struct Source {
    std::function<StatusOr<void*>(size_t bytes)> allocate;
    std::function<void(void* region, size_t bytes)> release;
  };
  struct Limits {
    int64_t bytes = 0;  // of all regions together
    bool allow_growth = false;
  };

  // `refusal_is_final`: who asks cannot do without, so a refusal is logged.
  BfcAllocator(std::string name, Source source, Limits limits,
               bool refusal_is_final = true);
  // Gives the regions back, whatever is in use.
  ~BfcAllocator() override;

  std::string Name() const override { return name_; }
  // Null if there is no piece, and no region for one. If that is final, a line
  // in the log says what is free, and why the source refuses. Size 0 gets a
  // piece too.
  void* AllocateRaw(size_t bytes) override;
  void DeallocateRaw(void* ptr, size_t bytes) override;
  AllocatorStats GetStats() const override;
  void ResetPeak() override;

  // While `idle` holds, no region stays of which nothing is in use.
  void SetIdle(bool idle);
  // Counts from the next region on; only while nothing is in use. False if
  // something is, and then nothing changes.
  bool SetLimits(const Limits& limits);
  // Called when there is no piece, without a lock: true if memory may have come
  // free meanwhile. Null: nobody is asked. After SetRetry returned the function
  // before is not running.
  void SetRetry(std::function<bool()> retry);
  // True if `address` lies in a region, whatever is there.
  bool Owns(const void* address) const;

  // "67 bytes are free of a limit of 100, the largest piece has 50; the device
  // said: ..."
  std::string DescribeFree() const;

  struct Piece {
    const void* address;
    size_t bytes;
    bool in_use;
  };
  // In the order of their addresses, for tests and for people.
  std::vector<Piece> Pieces() const;

 private:
  struct Chunk {
    size_t bytes = 0;
    bool in_use = false;
    char* region = nullptr;
  };
  using Chunks = std::map<char*, Chunk>;

  void* Take(size_t bytes) REQUIRES(mu_);
  bool Grow(size_t bytes) REQUIRES(mu_);
  void ReleaseRegion(char* region) REQUIRES(mu_);
  void ReleaseUnused() REQUIRES(mu_);
  // Joins a free chunk with its free neighbours. Returns the joined one.
  Chunks::iterator Join(Chunks::iterator c) REQUIRES(mu_);

  const std::string name_;
  const Source source_;
  const bool refusal_is_final_;
  Mutex retry_mu_;  // held while retry_ runs; before mu_
  std::function<bool()> retry_ GUARDED_BY(retry_mu_);
  mutable Mutex mu_;
  Limits limits_ GUARDED_BY(mu_);
  bool idle_ GUARDED_BY(mu_) = false;
  size_t next_region_ GUARDED_BY(mu_);
  std::map<char*, size_t> regions_ GUARDED_BY(mu_);  // by address: bytes
  int64_t region_bytes_ GUARDED_BY(mu_) = 0;
  Chunks chunks_ GUARDED_BY(mu_);
  std::set<std::pair<size_t, char*>> free_ GUARDED_BY(mu_);
  AllocatorStats stats_ GUARDED_BY(mu_);
  std::string refusal_ GUARDED_BY(mu_);  // of the device, the last one
};

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_BFC_ALLOCATOR_H_
