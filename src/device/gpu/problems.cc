// What the problems of Blas and Dnn have in common on every platform: their
// sizes, their names, and what is impossible.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "device/gpu/activation.h"
#include "device/gpu/blas.h"
#include "device/gpu/dnn.h"

namespace headrace::gpu {
namespace {

constexpr FusedActivation kActivations[] = {
    {"Relu", Tail::kRelu, GpuActivation::kRelu},
    {"Relu6", Tail::kRelu6, GpuActivation::kRelu6},
    {"Elu", Tail::kElu, GpuActivation::kElu},
    {"Tanh", Tail::kTanh, GpuActivation::kTanh},
    {"Sigmoid", Tail::kSigmoid, GpuActivation::kSigmoid},
    {"LeakyRelu", Tail::kLeakyRelu, GpuActivation::kNone}};

bool IsFloating(DataType t) {
  return t == DT_FLOAT || t == DT_HALF || t == DT_BFLOAT16 || t == DT_DOUBLE;
}

// The product, or -1 if a factor is negative or the product too large.
int64_t Product(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t f : factors) {
    if (f < 0 || __builtin_mul_overflow(product, f, &product)) return -1;
  }
  // A tensor of these is counted in bytes.
  return product > std::numeric_limits<int64_t>::max() / 8 ? -1 : product;
}

std::string Epilogue(bool bias, bool addend, GpuActivation activation) {
  return absl::StrCat(
      bias ? " +bias" : "", addend ? " +addend" : "",
      activation == GpuActivation::kNone ? "" : " ",
      activation == GpuActivation::kNone ? "" : GpuActivationName(activation));
}

std::string Square(const int64_t* v) { return absl::StrCat(v[0], "x", v[1]); }

// Of one matrix of a batch: the elements from its first to behind its last.
int64_t Extent(int64_t rows, int64_t columns, int64_t ld, int64_t batch,
               int64_t stride) {
  if (rows == 0 || columns == 0 || batch == 0) return 0;
  const int64_t last_row = Product({rows - 1, ld});
  const int64_t last_matrix = Product({batch - 1, stride});
  if (last_row < 0 || last_matrix < 0) return -1;
  int64_t sum;
  if (__builtin_add_overflow(last_row, last_matrix, &sum) ||
      __builtin_add_overflow(sum, columns, &sum)) {
    return -1;
  }
  return sum;
}

Status CheckMatrix(const GemmProblem& p, const char* name, int64_t rows,
                   int64_t columns, int64_t ld, int64_t stride,
                   const DeviceMemoryBase& memory) {
  if (ld < columns || ld < 1) {
    return errors::InvalidArgument(p.ToString(), ": rows of ", name, " have ",
                                   columns,
                                   " elements, its leading dimension is ", ld);
  }
  if (stride < 0) {
    return errors::InvalidArgument(p.ToString(), ": the stride of ", name,
                                   " is ", stride, ", wanted 0 or more");
  }
  const int64_t elements = Extent(rows, columns, ld, p.batch, stride);
  const int64_t bytes =
      elements < 0
          ? -1
          : Product(
                {elements, static_cast<int64_t>(DataTypeObjectSize(p.type))});
  if (bytes < 0 || static_cast<uint64_t>(bytes) > memory.size) {
    return errors::InvalidArgument(p.ToString(), ": ", name, " takes ", bytes,
                                   " bytes, its buffer has ", memory.size);
  }
  return OkStatus();
}

}  // namespace

const char* GpuActivationName(GpuActivation a) {
  if (a == GpuActivation::kNone) return "None";
  for (const FusedActivation& known : kActivations) {
    if (known.activation == a) return known.op;
  }
  return "unknown";
}

const FusedActivation* FindFusedActivation(absl::string_view op) {
  for (const FusedActivation& known : kActivations) {
    if (op == known.op) return &known;
  }
  return nullptr;
}

const char* LayoutName(DataLayout layout) {
  return layout == DataLayout::kNHWC ? "NHWC" : "NCHW";
}
const char* LayoutName(FilterLayout layout) {
  return layout == FilterLayout::kHWIO   ? "HWIO"
         : layout == FilterLayout::kOIHW ? "OIHW"
                                         : "OHWI";
}
const char* ConvKindName(ConvKind kind) {
  return kind == ConvKind::kForward         ? "ConvForward"
         : kind == ConvKind::kBackwardInput ? "ConvBackwardInput"
                                            : "ConvBackwardFilter";
}

// ---- Matrix products --------------------------------------------------------

GemmProblem GemmProblem::Dense(DataType type, int64_t m, int64_t n, int64_t k,
                               bool transpose_a, bool transpose_b,
                               int64_t batch) {
  GemmProblem p;
  p.type = type;
  p.m = m;
  p.n = n;
  p.k = k;
  p.transpose_a = transpose_a;
  p.transpose_b = transpose_b;
  p.lda = std::max<int64_t>(1, transpose_a ? m : k);
  p.ldb = std::max<int64_t>(1, transpose_b ? k : n);
  p.ldc = std::max<int64_t>(1, n);
  p.batch = batch;
  p.stride_a = std::max<int64_t>(0, Product({m, k}));
  p.stride_b = std::max<int64_t>(0, Product({k, n}));
  p.stride_c = std::max<int64_t>(0, Product({m, n}));
  return p;
}

