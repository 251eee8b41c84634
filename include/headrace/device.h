// Device: where kernels run and where their tensors live. A device is one
// memory, one set of threads or streams, and one ResourceMgr for its state.
//
// Interfaces allow for devices that are asynchronous and have memories of
// their own: kernels get memory from allocator(), tensors cross by the copy
// functions, and Sync waits for work in flight. Thread-safe.
#ifndef HEADRACE_DEVICE_H_
#define HEADRACE_DEVICE_H_

#include <functional>
#include <memory>
#include <string>

#include "headrace/allocator.h"
#include "headrace/device_name.h"
#include "headrace/resource_mgr.h"
#include "headrace/tensor.h"

namespace headrace {

struct DeviceAttributes {
  std::string name;  // full
  std::string device_type;
  int64_t memory_limit = 0;  // bytes
  uint64_t incarnation = 0;  // random, never 0, new for each process start
  std::string physical_device_desc;
};

struct OpDef;
class OpKernel;
class OpKernelContext;
class ThreadPool;

class Device {
 public:
  using DoneCallback = std::function<void(const Status&)>;

  Device(DeviceAttributes attributes, ThreadPool* pool);
  virtual ~Device();

  const std::string& name() const { return attributes_.name; }
  const DeviceName& parsed_name() const { return parsed_name_; }
  const std::string& device_type() const { return attributes_.device_type; }
  const DeviceAttributes& attributes() const { return attributes_; }
  // Threads for ParallelFor inside kernels of this device.
  ThreadPool* thread_pool() const { return pool_; }
  ResourceMgr* resource_manager() { return &resource_manager_; }

  virtual Allocator* allocator(MemoryType where) = 0;
  // Host tensor to this device's memory and back. On a device whose memory is
  // the host's, both share the buffer.
  virtual void CopyFromHost(const Tensor& host, Tensor* device,
                            DoneCallback done) = 0;
  virtual void CopyToHost(const Tensor& device, Tensor* host,
                          DoneCallback done) = 0;
  virtual bool IsHostMemory() const { return true; }
  // Whether the kernels of fused layers on this device can apply `activation`,
  // an op with that trait, to a layer's result. Passes fuse only what every
  // device can that the layer may be placed on. True for what has loops on the
  // host (headrace/elementwise_loops.h); a device whose kernels do not run
  // those says here what it has.
  virtual bool CanFuse(const OpDef& activation) const;
  // Waits for everything started on this device.
  virtual Status Sync() { return OkStatus(); }
  // Runs a kernel; a device with streams sets them up around it.
  virtual void Compute(OpKernel* kernel, OpKernelContext* ctx);

 private:
  const DeviceAttributes attributes_;
  DeviceName parsed_name_;
  ThreadPool* const pool_;
  ResourceMgr resource_manager_;
};

}  // namespace headrace

#endif  // HEADRACE_DEVICE_H_
