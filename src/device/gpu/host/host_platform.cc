#include "device/gpu/host/host_platform.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/exceptions.h"
#include "device/gpu/bfc_allocator.h"
#include "device/gpu/blas.h"
#include "device/gpu/dnn.h"
#include "device/gpu/gpu_runtime.h"

namespace headrace::gpu {

void HostHooks::SetBeforeWork(
    std::function<Status(const std::string& what)> before) {
  auto made = std::make_shared<std::function<Status(const std::string&)>>(
      std::move(before));
  MutexLock lock(&mu_);
  work_ = std::move(made);
}

void HostHooks::SetBeforeAllocation(
    std::function<Status(const std::string& what, size_t bytes)> before) {
  auto made =
      std::make_shared<std::function<Status(const std::string&, size_t)>>(
          std::move(before));
  MutexLock lock(&mu_);
  allocation_ = std::move(made);
}

void HostHooks::Clear() {
  MutexLock lock(&mu_);
  work_ = nullptr;
  allocation_ = nullptr;
}

Status HostHooks::BeforeWork(const std::string& what) {
  std::shared_ptr<std::function<Status(const std::string&)>> before;
  {
    MutexLock lock(&mu_);
    before = work_;
  }
  return before == nullptr ? OkStatus() : (*before)(what);
}

Status HostHooks::BeforeAllocation(const std::string& what, size_t bytes) {
  std::shared_ptr<std::function<Status(const std::string&, size_t)>> before;
  {
    MutexLock lock(&mu_);
    before = allocation_;
  }
  return before == nullptr ? OkStatus() : (*before)(what, bytes);
}

namespace {

// The points of a stream at which an event was recorded, by count.
struct EventState {
  Mutex mu;
  CondVar passed;
  int64_t recorded GUARDED_BY(mu) = 0;
  int64_t done GUARDED_BY(mu) = 0;
  Status failure GUARDED_BY(mu);  // of the point that was passed last

  // Waits until point `count` is passed.
  Status WaitFor(int64_t count) {
    MutexLock lock(&mu);
    while (done < count) passed.Wait(&mu);
    return failure;
  }
};

class HostEvent : public Event {
 public:
  State Poll() override {
    MutexLock lock(&state_->mu);
    if (state_->done < state_->recorded) return kPending;
    return state_->failure.ok() ? kComplete : kFailed;
  }
  Status Wait() override {
    int64_t count;
    {
      MutexLock lock(&state_->mu);
      count = state_->recorded;
    }
    return state_->WaitFor(count);
  }
  const std::shared_ptr<EventState>& state() const { return state_; }

 private:
  const std::shared_ptr<EventState> state_ = std::make_shared<EventState>();
};

class HostTimer : public Timer {
 public:
  using Clock = std::chrono::steady_clock;
  Status Start(Stream* stream) override { return Note(stream, &start_); }
  Status Stop(Stream* stream) override { return Note(stream, &stop_); }
  StatusOr<int64_t> ElapsedNanoseconds() override {
    HR_RETURN_IF_ERROR(start_.event.Wait());
    HR_RETURN_IF_ERROR(stop_.event.Wait());
    return std::chrono::duration_cast<std::chrono::nanoseconds>(*stop_.at -
                                                                *start_.at)
        .count();
  }

 private:
  struct Point {
    HostEvent event;
    std::shared_ptr<Clock::time_point> at =
        std::make_shared<Clock::time_point>();
  };
  static Status Note(Stream* stream, Point* point) {
    HR_RETURN_IF_ERROR(
        static_cast<HostStream*>(stream)->Enqueue("Timer", [at = point->at] {
          *at = Clock::now();
          return OkStatus();
        }));
    return stream->Record(&point->event);
  }
  Point start_, stop_;
};

class HostStreamImpl : public HostStream {
 public:
  explicit HostStreamImpl(HostExecutor* parent)
      : parent_(parent), thread_([this] { Run(); }) {}
  ~HostStreamImpl() override {
    {
      MutexLock lock(&mu_);
      ends_ = true;
      changed_.SignalAll();
    }
    thread_.join();
  }

  StreamExecutor* parent() const override { return parent_; }
  Status status() override {
    MutexLock lock(&mu_);
    return failure_;
  }
  Status BlockHostUntilDone() override {
    MutexLock lock(&mu_);
    const int64_t wanted = queued_;
    while (done_ < wanted) changed_.Wait(&mu_);
    return failure_;
  }