std::string GemmProblem::ToString() const {
  return absl::StrCat("Gemm ", DataTypeString(type), " ", m, "x", n, "x", k,
                      transpose_a ? " a^T" : "", transpose_b ? " b^T" : "",
                      " batch ", batch, Epilogue(has_bias, false, activation));
}

Status CheckGemm(const GemmProblem& p, const DeviceMemoryBase& a,
                 const DeviceMemoryBase& b, const DeviceMemoryBase& bias,
                 const DeviceMemoryBase& c) {
  if (!IsFloating(p.type)) {
    return errors::InvalidArgument("Gemm: type ", DataTypeString(p.type),
                                   ", wanted half, bfloat16, float or double");
  }
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0) {
    return errors::InvalidArgument(p.ToString(), ": a dimension is negative");
  }
  const int64_t a_rows = p.transpose_a ? p.k : p.m;
  const int64_t b_rows = p.transpose_b ? p.n : p.k;
  HR_RETURN_IF_ERROR(CheckMatrix(p, "a", a_rows, p.transpose_a ? p.m : p.k,
                                 p.lda, p.stride_a, a));
  HR_RETURN_IF_ERROR(CheckMatrix(p, "b", b_rows, p.transpose_b ? p.k : p.n,
                                 p.ldb, p.stride_b, b));
  HR_RETURN_IF_ERROR(CheckMatrix(p, "c", p.m, p.n, p.ldc, p.stride_c, c));
  if (p.batch > 1 && p.stride_c == 0 && p.m > 0 && p.n > 0) {
    return errors::InvalidArgument(
        p.ToString(), ": the stride of c is 0, so that products overlap");
  }
  if (p.has_bias &&
      bias.size < static_cast<uint64_t>(p.n) * DataTypeObjectSize(p.type)) {
    return errors::InvalidArgument(p.ToString(), ": the buffer of bias has ",
                                   bias.size, " bytes, wanted ", p.n,
                                   " elements");
  }
  return OkStatus();
}

// ---- Convolutions -----------------------------------------------------------

int64_t ConvProblem::InputElements() const {
  return Product({batch, in_depth, input[0], input[1]});
}
int64_t ConvProblem::FilterElements() const {
  return groups < 1
             ? -1
             : Product({filter[0], filter[1], in_depth / groups, out_depth});
}
int64_t ConvProblem::OutputElements() const {
  return Product({batch, out_depth, output[0], output[1]});
}

std::string ConvProblem::ToString() const {
  return absl::StrCat(ConvKindName(kind), " ", DataTypeString(type), " ",
                      LayoutName(layout), " batch ", batch, " input ",
                      Square(input), "x", in_depth, " filter ", Square(filter),
                      " ", LayoutName(filter_layout), " groups ", groups,
                      " output ", Square(output), "x", out_depth, " padding ",
                      Square(padding), " stride ", Square(stride), " dilation ",
                      Square(dilation), math == MathMode::kTf32 ? " tf32" : "",
                      Epilogue(has_bias, has_addend, activation));
}

Status CheckConv(const ConvProblem& p) {
  if (!IsFloating(p.type)) {
    return errors::InvalidArgument(ConvKindName(p.kind), ": type ",
                                   DataTypeString(p.type),
                                   ", wanted half, bfloat16, float or double");
  }
  const auto impossible = [&](const auto&... why) {
    return errors::InvalidArgument(p.ToString(), ": ", why...);
  };
  if (p.groups < 1 || p.in_depth % p.groups != 0 ||
      p.out_depth % p.groups != 0) {
    return impossible("the groups do not divide the depths");
  }
  if (p.InputElements() < 0 || p.FilterElements() < 0 ||
      p.OutputElements() < 0) {
    return impossible("a size is negative or too large");
  }
  if (p.kind != ConvKind::kForward &&
      (p.has_bias || p.has_addend || p.activation != GpuActivation::kNone)) {
    return impossible("only the forward convolution has an epilogue");
  }
  for (int d = 0; d < 2; ++d) {
    const int64_t most = int64_t{1} << 30;
    if (p.filter[d] < 1 || p.stride[d] < 1 || p.dilation[d] < 1 ||
        p.padding[d] < 0 || p.filter[d] > most || p.stride[d] > most ||
        p.dilation[d] > most || p.padding[d] > most || p.input[d] > most) {
      return impossible("a filter, stride, dilation or padding is impossible");
    }
    const int64_t window = (p.filter[d] - 1) * p.dilation[d] + 1;
    const int64_t room = p.input[d] + 2 * p.padding[d] - window;
    const int64_t wanted = room < 0 ? 0 : room / p.stride[d] + 1;
    if (p.output[d] != wanted) {
      return impossible("output dimension ", d, " should be ", wanted);
    }
  }
  return OkStatus();
}

}  // namespace headrace::gpu
