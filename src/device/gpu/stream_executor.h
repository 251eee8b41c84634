// The stream executor: what the GPU runtime and its kernels ask of a GPU. There
// are two implementations of these classes: CUDA's (cuda/), and one on the host
// (host/), on which everything is tested without a GPU.
//
// A Platform has StreamExecutors, one for each GPU. A StreamExecutor has memory
// and Streams. A Stream is an ordered queue of work: copies, launches of
// kernels, calls of Blas and Dnn. Work on different streams runs in any order,
// unless a stream waits for an Event of the other.
//
// Failures. A call that cannot enqueue its work returns the reason. Work that
// fails later makes its stream fail: work behind it does not run, and
// Stream::status() and BlockHostUntilDone() return the first failure. Events
// that are recorded on a failed stream complete with that failure.
//
// Sizes and offsets are bytes unless they say otherwise.
#ifndef HEADRACE_DEVICE_GPU_STREAM_EXECUTOR_H_
#define HEADRACE_DEVICE_GPU_STREAM_EXECUTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device/gpu/device_memory.h"
#include "headrace/status.h"

namespace headrace::gpu {

class Blas;  // blas.h
class Dnn;   // dnn.h
class Platform;
class Stream;
class StreamExecutor;

// ---- Kernels ----------------------------------------------------------------

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  int64_t Count() const { return int64_t{x} * y * z; }
};

// A grid of blocks of threads. A block has at most 1024 threads.
struct LaunchDims {
  Dim3 grid, block;
  uint32_t shared_bytes = 0;  // dynamic shared memory of each block
};

// A kernel with one parameter, a struct that can be copied as bytes. launch.h
// makes these of functors. In static storage.
struct GpuKernel {
  const char* name;  // for messages: "Relu<float>"
  // Runs the whole grid on the calling thread.
  void (*host)(const LaunchDims& dims, const void* params);
  // The __global__ function, as cudaLaunchKernel takes it. Null where the
  // kernel was not compiled by nvcc.
  const void* device;
};

// The largest parameter of a kernel.
inline constexpr size_t kMaxKernelParams = 4096;

// ---- Events and timers ------------------------------------------------------

// A point in a stream. Thread-safe.
class Event {
 public:
  enum State { kPending, kComplete, kFailed };

  virtual ~Event() = default;
  // Does not wait. An event that was never recorded is complete.
  virtual State Poll() = 0;
  // Waits for the point that was recorded last. Returns the failure of the
  // stream's work up to that point.
  virtual Status Wait() = 0;
};

// Measures the time that a stream takes between two points. Used by one thread.
class Timer {
 public:
  virtual ~Timer() = default;
  virtual Status Start(Stream* stream) = 0;
  virtual Status Stop(Stream* stream) = 0;
  // Waits for the second point. The time between them, in nanoseconds.
  virtual StatusOr<int64_t> ElapsedNanoseconds() = 0;
};

// ---- Streams ----------------------------------------------------------------

// Thread-safe: work is queued in the order of the calls. Its destructor waits
// for the work that is queued.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual StreamExecutor* parent() const = 0;

  // The first failure of the work so far, as far as it is known. Does not wait.
  virtual Status status() = 0;
  // Waits for all work queued so far.
  virtual Status BlockHostUntilDone() = 0;

  // Copies. The memory on both sides must stay until the work is done. Copies
  // from and to host memory that is not pinned may wait for the stream.
  virtual Status CopyToDevice(DeviceMemoryBase dst, const void* src,
                              size_t bytes) = 0;
  virtual Status CopyToHost(void* dst, DeviceMemoryBase src, size_t bytes) = 0;
  // Within a device or from another device of the platform.
  virtual Status CopyOnDevice(DeviceMemoryBase dst, DeviceMemoryBase src,
                              size_t bytes) = 0;
  virtual Status Fill(DeviceMemoryBase dst, uint8_t value, size_t bytes) = 0;

  // Starts a kernel with a copy of the `bytes` at `params`. InvalidArgument for
  // dims that are empty or too large; Unimplemented if the kernel has no code
  // for this platform. Kernels of elements launch through launch.h.
  virtual Status Launch(const GpuKernel& kernel, const LaunchDims& dims,
                        const void* params, size_t bytes) = 0;

  // Marks this point of the stream.
  virtual Status Record(Event* event) = 0;
  // Work that is queued later starts after `event`'s point. Waiting for a
  // failed event makes this stream fail.
  virtual Status WaitFor(Event* event) = 0;
  // Work that is queued later starts after all work on `other` so far.
  virtual Status WaitFor(Stream* other) = 0;
  // Calls `callback` on a thread of the platform when all work so far is done,
  // with the failure of the stream so far. It is called also on a failed
  // stream. It must be quick, and may not call the platform or wait for it.
  virtual Status DoHostCallback(
      std::function<void(const Status&)> callback) = 0;

  // The platform's own handle: a cudaStream_t. Null on the host.
  virtual void* platform_handle() const = 0;
};

