// direct: forward convolution as a sum of small matrix products straight on the
// input. For one row of output pixels and one filter tap the input pixels lie
// `stride * channels` apart, so that they are the rows of a matrix already:
//
//   y[row, o] += X[row + tap, c] W[tap][c, o]        for every tap
//
// Taps that fall outside the image shorten the row; nothing is padded or
// copied. The filter is packed ahead in panels of output channels,
// W[panel][tap] [c, o]. Work is cut into tiles of pixels and panels; within a
// tile some rows by one panel of results stay in the first level cache until
// all taps and the epilogue are done. A pointwise convolution is one long row.
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "base/thread_pool.h"
#include "headrace/tensor_shape.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/lib/gemm_kernel.h"
#include "kernels/lib/visit_type.h"

namespace headrace::conv {
namespace {

constexpr int64_t kPixels = 64;  // of one panel of results, wanted
constexpr int64_t kDepth = 512;  // of one product, at most

// The same convolution with as few and long rows as possible.
ConvParams Flattened(const ConvParams& params) {
  ConvParams p = params;
  if (p.IsPointwise()) {
    const int64_t pixels = p.batch * p.in_pixels();
    p.batch = 1;
    p.in = p.out = {1, 1, pixels};
  }
  return p;
}

// Outputs [begin, end) along one dimension whose tap t falls inside the input.
struct Range {
  int64_t begin, end;
  Range(const ConvParams& p, int dim, int64_t t) {
    const int64_t shift = t * p.dilation[dim] - p.pad_before[dim];
    begin = shift >= 0 ? 0 : CeilDiv(-shift, p.stride[dim]);
    end = p.in[dim] <= shift ? 0 : CeilDiv(p.in[dim] - shift, p.stride[dim]);
    end = std::min(end, p.out[dim]);
    begin = std::min(begin, end);
  }
  bool Whole(const ConvParams& p, int dim) const {
    return begin == 0 && end == p.out[dim];
  }
};

// The tap that falls inside the image for every output, or -1.
int64_t WholeTap(const ConvParams& p) {
  int64_t tap = 0;
  for (int dim = 0; dim < 3; ++dim) {
    int64_t t = 0;
    while (t < p.filter[dim] && !Range(p, dim, t).Whole(p, dim)) ++t;
    if (t == p.filter[dim]) return -1;
    tap = tap * p.filter[dim] + t;
  }
  return tap;
}

// The few products that a tile consists of.
template <typename T>
class Kernels {
 public:
  using Shape = typename GemmKernel<T>::Shape;
  const GemmKernel<T>& Get(const Shape& s) {
    for (const auto& k : kernels_) {
      if (k.first.m == s.m && k.first.n == s.n && k.first.k == s.k &&
          k.first.accumulate == s.accumulate) {
        return k.second;
      }
    }
    kernels_.emplace_back(s, GemmKernel<T>(s));
    return kernels_.back().second;
  }

 private:
  absl::InlinedVector<std::pair<Shape, GemmKernel<T>>, 8> kernels_;
};

template <typename T>
class Tile {
 public:
  Tile(const ConvArgs& args, const ConvParams& p)
      : p_(p),
        in_(static_cast<const T*>(args.input)),
        filter_(static_cast<const T*>(args.prepared_filter)),
        out_(static_cast<T*>(args.result)),
        epilogue_(args.epilogue),
        segments_(
            CeilDiv(p.out[2], p.out[2] < 2 * kPixels ? 2 * kPixels : kPixels)),
        segment_(CeilDiv(p.out[2], segments_)),
        group_rows_(std::max<int64_t>(1, kPixels / segment_)),
        group_panels_(CeilDiv(p.group_out(), kPanel)),
        depth_(CeilDiv(p.group_in(), CeilDiv(p.group_in(), kDepth))),
        whole_tap_(WholeTap(p)) {}

  // Groups of units; a unit is a segment of a row. Segments of one place in the
  // row follow each other, so that a group's units are alike.
  int64_t rows() const { return p_.batch * p_.out[0] * p_.out[1]; }
  int64_t row_groups() const { return CeilDiv(rows(), group_rows_); }
  int64_t groups() const { return row_groups() * segments_; }
  int64_t group_pixels() const { return group_rows_ * segment_; }
  int64_t panels() const { return p_.groups * group_panels_; }

  void Run(int64_t g0, int64_t g1, int64_t p0, int64_t p1) const {
    Kernels<T> kernels;
    for (int64_t panel = p0; panel < p1; ++panel) {
      for (int64_t g = g0; g < g1; ++g) RunGroup(g, panel, &kernels);
    }
  }

