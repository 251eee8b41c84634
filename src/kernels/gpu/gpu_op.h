// What the kernels of GPUs share: types of elements, boxes, and kernels that
// run on the host.
//
// A kernel checks its arguments as the CPU's does, allocates, and queues
// functors on the device's stream. It never follows an address of the device.
#ifndef HEADRACE_KERNELS_GPU_GPU_OP_H_
#define HEADRACE_KERNELS_GPU_GPU_OP_H_

#include <initializer_list>
#include <memory>
#include <vector>

#include "device/gpu/gpu_device.h"
#include "headrace/op_kernel.h"
#include "kernels/gpu/elementwise_functors.h"
#include "kernels/gpu/launch_functor.h"

namespace headrace::gpu {

// The type by which functors know elements of a tensor of type T.
template <typename T>
struct OnDevice {
  using type = T;
};
template <>
struct OnDevice<half> {
  using type = Half;
};
template <>
struct OnDevice<bfloat16> {
  using type = Bfloat16;
};
template <typename T>
using Dev = typename OnDevice<T>::type;

template <typename T>
const Dev<T>* In(const Tensor& t) {
  return static_cast<const Dev<T>*>(t.raw_data());
}
template <typename T>
Dev<T>* Out(Tensor* t) {
  return static_cast<Dev<T>*>(t->raw_data());
}

// Temporary memory of the device.
inline Status AllocateScratch(OpKernelContext* ctx, DataType dtype,
                              const TensorShape& shape, Tensor* out) {
  return ctx->allocate_temp(dtype, shape, out, Tensor::kHeap);
}

// Collects the dims of a box, the outermost first. Dims of size 1 are dropped,
// dims that continue each other in all arrays merged.
template <int kOperands>
class BoxBuilder {
 public:
  void AddDim(int64_t size, std::initializer_list<int64_t> strides) {
    if (size == 1) return;
    Dim d{size, {}};
    std::copy(strides.begin(), strides.end(), d.stride);
    if (!dims_.empty()) {
      Dim& last = dims_.back();
      bool goes_on = true;
      for (int k = 0; k < kOperands; ++k) {
        goes_on = goes_on && last.stride[k] == d.stride[k] * size;
      }
      if (goes_on) {
        last.size *= size;
        for (int k = 0; k < kOperands; ++k) last.stride[k] = d.stride[k];
        return;
      }
    }
    dims_.push_back(d);
  }
  // The number of elements.
  int64_t size() const {
    int64_t n = 1;
    for (const Dim& d : dims_) n *= d.size;
    return n;
  }
  int rank() const { return static_cast<int>(dims_.size()); }
  Status Build(StridedBox<kOperands>* box) const {
    if (rank() > StridedBox<kOperands>::kMaxRank) {
      return errors::Unimplemented("GPU: the arguments' dimensions make ",
                                   rank(), " loops, kernels of GPUs have ",
                                   StridedBox<kOperands>::kMaxRank, " at most");
    }
    *box = {};
    box->rank = rank();
    for (int d = 0; d < rank(); ++d) {
      box->size[d] = dims_[d].size;
      for (int k = 0; k < kOperands; ++k) {
        box->stride[k][d] = dims_[d].stride[k];
      }
    }
    return OkStatus();
  }

 private:
  struct Dim {
    int64_t size, stride[kOperands];
  };
  std::vector<Dim> dims_;
};

// Calls f(std::integral_constant<int, bytes>) for the width of elements of
// `dtype`. Unimplemented for types that a GPU has no elements of.
template <typename F>
Status WithWidth(DataType dtype, const F& f) {
  switch (DataTypeSize(dtype)) {
#define HR_CASE(BYTES) \
  case BYTES:          \
    return f(std::integral_constant<int, BYTES>());
    HR_GPU_WIDTHS(HR_CASE)
#undef HR_CASE
    default:
      return errors::Unimplemented("GPU: elements of type ",
                                   DataTypeString(dtype));
  }
}

// A kernel whose arguments and results that it touches are all in host memory:
// the CPU's kernel of the same node.
class HostKernel : public OpKernel {
 public:
  explicit HostKernel(OpKernelConstruction* ctx) : OpKernel(ctx) {
    const KernelEntry* cpu =
        KernelRegistry::Global()->Find(DEVICE_CPU, ctx->def());
    OP_REQUIRES(ctx, cpu != nullptr,
                errors::Unimplemented("no kernel of the CPU for op '",
                                      ctx->def().op, "'"));
    kernel_.reset(cpu->factory(ctx));
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override { kernel_->Compute(ctx); }

 private:
  std::unique_ptr<OpKernel> kernel_;
};

// Registers a kernel class for the attr T of an op.
#define HR_GPU_KERNEL(OP, T, ...)                                             \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_GPU).TypeConstraint<T>("T"), \
                          __VA_ARGS__)

#define HR_GPU_FLOAT_TYPES(M) M(float) M(half) M(bfloat16)
// Of what Dnn has no part in.
#define HR_GPU_REAL_TYPES(M) HR_GPU_FLOAT_TYPES(M) M(double)

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_GPU_OP_H_
