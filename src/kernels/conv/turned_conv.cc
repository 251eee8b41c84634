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
#include "kernels/conv/turned_filter.h"

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
    return forward_->EstimateNs(Turned(p), cpu) + TurnNs(p, cpu);
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
    TurnTaps(
        pool, p, static_cast<const float*>(filter), p.taps(),
        [&](int64_t t) { return p.taps() - 1 - t; }, turned);
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

double TurnNs(const ConvParams& p, const CpuFeatures& cpu) {
  if (p.constant_filter) return 0;
  const double filter = 1.0 * p.filter_elements();
  const bool cached = filter * sizeof(float) < cpu.l2_bytes * 4;
  return (cached ? cost::kTurnCached : cost::kTurn) * filter;
}

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
const ConvImplementation* TurnedFewOutputs() {
  static const TurnedConv implementation(FewOutputs());
  return &implementation;
}

}  // namespace headrace::conv