 private:
  static constexpr int64_t kPanel = kGemmPanel<T>;

  void RunGroup(int64_t g, int64_t panel, Kernels<T>* kernels) const {
    const int64_t group = panel / group_panels_;
    const int64_t j = panel % group_panels_ * kPanel;
    const int64_t n = std::min(kPanel, p_.group_out() - j);
    const int64_t o = group * p_.group_out() + j;
    const int64_t r0 = g / segments_ * group_rows_;
    const int64_t r1 = std::min(rows(), r0 + group_rows_);
    const int64_t x0 = g % segments_ * segment_;
    const int64_t x1 = std::min(p_.out[2], x0 + segment_);
    const T* w = filter_ + p_.taps() * p_.group_in() * o;
    if (whole_tap_ >= 0) {
      Add(whole_tap_, r0, r1, x0, x1, group, o, n, w, true, kernels);
    } else {
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t x = x0; x < x1; ++x) {
          std::fill_n(out_ + (r * p_.out[2] + x) * p_.out_channels + o, n,
                      T(0));
        }
      }
    }
    for (int64_t tap = 0; tap < p_.taps(); ++tap) {
      if (tap == whole_tap_) continue;
      Add(tap, r0, r1, x0, x1, group, o, n, w, false, kernels);
    }
    if (epilogue_.empty()) return;
    for (int64_t r = r0; r < r1; ++r) {
      ApplyEpilogue(epilogue_,
                    {.row = r * p_.out[2] + x0,
                     .rows = x1 - x0,
                     .channel = o,
                     .channels = n,
                     .row_size = p_.out_channels},
                    out_);
    }
  }

  // The products of one tap, for rows [r0, r1) and columns [x0, x1).
  void Add(int64_t tap, int64_t r0, int64_t r1, int64_t x0, int64_t x1,
           int64_t group, int64_t o, int64_t n, const T* w, bool first,
           Kernels<T>* kernels) const {
    const int64_t tz = tap / (p_.filter[1] * p_.filter[2]);
    const int64_t ty = tap / p_.filter[2] % p_.filter[1];
    const int64_t tx = tap % p_.filter[2];
    const Range zs(p_, 0, tz), ys(p_, 1, ty), xs(p_, 2, tx);
    x0 = std::max(x0, xs.begin);
    x1 = std::min(x1, xs.end);
    if (x0 >= x1) return;
    const int64_t in_x =
        x0 * p_.stride[2] + tx * p_.dilation[2] - p_.pad_before[2];
    for (int64_t c = 0; c < p_.group_in(); c += depth_) {
      const int64_t k = std::min(depth_, p_.group_in() - c);
      const GemmKernel<T>& kernel =
          kernels->Get({.m = x1 - x0,
                        .n = n,
                        .k = k,
                        .lda = p_.stride[2] * p_.in_channels,
                        .ldb = n,
                        .ldc = p_.out_channels,
                        .accumulate = !first || c > 0});
      for (int64_t r = r0; r < r1; ++r) {
        const int64_t y = r % p_.out[1], z = r / p_.out[1] % p_.out[0];
        if (y < ys.begin || y >= ys.end || z < zs.begin || z >= zs.end) {
          continue;
        }
        const int64_t image = r / (p_.out[1] * p_.out[0]);
        const int64_t in_z =
            z * p_.stride[0] + tz * p_.dilation[0] - p_.pad_before[0];
        const int64_t in_y =
            y * p_.stride[1] + ty * p_.dilation[1] - p_.pad_before[1];
        const int64_t from =
            ((image * p_.in[0] + in_z) * p_.in[1] + in_y) * p_.in[2] + in_x;
        kernel(in_ + from * p_.in_channels + group * p_.group_in() + c,
               w + (tap * p_.group_in() + c) * n,
               out_ + (r * p_.out[2] + x0) * p_.out_channels + o);
      }
    }
  }

  const ConvParams& p_;
  const T* const in_;
  const T* const filter_;
  T* const out_;
  const Epilogue epilogue_;
  const int64_t segments_, segment_;  // of a row, and pixels in each
  const int64_t group_rows_, group_panels_, depth_, whole_tap_;
};

