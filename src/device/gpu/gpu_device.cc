#include "device/gpu/gpu_device.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/log.h"
#include "device/gpu/activation.h"
#include "device/gpu/gpu_runtime.h"
#include "headrace/device_factory.h"
#include "headrace/op_def.h"
#include "headrace/types.h"

namespace headrace::gpu {
namespace {

// As TensorFlow ranks it.
constexpr int kPriority = 210;

class GpuDevice : public Device, public GpuContext {
 public:
  GpuDevice(DeviceAttributes attributes, ThreadPool* pool,
            std::shared_ptr<GpuRuntime> runtime)
      : Device(std::move(attributes), pool),
        runtime_(std::move(runtime)),
        deterministic_(EnvironmentFlag("TF_CUDNN_DETERMINISTIC", true)),
        math_mode_(EnvironmentFlag("NVIDIA_TF32_OVERRIDE", false)
                       ? MathMode::kTf32
                       : MathMode::kFloat) {}
  // What the device's resources hold may be in use by work that is queued.
  ~GpuDevice() override { runtime_->Sync().IgnoreError(); }

  Allocator* allocator(MemoryType where) override {
    return where == HOST_MEMORY ? CpuAllocator() : runtime_->device_allocator();
  }
  bool IsHostMemory() const override { return false; }
  bool CanFuse(const OpDef& activation) const override {
    return FindFusedActivation(activation.name) != nullptr;
  }
  void CopyFromHost(const Tensor& host, Tensor* device,
                    DoneCallback done) override {
    if (!DataTypeCanUseMemcpy(host.dtype())) {
      *device = host;
      return done(OkStatus());
    }
    Tensor made;
    const Status s =
        Tensor::Allocate(runtime_->device_allocator(), host.dtype(),
                         host.shape(), &made, Tensor::kHeap);
    if (!s.ok()) return done(s);
    *device = made;
    runtime_->CopyToDevice(host, made, std::move(done));
  }
  void CopyToHost(const Tensor& device, Tensor* host,
                  DoneCallback done) override {
    if (!DataTypeCanUseMemcpy(device.dtype())) {
      *host = device;
      return done(OkStatus());
    }
    Tensor made;
    const Status s =
        Tensor::Allocate(runtime_->pinned_allocator(), device.dtype(),
                         device.shape(), &made, Tensor::kHeap);
    if (!s.ok()) {
      HR_LOG(WARNING) << s.message() << "; "
                      << runtime_->pinned_allocator()->DescribeFree();
      return done(s);
    }
    *host = made;
    runtime_->CopyToHost(device, made, std::move(done));
  }
  Status Sync() override { return Named(runtime_->Sync()); }
  void Compute(OpKernel* kernel, OpKernelContext* ctx) override {
    const CurrentNodeScope scope(kernel->name());
    Device::Compute(kernel, ctx);
    const Status s = runtime_->compute_stream()->status();
    if (!s.ok()) [[unlikely]]
      ctx->SetStatus(Named(s));
  }

  StreamExecutor* executor() const override { return runtime_->executor(); }
  Stream* compute_stream() const override { return runtime_->compute_stream(); }
  bool deterministic() const override { return deterministic_; }
  MathMode math_mode() const override { return math_mode_; }
  Status CopyToDevice(const Tensor& host, Tensor* device) override {
    HR_RETURN_IF_ERROR(Tensor::Allocate(runtime_->device_allocator(),
                                        host.dtype(), host.shape(), device,
                                        Tensor::kHeap));
    return Named(runtime_->CopyToDeviceAndWait(host, *device));
  }

 private:
  Status Named(const Status& s) const {
    return Annotate(s, absl::StrCat(" (on ", name(), ")"));
  }

