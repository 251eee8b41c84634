// Dnn over cuDNN, by its functions of version 7 that version 9 still has: they
// name their algorithms, so that measured choices can be kept in a file.
#include <cudnn.h>

#include <algorithm>
#include <initializer_list>

#include "device/gpu/cuda/cuda_platform.h"
#include "headrace/mutex.h"

namespace headrace::gpu {
namespace {

Status DnnStatus(cudnnStatus_t s, const char* call, const std::string& what) {
  if (s == CUDNN_STATUS_SUCCESS) return OkStatus();
  const std::string text =
      StrCat(call, " failed for ", what, ": ", cudnnGetErrorString(s));
  const int category = static_cast<int>(s) / 1000;
  return s == CUDNN_STATUS_ALLOC_FAILED ? errors::ResourceExhausted(text)
         : category == 3                ? errors::Unimplemented(text)
         : category == 2                ? errors::InvalidArgument(text)
                                        : errors::Internal(text);
}

#define HR_DNN_RETURN_IF_ERROR(WHAT, CALL, ...) \
  HR_RETURN_IF_ERROR(DnnStatus(CALL(__VA_ARGS__), #CALL, WHAT))

StatusOr<cudnnDataType_t> TypeOf(DataType type) {
  switch (type) {
    case DT_FLOAT:
      return CUDNN_DATA_FLOAT;
    case DT_DOUBLE:
      return CUDNN_DATA_DOUBLE;
    case DT_HALF:
      return CUDNN_DATA_HALF;
    case DT_BFLOAT16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return errors::InvalidArgument(
          "cuDNN: type ", DataTypeString(type),
          ", wanted half, bfloat16, float or double");
  }
}

// A factor as cuDNN takes it: double for double, else float.
class Factor {
 public:
  Factor(DataType type, double v)
      : wide_(type == DT_DOUBLE), d_(v), f_(static_cast<float>(v)) {}
  const void* get() const {
    return wide_ ? static_cast<const void*>(&d_) : &f_;
  }

 private:
  const bool wide_;
  const double d_;
  const float f_;
};

// An owner of a descriptor.
template <typename T, cudnnStatus_t (*kCreate)(T*),
          cudnnStatus_t (*kDestroy)(T)>
class Owned {
 public:
  Owned() : status_(kCreate(&descriptor_)) {}
  ~Owned() {
    if (status_ == CUDNN_STATUS_SUCCESS) kDestroy(descriptor_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T get() const { return descriptor_; }
  Status status() const {
    return DnnStatus(status_, "cudnnCreate...Descriptor", "a descriptor");
  }

 private:
  T descriptor_ = nullptr;
  const cudnnStatus_t status_;
};
using TensorDescriptor =
    Owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor,
          cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Owned<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor,
          cudnnDestroyFilterDescriptor>;
using ConvDescriptor =
    Owned<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
          cudnnDestroyConvolutionDescriptor>;
using ActivationDescriptor =
    Owned<cudnnActivationDescriptor_t, cudnnCreateActivationDescriptor,
          cudnnDestroyActivationDescriptor>;

Status FitInInt(const std::string& what, std::initializer_list<int64_t> sizes) {
  for (const int64_t s : sizes) {
    if (s > INT32_MAX) {
      return errors::Unimplemented(what, ": cuDNN has no dimension of ", s);
    }
  }
  return OkStatus();
}

Status SetImage(const TensorDescriptor& d, const std::string& what,
                DataLayout layout, cudnnDataType_t type, int64_t batch,
                int64_t depth, int64_t height, int64_t width) {
  HR_RETURN_IF_ERROR(d.status());
  HR_RETURN_IF_ERROR(FitInInt(what, {batch, depth, height, width}));
  HR_DNN_RETURN_IF_ERROR(
      what, cudnnSetTensor4dDescriptor, d.get(),
      layout == DataLayout::kNHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, type,
      static_cast<int>(batch), static_cast<int>(depth),
      static_cast<int>(height), static_cast<int>(width));
  return OkStatus();
}

Status CheckBuffer(const std::string& what, const char* name,
                   const DeviceMemoryBase& m, int64_t elements, DataType type) {
  if (m.size >= static_cast<uint64_t>(elements) * DataTypeObjectSize(type)) {
    return OkStatus();
  }
  return errors::InvalidArgument(what, ": the buffer of ", name, " has ",
                                 m.size, " bytes, wanted ", elements,
                                 " elements of ", DataTypeString(type));
}

// The descriptors of a convolution.
struct ConvSetup {
  TensorDescriptor input, output, bias;
  FilterDescriptor filter;
  ConvDescriptor conv;

  Status Init(const ConvProblem& p, const std::string& what) {
    HR_ASSIGN_OR_RETURN(const cudnnDataType_t type, TypeOf(p.type));
    const FilterLayout wanted = p.layout == DataLayout::kNHWC
                                    ? FilterLayout::kOHWI
                                    : FilterLayout::kOIHW;
    if (p.filter_layout != wanted) {
      return errors::Unimplemented(what, ": with ", LayoutName(p.layout),
                                   " cuDNN takes filters ", LayoutName(wanted));
    }
    HR_RETURN_IF_ERROR(filter.status());
    HR_RETURN_IF_ERROR(conv.status());
    HR_RETURN_IF_ERROR(SetImage(input, what, p.layout, type, p.batch,
                                p.in_depth, p.input[0], p.input[1]));
    HR_RETURN_IF_ERROR(SetImage(output, what, p.layout, type, p.batch,
                                p.out_depth, p.output[0], p.output[1]));
    HR_RETURN_IF_ERROR(
        SetImage(bias, what, p.layout, type, 1, p.out_depth, 1, 1));
    HR_DNN_RETURN_IF_ERROR(
        what, cudnnSetFilter4dDescriptor, filter.get(), type,
        p.layout == DataLayout::kNHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
        static_cast<int>(p.out_depth), static_cast<int>(p.in_depth / p.groups),
        static_cast<int>(p.filter[0]), static_cast<int>(p.filter[1]));
    HR_DNN_RETURN_IF_ERROR(
        what, cudnnSetConvolution2dDescriptor, conv.get(),
        static_cast<int>(p.padding[0]), static_cast<int>(p.padding[1]),
        static_cast<int>(p.stride[0]), static_cast<int>(p.stride[1]),
        static_cast<int>(p.dilation[0]), static_cast<int>(p.dilation[1]),
        CUDNN_CROSS_CORRELATION,
        p.type == DT_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
    HR_DNN_RETURN_IF_ERROR(what, cudnnSetConvolutionGroupCount, conv.get(),
                           static_cast<int>(p.groups));
    return OkStatus();
  }
};

// How an algorithm's number and its kind of arithmetic make an id.
constexpr int64_t kMathKinds = 8;
int64_t IdOf(int algorithm, cudnnMathType_t math) {
  return algorithm * kMathKinds + static_cast<int64_t>(math);
}

cudnnMathType_t AllowedMath(const ConvProblem& p) {
  return p.type == DT_FLOAT && p.math == MathMode::kFloat ? CUDNN_FMA_MATH
         : p.type == DT_FLOAT || p.type == DT_DOUBLE      ? CUDNN_DEFAULT_MATH
                                                     : CUDNN_TENSOR_OP_MATH;
}

class CudaDnn : public Dnn {
 public:
  explicit CudaDnn(StreamExecutor* executor)
      : executor_(executor), ordinal_(executor->ordinal()) {}
  ~CudaDnn() override {
    const ScopedDevice device(ordinal_);
    if (handle_ != nullptr) cudnnDestroy(handle_);
  }
  Status Init() {
    const ScopedDevice device(ordinal_);
    HR_DNN_RETURN_IF_ERROR("a handle", cudnnCreate, &handle_);
    return OkStatus();
  }

  int version() const override { return static_cast<int>(cudnnGetVersion()); }
  // Tensor cores multiply NHWC; without them the kernels for NCHW are better.
  bool PrefersNhwc(DataType type) const override {
    return executor_->description().compute_major >= 7 &&
           (type == DT_HALF || type == DT_BFLOAT16 ||
            (type == DT_FLOAT && executor_->description().compute_major >= 8));
  }
  bool CanFuse(const ConvProblem& p) const override {
    return p.kind == ConvKind::kForward && p.type != DT_DOUBLE && p.has_bias &&
           p.activation == GpuActivation::kRelu;
  }

  StatusOr<std::vector<ConvAlgorithm>> ConvAlgorithms(
      const ConvProblem& p, bool deterministic) override {
    HR_RETURN_IF_ERROR(CheckConv(p));
    const std::string what = p.ToString();
    const ScopedDevice device(ordinal_);
    ConvSetup s;
    HR_RETURN_IF_ERROR(s.Init(p, what));
    HR_DNN_RETURN_IF_ERROR(what, cudnnSetConvolutionMathType, s.conv.get(),
                           AllowedMath(p));
    std::vector<ConvAlgorithm> list;
    const auto add = [&](const auto& perf, int found, const char* prefix) {
      for (int i = 0; i < found; ++i) {
        const bool repeats = perf[i].determinism == CUDNN_DETERMINISTIC;
        if (perf[i].status != CUDNN_STATUS_SUCCESS ||
            (deterministic && !repeats) ||
            (AllowedMath(p) == CUDNN_FMA_MATH &&
             perf[i].mathType == CUDNN_TENSOR_OP_MATH)) {
          continue;
        }
        ConvAlgorithm a;
        a.id = IdOf(perf[i].algo, perf[i].mathType);
        a.name = StrCat(prefix, static_cast<int>(perf[i].algo));
        a.workspace_bytes = static_cast<int64_t>(perf[i].memory);
        a.deterministic = repeats;
        list.push_back(a);
      }
    };
    MutexLock lock(&mu_);
    int found = 0;
    switch (p.kind) {
      case ConvKind::kForward: {
        cudnnConvolutionFwdAlgoPerf_t perf[16];
        HR_DNN_RETURN_IF_ERROR(what, cudnnGetConvolutionForwardAlgorithm_v7,
                               handle_, s.input.get(), s.filter.get(),
                               s.conv.get(), s.output.get(), 16, &found, perf);
        add(perf, found, "fwd_");
        break;
      }
      case ConvKind::kBackwardInput: {
        cudnnConvolutionBwdDataAlgoPerf_t perf[16];
        HR_DNN_RETURN_IF_ERROR(what,
                               cudnnGetConvolutionBackwardDataAlgorithm_v7,
                               handle_, s.filter.get(), s.output.get(),
                               s.conv.get(), s.input.get(), 16, &found, perf);
        add(perf, found, "bwd_data_");
        break;
      }
      case ConvKind::kBackwardFilter: {
        cudnnConvolutionBwdFilterAlgoPerf_t perf[16];
        HR_DNN_RETURN_IF_ERROR(what,
                               cudnnGetConvolutionBackwardFilterAlgorithm_v7,
                               handle_, s.input.get(), s.output.get(),
                               s.conv.get(), s.filter.get(), 16, &found, perf);
        add(perf, found, "bwd_filter_");
        break;
      }
    }
    if (list.empty()) {
      return errors::Unimplemented(what, ": cuDNN has no ",
                                   deterministic ? "deterministic " : "",
                                   "algorithm");
    }
    return list;
  }

  Status Convolve(Stream* stream, const ConvProblem& p,
                  const ConvAlgorithm& algorithm, const ConvBuffers& buffers,
                  ScratchAllocator* scratch) override {
    HR_RETURN_IF_ERROR(CheckConv(p));
    const std::string what = p.ToString();
    HR_RETURN_IF_ERROR(
        CheckBuffer(what, "input", buffers.input, p.InputElements(), p.type));
    HR_RETURN_IF_ERROR(CheckBuffer(what, "filter", buffers.filter,
                                   p.FilterElements(), p.type));
    HR_RETURN_IF_ERROR(CheckBuffer(what, "output", buffers.output,
                                   p.OutputElements(), p.type));
    const bool fuses =
        p.has_bias || p.has_addend || p.activation != GpuActivation::kNone;
    if (fuses && !CanFuse(p)) {
      return errors::Unimplemented(what, ": cuDNN cannot fuse this epilogue");
    }
    if (p.has_bias) {
      HR_RETURN_IF_ERROR(
          CheckBuffer(what, "bias", buffers.bias, p.out_depth, p.type));
    }
    if (p.has_addend) {
      HR_RETURN_IF_ERROR(CheckBuffer(what, "addend", buffers.addend,
                                     p.OutputElements(), p.type));
    }
    if (algorithm.id < 0) {
      return errors::InvalidArgument(what, ": no algorithm ", algorithm.id);
    }
    HR_RETURN_IF_ERROR(stream->status());
    const ScopedDevice device(ordinal_);
    ConvSetup s;
    HR_RETURN_IF_ERROR(s.Init(p, what));
    const auto math = static_cast<cudnnMathType_t>(algorithm.id % kMathKinds);
    const int number = static_cast<int>(algorithm.id / kMathKinds);
    HR_DNN_RETURN_IF_ERROR(what, cudnnSetConvolutionMathType, s.conv.get(),
                           math);
    size_t bytes = 0;
    HR_RETURN_IF_ERROR(WorkspaceOf(p, s, what, number, &bytes));
    DeviceMemoryBase workspace;
    if (bytes > 0) {
      if (scratch == nullptr) {
        return errors::InvalidArgument(what, ": algorithm ", algorithm.name,
                                       " wants a workspace of ", bytes,
                                       " bytes");
      }
      HR_ASSIGN_OR_RETURN(workspace,
                          scratch->Allocate(static_cast<int64_t>(bytes)));
    }
    const Factor alpha(p.type, buffers.alpha), beta(p.type, buffers.beta);
    MutexLock lock(&mu_);
    HR_DNN_RETURN_IF_ERROR(what, cudnnSetStream, handle_, CudaStreamOf(stream));
    switch (p.kind) {
      case ConvKind::kForward:
        if (fuses) {
          return Fused(p, s, what, number, buffers, workspace);
        }
        HR_DNN_RETURN_IF_ERROR(
            what, cudnnConvolutionForward, handle_, alpha.get(), s.input.get(),
            buffers.input.opaque, s.filter.get(), buffers.filter.opaque,
            s.conv.get(), static_cast<cudnnConvolutionFwdAlgo_t>(number),
            workspace.opaque, workspace.size, beta.get(), s.output.get(),
            buffers.output.opaque);
        return OkStatus();
      case ConvKind::kBackwardInput:
        HR_DNN_RETURN_IF_ERROR(
            what, cudnnConvolutionBackwardData, handle_, alpha.get(),
            s.filter.get(), buffers.filter.opaque, s.output.get(),
            buffers.output.opaque, s.conv.get(),
            static_cast<cudnnConvolutionBwdDataAlgo_t>(number),
            workspace.opaque, workspace.size, beta.get(), s.input.get(),
            buffers.input.opaque);
        return OkStatus();
      case ConvKind::kBackwardFilter:
        HR_DNN_RETURN_IF_ERROR(
            what, cudnnConvolutionBackwardFilter, handle_, alpha.get(),
            s.input.get(), buffers.input.opaque, s.output.get(),
            buffers.output.opaque, s.conv.get(),
            static_cast<cudnnConvolutionBwdFilterAlgo_t>(number),
            workspace.opaque, workspace.size, beta.get(), s.filter.get(),
            buffers.filter.opaque);
        return OkStatus();
    }
    return OkStatus();
  }

 private:
  Status WorkspaceOf(const ConvProblem& p, const ConvSetup& s,
                     const std::string& what, int number, size_t* bytes) {
    MutexLock lock(&mu_);
    switch (p.kind) {
      case ConvKind::kForward:
        HR_DNN_RETURN_IF_ERROR(
            what, cudnnGetConvolutionForwardWorkspaceSize, handle_,
            s.input.get(), s.filter.get(), s.conv.get(), s.output.get(),
            static_cast<cudnnConvolutionFwdAlgo_t>(number), bytes);
        break;
      case ConvKind::kBackwardInput:
        HR_DNN_RETURN_IF_ERROR(
            what, cudnnGetConvolutionBackwardDataWorkspaceSize, handle_,
            s.filter.get(), s.output.get(), s.conv.get(), s.input.get(),
            static_cast<cudnnConvolutionBwdDataAlgo_t>(number), bytes);
        break;
      case ConvKind::kBackwardFilter:
        HR_DNN_RETURN_IF_ERROR(
            what, cudnnGetConvolutionBackwardFilterWorkspaceSize, handle_,
            s.input.get(), s.output.get(), s.conv.get(), s.filter.get(),
            static_cast<cudnnConvolutionBwdFilterAlgo_t>(number), bytes);
        break;
    }
    return OkStatus();
  }

  Status Fused(const ConvProblem& p, const ConvSetup& s,
               const std::string& what, int number, const ConvBuffers& b,
               const DeviceMemoryBase& workspace) REQUIRES(mu_) {
    if (b.beta != 0) {
      return errors::Unimplemented(what, ": an epilogue with beta ", b.beta);
    }
    ActivationDescriptor activation;
    HR_RETURN_IF_ERROR(activation.status());
    HR_DNN_RETURN_IF_ERROR(what, cudnnSetActivationDescriptor, activation.get(),
                           CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0.0);
    const Factor alpha(p.type, b.alpha), addend(p.type, p.has_addend ? 1 : 0);
    const void* const z = p.has_addend ? b.addend.opaque : b.output.opaque;
    HR_DNN_RETURN_IF_ERROR(what, cudnnConvolutionBiasActivationForward, handle_,
                           alpha.get(), s.input.get(), b.input.opaque,
                           s.filter.get(), b.filter.opaque, s.conv.get(),
                           static_cast<cudnnConvolutionFwdAlgo_t>(number),
                           workspace.opaque, workspace.size, addend.get(),
                           s.output.get(), z, s.bias.get(), b.bias.opaque,
                           activation.get(), s.output.get(), b.output.opaque);
    return OkStatus();
  }

  StreamExecutor* const executor_;
  const int ordinal_;
  Mutex mu_;  // a handle serves one thread and one stream at a time
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace

StatusOr<std::unique_ptr<Dnn>> NewCudaDnn(StreamExecutor* executor) {
  auto made = std::make_unique<CudaDnn>(executor);
  HR_RETURN_IF_ERROR(made->Init());
  return std::unique_ptr<Dnn>(std::move(made));
}

}  // namespace headrace::gpu
