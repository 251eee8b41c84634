// What the Winograd algorithms share: the transformed filter in panels of
// output channels, U[panel][e][c, o], and the products with one of them. A Cut
// says how an algorithm cuts its work; of its members kElements, depth,
// v_stride and x_stride are used here.
#ifndef HEADRACE_KERNELS_CONV_WINOGRAD_PANELS_H_
#define HEADRACE_KERNELS_CONV_WINOGRAD_PANELS_H_

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/conv/tiles.h"
#include "kernels/lib/gemm_kernel.h"

namespace headrace::conv {

inline constexpr int64_t kPanel = kGemmPanel<float>;
// Rows of channels begin on a cache line; those of successive elements are one
// line off a power of two, or all would compete for the same lines of the
// cache.
inline constexpr int64_t kLine = 16;
// Bounds the workspace, and keeps its size from overflowing.
inline constexpr int64_t kMostWinogradChannels = 1 << 14;

inline int64_t RoundUp(int64_t n, int64_t to) { return CeilDiv(n, to) * to; }

// Of float, edge x edge, without strides, dilation or groups. The depth of a
// volume counts as more images.
inline bool IsWinograd(const ConvParams& p, int64_t edge) {
  using Dims = ConvSizes::Dims;
  return p.filter == Dims{1, edge, edge} && p.stride == Dims{1, 1, 1} &&
         p.dilation == Dims{1, 1, 1} && p.format == DataFormat::kNHWC &&
         p.dtype == DT_FLOAT && p.groups == 1 && p.pad_before[0] == 0 &&
         p.pad_after[0] == 0 && p.in_channels <= kMostWinogradChannels &&
         p.out_channels <= kMostWinogradChannels;
}

// The output channels of a panel.
struct PanelChannels {
  int64_t first, count;
};
inline PanelChannels ChannelsOf(const ConvParams& p, int64_t panel) {
  const int64_t first = panel * kPanel;
  return {first, std::min(kPanel, p.out_channels - first)};
}

// Floats of U from one element of a panel of `count` channels to the next.
// Beyond them lies a line of zeros that nobody reads: a power of two would
// bring all elements of a tile to the same places of the first level cache.
inline int64_t ElementStride(const ConvParams& p, int64_t count) {
  return p.in_channels * count + kLine;
}
// Floats of U before a panel.
inline int64_t PanelStart(const ConvParams& p, int64_t elements,
                          int64_t panel) {
  return elements * panel * ElementStride(p, kPanel);
}

// What the forward algorithms have in common; E, the elements of a tile's
// transform.
template <int64_t E>
class WinogradForward : public ConvImplementation {
 public:
  bool AppliesEpilogue() const final { return true; }
  int64_t PreparedFilterBytes(const ConvParams& p) const final {
    const int64_t panels = CeilDiv(p.out_channels, kPanel);
    return sizeof(float) * E *
           (p.in_channels * p.out_channels + panels * kLine);
  }
  bool TakesUnalignedFilter(const ConvParams&) const final { return true; }

 protected:
  // Nanoseconds for all products of `elements` elements of transformed tiles.
  static double ProductsNs(const ConvParams& p, const CpuFeatures& cpu,
                           double elements) {
    return 2 * elements * p.in_channels * RoundUp(p.out_channels, kLine) /
           PeakFlopsPerNs(cpu) *
           (1 + cost::kWinogradLeadIn / static_cast<double>(p.in_channels));
  }
};

// Nanoseconds to write U, for an estimate.
inline double PrepareNs(double bytes) {
  return (bytes > kCachedFilter ? cost::kTransformFarFilterByte
                                : cost::kTransformFilterByte) *
         bytes;
}

// Fills U. transform(g, n, u) is called for the taps of one input channel and
// n output channels, and writes element e to u[e * ElementStride]; it costs
// `cost_ns`.
template <int64_t kElements, typename F>
void TransformPanels(ThreadPool* pool, const ConvParams& p, const float* g,
                     double cost_ns, const F& transform, float* u) {
  const int64_t panels = CeilDiv(p.out_channels, kPanel);
  // Some input channels for all panels: what is read lies together, and what is
  // written of a panel and an element is a page.
  constexpr int64_t kRows = 16;
  pool->ParallelForCost(
      CeilDiv(p.in_channels, kRows) * panels, kRows * cost_ns,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t panel = i % panels;
          const auto [o, n] = ChannelsOf(p, panel);
          const int64_t c0 = i / panels * kRows;
          const int64_t c1 = std::min(c0 + kRows, p.in_channels);
          float* const to = u + PanelStart(p, kElements, panel);
          for (int64_t c = c0; c < c1; ++c) {
            transform(g + c * p.out_channels + o, n, to + c * n);
          }
          if (c1 < p.in_channels) continue;
          for (int64_t e = 0; e < kElements; ++e) {
            std::fill_n(to + e * ElementStride(p, n) + p.in_channels * n, kLine,
                        0.0f);
          }
        }
      });
}

// X[e] = V[e] U[panel][e] for `count` tiles.
template <typename Cut>
void MultiplyElements(const ConvParams& p, const Cut& cut, const float* v,
                      const float* u, PanelChannels panel, int64_t count,
                      float* x) {
  const float* w = u + PanelStart(p, Cut::kElements, panel.first / kPanel);
  const GemmKernel<float> kernel({.m = count,
                                  .n = panel.count,
                                  .k = p.in_channels,
                                  .lda = cut.depth,
                                  .ldb = panel.count,
                                  .ldc = kPanel,
                                  .fetch_next_b = true});
  // After the last element of U comes the next panel.
  const int64_t u_stride = ElementStride(p, panel.count);
  for (int64_t e = 0; e < Cut::kElements; ++e) {
    kernel(v + e * cut.v_stride, w + e * u_stride, x + e * cut.x_stride,
           w + (e + 1) * u_stride);
  }
}

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_WINOGRAD_PANELS_H_
