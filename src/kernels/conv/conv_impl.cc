#include "kernels/conv/conv_impl.h"

#include <algorithm>

#include "base/machine.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/lib/cancellable_loops.h"

namespace headrace {

absl::Span<const ConvImplementation* const> ConvImplementations(
    ConvDirection direction) {
  using D = ConvDirection;
  static const ConvImplementation* const forward[] = {
      conv::Gemm1x1(D::kForward),
      conv::GemmFull(D::kForward),
      conv::Depthwise3x3(),
      conv::Depthwise5x5(),
      conv::Depthwise7x7(),
      conv::Depthwise(D::kForward),
      conv::WinogradF4(),
      conv::WinogradF2(),
      conv::WinogradF2Of5(),
      conv::WinogradLine3(),
      conv::WinogradLine5(),
      conv::WinogradLine7(),
      conv::FewChannels(),
      conv::FewOutputs(),
      conv::Grouped(),
      conv::Pointwise(),
      conv::DirectForward(),
      conv::Im2colForward(),
      conv::EigenForward(),
      conv::Bytes(),
      conv::Reference(D::kForward)};
  static const ConvImplementation* const backward_input[] = {
      conv::Gemm1x1(D::kBackwardInput),   conv::GemmFull(D::kBackwardInput),
      conv::Depthwise(D::kBackwardInput), conv::TurnedWinogradF4(),
      conv::TurnedWinogradF2(),           conv::TurnedWinogradF2Of5(),
      conv::TurnedWinogradLine3(),        conv::TurnedWinogradLine5(),
      conv::TurnedWinogradLine7(),        conv::TurnedFewOutputs(),
      conv::PhasedFewOutputs(),           conv::PhasedDirect(),
      conv::DirectBackwardInput(),        conv::PackedBackwardInput(),
      conv::Reference(D::kBackwardInput)};
  static const ConvImplementation* const backward_filter[] = {
      conv::Gemm1x1(D::kBackwardFilter),   conv::GemmFull(D::kBackwardFilter),
      conv::Depthwise(D::kBackwardFilter), conv::WinogradF4BackwardFilter(),
      conv::WinogradF2BackwardFilter(),    conv::WinogradF2Of5BackwardFilter(),
      conv::FewChannelsBackwardFilter(),   conv::Im2colBackwardFilter(),
      conv::EigenBackwardFilter(),         conv::Reference(D::kBackwardFilter)};
  switch (direction) {
    case D::kForward:
      return forward;
    case D::kBackwardInput:
      return backward_input;
    case D::kBackwardFilter:
      break;
  }
  return backward_filter;
}

namespace conv {
namespace {
MachineFigures FiguresOf(const CpuFeatures& cpu) {
  return &cpu == &HostCpu() ? HostFigures() : TableFigures(cpu);
}
}  // namespace

double PeakFlopsPerNs(const CpuFeatures& cpu) {
  return FiguresOf(cpu).flops_per_ns;
}

double FarByteNs(const CpuFeatures& cpu) {
  return 0.33 / FiguresOf(cpu).read_bytes_per_ns;
}
}  // namespace conv

double ConvCostNs(const ConvImplementation& i, const ConvParams& p,
                  const CpuFeatures& cpu) {
  const double ns = i.EstimateNs(p, cpu);
  if (!p.constant_filter) return ns;
  const int64_t more =
      i.PreparedFilterBytes(p) - p.filter_elements() * DataTypeSize(p.dtype);
  return ns + conv::cost::kFilterBytePrice * std::max<int64_t>(more, 0);
}

const ConvImplementation* ChooseConv(ConvDirection direction,
                                     const ConvParams& p,
                                     const CpuFeatures& cpu) {
  if (direction == ConvDirection::kForward &&
      conv::Bfloat16Products()->Accepts(p, cpu)) {
    return conv::Bfloat16Products();
  }
  const ConvImplementation* best = nullptr;
  double best_ns = 0;
  for (const ConvImplementation* i : ConvImplementations(direction)) {
    if (!i->Accepts(p, cpu)) continue;
    const double ns = ConvCostNs(*i, p, cpu);
    if (best == nullptr || ns < best_ns) {
      best = i;
      best_ns = ns;
    }
  }
  return best;
}

}  // namespace headrace