  const std::shared_ptr<GpuRuntime> runtime_;
  const bool deterministic_;
  const MathMode math_mode_;
};

// The GPUs of the machine that the list names, in its order.
Status VisibleGpus(const std::string& list, int count, std::vector<int>* out) {
  if (list.empty()) {
    for (int i = 0; i < count; ++i) out->push_back(i);
    return OkStatus();
  }
  for (const absl::string_view text : absl::StrSplit(list, ',')) {
    int gpu;
    if (!absl::SimpleAtoi(text, &gpu) || gpu < 0 || gpu >= count) {
      return errors::InvalidArgument("GPUOptions: visible_device_list is '",
                                     list, "', wanted numbers of the ", count,
                                     " GPUs of this machine, from 0 on");
    }
    for (const int other : *out) {
      if (other == gpu) {
        return errors::InvalidArgument("GPUOptions: visible_device_list '",
                                       list, "' names GPU ", gpu, " twice");
      }
    }
    out->push_back(gpu);
  }
  return OkStatus();
}

class GpuDeviceFactory : public DeviceFactory {
 public:
  Status CreateDevices(const DeviceOptions& options,
                       std::vector<std::unique_ptr<Device>>* devices) override {
    Platform* const platform = CurrentPlatform();
    if (platform == nullptr) return OkStatus();
    const int there = platform->DeviceCount();
    if (there == 0) return OkStatus();
    const int wanted = options.CountOf(DEVICE_GPU, there);
    if (wanted <= 0) return OkStatus();
    std::vector<int> visible;
    HR_RETURN_IF_ERROR(
        VisibleGpus(options.gpu.visible_device_list, there, &visible));
    for (int i = 0; i < wanted && i < static_cast<int>(visible.size()); ++i) {
      HR_ASSIGN_OR_RETURN(StreamExecutor* const executor,
                          platform->Executor(visible[i]));
      HR_ASSIGN_OR_RETURN(std::shared_ptr<GpuRuntime> runtime,
                          GpuRuntime::Get(executor, options.gpu));
      DeviceAttributes a = MakeDeviceAttributes(options, DEVICE_GPU, i);
      const DeviceDescription& d = executor->description();
      a.memory_limit = runtime->device_allocator()->GetStats().bytes_limit;
      a.physical_device_desc = absl::StrCat(
          "device: ", visible[i], ", name: ", d.name,
          ", pci bus id: ", d.pci_bus_id,
          ", compute capability: ", d.compute_major, ".", d.compute_minor);
      devices->push_back(std::make_unique<GpuDevice>(std::move(a), options.pool,
                                                     std::move(runtime)));
    }
    return OkStatus();
  }
};
REGISTER_DEVICE_FACTORY(DEVICE_GPU, kPriority, GpuDeviceFactory);

int64_t WorkspaceLimit() {
  static const int64_t limit = [] {
    const char* const text = std::getenv("TF_CUDNN_WORKSPACE_LIMIT_IN_MB");
    int64_t mb;
    return (text != nullptr && absl::SimpleAtoi(text, &mb) && mb > 0 &&
                    mb < (int64_t{1} << 30)
                ? mb
                : int64_t{4096})
           << 20;
  }();
  return limit;
}

}  // namespace

GpuContext* GpuContextOf(OpKernelContext* ctx) {
  return static_cast<GpuDevice*>(ctx->device());
}

GpuContext* GpuContextOf(OpKernelConstruction* ctx) {
  return static_cast<GpuDevice*>(ctx->device());
}

bool EnvironmentFlag(const char* variable, bool otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  return std::string(text) != "0" && std::string(text) != "false";
}

KernelScratch::KernelScratch(OpKernelContext* ctx, int64_t limit)
    : ctx_(ctx), limit_(limit > 0 ? limit : WorkspaceLimit()) {}

StatusOr<DeviceMemoryBase> KernelScratch::Allocate(int64_t bytes) {
  if (bytes < 0 || bytes > limit_ - total_) {
    return errors::ResourceExhausted("a workspace of ", bytes,
                                     " bytes is wanted, ", limit_ - total_,
                                     " are left of the limit of ", limit_);
  }
  Tensor buffer;
  HR_RETURN_IF_ERROR(
      ctx_->allocate_temp(DT_UINT8, TensorShape({bytes}), &buffer));
  total_ += bytes;
  buffers_.push_back(buffer);
  return DeviceMemoryBase(buffer);
}

}  // namespace headrace::gpu
