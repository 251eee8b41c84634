// Blas over cuBLASLt. Its matrices are column-major: a row-major c = a b is
// there the product of the other order, c^T = b^T a^T, of the same bytes.
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <map>

#include "device/gpu/activation.h"
#include "device/gpu/cuda/cuda_platform.h"
#include "headrace/mutex.h"

namespace headrace::gpu {
namespace {

constexpr size_t kMostWorkspace = 32 << 20;

Status BlasStatus(cublasStatus_t s, const char* call, const GemmProblem& p) {
  if (s == CUBLAS_STATUS_SUCCESS) return OkStatus();
  const std::string text = StrCat(call, " failed for ", p.ToString(), ": ",
                                  cublasLtGetStatusString(s));
  return s == CUBLAS_STATUS_ALLOC_FAILED    ? errors::ResourceExhausted(text)
         : s == CUBLAS_STATUS_NOT_SUPPORTED ? errors::Unimplemented(text)
                                            : errors::Internal(text);
}

#define HR_BLAS_RETURN_IF_ERROR(P, CALL, ...) \
  HR_RETURN_IF_ERROR(BlasStatus(CALL(__VA_ARGS__), #CALL, P))

struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};
Types TypesOf(const GemmProblem& p) {
  switch (p.type) {
    case DT_HALF:
      return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DT_BFLOAT16:
      return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DT_DOUBLE:
      return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    default:
      return {CUDA_R_32F, CUDA_R_32F,
              p.math == MathMode::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                        : CUBLAS_COMPUTE_32F};
  }
}

// The largest power of two, up to 256, that divides all addresses.
uint32_t AlignmentOf(std::initializer_list<const void*> addresses) {
  uintptr_t bits = 256;
  for (const void* a : addresses) bits |= reinterpret_cast<uintptr_t>(a);
  return static_cast<uint32_t>(bits & -bits);
}

// The descriptors of one product. They are cheap and used once.
class Descriptors {
 public:
  ~Descriptors() {
    if (preference_ != nullptr) cublasLtMatmulPreferenceDestroy(preference_);
    for (cublasLtMatrixLayout_t l : {first_, second_, result_}) {
      if (l != nullptr) cublasLtMatrixLayoutDestroy(l);
    }
    if (product_ != nullptr) cublasLtMatmulDescDestroy(product_);
  }

  // All matrices are aligned to `alignment` bytes.
  Status Init(const GemmProblem& p, const void* bias, bool with_relu,
              size_t workspace, uint32_t alignment) {
    const Types types = TypesOf(p);
    HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatmulDescCreate, &product_,
                            types.compute, types.scale);
    const cublasOperation_t op_first =
        p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t op_second =
        p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    HR_RETURN_IF_ERROR(Set(p, CUBLASLT_MATMUL_DESC_TRANSA, op_first));
    HR_RETURN_IF_ERROR(Set(p, CUBLASLT_MATMUL_DESC_TRANSB, op_second));
    const cublasLtEpilogue_t epilogue =
        p.has_bias
            ? with_relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS
        : with_relu ? CUBLASLT_EPILOGUE_RELU
                    : CUBLASLT_EPILOGUE_DEFAULT;
    HR_RETURN_IF_ERROR(Set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
    if (p.has_bias) {
      HR_RETURN_IF_ERROR(Set(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias));
    }
    HR_RETURN_IF_ERROR(Layout(p, types.data, p.transpose_b ? p.k : p.n,
                              p.transpose_b ? p.n : p.k, p.ldb, p.stride_b,
                              &first_));
    HR_RETURN_IF_ERROR(Layout(p, types.data, p.transpose_a ? p.m : p.k,
                              p.transpose_a ? p.k : p.m, p.lda, p.stride_a,
                              &second_));
    HR_RETURN_IF_ERROR(
        Layout(p, types.data, p.n, p.m, p.ldc, p.stride_c, &result_));
    HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatmulPreferenceCreate, &preference_);
    // Sums that are added in place are added in any order.
    const uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK &
                                ~uint32_t{CUBLASLT_REDUCTION_SCHEME_INPLACE};
    HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatmulPreferenceSetAttribute,
                            preference_,
                            CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                            &reductions, sizeof(reductions));
    HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatmulPreferenceSetAttribute,
                            preference_,
                            CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                            &workspace, sizeof(workspace));
    for (const cublasLtMatmulPreferenceAttributes_t matrix :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatmulPreferenceSetAttribute,
                              preference_, matrix, &alignment,
                              sizeof(alignment));
    }
    return OkStatus();
  }

  cublasLtMatmulDesc_t product() const { return product_; }
  cublasLtMatrixLayout_t first() const { return first_; }
  cublasLtMatrixLayout_t second() const { return second_; }
  cublasLtMatrixLayout_t result() const { return result_; }
  cublasLtMatmulPreference_t preference() const { return preference_; }

 private:
  template <typename T>
  Status Set(const GemmProblem& p, cublasLtMatmulDescAttributes_t attribute,
             const T& value) {
    HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatmulDescSetAttribute, product_,
                            attribute, &value, sizeof(value));
    return OkStatus();
  }
  static Status Layout(const GemmProblem& p, cudaDataType_t type, int64_t rows,
                       int64_t columns, int64_t ld, int64_t stride,
                       cublasLtMatrixLayout_t* out) {
    HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatrixLayoutCreate, out, type, rows,
                            columns, ld);
    if (p.batch == 1) return OkStatus();
    const int32_t batch = static_cast<int32_t>(p.batch);
    HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatrixLayoutSetAttribute, *out,
                            CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                            sizeof(batch));
    HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatrixLayoutSetAttribute, *out,
                            CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                            &stride, sizeof(stride));
    return OkStatus();
  }

  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr;
  cublasLtMatmulPreference_t preference_ = nullptr;
};

