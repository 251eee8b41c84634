#include "device/gpu/gpu_runtime.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace headrace::gpu {
namespace {

// What lives as long as the process: sessions come and go, tensors may stay.
struct OfGpu {
  std::unique_ptr<BfcAllocator> device_allocator, pinned_allocator;
  std::weak_ptr<GpuRuntime> runtime;
  bool has_runtime = false;  // until its destructor is through
};

struct Process {
  Mutex mu;
  CondVar ended;
  std::map<StreamExecutor*, OfGpu> gpus GUARDED_BY(mu);

  static Process* Get() {
    static Process* const process = new Process;
    return process;
  }
};

thread_local const std::string* current_node = nullptr;

StatusOr<BfcAllocator::Limits> LimitsOf(StreamExecutor* executor,
                                        const GpuOptions& options) {
  if (options.allocator_type == "cuda_malloc_async") {
    HR_LOG(WARNING) << "GPUOptions: cuda_malloc_async is not supported; the "
                       "allocator is BFC, with the same limits";
  } else if (!options.allocator_type.empty() &&
             options.allocator_type != "BFC") {
    return errors::InvalidArgument("GPUOptions: allocator_type is '",
                                   options.allocator_type,
                                   "', wanted BFC or cuda_malloc_async");
  }
  const double fraction = options.memory_fraction;
  if (!(fraction >= 0 && fraction <= 1)) {
    return errors::InvalidArgument(
        "GPUOptions: per_process_gpu_memory_fraction is ", fraction,
        ", wanted 0 to 1");
  }
  int64_t free = 0, total = 0;
  HR_RETURN_IF_ERROR(executor->MemoryUsage(&free, &total));
  BfcAllocator::Limits limits;
  limits.allow_growth = options.allow_growth;
  if (fraction > 0) {
    limits.bytes = static_cast<int64_t>(static_cast<double>(total) * fraction);
  } else {
    // Libraries and the driver take memory beside the allocator.
    const int64_t kept = free < (int64_t{2} << 30)
                             ? std::min<int64_t>(int64_t{225} << 20, free / 4)
                             : std::max<int64_t>(int64_t{300} << 20, free / 20);
    limits.bytes = free - kept;
  }
  return limits;
}

// A copy in pinned memory; false if there is none for it.
bool PinnedCopy(Allocator* pinned, const void* data, DataType dtype,
                const TensorShape& shape, Tensor* out) {
  if (!Tensor::Allocate(pinned, dtype, shape, out, Tensor::kHeap).ok()) {
    return false;
  }
  std::memcpy(out->raw_data(), data, out->TotalBytes());
  return true;
}

}  // namespace

const std::string& CurrentNode() {
  static const std::string* const none = new std::string;
  return current_node == nullptr ? *none : *current_node;
}
CurrentNodeScope::CurrentNodeScope(const std::string& name)
    : before_(std::exchange(current_node, &name)) {}
CurrentNodeScope::~CurrentNodeScope() { current_node = before_; }

StatusOr<std::shared_ptr<GpuRuntime>> GpuRuntime::Get(
    StreamExecutor* executor, const GpuOptions& options) {
  Process* const process = Process::Get();
  MutexLock lock(&process->mu);
  OfGpu& gpu = process->gpus[executor];
  for (;;) {
    if (std::shared_ptr<GpuRuntime> made = gpu.runtime.lock()) return made;
    if (!gpu.has_runtime) break;
    process->ended.Wait(&process->mu);
  }
  HR_ASSIGN_OR_RETURN(const BfcAllocator::Limits limits,
                      LimitsOf(executor, options));
  if (gpu.device_allocator == nullptr) {
    gpu.device_allocator = std::make_unique<BfcAllocator>(
        absl::StrCat("GPU_", executor->ordinal(), "_bfc"),
        BfcAllocator::Source{[executor](size_t bytes) -> StatusOr<void*> {
                               HR_ASSIGN_OR_RETURN(const DeviceMemoryBase m,
                                                   executor->Allocate(bytes));
                               return m.opaque;
                             },
                             [executor](void* region, size_t bytes) {
                               executor->Deallocate({region, bytes});
                             }},
        limits);
    gpu.pinned_allocator = std::make_unique<BfcAllocator>(
        absl::StrCat("GPU_", executor->ordinal(), "_pinned"),
        BfcAllocator::Source{[executor](size_t bytes) {
                               return executor->AllocatePinned(bytes);
                             },
                             [executor](void* region, size_t bytes) {
                               executor->DeallocatePinned(region, bytes);
                             }},
        BfcAllocator::Limits{int64_t{1} << 36, /*allow_growth=*/true},
        /*refusal_is_final=*/false);
  } else {
    gpu.device_allocator->SetLimits(limits);
  }
  std::shared_ptr<GpuRuntime> made(new GpuRuntime(
      executor, gpu.device_allocator.get(), gpu.pinned_allocator.get()));
  HR_RETURN_IF_ERROR(made->Init());
  gpu.runtime = made;
  gpu.has_runtime = true;
  return made;
}

GpuRuntime::GpuRuntime(StreamExecutor* executor, BfcAllocator* device_allocator,
                       BfcAllocator* pinned_allocator)
    : executor_(executor),
      device_allocator_(device_allocator),
      pinned_allocator_(pinned_allocator) {}

Status GpuRuntime::Init() {
  HR_ASSIGN_OR_RETURN(compute_, executor_->CreateStream());
  HR_ASSIGN_OR_RETURN(to_device_, executor_->CreateStream());
  HR_ASSIGN_OR_RETURN(to_host_, executor_->CreateStream());
  thread_ = std::thread([callbacks = callbacks_] { callbacks->Run(); });
  device_allocator_->SetIdle(false);
  pinned_allocator_->SetIdle(false);
  device_allocator_->SetRetry([this] { return WaitForCopies(); });
  return OkStatus();
}

