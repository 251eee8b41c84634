// GpuRuntime: what all sessions of this process share of one GPU: its streams,
// its memory, and the thread that hears of finished work. It is made for the
// first session that uses the GPU and goes with the last, and the device's
// memory with it.
//
// A failure of the device's work stays with the runtime: later steps return it
// until all sessions that use the GPU are closed.
#ifndef HEADRACE_DEVICE_GPU_GPU_RUNTIME_H_
#define HEADRACE_DEVICE_GPU_GPU_RUNTIME_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "device/gpu/bfc_allocator.h"
#include "device/gpu/stream_executor.h"
#include "headrace/device_factory.h"
#include "headrace/mutex.h"
#include "headrace/tensor.h"

namespace headrace::gpu {

// Thread-safe.
class GpuRuntime {
 public:
  using DoneCallback = std::function<void(const Status&)>;

  // The runtime of `executor`. The options of the session that makes it count.
  // InvalidArgument for options that are impossible.
  static StatusOr<std::shared_ptr<GpuRuntime>> Get(StreamExecutor* executor,
                                                   const GpuOptions& options);
  ~GpuRuntime();

  StreamExecutor* executor() const { return executor_; }
  Stream* compute_stream() const { return compute_.get(); }
  // They outlive the runtime: tensors may do so.
  BfcAllocator* device_allocator() const { return device_allocator_; }
  BfcAllocator* pinned_allocator() const { return pinned_allocator_; }

  // Copies between tensors of one type and size, of plain data, when the
  // compute stream has passed this point. Both stay alive meanwhile. `done` is
  // called on the runtime's thread, or here if nothing was queued. Neither
  // waits for the device.
  void CopyToDevice(const Tensor& host, const Tensor& device,
                    DoneCallback done);
  void CopyToHost(const Tensor& device, const Tensor& host, DoneCallback done);
  // Waits for the copy, and not for the runtime's thread, which may be this
  // one.
  Status CopyToDeviceAndWait(const Tensor& host, const Tensor& device);
  // Calls `done` on the runtime's thread when `stream` has passed this point.
  void WhenPassed(Stream* stream, DoneCallback done);
  // Waits for the compute stream.
  Status Sync();

 private:
  GpuRuntime(StreamExecutor* executor, BfcAllocator* device_allocator,
             BfcAllocator* pinned_allocator);
  Status Init();
  // `host`, or a copy of it in pinned memory. A copy from other memory waits
  // for the stream. If there is no pinned memory, it is done nevertheless.
  Tensor Pinned(const Tensor& host);
  // Queues the copy of what both ends keep meanwhile.
  Status QueueToDevice(const void* host, DeviceMemoryBase device, size_t bytes)
      REQUIRES(copy_mu_);
  // Waits for copies and for what they keep; false if it cannot.
  bool WaitForCopies();

  StreamExecutor* const executor_;
  BfcAllocator* const device_allocator_;
  BfcAllocator* const pinned_allocator_;
  std::unique_ptr<Stream> compute_, to_device_, to_host_;
  // A copy waits for the compute stream and is followed by its callback; other
  // copies must not come between.
  Mutex copy_mu_;
  // Finished work, and who wants to hear of it. The thread that calls them
  // holds it too: the last callback may end the runtime.
  struct Callbacks {
    struct Finished {
      DoneCallback done;
      Status status;
    };
    Mutex mu;
    CondVar changed;
    std::deque<Finished> finished GUARDED_BY(mu);
    int64_t called GUARDED_BY(mu) = 0, added GUARDED_BY(mu) = 0;
    bool ends GUARDED_BY(mu) = false;

    void Add(DoneCallback done, const Status& s);
    void Run();
  };
  const std::shared_ptr<Callbacks> callbacks_ = std::make_shared<Callbacks>();
  std::thread thread_;
};

// The node whose kernel this thread runs, for messages of what it queues; empty
// if it runs none.
const std::string& CurrentNode();
class CurrentNodeScope {
 public:
  explicit CurrentNodeScope(const std::string& name);
  ~CurrentNodeScope();

 private:
  const std::string* const before_;
};

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_GPU_RUNTIME_H_