class DirectConv : public ConvImplementation {
 public:
  const char* Name() const override { return "direct"; }
  bool AppliesEpilogue() const override { return true; }
  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.format == DataFormat::kNHWC &&
           (p.dtype == DT_FLOAT || p.dtype == DT_DOUBLE || p.dtype == DT_INT32);
  }
  double EstimateNs(const ConvParams& params,
                    const CpuFeatures& cpu) const override {
    const ConvParams p = Flattened(params);
    // Products waste the part of their last vector that is not there, and spend
    // some time starting: of shallow ones that is most of it.
    const double out_depth = 1.0 * CeilDiv(p.group_out(), 16) * 16 * p.groups;
    const double products =
        p.flops() / p.out_channels * out_depth / PeakFlopsPerNs(cpu) *
        (1 + cost::kDirectLeadIn / static_cast<double>(p.group_in()));
    const double calls = 1.0 * p.batch * p.out[0] * p.out[1] *
                         CeilDiv(p.out[2], kPixels) * p.taps() * p.groups *
                         CeilDiv(p.group_out(), kGemmPanel<float>);
    const double prepare =
        p.constant_filter ? 0 : cost::kPackFilter * p.filter_elements();
    return cost::kStart + products + cost::kDirectCall * calls +
           cost::kStore * p.out_elements() + FilterNs(p, cpu) + prepare;
  }
  int64_t PreparedFilterBytes(const ConvParams& p) const override {
    return p.filter_elements() * DataTypeSize(p.dtype);
  }
  bool TakesUnalignedFilter(const ConvParams&) const override { return true; }
  void PrepareFilter(ThreadPool* pool, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    VisitType<float, double, int32_t>(
        p.dtype, [&]<typename T>(T) { Pack<T>(pool, p, filter, prepared); });
  }
  void Run(const ConvArgs& args) const override {
    VisitType<float, double, int32_t>(args.params->dtype,
                                      [&]<typename T>(T) { RunAs<T>(args); });
  }

 private:
  // The filter is read from memory where it does not stay in the caches.
  static double FilterNs(const ConvParams& p, const CpuFeatures& cpu) {
    return FilterReadNs(1.0 * p.filter_elements() * DataTypeSize(p.dtype), cpu);
  }

  template <typename T>
  static void Pack(ThreadPool* pool, const ConvParams& p, const void* filter,
                   void* prepared) {
    constexpr int64_t kPanel = kGemmPanel<T>;
    const T* from = static_cast<const T*>(filter);
    T* to = static_cast<T*>(prepared);
    const int64_t rows = p.taps() * p.group_in();
    const int64_t group_panels = CeilDiv(p.group_out(), kPanel);
    constexpr int64_t kRows = 64;  // of a piece of work
    const int64_t panels = p.groups * group_panels;
    pool->ParallelForCost(
        panels * CeilDiv(rows, kRows), 0.2 * kRows * kPanel,
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            // Rows for all panels: what is read lies together.
            const int64_t panel = i % panels, r0 = i / panels * kRows;
            const int64_t j = panel % group_panels * kPanel;
            const int64_t n = std::min(kPanel, p.group_out() - j);
            const int64_t o = panel / group_panels * p.group_out() + j;
            PackPanel(from + o, p.out_channels, false, r0, 0,
                      std::min(kRows, rows - r0), n, to + rows * o + r0 * n);
          }
        });
  }

  template <typename T>
  static void RunAs(const ConvArgs& args) {
    const ConvParams p = Flattened(*args.params);
    const Tile<T> tile(args, p);
    // About 256 pixels, and enough panels to be worth a thread's while; but
    // enough blocks, too, for threads to share them evenly.
    constexpr int64_t kBlocks = 16;
    const double unit_flops =
        2.0 * tile.group_pixels() * kGemmPanel<T> * p.taps() * p.group_in();
    int64_t groups = std::min(
        tile.groups(), CeilDiv(256, std::max<int64_t>(1, tile.group_pixels())));
    int64_t panels = std::clamp<int64_t>(
        static_cast<int64_t>(8e6 / (groups * unit_flops)), 1, tile.panels());
    const auto blocks = [&] {
      return CeilDiv(tile.groups(), groups) * CeilDiv(tile.panels(), panels);
    };
    while (blocks() < kBlocks && groups * panels > 1 &&
           groups * panels * unit_flops > 2e6) {
      int64_t& cut = groups > 1 ? groups : panels;
      cut = CeilDiv(cut, 2);
    }
    const int64_t across = CeilDiv(tile.panels(), panels);
    args.pool->ParallelFor(
        CeilDiv(tile.groups(), groups) * across, 1, [&](int64_t i, int64_t) {
          const int64_t g = i / across * groups, q = i % across * panels;
          tile.Run(g, std::min(tile.groups(), g + groups), q,
                   std::min(tile.panels(), q + panels));
        });
  }
};

}  // namespace

const ConvImplementation* DirectForward() {
  static const DirectConv implementation;
  return &implementation;
}

}  // namespace headrace::conv