  Status Enqueue(std::string what, std::function<Status()> work) override {
    return Add({std::move(what), std::move(work), nullptr, CurrentNode()});
  }

  Status CopyToDevice(DeviceMemoryBase dst, const void* src,
                      size_t bytes) override {
    HR_RETURN_IF_ERROR(CheckSide("CopyToDevice", "destination", dst, bytes));
    if (bytes == 0) return OkStatus();
    return Copy("CopyToDevice", src, [dst, src, bytes] {
      std::memcpy(dst.opaque, src, bytes);
      return OkStatus();
    });
  }
  Status CopyToHost(void* dst, DeviceMemoryBase src, size_t bytes) override {
    HR_RETURN_IF_ERROR(CheckSide("CopyToHost", "source", src, bytes));
    if (bytes == 0) return OkStatus();
    return Copy("CopyToHost", dst, [dst, src, bytes] {
      std::memcpy(dst, src.opaque, bytes);
      return OkStatus();
    });
  }
  Status CopyOnDevice(DeviceMemoryBase dst, DeviceMemoryBase src,
                      size_t bytes) override {
    HR_RETURN_IF_ERROR(CheckSide("CopyOnDevice", "destination", dst, bytes));
    if (src.size < bytes) {
      return errors::InvalidArgument("CopyOnDevice: ", bytes, " bytes of ",
                                     src.size);
    }
    if (bytes == 0) return OkStatus();
    return Enqueue("CopyOnDevice", [dst, src, bytes] {
      std::memmove(dst.opaque, src.opaque, bytes);
      return OkStatus();
    });
  }
  Status Fill(DeviceMemoryBase dst, uint8_t value, size_t bytes) override {
    HR_RETURN_IF_ERROR(CheckSide("Fill", "destination", dst, bytes));
    if (bytes == 0) return OkStatus();
    return Enqueue("Fill", [dst, value, bytes] {
      std::memset(dst.opaque, value, bytes);
      return OkStatus();
    });
  }

  Status Launch(const GpuKernel& kernel, const LaunchDims& dims,
                const void* params, size_t bytes) override {
    const int64_t threads = dims.block.Count();
    if (dims.grid.Count() < 1 || threads < 1 || threads > 1024 ||
        bytes > kMaxKernelParams) {
      return errors::InvalidArgument(
          "kernel ", kernel.name, ": cannot launch ", dims.grid.Count(),
          " blocks of ", threads, " threads with ", bytes,
          " bytes of parameters; wanted 1 or more blocks of 1 to 1024 threads,"
          " and at most ",
          kMaxKernelParams, " bytes");
    }
    if (kernel.host == nullptr) {
      return errors::Unimplemented("kernel ", kernel.name,
                                   " has no code for the host platform");
    }
    // Aligned as the functor may want it.
    struct alignas(16) Line {
      char bytes[16];
    };
    std::vector<Line> copy((bytes + sizeof(Line) - 1) / sizeof(Line));
    if (bytes > 0) std::memcpy(copy.data(), params, bytes);
    return Enqueue(StrCat("Launch ", kernel.name),
                   [host = kernel.host, dims, copy = std::move(copy)] {
                     host(dims, copy.data());
                     return OkStatus();
                   });
  }

  Status Record(Event* event) override {
    const std::shared_ptr<EventState> state =
        static_cast<HostEvent*>(event)->state();
    int64_t count;
    {
      MutexLock lock(&state->mu);
      count = ++state->recorded;
    }
    return Add({"", nullptr, [state, count](const Status& s) {
                  MutexLock lock(&state->mu);
                  if (count > state->done) {
                    state->done = count;
                    state->failure = s;
                  }
                  state->passed.SignalAll();
                }});
  }
  Status WaitFor(Event* event) override {
    const std::shared_ptr<EventState> state =
        static_cast<HostEvent*>(event)->state();
    int64_t count;
    {
      MutexLock lock(&state->mu);
      count = state->recorded;
    }
    return Add({"", [state, count] { return state->WaitFor(count); }, nullptr});
  }
  Status WaitFor(Stream* other) override {
    if (other == this) return OkStatus();
    HostEvent event;
    HR_RETURN_IF_ERROR(other->Record(&event));
    return WaitFor(&event);
  }
  Status DoHostCallback(std::function<void(const Status&)> callback) override {
    return Add({"", nullptr, std::move(callback)});
  }
  void* platform_handle() const override { return nullptr; }

