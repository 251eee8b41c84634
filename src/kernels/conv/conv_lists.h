// The implementations by file, for the lists in conv_impl.cc. Each is a
// constant that lives for ever.
#ifndef HEADRACE_KERNELS_CONV_CONV_LISTS_H_
#define HEADRACE_KERNELS_CONV_CONV_LISTS_H_

#include "kernels/conv/conv_impl.h"

namespace headrace::conv {

// gemm_conv.cc: the cases that are one matrix product, in every direction.
const ConvImplementation* Gemm1x1(ConvDirection d);
const ConvImplementation* GemmFull(ConvDirection d);
// pointwise_conv.cc
const ConvImplementation* Pointwise();
// direct_conv.cc, direct_backward_input.cc
const ConvImplementation* DirectForward();
const ConvImplementation* DirectBackwardInput();
const ConvImplementation* PackedBackwardInput();
// im2col_conv.cc: with generated code, and with Eigen's products alone.
const ConvImplementation* Im2colForward();
const ConvImplementation* EigenForward();
const ConvImplementation* Im2colBackwardFilter();
const ConvImplementation* EigenBackwardFilter();
// winograd.cc
const ConvImplementation* WinogradF2();
const ConvImplementation* WinogradF4();
const ConvImplementation* WinogradF2Of5();
// winograd_line.cc
const ConvImplementation* WinogradLine3();
const ConvImplementation* WinogradLine5();
const ConvImplementation* WinogradLine7();
// turned_conv.cc: backward input by these.
const ConvImplementation* TurnedWinogradF2();
const ConvImplementation* TurnedWinogradF4();
const ConvImplementation* TurnedWinogradF2Of5();
const ConvImplementation* TurnedWinogradLine3();
const ConvImplementation* TurnedWinogradLine5();
const ConvImplementation* TurnedWinogradLine7();
const ConvImplementation* TurnedFewOutputs();
// phased_conv.cc: backward input with strides by these.
const ConvImplementation* PhasedDirect();
const ConvImplementation* PhasedFewOutputs();
// winograd_backward_filter.cc
const ConvImplementation* WinogradF2BackwardFilter();
const ConvImplementation* WinogradF4BackwardFilter();
const ConvImplementation* WinogradF2Of5BackwardFilter();
// few_channels_conv.cc, few_channels_backward_filter.cc
const ConvImplementation* FewChannels();
const ConvImplementation* FewChannelsBackwardFilter();
// few_outputs_conv.cc
const ConvImplementation* FewOutputs();
// grouped_conv.cc
const ConvImplementation* Grouped();
// depthwise_tiles.cc, depthwise_conv.cc
const ConvImplementation* Depthwise3x3();
const ConvImplementation* Depthwise5x5();
const ConvImplementation* Depthwise7x7();
const ConvImplementation* Depthwise(ConvDirection d);
// bfloat16_conv.cc: for params that ask for it.
const ConvImplementation* Bfloat16Products();
// byte_conv.cc: for params with byte_levels.
const ConvImplementation* Bytes();
// reference_conv.cc
const ConvImplementation* Reference(ConvDirection d);

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_CONV_LISTS_H_