GpuRuntime::~GpuRuntime() {
  if (!thread_.joinable()) return;
  device_allocator_->SetRetry(nullptr);
  // Their callbacks are called before they go.
  to_device_.reset();
  to_host_.reset();
  compute_.reset();
  {
    MutexLock lock(&callbacks_->mu);
    callbacks_->ends = true;
    callbacks_->changed.SignalAll();
  }
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // the last callback held the last session
  } else {
    thread_.join();
  }
  device_allocator_->SetIdle(true);
  pinned_allocator_->SetIdle(true);
  Process* const process = Process::Get();
  MutexLock lock(&process->mu);
  process->gpus[executor_].has_runtime = false;
  process->ended.SignalAll();
}

Tensor GpuRuntime::Pinned(const Tensor& host) {
  if (pinned_allocator_->Owns(host.raw_data())) return host;
  Tensor pinned;
  return PinnedCopy(pinned_allocator_, host.raw_data(), host.dtype(),
                    host.shape(), &pinned)
             ? pinned
             : host;
}

Status GpuRuntime::QueueToDevice(const void* host, DeviceMemoryBase device,
                                 size_t bytes) {
  // Work that is queued may still use the buffer for what was there before.
  HR_RETURN_IF_ERROR(to_device_->WaitFor(compute_.get()));
  return to_device_->CopyToDevice(device, host, bytes);
}

void GpuRuntime::CopyToDevice(const Tensor& host, const Tensor& device,
                              DoneCallback done) {
  const size_t bytes = host.TotalBytes();
  if (bytes == 0) return done(OkStatus());
  // The bytes stay where they are until the copy is done: those of a small
  // tensor may be inside of it.
  auto kept = std::make_shared<std::pair<Tensor, Tensor>>(Pinned(host), device);
  Status s;
  {
    MutexLock lock(&copy_mu_);
    s = QueueToDevice(kept->first.raw_data(), DeviceMemoryBase(device), bytes);
    if (s.ok()) {
      return WhenPassed(to_device_.get(),
                        [kept, done = std::move(done)](const Status& status) {
                          done(status);
                        });
    }
  }
  done(s);
}

Status GpuRuntime::CopyToDeviceAndWait(const Tensor& host,
                                       const Tensor& device) {
  // Large constants go piece by piece: pinned memory is expensive.
  constexpr size_t kPiece = size_t{16} << 20;
  const size_t bytes = host.TotalBytes();
  const DeviceMemoryBase to(device);
  for (size_t at = 0; at < bytes; at += kPiece) {
    const size_t n = std::min(kPiece, bytes - at);
    const char* from = static_cast<const char*>(host.raw_data()) + at;
    Tensor pinned;
    if (PinnedCopy(pinned_allocator_, from, DT_UINT8,
                   TensorShape({static_cast<int64_t>(n)}), &pinned)) {
      from = static_cast<const char*>(pinned.raw_data());
    }
    {
      MutexLock lock(&copy_mu_);
      HR_RETURN_IF_ERROR(QueueToDevice(
          from, {static_cast<char*>(to.opaque) + at, to.size - at}, n));
    }
    HR_RETURN_IF_ERROR(to_device_->BlockHostUntilDone());
  }
  return OkStatus();
}

void GpuRuntime::CopyToHost(const Tensor& device, const Tensor& host,
                            DoneCallback done) {
  const size_t bytes = device.TotalBytes();
  if (bytes == 0) return done(OkStatus());
  Status s;
  {
    MutexLock lock(&copy_mu_);
    s = to_host_->WaitFor(compute_.get());
    if (s.ok()) {
      s = to_host_->CopyToHost(const_cast<void*>(host.raw_data()),
                               DeviceMemoryBase(device), bytes);
    }
    if (s.ok()) {
      return WhenPassed(to_host_.get(),
                        [device, host, done = std::move(done)](
                            const Status& status) { done(status); });
    }
  }
  done(s);
}

void GpuRuntime::WhenPassed(Stream* stream, DoneCallback done) {
  auto shared = std::make_shared<DoneCallback>(std::move(done));
  const Status s = stream->DoHostCallback(
      [callbacks = callbacks_, shared](const Status& status) {
        callbacks->Add(std::move(*shared), status);
      });
  if (!s.ok()) callbacks_->Add(std::move(*shared), s);
}

void GpuRuntime::Callbacks::Add(DoneCallback done, const Status& s) {
  MutexLock lock(&mu);
  finished.push_back({std::move(done), s});
  ++added;
  changed.SignalAll();
}

void GpuRuntime::Callbacks::Run() {
  for (;;) {
    Finished next;
    {
      MutexLock lock(&mu);
      while (finished.empty() && !ends) changed.Wait(&mu);
      if (finished.empty()) return;
      next = std::move(finished.front());
      finished.pop_front();
    }
    next.done(next.status);
    next = Finished();
    MutexLock lock(&mu);
    ++called;
    changed.SignalAll();
  }
}

Status GpuRuntime::Sync() { return compute_->BlockHostUntilDone(); }

bool GpuRuntime::WaitForCopies() {
  // A callback that allocates waits for itself.
  if (std::this_thread::get_id() == thread_.get_id()) return false;
  to_host_->BlockHostUntilDone().IgnoreError();
  to_device_->BlockHostUntilDone().IgnoreError();
  Callbacks& c = *callbacks_;
  MutexLock lock(&c.mu);
  const int64_t wanted = c.added;
  const absl::Time until = Now() + absl::Seconds(1);
  while (c.called < wanted) {
    if (c.changed.WaitWithDeadline(&c.mu, until)) return false;
  }
  return true;
}

}  // namespace headrace::gpu