class CudaBlas : public Blas {
 public:
  explicit CudaBlas(int ordinal) : ordinal_(ordinal) {}
  ~CudaBlas() override {
    const ScopedDevice device(ordinal_);
    if (handle_ != nullptr) cublasLtDestroy(handle_);
  }
  Status Init() {
    const ScopedDevice device(ordinal_);
    HR_BLAS_RETURN_IF_ERROR(GemmProblem(), cublasLtCreate, &handle_);
    return OkStatus();
  }

  Status Gemm(Stream* stream, const GemmProblem& p, DeviceMemoryBase a,
              DeviceMemoryBase b, DeviceMemoryBase bias, DeviceMemoryBase c,
              ScratchAllocator* scratch) override {
    HR_RETURN_IF_ERROR(CheckGemm(p, a, b, bias, c));
    if (p.m == 0 || p.n == 0 || p.batch == 0) return OkStatus();
    if (p.batch > INT32_MAX) {
      return errors::Unimplemented(p.ToString(), ": more than 2^31 products");
    }
    const bool fused = p.activation == GpuActivation::kNone ||
                       p.activation == GpuActivation::kRelu;
    const bool dense =
        p.ldc == p.n && (p.batch == 1 || p.stride_c == p.m * p.n);
    if (!fused && !dense) {
      return errors::Unimplemented(p.ToString(),
                                   ": this activation wants a dense result");
    }
    HR_RETURN_IF_ERROR(stream->status());
    const ScopedDevice device(ordinal_);
    if (p.k == 0) {  // cuBLASLt has no empty matrices
      if (!dense || p.beta != 0 || p.has_bias) {
        return errors::Unimplemented(p.ToString(), ": an empty sum");
      }
      HR_RETURN_IF_ERROR(stream->Fill(c, 0,
                                      static_cast<size_t>(p.batch * p.m * p.n) *
                                          DataTypeObjectSize(p.type)));
      return LaunchActivation(stream, p.type, p.activation, c,
                              p.batch * p.m * p.n);
    }
    HR_RETURN_IF_ERROR(Multiply(stream, p, a, b, bias, c, scratch));
    if (fused) return OkStatus();
    return LaunchActivation(stream, p.type, p.activation, c,
                            p.batch * p.m * p.n);
  }

