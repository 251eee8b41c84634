// The CUDA platform: the stream executor's interfaces over CUDA's runtime.
#include "device/gpu/cuda/cuda_platform.h"

#include <atomic>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "device/gpu/gpu_runtime.h"
#include "headrace/mutex.h"

namespace headrace::gpu {

Status CudaStatus(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return OkStatus();
  const std::string& node = CurrentNode();
  const std::string text =
      StrCat(call, " failed: ", cudaGetErrorName(error), ": ",
             cudaGetErrorString(error), node.empty() ? "" : " (node ", node,
             node.empty() ? "" : ")");
  return error == cudaErrorMemoryAllocation ? errors::ResourceExhausted(text)
                                            : errors::Internal(text);
}

namespace {

class CudaEvent : public Event {
 public:
  explicit CudaEvent(int ordinal) : ordinal_(ordinal) {}
  ~CudaEvent() override {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Status Init(unsigned flags) {
    const ScopedDevice device(ordinal_);
    HR_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags, &event_, flags);
    return OkStatus();
  }
  State Poll() override {
    const cudaError_t error = cudaEventQuery(event_);
    return error == cudaSuccess         ? kComplete
           : error == cudaErrorNotReady ? kPending
                                        : kFailed;
  }
  Status Wait() override {
    HR_CUDA_RETURN_IF_ERROR(cudaEventSynchronize, event_);
    return OkStatus();
  }
  cudaEvent_t event() const { return event_; }

 private:
  const int ordinal_;
  cudaEvent_t event_ = nullptr;
};

class CudaTimer : public Timer {
 public:
  explicit CudaTimer(int ordinal) : start_(ordinal), stop_(ordinal) {}
  Status Init() {
    HR_RETURN_IF_ERROR(start_.Init(cudaEventDefault));
    return stop_.Init(cudaEventDefault);
  }
  Status Start(Stream* stream) override { return stream->Record(&start_); }
  Status Stop(Stream* stream) override { return stream->Record(&stop_); }
  StatusOr<int64_t> ElapsedNanoseconds() override {
    HR_RETURN_IF_ERROR(stop_.Wait());
    float ms = 0;
    HR_CUDA_RETURN_IF_ERROR(cudaEventElapsedTime, &ms, start_.event(),
                            stop_.event());
    return static_cast<int64_t>(static_cast<double>(ms) * 1e6);
  }

 private:
  CudaEvent start_, stop_;
};

class CudaStream : public Stream {
 public:
  CudaStream(StreamExecutor* parent) : parent_(parent) {}
  Status Init() {
    const ScopedDevice device(ordinal());
    HR_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags, &stream_,
                            cudaStreamNonBlocking);
    return OkStatus();
  }
  ~CudaStream() override {
    if (stream_ == nullptr) return;
    const ScopedDevice device(ordinal());
    cudaStreamSynchronize(stream_);
    {
      MutexLock lock(&mu_);
      ends_ = true;
      changed_.SignalAll();
    }
    if (watcher_.joinable()) watcher_.join();
    cudaStreamDestroy(stream_);
  }

  StreamExecutor* parent() const override { return parent_; }
  void* platform_handle() const override { return stream_; }