 private:
  // Work with a name is the device's; without one it only waits. `always` runs
  // also after a failure.
  struct Item {
    std::string what;
    std::function<Status()> work;
    std::function<void(const Status&)> always;
    std::string node = "";  // whose kernel queued it, if one did
  };

  // Queues a copy from or to `host`, and waits for it unless that is pinned.
  // What fails then stays with the stream.
  Status Copy(const char* what, const void* host,
              std::function<Status()> work) {
    HR_RETURN_IF_ERROR(Enqueue(what, std::move(work)));
    if (!parent_->IsPinned(host)) BlockHostUntilDone().IgnoreError();
    return OkStatus();
  }

  Status CheckSide(const char* what, const char* side,
                   const DeviceMemoryBase& m, size_t bytes) const {
    if (bytes > m.size) {
      return errors::InvalidArgument(what, ": ", bytes, " bytes, the ", side,
                                     " has ", m.size);
    }
    if (bytes > 0 && !parent_->memory()->Contains(m.opaque, bytes)) {
      return errors::InvalidArgument(what, ": the ", side,
                                     " is no memory of this device");
    }
    return OkStatus();
  }

  Status Add(Item item) {
    MutexLock lock(&mu_);
    items_.push_back(std::move(item));
    ++queued_;
    changed_.SignalAll();
    return OkStatus();
  }

  void Run() {
    for (;;) {
      Item item;
      Status failure;
      {
        MutexLock lock(&mu_);
        while (items_.empty() && !ends_) changed_.Wait(&mu_);
        if (items_.empty()) return;
        item = std::move(items_.front());
        items_.pop_front();
        failure = failure_;
      }
      if (failure.ok() && item.work != nullptr) {
        failure = CatchExceptions([&] { return Work(item); });
        if (!failure.ok()) {
          MutexLock lock(&mu_);
          failure_ = failure;
        }
      }
      if (item.always != nullptr) item.always(failure);
      // What the work holds goes before somebody hears that it is done.
      item = Item();
      MutexLock lock(&mu_);
      ++done_;
      changed_.SignalAll();
    }
  }

  Status Work(const Item& item) {
    if (item.what.empty()) return item.work();
    const Status before = parent_->hooks()->BeforeWork(item.what);
    if (!before.ok()) {
      return Annotate(
          before, StrCat(" (", item.what, item.node.empty() ? "" : " of node ",
                         item.node, " on the device)"));
    }
    const HostMemory::Access access(parent_->memory());
    return item.work();
  }

  HostExecutor* const parent_;
  Mutex mu_;
  CondVar changed_;
  std::deque<Item> items_ GUARDED_BY(mu_);
  int64_t queued_ GUARDED_BY(mu_) = 0, done_ GUARDED_BY(mu_) = 0;
  Status failure_ GUARDED_BY(mu_);
  bool ends_ GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: it uses the others
};

class HostExecutorImpl : public HostExecutor {
 public:
  HostExecutorImpl(Platform* platform, int ordinal,
                   const HostPlatformOptions& options)
      : platform_(platform), ordinal_(ordinal), memory_(options.memory_bytes) {
    description_.name = "a GPU made of host threads";
    description_.pci_bus_id = StrCat("host:", ordinal);
    description_.platform = platform->name();
    description_.memory_bytes = memory_.total();
    blas_ = NewHostBlas();
    dnn_ = NewHostDnn(options.prefers_nhwc);
  }

  Platform* platform() const override { return platform_; }
  int ordinal() const override { return ordinal_; }
  const DeviceDescription& description() const override { return description_; }

