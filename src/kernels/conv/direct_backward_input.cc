// direct, backward input: the gradient of one input row is a sum of products
// of output gradient rows with transposed filter taps. The products go straight
// to the input pixels that a tap touches, which lie `stride` pixels apart:
//
//   dx[row, stride * x + tap] += dY[row', x, o] W[tap][c, o]'
//
// Each tile owns the input rows it writes, so tiles never meet, and the order
// of the sums is fixed. Taps that would fall outside are left out of the range
// of x; nothing is padded. Accepts every stride, dilation and grouping.
//
// Products read the filter in panels of input channels. "direct_packed" packs
// them ahead, for all tiles; "direct" packs each where it is read, which is
// less work where few tiles read it.
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

// Panels of a group's input channels.
template <typename T>
struct Panels {
  static constexpr int64_t kPanel = kGemmPanel<T>;
  const ConvParams& p;
  const int64_t of_group;
  const int64_t depth;  // output channels of one product

  explicit Panels(const ConvParams& params)
      : p(params),
        of_group(CeilDiv(p.group_in(), kPanel)),
        depth(CeilDiv(p.group_out(), CeilDiv(p.group_out(), kGemmDepth))) {}

  int64_t count() const { return p.groups * of_group; }
  int64_t group(int64_t i) const { return i / of_group; }
  // Channels [first, first + width) of the group.
  int64_t first(int64_t i) const { return i % of_group * kPanel; }
  int64_t width(int64_t i) const {
    return std::min(kPanel, p.group_in() - first(i));
  }
  int64_t channel(int64_t i) const {
    return group(i) * p.group_in() + first(i);
  }
  // Where the packed panel [o, c] of a tap begins, from output channel `o` on.
  int64_t At(int64_t i, int64_t tap, int64_t o) const {
    return channel(i) * p.taps() * p.group_out() +
           (tap * p.group_out() + o) * width(i);
  }
};

// Packs panel `i` of a tap, from output channel `o` on.
template <typename T>
void Pack(const Panels<T>& panels, const T* filter, int64_t i, int64_t tap,
          int64_t o, T* panel) {
  const ConvParams& p = panels.p;
  PackPanel(filter + tap * p.group_in() * p.out_channels +
                panels.group(i) * p.group_out(),
            p.out_channels, true, o, panels.first(i),
            std::min(panels.depth, p.group_out() - o), panels.width(i), panel);
}

template <typename T>
void PackAs(ThreadPool* pool, const ConvParams& p, const void* filter,
            void* prepared) {
  const Panels<T> panels(p);
  T* const to = static_cast<T*>(prepared);
  pool->ParallelForCost(
      panels.count() * p.taps(),
      static_cast<double>(p.group_out() * panels.kPanel),
      [&](int64_t begin, int64_t end) {
        for (int64_t work = begin; work < end; ++work) {
          const int64_t i = work / p.taps(), tap = work % p.taps();
          for (int64_t o = 0; o < p.group_out(); o += panels.depth) {
            Pack(panels, static_cast<const T*>(filter), i, tap, o,
                 to + panels.At(i, tap, o));
          }
        }
      });
}

int64_t Rows(const ConvParams& p) { return p.batch * p.in[0] * p.in[1]; }

template <typename T>
Tiling TilingOf(const ConvParams& p) {
  const Panels<T> panels(p);
  return Tiling::Of(Rows(p), p.in[2], panels.count(), panels.kPanel,
                    p.taps() * p.group_out());
}

