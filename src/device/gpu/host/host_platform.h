// The host platform: GPUs that are made of threads and host memory, on which
// the GPU runtime and its kernels are tested.
//
// A stream has a thread, which runs its work in order, beside other streams.
// Copies from and to host memory that is not pinned wait for the stream, as a
// GPU's may.
// Device memory is a mapping of its own. Outside of a stream's work it is
// protected: a CPU thread that follows a device address gets SIGSEGV. While any
// work of the device runs, the protection is off for the whole process, so
// tests that want the fault let the streams come to rest first.
//
// Kernels run their host loop, Blas and Dnn are plain loops (host_blas.cc,
// host_dnn.cc).
#ifndef HEADRACE_DEVICE_GPU_HOST_HOST_PLATFORM_H_
#define HEADRACE_DEVICE_GPU_HOST_HOST_PLATFORM_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/gpu/stream_executor.h"
#include "headrace/mutex.h"

namespace headrace::gpu {

struct HostPlatformOptions {
  int device_count = 1;
  int64_t memory_bytes = int64_t{1} << 30;  // of each device
  // What Dnn::PrefersNhwc says of float.
  bool prefers_nhwc = true;
};

// Tests change how a device behaves. Thread-safe.
class HostHooks {
 public:
  // Called on the stream's thread before each piece of work, with what it is:
  // "CopyToDevice", "CopyToHost", "CopyOnDevice", "Fill", "Launch <kernel>",
  // "Gemm ...", "ConvForward ...". May sleep. An error is the work's failure.
  void SetBeforeWork(std::function<Status(const std::string& what)> before);
  // Called before memory is allocated: "Allocate" or "AllocatePinned" and the
  // bytes. An error is the call's.
  void SetBeforeAllocation(
      std::function<Status(const std::string& what, size_t bytes)> before);
  void Clear();

  Status BeforeWork(const std::string& what);
  Status BeforeAllocation(const std::string& what, size_t bytes);

 private:
  Mutex mu_;  // not held while the functions run
  std::shared_ptr<std::function<Status(const std::string&)>> work_
      GUARDED_BY(mu_);
  std::shared_ptr<std::function<Status(const std::string&, size_t)>> allocation_
      GUARDED_BY(mu_);
};

// Device memory, in a mapping of its own. Thread-safe.
class HostMemory {
 public:
  explicit HostMemory(int64_t bytes);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  StatusOr<DeviceMemoryBase> Allocate(size_t bytes);
  // Internal error if `m` is not what Allocate gave.
  Status Deallocate(DeviceMemoryBase m);
  // True if all of it lies in one allocation.
  bool Contains(const void* address, size_t bytes);
  int64_t total() const { return total_; }
  int64_t in_use();

  // While one of these lives the CPU may read and write the memory.
  class Access {
   public:
    explicit Access(HostMemory* memory);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    HostMemory* const memory_;
  };

 private:
  const int64_t total_;
  char* base_ = nullptr;  // null if there is no address space
  Mutex mu_;
  std::map<size_t, size_t> free_ GUARDED_BY(mu_);  // by offset: bytes
  struct Used {
    size_t bytes;   // taken from the free ones
    size_t wanted;  // by the caller
  };
  std::map<size_t, Used> used_ GUARDED_BY(mu_);  // by offset
  int64_t in_use_ GUARDED_BY(mu_) = 0;
  Mutex access_mu_;
  int accesses_ GUARDED_BY(access_mu_) = 0;
};

class HostExecutor;

// A stream of the host platform. Blas and Dnn put their work in by Enqueue.
class HostStream : public Stream {
 public:
  // Queues `work` under the name that hooks and messages see. It runs on the
  // stream's thread, with access to device memory.
  virtual Status Enqueue(std::string what, std::function<Status()> work) = 0;
};

class HostExecutor : public StreamExecutor {
 public:
  virtual HostHooks* hooks() = 0;
  virtual HostMemory* memory() = 0;
  // True if AllocatePinned gave the memory around `address`.
  virtual bool IsPinned(const void* address) = 0;
};

std::unique_ptr<Blas> NewHostBlas();
std::unique_ptr<Dnn> NewHostDnn(bool prefers_nhwc);

// A platform of its own, for tests of the runtime.
std::unique_ptr<Platform> NewHostPlatform(const HostPlatformOptions& options);
// The hooks of a device of a host platform; null for another platform's.
HostHooks* HooksOf(StreamExecutor* executor);

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_HOST_HOST_PLATFORM_H_