  StatusOr<DeviceMemoryBase> Allocate(size_t bytes) override {
    HR_RETURN_IF_ERROR(hooks_.BeforeAllocation("Allocate", bytes));
    return memory_.Allocate(bytes);
  }
  void Deallocate(DeviceMemoryBase memory) override {
    Synchronize().IgnoreError();
    memory_.Deallocate(memory).IgnoreError();
  }
  StatusOr<void*> AllocatePinned(size_t bytes) override {
    HR_RETURN_IF_ERROR(hooks_.BeforeAllocation("AllocatePinned", bytes));
    void* const at = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (at == nullptr) {
      return errors::ResourceExhausted("the host has no ", bytes,
                                       " bytes of pinned memory");
    }
    MutexLock lock(&pinned_mu_);
    pinned_[static_cast<char*>(at)] = bytes;
    return at;
  }
  void DeallocatePinned(void* memory, size_t) override {
    {
      MutexLock lock(&pinned_mu_);
      pinned_.erase(static_cast<char*>(memory));
    }
    std::free(memory);
  }
  bool IsPinned(const void* address) override {
    MutexLock lock(&pinned_mu_);
    return LiesIn(pinned_, address);
  }
  Status MemoryUsage(int64_t* free, int64_t* total) override {
    *total = memory_.total();
    *free = *total - memory_.in_use();
    return OkStatus();
  }

  StatusOr<std::unique_ptr<Stream>> CreateStream() override {
    return MakeListed();
  }
  StatusOr<std::unique_ptr<Event>> CreateEvent() override {
    return std::unique_ptr<Event>(std::make_unique<HostEvent>());
  }
  StatusOr<std::unique_ptr<Timer>> CreateTimer() override {
    return std::unique_ptr<Timer>(std::make_unique<HostTimer>());
  }
  Status Synchronize() override {
    MutexLock lock(&mu_);
    Status first;
    for (HostStreamImpl* s : streams_) {
      const Status status = s->BlockHostUntilDone();
      if (first.ok()) first = status;
    }
    return first;
  }
  StatusOr<Blas*> blas() override { return blas_.get(); }
  StatusOr<Dnn*> dnn() override { return dnn_.get(); }
  HostHooks* hooks() override { return &hooks_; }
  HostMemory* memory() override { return &memory_; }

 private:
  // Leaves the list before its thread ends.
  class Listed : public HostStreamImpl {
   public:
    explicit Listed(HostExecutorImpl* executor)
        : HostStreamImpl(executor), executor_(executor) {}
    ~Listed() override {
      MutexLock lock(&executor_->mu_);
      std::erase(executor_->streams_, this);
    }

   private:
    HostExecutorImpl* const executor_;
  };
  StatusOr<std::unique_ptr<Stream>> MakeListed() {
    auto made = std::make_unique<Listed>(this);
    MutexLock lock(&mu_);
    streams_.push_back(made.get());
    return std::unique_ptr<Stream>(std::move(made));
  }

  Platform* const platform_;
  const int ordinal_;
  DeviceDescription description_;
  HostMemory memory_;
  HostHooks hooks_;
  Mutex pinned_mu_;
  std::map<char*, size_t> pinned_ GUARDED_BY(pinned_mu_);  // by address: bytes
  std::unique_ptr<Blas> blas_;
  std::unique_ptr<Dnn> dnn_;
  Mutex mu_;
  std::vector<HostStreamImpl*> streams_ GUARDED_BY(mu_);
};

class HostPlatform : public Platform {
 public:
  explicit HostPlatform(const HostPlatformOptions& options)
      : options_(options), executors_(std::max(options.device_count, 0)) {}
  const char* name() const override { return "Host"; }
  int DeviceCount() override { return static_cast<int>(executors_.size()); }
  StatusOr<StreamExecutor*> Executor(int ordinal) override {
    if (ordinal < 0 || ordinal >= DeviceCount()) {
      return errors::InvalidArgument(
          "GPU ", ordinal, " does not exist, there are ", executors_.size());
    }
    MutexLock lock(&mu_);
    auto& executor = executors_[ordinal];
    if (executor == nullptr) {
      executor = std::make_unique<HostExecutorImpl>(this, ordinal, options_);
    }
    return executor.get();
  }

 private:
  const HostPlatformOptions options_;
  Mutex mu_;
  std::vector<std::unique_ptr<HostExecutorImpl>> executors_;
};

}  // namespace

std::unique_ptr<Platform> NewHostPlatform(const HostPlatformOptions& options) {
  return std::make_unique<HostPlatform>(options);
}

HostHooks* HooksOf(StreamExecutor* executor) {
  auto* const host = dynamic_cast<HostExecutor*>(executor);
  return host == nullptr ? nullptr : host->hooks();
}

}  // namespace headrace::gpu