template <typename T>
void RunAs(const ConvArgs& args) {
  const ConvParams& p = *args.params;
  const T* dy = static_cast<const T*>(args.out_backprop);
  const T* filter = static_cast<const T*>(args.filter);
  const T* packed = static_cast<const T*>(args.prepared_filter);
  T* dx = static_cast<T*>(args.result);
  const int64_t rows = Rows(p);
  const Panels<T> panels(p);
  const Tiling tiles = TilingOf<T>(p);

  args.pool->ParallelFor(tiles.size(), 1, [&](int64_t tile, int64_t) {
    alignas(64) T panel[kGemmDepth * panels.kPanel];
    const int64_t r0 = tile / tiles.panel_tiles * tiles.rows;
    const int64_t r1 = std::min(rows, r0 + tiles.rows);
    const int64_t p0 = tile % tiles.panel_tiles * tiles.panels;
    const int64_t p1 = std::min(panels.count(), p0 + tiles.panels);
    for (int64_t i = p0; i < p1; ++i) {
      for (int64_t pixel = r0 * p.in[2]; pixel < r1 * p.in[2]; ++pixel) {
        std::fill_n(dx + pixel * p.in_channels + panels.channel(i),
                    panels.width(i), T(0));
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
      for (int64_t o = 0; o < p.group_out(); o += panels.depth) {
        for (int64_t i = p0; i < p1; ++i) {
          const GemmKernel<T> kernel(
              {.m = x1 - x0,
               .n = panels.width(i),
               .k = std::min(panels.depth, p.group_out() - o),
               .lda = p.out_channels,
               .ldb = panels.width(i),
               .ldc = p.stride[2] * p.in_channels,
               .accumulate = true});
          const T* taps = panel;
          if (packed != nullptr) {
            taps = packed + panels.At(i, tap, o);
          } else {
            Pack(panels, filter, i, tap, o, panel);
          }
          const int64_t first_out = panels.group(i) * p.group_out() + o;
          for (int64_t row = r0; row < r1; ++row) {
            const int64_t y = OutputAt(p, 1, row % p.in[1], ty);
            const int64_t z = OutputAt(p, 0, row / p.in[1] % p.in[0], tz);
            if (y < 0 || z < 0) continue;
            const int64_t image = row / (p.in[0] * p.in[1]);
            const int64_t from =
                ((image * p.out[0] + z) * p.out[1] + y) * p.out[2] + x0;
            const int64_t to = row * p.in[2] + x0 * p.stride[2] + shift;
            kernel(dy + from * p.out_channels + first_out, taps,
                   dx + to * p.in_channels + panels.channel(i));
          }
        }
      }
    }
  });
}

class DirectBackwardInputConv : public ConvImplementation {
 public:
  DirectBackwardInputConv(const char* name, bool ahead)
      : name_(name), ahead_(ahead) {}

  const char* Name() const override { return name_; }
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
    const double pack_once =
        static_cast<double>(p.filter_elements()) *
        (cost::kTurnPanel +
         cost::kTurnPanelLeadIn /
             static_cast<double>(std::min(p.group_out(), kGemmDepth)));
    const double pack =
        !ahead_ ? pack_once * static_cast<double>(TilingOf<float>(p).row_tiles)
        : p.constant_filter
            ? 0
            : pack_once + cost::kTurnedAhead * p.filter_elements();
    return p.flops() / (cost::kDirectBackwardRate * PeakFlopsPerNs(cpu)) *
               idle +
           cost::kDirectBackwardCall * calls + pack;
  }
  int64_t PreparedFilterBytes(const ConvParams& p) const override {
    return ahead_ ? p.filter_elements() * DataTypeSize(p.dtype) : 0;
  }
  bool TakesUnalignedFilter(const ConvParams&) const override { return true; }
  void PrepareFilter(ThreadPool* pool, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    VisitType<float, double, int32_t>(
        p.dtype, [&]<typename T>(T) { PackAs<T>(pool, p, filter, prepared); });
  }
  void Run(const ConvArgs& args) const override {
    VisitType<float, double, int32_t>(args.params->dtype,
                                      [&]<typename T>(T) { RunAs<T>(args); });
  }

 private:
  const char* const name_;
  const bool ahead_;
};

}  // namespace

const ConvImplementation* DirectBackwardInput() {
  static const DirectBackwardInputConv implementation("direct", false);
  return &implementation;
}

const ConvImplementation* PackedBackwardInput() {
  static const DirectBackwardInputConv implementation("direct_packed", true);
  return &implementation;
}

}  // namespace headrace::conv
