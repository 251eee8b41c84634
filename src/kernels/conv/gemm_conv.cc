// The convolutions that are one matrix product, no data moved:
//   gemm_1x1   filter 1x1 without strides or padding: [pixels, C] x [C, O]
//   gemm_full  one output pixel that sees the whole input, as in the first
//              dense layer of VGG: [images, H*W*C] x [H*W*C, O]
// The gradients are the same product with one factor transposed.
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/lib/gemm.h"
#include "kernels/lib/visit_type.h"

namespace headrace {

bool ConvParams::IsPointwise() const {
  for (int i = 0; i < 3; ++i) {
    if (filter[i] != 1 || stride[i] != 1 || pad_before[i] != 0 ||
        pad_after[i] != 0) {
      return false;
    }
  }
  return true;
}

bool ConvParams::FilterIsInput() const {
  for (int i = 0; i < 3; ++i) {
    if (filter[i] != in[i] || out[i] != 1 || pad_before[i] != 0 ||
        pad_after[i] != 0 || (dilation[i] != 1 && filter[i] != 1)) {
      return false;
    }
  }
  return groups == 1;
}

namespace conv {
namespace {

// X [pixels, depth] x W [depth, out] -> Y [pixels, out], all with rows `ld*`
// elements apart.
struct Product {
  int64_t pixels, depth, out;
  int64_t ldx, ldw, ldy;
};

// Elements from the beginning of each matrix to this group's part of it.
struct Offsets {
  int64_t x = 0, w = 0, y = 0;
};

// The product of one group: `full` is gemm_full.
Product ProductOf(const ConvParams& p, bool full) {
  if (full) {
    const int64_t depth = p.taps() * p.in_channels;
    return {p.batch, depth,          p.out_channels,
            depth,   p.out_channels, p.out_channels};
  }
  return {p.batch * p.in_pixels(), p.group_in(),   p.group_out(),
          p.in_channels,           p.out_channels, p.out_channels};
}

// Two of the three pointers that `args` has are not null, or none, for
// GemmHeapBytes.
template <typename T>
GemmArgs<T> Arguments(ConvDirection d, const ConvArgs& args, const Product& m,
                      const Offsets& offsets) {
  const auto at = [](const void* p, int64_t offset) {
    return p == nullptr ? nullptr : static_cast<const T*>(p) + offset;
  };
  const auto result = [&](int64_t offset) {
    return args.result == nullptr ? nullptr
                                  : static_cast<T*>(args.result) + offset;
  };
  const T* x = at(args.input, offsets.x);
  const T* w = at(args.filter, offsets.w);
  const T* dy = at(args.out_backprop, offsets.y);
  switch (d) {
    case ConvDirection::kForward:
      return {.m = m.pixels,
              .n = m.out,
              .k = m.depth,
              .a = x,
              .lda = m.ldx,
              .b = w,
              .ldb = m.ldw,
              .c = result(offsets.y),
              .ldc = m.ldy};
    case ConvDirection::kBackwardInput:
      return {.m = m.pixels,
              .n = m.depth,
              .k = m.out,
              .a = dy,
              .lda = m.ldy,
              .b = w,
              .ldb = m.ldw,
              .transpose_b = true,
              .c = result(offsets.x),
              .ldc = m.ldx};
    case ConvDirection::kBackwardFilter:
      break;
  }
  return {.m = m.depth,
          .n = m.out,
          .k = m.pixels,
          .a = x,
          .lda = m.ldx,
          .transpose_a = true,
          .b = dy,
          .ldb = m.ldy,
          .c = result(offsets.w),
          .ldc = m.ldw};
}

class GemmConv : public ConvImplementation {
 public:
  GemmConv(ConvDirection d, bool full) : direction_(d), full_(full) {}
  const char* Name() const override { return full_ ? "gemm_full" : "gemm_1x1"; }
  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.format == DataFormat::kNHWC &&
           (p.dtype == DT_FLOAT || p.dtype == DT_DOUBLE ||
            p.dtype == DT_INT32) &&
           (full_ ? p.FilterIsInput() : p.IsPointwise());
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    // Thin groups leave the vector units idle.
    const double idle = 1 + (p.groups > 1 ? cost::kGemmGroupWaste /
                                                (p.group_in() + p.group_out())
                                          : 0);
    if (direction_ != ConvDirection::kForward) {
      return p.flops() / cost::kGemmBackwardFlopsPerNs * idle;
    }
    // A pass over the result follows for bias and activation, and the filter is
    // packed in each call where that pays.
    const int64_t rows = p.batch * p.out_pixels();
    return p.flops() / PeakFlopsPerNs(cpu) * idle +
           cost::kPass * p.out_elements() +
           (rows < 48 ? 0 : cost::kPackGemm * p.filter_elements());
  }
  bool TakesUnalignedFilter(const ConvParams& p) const override {
    return p.dtype != DT_INT32;  // as Gemm
  }
  // The groups follow each other.
  int64_t HeapBytes(const ConvParams& p) const override {
    const Product m = ProductOf(p, full_);
    int64_t bytes = 0;
    VisitType<float, double, int32_t>(p.dtype, [&]<typename T>(T) {
      bytes = GemmHeapBytes(Arguments<T>(direction_, {}, m, {}));
    });
    return bytes;
  }
  void Run(const ConvArgs& args) const override {
    VisitType<float, double, int32_t>(args.params->dtype,
                                      [&]<typename T>(T) { RunAs<T>(args); });
  }

 private:
  template <typename T>
  void RunAs(const ConvArgs& args) const {
    const ConvParams& p = *args.params;
    const Product m = ProductOf(p, full_);
    // FilterIsInput has one group.
    for (int64_t g = 0; g < p.groups; ++g) {
      const int64_t in = g * p.group_in(), out = g * p.group_out();
      Gemm(args.pool, Arguments<T>(direction_, args, m, {in, out, out}));
    }
  }
  const ConvDirection direction_;
  const bool full_;
};

}  // namespace

const ConvImplementation* Gemm1x1(ConvDirection d) {
  static const GemmConv all[] = {
      GemmConv(ConvDirection::kForward, false),
      GemmConv(ConvDirection::kBackwardInput, false),
      GemmConv(ConvDirection::kBackwardFilter, false)};
  return &all[static_cast<int>(d)];
}

const ConvImplementation* GemmFull(ConvDirection d) {
  static const GemmConv all[] = {
      GemmConv(ConvDirection::kForward, true),
      GemmConv(ConvDirection::kBackwardInput, true),
      GemmConv(ConvDirection::kBackwardFilter, true)};
  return &all[static_cast<int>(d)];
}

}  // namespace conv
}  // namespace headrace