 private:
  // What the heuristic sees of a problem.
  using Key = std::array<int64_t, 18>;
  static Key KeyOf(const GemmProblem& p, bool relu, size_t workspace,
                   uint32_t alignment) {
    return {p.type,
            p.m,
            p.n,
            p.k,
            p.lda,
            p.ldb,
            p.ldc,
            p.batch,
            p.stride_a,
            p.stride_b,
            p.stride_c,
            p.transpose_a,
            p.transpose_b,
            p.has_bias,
            relu,
            static_cast<int64_t>(p.math),
            static_cast<int64_t>(workspace),
            alignment};
  }

  Status Multiply(Stream* stream, const GemmProblem& p, DeviceMemoryBase a,
                  DeviceMemoryBase b, DeviceMemoryBase bias, DeviceMemoryBase c,
                  ScratchAllocator* scratch) {
    const size_t room =
        scratch == nullptr
            ? 0
            : std::min<size_t>(kMostWorkspace,
                               static_cast<size_t>(std::max<int64_t>(
                                   0, scratch->MemoryLimit())));
    const Status s = MultiplyWithin(stream, p, a, b, bias, c, scratch, room);
    if (room == 0 || !errors::IsResourceExhausted(s)) return s;
    return MultiplyWithin(stream, p, a, b, bias, c, nullptr, 0);
  }

  Status MultiplyWithin(Stream* stream, const GemmProblem& p,
                        DeviceMemoryBase a, DeviceMemoryBase b,
                        DeviceMemoryBase bias, DeviceMemoryBase c,
                        ScratchAllocator* scratch, size_t room) {
    const bool relu = p.activation == GpuActivation::kRelu;
    Descriptors d;
    const uint32_t alignment =
        AlignmentOf({a.opaque, b.opaque, c.opaque, bias.opaque});
    HR_RETURN_IF_ERROR(d.Init(p, bias.opaque, relu, room, alignment));
    cublasLtMatmulHeuristicResult_t chosen;
    HR_RETURN_IF_ERROR(Choose(p, KeyOf(p, relu, room, alignment), d, &chosen));
    DeviceMemoryBase workspace;
    if (chosen.workspaceSize > 0) {
      HR_ASSIGN_OR_RETURN(
          workspace,
          scratch->Allocate(static_cast<int64_t>(chosen.workspaceSize)));
    }
    const float alpha = static_cast<float>(p.alpha);
    const float beta = static_cast<float>(p.beta);
    const bool wide = p.type == DT_DOUBLE;
    const void* const alpha_at =
        wide ? static_cast<const void*>(&p.alpha) : &alpha;
    const void* const beta_at =
        wide ? static_cast<const void*>(&p.beta) : &beta;
    HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatmul, handle_, d.product(), alpha_at,
                            b.opaque, d.first(), a.opaque, d.second(), beta_at,
                            c.opaque, d.result(), c.opaque, d.result(),
                            &chosen.algo, workspace.opaque, workspace.size,
                            CudaStreamOf(stream));
    return OkStatus();
  }

  Status Choose(const GemmProblem& p, const Key& key, const Descriptors& d,
                cublasLtMatmulHeuristicResult_t* out) {
    MutexLock lock(&mu_);
    const auto known = chosen_.find(key);
    if (known != chosen_.end()) {
      *out = known->second;
      return OkStatus();
    }
    int found = 0;
    HR_BLAS_RETURN_IF_ERROR(p, cublasLtMatmulAlgoGetHeuristic, handle_,
                            d.product(), d.first(), d.second(), d.result(),
                            d.result(), d.preference(), 1, out, &found);
    if (found == 0) {
      return errors::Unimplemented(
          p.ToString(), ": cublasLtMatmulAlgoGetHeuristic knows no algorithm");
    }
    if (chosen_.size() < kMaxChosen) chosen_.emplace(key, *out);
    return OkStatus();
  }

  static constexpr size_t kMaxChosen = 10000;
  const int ordinal_;
  cublasLtHandle_t handle_ = nullptr;
  Mutex mu_;
  std::map<Key, cublasLtMatmulHeuristicResult_t> chosen_ GUARDED_BY(mu_);
};

}  // namespace

StatusOr<std::unique_ptr<Blas>> NewCudaBlas(StreamExecutor* executor) {
  auto made = std::make_unique<CudaBlas>(executor->ordinal());
  HR_RETURN_IF_ERROR(made->Init());
  return std::unique_ptr<Blas>(std::move(made));
}

}  // namespace headrace::gpu
