// Backward input as a forward convolution: the gradient of the input is the
// gradient of the output, padded by what the filter reaches beyond it,
// convolved with the filter turned by 180 degrees and transposed:
//
//   dx[y, x, c] = sum dy[y + pad - ty, x + pad - tx, o] W[ty, tx][c, o]
//
// for strides of 1. What prepares filters for the forward convolution prepares
// the turned one; accuracy and name are those of that implementation.
#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"

namespace headrace::conv {
namespace {

// The forward convolution from dy to dx. Its padding may be negative.
ConvParams Turned(const ConvParams& p) {
  ConvParams q = p;
  std::swap(q.in, q.out);
  std::swap(q.in_channels, q.out_channels);
  for (int i = 0; i < 3; ++i) {
    const int64_t reach = (p.filter[i] - 1) * p.dilation[i];
    q.pad_before[i] = reach - p.pad_before[i];
    q.pad_after[i] = reach - p.pad_after[i];
  }
  return q;
}

// Writes W[taps - 1 - t][c, o] to turned[t][o, c].
void TurnFilter(ThreadPool* pool, const ConvParams& p, const float* filter,
                float* turned) {
  constexpr int64_t kEdge = 16;
  const int64_t rows = p.in_channels, columns = p.out_channels;
  const int64_t bands = CeilDiv(rows, kEdge);
  pool->ParallelForCost(
      p.taps() * bands, 0.6 * kEdge * columns, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t tap = i / bands;
          const float* from = filter + (p.taps() - 1 - tap) * rows * columns;
          float* to = turned + tap * rows * columns;
          const int64_t c0 = i % bands * kEdge;
          const int64_t c1 = std::min(rows, c0 + kEdge);
          for (int64_t o0 = 0; o0 < columns; o0 += kEdge) {
            // By way of a square of their own: columns are often a power of
            // two, and would compete for the same lines of the cache.
            const int64_t n = std::min(columns - o0, kEdge);
            float square[kEdge][kEdge];
            for (int64_t c = c0; c < c1; ++c) {
              const float* line = from + c * columns + o0;
              for (int64_t o = 0; o < n; ++o) square[o][c - c0] = line[o];
            }
            for (int64_t o = 0; o < n; ++o) {
              std::copy_n(square[o], c1 - c0, to + (o0 + o) * rows + c0);
            }
          }
        }
      });
}

// `forward` reads prepared filters alone, of floats.
class TurnedConv : public ConvImplementation {
 public:
  explicit TurnedConv(const ConvImplementation* forward) : forward_(forward) {}

  const char* Name() const override { return forward_->Name(); }
  bool Accepts(const ConvParams& p, const CpuFeatures& cpu) const override {
    return p.dtype == DT_FLOAT && p.groups == 1 &&
           p.stride == ConvSizes::Dims{1, 1, 1} &&
           forward_->Accepts(Turned(p), cpu);
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const double filter = 1.0 * p.filter_elements();
    const bool cached = filter * sizeof(float) < cpu.l2_bytes * 4;
    return forward_->EstimateNs(Turned(p), cpu) +
           (p.constant_filter
                ? 0
                : (cached ? cost::kTurnCached : cost::kTurn) * filter);
  }
  int64_t WorkspaceBytes(const ConvParams& p, int threads) const override {
    return forward_->WorkspaceBytes(Turned(p), threads);
  }
  // The turned filter stands before what is made of it.
  int64_t PreparedFilterBytes(const ConvParams& p) const override {
    return TurnedBytes(p) + forward_->PreparedFilterBytes(Turned(p));
  }
  void PrepareFilter(ThreadPool* pool, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    float* const turned = static_cast<float*>(prepared);
    TurnFilter(pool, p, static_cast<const float*>(filter), turned);
    forward_->PrepareFilter(pool, Turned(p), turned,
                            static_cast<char*>(prepared) + TurnedBytes(p));
  }
  void Run(const ConvArgs& args) const override {
    const ConvParams p = Turned(*args.params);
    ConvArgs turned = args;
    turned.params = &p;
    turned.input = args.out_backprop;
    turned.out_backprop = nullptr;
    turned.prepared_filter = static_cast<const char*>(args.prepared_filter) +
                             TurnedBytes(*args.params);
    forward_->Run(turned);
  }

 private:
  // Whole cache lines.
  static int64_t TurnedBytes(const ConvParams& p) {
    return CeilDiv(p.filter_elements() * int64_t{sizeof(float)}, 64) * 64;
  }

  const ConvImplementation* const forward_;
};

}  // namespace

const ConvImplementation* TurnedWinogradF2() {
  static const TurnedConv implementation(WinogradF2());
  return &implementation;
}
const ConvImplementation* TurnedWinogradF4() {
  static const TurnedConv implementation(WinogradF4());
  return &implementation;
}
const ConvImplementation* TurnedWinogradF2Of5() {
  static const TurnedConv implementation(WinogradF2Of5());
  return &implementation;
}
const ConvImplementation* TurnedWinogradLine3() {
  static const TurnedConv implementation(WinogradLine3());
  return &implementation;
}
const ConvImplementation* TurnedWinogradLine5() {
  static const TurnedConv implementation(WinogradLine5());
  return &implementation;
}
const ConvImplementation* TurnedWinogradLine7() {
  static const TurnedConv implementation(WinogradLine7());
  return &implementation;
}

}  // namespace headrace::conv
