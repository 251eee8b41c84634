// direct, backward input: the gradient of one input row is a sum of products
// of output gradient rows with transposed filter taps. The products go straight
// to the input pixels that a tap touches, which lie `stride` pixels apart:
//
//   dx[row, stride * x + tap] += dY[row', x, o] W[tap][c, o]'
//
// Each tile owns the input rows it writes, so tiles never meet, and the order
// of the sums is fixed. Taps that would fall outside are left out of the range
// of x; nothing is padded. Accepts every stride, dilation and grouping.
#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/lib/gemm_kernel.h"
#include "kernels/lib/visit_type.h"

namespace headrace::conv {
namespace {

// The output index along `dim` that takes tap t from input i, or -1.
int64_t OutputAt(const ConvParams& p, int dim, int64_t i, int64_t t) {
  const int64_t at = i + p.pad_before[dim] - t * p.dilation[dim];
  if (at < 0 || at % p.stride[dim] != 0) return -1;
  return at / p.stride[dim] < p.out[dim] ? at / p.stride[dim] : -1;
}

template <typename T>
void RunAs(const ConvArgs& args) {
  constexpr int64_t kPanel = kGemmPanel<T>;
  const ConvParams& p = *args.params;
  const T* dy = static_cast<const T*>(args.out_backprop);
  const T* filter = static_cast<const T*>(args.filter);
  T* dx = static_cast<T*>(args.result);
  const int64_t rows = p.batch * p.in[0] * p.in[1];
  const int64_t group_panels = CeilDiv(p.group_in(), kPanel);
  const Tiling tiles = Tiling::Of(rows, p.in[2], p.groups * group_panels,
                                  kPanel, p.taps() * p.group_out());
  const int64_t depth =
      CeilDiv(p.group_out(), CeilDiv(p.group_out(), kGemmDepth));

  args.pool->ParallelFor(tiles.size(), 1, [&](int64_t tile, int64_t) {
    alignas(64) T panel[kGemmDepth * kPanel];
    const int64_t r0 = tile / tiles.panel_tiles * tiles.rows;
    const int64_t r1 = std::min(rows, r0 + tiles.rows);
    const int64_t p0 = tile % tiles.panel_tiles * tiles.panels;
    const int64_t p1 = std::min(p.groups * group_panels, p0 + tiles.panels);
    for (int64_t at = p0; at < p1; ++at) {
      const int64_t j = at % group_panels * kPanel;
      const int64_t n = std::min(kPanel, p.group_in() - j);
      T* to = dx + at / group_panels * p.group_in() + j;
      for (int64_t pixel = r0 * p.in[2]; pixel < r1 * p.in[2]; ++pixel) {
        std::fill_n(to + pixel * p.in_channels, n, T(0));
      }
    }
    for (int64_t tap = 0; tap < p.taps(); ++tap) {
      const int64_t tz = tap / (p.filter[1] * p.filter[2]);
      const int64_t ty = tap / p.filter[2] % p.filter[1];
      const int64_t tx = tap % p.filter[2];
      // Outputs x0 <= x < x1 whose tap falls into the row.
      const int64_t shift = tx * p.dilation[2] - p.pad_before[2];
      const int64_t x0 = shift >= 0 ? 0 : CeilDiv(-shift, p.stride[2]);
      const int64_t x1 =
          p.in[2] <= shift
              ? 0
              : std::min(p.out[2], CeilDiv(p.in[2] - shift, p.stride[2]));
      if (x0 >= x1) continue;
      for (int64_t o = 0; o < p.group_out(); o += depth) {
        const int64_t k = std::min(depth, p.group_out() - o);
        for (int64_t at = p0; at < p1; ++at) {
          const int64_t group = at / group_panels;
          const int64_t j = at % group_panels * kPanel;
          const int64_t n = std::min(kPanel, p.group_in() - j);
          PackPanel(filter + tap * p.group_in() * p.out_channels +
                        group * p.group_out(),
                    p.out_channels, true, o, j, k, n, panel);
          const GemmKernel<T> kernel({.m = x1 - x0,
                                      .n = n,
                                      .k = k,
                                      .lda = p.out_channels,
                                      .ldb = n,
                                      .ldc = p.stride[2] * p.in_channels,
                                      .accumulate = true});
          for (int64_t row = r0; row < r1; ++row) {
            const int64_t y = OutputAt(p, 1, row % p.in[1], ty);
            const int64_t z = OutputAt(p, 0, row / p.in[1] % p.in[0], tz);
            if (y < 0 || z < 0) continue;
            const int64_t image = row / (p.in[0] * p.in[1]);
            const int64_t from =
                ((image * p.out[0] + z) * p.out[1] + y) * p.out[2] + x0;
            const int64_t to = row * p.in[2] + x0 * p.stride[2] + shift;
            kernel(dy + from * p.out_channels + group * p.group_out() + o,
                   panel, dx + to * p.in_channels + group * p.group_in() + j);
          }
        }
      }
    }
  });
}

class DirectBackwardInputConv : public ConvImplementation {
 public:
  const char* Name() const override { return "direct"; }
  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.format == DataFormat::kNHWC &&
           (p.dtype == DT_FLOAT || p.dtype == DT_DOUBLE || p.dtype == DT_INT32);
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const double idle = (1 + cost::kDirectBackwardLeadIn / p.group_out()) *
                        (1 + cost::kDirectBackwardColumns / p.out[2]) *
                        (CeilDiv(p.group_in(), 16) * 16.0 / p.group_in());
    const double calls =
        p.groups > 1 ? 1.0 * p.batch * p.in[0] * p.in[1] * p.taps() * p.groups
                     : 0;
    return p.flops() / (cost::kDirectBackwardRate * PeakFlopsPerNs(cpu)) *
               idle +
           cost::kDirectBackwardCall * calls;
  }
  void Run(const ConvArgs& args) const override {
    VisitType<float, double, int32_t>(args.params->dtype,
                                      [&]<typename T>(T) { RunAs<T>(args); });
  }
};

}  // namespace

const ConvImplementation* DirectBackwardInput() {
  static const DirectBackwardInputConv implementation;
  return &implementation;
}

}  // namespace headrace::conv