  Status status() override {
    if (!failed_.load(std::memory_order_acquire)) [[likely]]
      return OkStatus();
    MutexLock lock(&mu_);
    return failure_;
  }
  Status BlockHostUntilDone() override {
    HR_RETURN_IF_ERROR(status());
    const ScopedDevice device(ordinal());
    return Note(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  Status CopyToDevice(DeviceMemoryBase dst, const void* src,
                      size_t bytes) override {
    HR_RETURN_IF_ERROR(CheckSize("CopyToDevice", dst, bytes));
    return Copy(dst.opaque, src, bytes, cudaMemcpyHostToDevice);
  }
  Status CopyToHost(void* dst, DeviceMemoryBase src, size_t bytes) override {
    HR_RETURN_IF_ERROR(CheckSize("CopyToHost", src, bytes));
    return Copy(dst, src.opaque, bytes, cudaMemcpyDeviceToHost);
  }
  Status CopyOnDevice(DeviceMemoryBase dst, DeviceMemoryBase src,
                      size_t bytes) override {
    HR_RETURN_IF_ERROR(CheckSize("CopyOnDevice", dst, bytes));
    HR_RETURN_IF_ERROR(CheckSize("CopyOnDevice", src, bytes));
    return Copy(dst.opaque, src.opaque, bytes, cudaMemcpyDefault);
  }
  Status Fill(DeviceMemoryBase dst, uint8_t value, size_t bytes) override {
    HR_RETURN_IF_ERROR(CheckSize("Fill", dst, bytes));
    if (bytes == 0) return OkStatus();
    HR_RETURN_IF_ERROR(status());
    const ScopedDevice device(ordinal());
    return Note(cudaMemsetAsync(dst.opaque, value, bytes, stream_),
                "cudaMemsetAsync");
  }

  Status Launch(const GpuKernel& kernel, const LaunchDims& dims,
                const void* params, size_t bytes) override {
    if (kernel.device == nullptr) {
      return errors::Unimplemented("kernel ", kernel.name,
                                   " was not compiled by nvcc");
    }
    if (dims.grid.Count() < 1 || dims.block.Count() < 1 ||
        dims.block.Count() > 1024 || bytes > kMaxKernelParams) {
      return errors::InvalidArgument("kernel ", kernel.name, ": cannot launch ",
                                     dims.grid.Count(), " blocks of ",
                                     dims.block.Count(), " threads with ",
                                     bytes, " bytes of parameters");
    }
    HR_RETURN_IF_ERROR(status());
    const ScopedDevice device(ordinal());
    // More has to be allowed for each kernel.
    constexpr uint32_t kSharedBytes = 48 << 10;
    if (dims.shared_bytes > kSharedBytes) {
      const cudaError_t error = cudaFuncSetAttribute(
          kernel.device, cudaFuncAttributeMaxDynamicSharedMemorySize,
          static_cast<int>(dims.shared_bytes));
      if (error != cudaSuccess) {
        cudaGetLastError();
        return CudaStatus(
            error, StrCat("cudaFuncSetAttribute of ", kernel.name).c_str());
      }
    }
    void* args[] = {const_cast<void*>(params)};
    const cudaError_t error = cudaLaunchKernel(
        kernel.device, dim3(dims.grid.x, dims.grid.y, dims.grid.z),
        dim3(dims.block.x, dims.block.y, dims.block.z), args, dims.shared_bytes,
        stream_);
    if (error == cudaSuccess) [[likely]]
      return OkStatus();
    const std::string call = StrCat("cudaLaunchKernel of ", kernel.name);
    // The device can go on after a launch that it refuses.
    if (error == cudaErrorInvalidConfiguration ||
        error == cudaErrorInvalidValue ||
        error == cudaErrorLaunchOutOfResources) {
      cudaGetLastError();
      return CudaStatus(error, call.c_str());
    }
    return Note(error, call.c_str());
  }

  Status Record(Event* event) override {
    const ScopedDevice device(ordinal());
    return Note(
        cudaEventRecord(static_cast<CudaEvent*>(event)->event(), stream_),
        "cudaEventRecord");
  }
  Status WaitFor(Event* event) override {
    const ScopedDevice device(ordinal());
    return Note(cudaStreamWaitEvent(stream_,
                                    static_cast<CudaEvent*>(event)->event(), 0),
                "cudaStreamWaitEvent");
  }
  Status WaitFor(Stream* other) override {
    if (other == this) return OkStatus();
    HR_RETURN_IF_ERROR(other->status());
    // Its resources stay until the wait is over.
    CudaEvent event(other->parent()->ordinal());
    HR_RETURN_IF_ERROR(event.Init(cudaEventDisableTiming));
    HR_RETURN_IF_ERROR(other->Record(&event));
    return WaitFor(&event);
  }

  // A thread of the stream waits for an event: a callback of CUDA's own is not
  // called after a failure, and could not be told of it.
  Status DoHostCallback(std::function<void(const Status&)> callback) override {
    auto event = std::make_unique<CudaEvent>(ordinal());
    HR_RETURN_IF_ERROR(
        event->Init(cudaEventDisableTiming | cudaEventBlockingSync));
    Record(event.get()).IgnoreError();  // status() tells the watcher
    MutexLock lock(&mu_);
    if (!watcher_.joinable()) watcher_ = std::thread([this] { Watch(); });
    waiting_.push_back({std::move(event), std::move(callback)});
    changed_.SignalAll();
    return OkStatus();
  }

 private:
  struct Waiting {
    std::unique_ptr<CudaEvent> event;
    std::function<void(const Status&)> callback;
  };

  int ordinal() const { return parent_->ordinal(); }

  static Status CheckSize(const char* what, const DeviceMemoryBase& m,
                          size_t bytes) {
    if (bytes <= m.size) return OkStatus();
    return errors::InvalidArgument(what, ": ", bytes, " bytes of ", m.size);
  }

  Status Copy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return OkStatus();
    HR_RETURN_IF_ERROR(status());
    const ScopedDevice device(ordinal());
    return Note(cudaMemcpyAsync(dst, src, bytes, kind, stream_),
                "cudaMemcpyAsync");
  }

  // The first failure stays: CUDA's context is of no use after one.
  Status Note(cudaError_t error, const char* call) {
    if (error == cudaSuccess) [[likely]]
      return OkStatus();
    const Status s = CudaStatus(error, call);
    MutexLock lock(&mu_);
    if (failure_.ok()) {
      failure_ = s;
      failed_.store(true, std::memory_order_release);
    }
    return failure_;
  }

  void Watch() {
    for (;;) {
      Waiting next;
      {
        MutexLock lock(&mu_);
        while (waiting_.empty() && !ends_) changed_.Wait(&mu_);
        if (waiting_.empty()) return;
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      Note(cudaEventSynchronize(next.event->event()), "cudaEventSynchronize")
          .IgnoreError();
      next.callback(status());
    }
  }

  StreamExecutor* const parent_;
  cudaStream_t stream_ = nullptr;
  std::atomic<bool> failed_{false};
  Mutex mu_;
  CondVar changed_;
  Status failure_ GUARDED_BY(mu_);
  std::deque<Waiting> waiting_ GUARDED_BY(mu_);
  bool ends_ GUARDED_BY(mu_) = false;
  std::thread watcher_;
};

class CudaExecutor : public StreamExecutor {
 public:
  CudaExecutor(Platform* platform, int ordinal)
      : platform_(platform), ordinal_(ordinal) {}

  Status Init() {
    const ScopedDevice device(ordinal_);
    cudaDeviceProp prop;
    HR_CUDA_RETURN_IF_ERROR(cudaGetDeviceProperties, &prop, ordinal_);
    DeviceDescription& d = description_;
    d.name = prop.name;
    char bus[32] = "";
    if (cudaDeviceGetPCIBusId(bus, sizeof(bus), ordinal_) == cudaSuccess) {
      d.pci_bus_id = bus;
    }
    d.platform = "CUDA";
    d.compute_major = prop.major;
    d.compute_minor = prop.minor;
    d.multiprocessors = prop.multiProcessorCount;
    d.max_threads_per_block = prop.maxThreadsPerBlock;
    d.shared_bytes_per_block = static_cast<int64_t>(prop.sharedMemPerBlock);
    d.memory_bytes = static_cast<int64_t>(prop.totalGlobalMem);
    int khz = 0;
    if (cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, ordinal_) ==
        cudaSuccess) {
      // Two transfers a clock.
      d.memory_bandwidth = int64_t{khz} * 1000 * 2 * (prop.memoryBusWidth / 8);
    }
    HR_CUDA_RETURN_IF_ERROR(cudaRuntimeGetVersion, &d.runtime_version);
    return OkStatus();
  }

  Platform* platform() const override { return platform_; }
  int ordinal() const override { return ordinal_; }
  const DeviceDescription& description() const override { return description_; }

  StatusOr<DeviceMemoryBase> Allocate(size_t bytes) override {
    if (bytes == 0) return DeviceMemoryBase();
    const ScopedDevice device(ordinal_);
    void* p = nullptr;
    const cudaError_t error = cudaMalloc(&p, bytes);
    if (error == cudaSuccess) return DeviceMemoryBase(p, bytes);
    cudaGetLastError();  // the next call must not see it
    int64_t free = 0, total = 0;
    MemoryUsage(&free, &total).IgnoreError();
    return Annotate(
        CudaStatus(error, "cudaMalloc"),
        StrCat("; ", bytes, " bytes wanted, ", free, " free of ", total));
  }
  void Deallocate(DeviceMemoryBase memory) override {
    const ScopedDevice device(ordinal_);
    cudaFree(memory.opaque);  // waits for the device
  }
  StatusOr<void*> AllocatePinned(size_t bytes) override {
    const ScopedDevice device(ordinal_);
    void* p = nullptr;
    const cudaError_t error = cudaHostAlloc(&p, bytes, cudaHostAllocPortable);
    if (error == cudaSuccess) return p;
    cudaGetLastError();
    return Annotate(CudaStatus(error, "cudaHostAlloc"),
                    StrCat("; ", bytes, " bytes wanted"));
  }
  void DeallocatePinned(void* memory, size_t) override {
    const ScopedDevice device(ordinal_);
    cudaFreeHost(memory);
  }
  Status MemoryUsage(int64_t* free, int64_t* total) override {
    const ScopedDevice device(ordinal_);
    size_t f = 0, t = 0;
    HR_CUDA_RETURN_IF_ERROR(cudaMemGetInfo, &f, &t);
    *free = static_cast<int64_t>(f);
    *total = static_cast<int64_t>(t);
    return OkStatus();
  }

  StatusOr<std::unique_ptr<Stream>> CreateStream() override {
    auto made = std::make_unique<CudaStream>(this);
    HR_RETURN_IF_ERROR(made->Init());
    return std::unique_ptr<Stream>(std::move(made));
  }
  StatusOr<std::unique_ptr<Event>> CreateEvent() override {
    auto made = std::make_unique<CudaEvent>(ordinal_);
    HR_RETURN_IF_ERROR(made->Init(cudaEventDisableTiming));
    return std::unique_ptr<Event>(std::move(made));
  }
  StatusOr<std::unique_ptr<Timer>> CreateTimer() override {
    auto made = std::make_unique<CudaTimer>(ordinal_);
    HR_RETURN_IF_ERROR(made->Init());
    return std::unique_ptr<Timer>(std::move(made));
  }
  Status Synchronize() override {
    const ScopedDevice device(ordinal_);
    HR_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize);
    return OkStatus();
  }