// ---- Executors and platforms ------------------------------------------------

struct DeviceDescription {
  std::string name;        // "NVIDIA H100 80GB HBM3"
  std::string pci_bus_id;  // "0000:00:04.0"
  std::string platform;    // "CUDA" or "Host"
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 1;
  int max_threads_per_block = 1024;
  int64_t shared_bytes_per_block = 48 << 10;
  int64_t memory_bytes = 0;      // all of the device
  int64_t memory_bandwidth = 0;  // bytes per second; 0 if unknown
  int runtime_version = 0;       // 13000 is CUDA 13.0; 0 on the host
  int dnn_version = 0;           // 91200 is cuDNN 9.12; 0 on the host
};

// One GPU. Thread-safe. Lives as long as its platform.
class StreamExecutor {
 public:
  virtual ~StreamExecutor() = default;
  virtual Platform* platform() const = 0;
  virtual int ordinal() const = 0;
  virtual const DeviceDescription& description() const = 0;

  // Device memory, aligned to 256 bytes. ResourceExhausted names the bytes
  // asked for and the bytes free. Size 0 gives a null DeviceMemoryBase.
  // Deallocate takes what Allocate gave; the device waits until no work uses
  // it. Kernels take memory from the device's allocator (gpu_allocator.h)
  // instead.
  virtual StatusOr<DeviceMemoryBase> Allocate(size_t bytes) = 0;
  virtual void Deallocate(DeviceMemoryBase memory) = 0;
  // Memory of the host that copies reach at full speed without waiting.
  virtual StatusOr<void*> AllocatePinned(size_t bytes) = 0;
  virtual void DeallocatePinned(void* memory, size_t bytes) = 0;
  // Bytes that Allocate can still give, and bytes of the device.
  virtual Status MemoryUsage(int64_t* free, int64_t* total) = 0;

  virtual StatusOr<std::unique_ptr<Stream>> CreateStream() = 0;
  virtual StatusOr<std::unique_ptr<Event>> CreateEvent() = 0;
  virtual StatusOr<std::unique_ptr<Timer>> CreateTimer() = 0;
  // Waits for the work of all streams.
  virtual Status Synchronize() = 0;

  // Made when they are first asked for; the same object from then on. An
  // executor without the library returns the reason.
  virtual StatusOr<Blas*> blas() = 0;
  virtual StatusOr<Dnn*> dnn() = 0;
};

// Thread-safe. Lives as long as the process.
class Platform {
 public:
  virtual ~Platform() = default;
  virtual const char* name() const = 0;  // "CUDA", "Host"
  // 0 where the machine has no GPU or no driver.
  virtual int DeviceCount() = 0;
  // The executor of GPU `ordinal`, made when it is first asked for.
  virtual StatusOr<StreamExecutor*> Executor(int ordinal) = 0;
};

// The platform of this process: the host's if HEADRACE_GPU_PLATFORM is "host",
// else CUDA's if this library has it and the machine has a driver, else null.
// Thread-safe.
Platform* CurrentPlatform();

// How CUDA's part of the library joins. `create` returns null without a driver.
class PlatformRegistrar {
 public:
  PlatformRegistrar(const char* name, Platform* (*create)());
};

// ---- Scratch memory ---------------------------------------------------------

// Where Blas and Dnn take memory for one call. What it gave is released by its
// owner after the stream has passed. Used by one thread.
class ScratchAllocator {
 public:
  virtual ~ScratchAllocator() = default;
  // The most that one call should ask for.
  virtual int64_t MemoryLimit() const = 0;
  // ResourceExhausted beyond the limit or the device's memory.
  virtual StatusOr<DeviceMemoryBase> Allocate(int64_t bytes) = 0;
};

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_STREAM_EXECUTOR_H_