  StatusOr<Blas*> blas() override {
    MutexLock lock(&mu_);
    if (blas_ == nullptr) {
      HR_ASSIGN_OR_RETURN(blas_, NewCudaBlas(this));
    }
    return blas_.get();
  }
  StatusOr<Dnn*> dnn() override {
    MutexLock lock(&mu_);
    if (dnn_ == nullptr) {
      HR_ASSIGN_OR_RETURN(dnn_, NewCudaDnn(this));
    }
    return dnn_.get();
  }

 private:
  Platform* const platform_;
  const int ordinal_;
  DeviceDescription description_;
  Mutex mu_;
  std::unique_ptr<Blas> blas_ GUARDED_BY(mu_);
  std::unique_ptr<Dnn> dnn_ GUARDED_BY(mu_);
};

class CudaPlatform : public Platform {
 public:
  explicit CudaPlatform(int count) : executors_(count) {}
  const char* name() const override { return "CUDA"; }
  int DeviceCount() override { return static_cast<int>(executors_.size()); }
  StatusOr<StreamExecutor*> Executor(int ordinal) override {
    if (ordinal < 0 || ordinal >= DeviceCount()) {
      return errors::InvalidArgument(
          "GPU ", ordinal, " does not exist, there are ", executors_.size());
    }
    MutexLock lock(&mu_);
    if (executors_[ordinal] == nullptr) {
      auto made = std::make_unique<CudaExecutor>(this, ordinal);
      HR_RETURN_IF_ERROR(made->Init());
      executors_[ordinal] = std::move(made);
    }
    return executors_[ordinal].get();
  }

 private:
  Mutex mu_;
  std::vector<std::unique_ptr<CudaExecutor>> executors_;
};

// No driver, or none that this CUDA works with, is no error: the machine has no
// GPU for us.
Platform* CreateCudaPlatform() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count <= 0) {
    cudaGetLastError();
    return nullptr;
  }
  return new CudaPlatform(count);
}

const PlatformRegistrar registrar("CUDA", &CreateCudaPlatform);

}  // namespace
}  // namespace headrace::gpu
