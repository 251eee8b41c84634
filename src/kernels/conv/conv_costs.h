// The constants of the cost model (ConvImplementation::EstimateNs), in one
// place. An estimate is the sum of
//
//   products   multiply-adds over what a core does in a nanosecond, times what
//              short loops and unfilled vectors waste
//   memory     bytes over what a core reads in a nanosecond, from memory or
//              from the last level cache
//   the rest   nanoseconds of each call, result, gathered piece or transformed
//              element
//
// The machine's part is its figures (base/machine.h): of the table of known
// processors, or measured by `headrace doctor --calibrate`. The other constants
// are of the code: measured once, in ns, on Zen 4 and Zen 5, whose choices they
// give within 5 % of the best time of each network (`bench/conv_networks`, its
// column "lost"). Nanoseconds are of one core.
#ifndef HEADRACE_KERNELS_CONV_CONV_COSTS_H_
#define HEADRACE_KERNELS_CONV_CONV_COSTS_H_

#include <cstdint>

#include "base/cpu.h"

namespace headrace::conv {

// How many multiplications and additions of floats a core of such a processor
// does in a nanosecond. HostCpu() itself has the figures of this machine.
double PeakFlopsPerNs(const CpuFeatures& cpu);

// To read a byte again that has left the caches. Threads that read at once
// share the memory's pace, of which a core alone reaches a third.
double FarByteNs(const CpuFeatures& cpu);
// To read a byte from the last level cache.
inline constexpr double kNearByteNs = 0.004;

// Prepared filters of up to this many bytes may be read several times: they
// stay in the last level cache, of which a processor's cores share some 16 to
// 32 MB.
inline constexpr int64_t kCachedFilter = int64_t{12} << 20;

// To read a filter once that stays in the caches up to `stays` bytes.
inline double FilterReadNs(double bytes, const CpuFeatures& cpu,
                           int64_t stays = kCachedFilter) {
  return bytes *
         (bytes > static_cast<double>(stays) ? FarByteNs(cpu) : kNearByteNs);
}

namespace cost {

// What a call takes before its first product.
inline constexpr double kStart = 1000;
inline constexpr double kReferenceStart = 500, kReferenceFlop = 3;
inline constexpr double kDepthwiseStart = 500;
inline constexpr double kIm2colStart = 2000;
inline constexpr double kWinogradStart = 3000;
inline constexpr double kWinogradBackwardStart = 5000;

// For each element of a filter that is packed in every call.
inline constexpr double kPackFilter = 0.25;
inline constexpr double kPackFewChannels = 0.5;
inline constexpr double kPackGemm = 0.3;
inline constexpr double kPackIm2colTile = 0.1;  // and for each tile of pixels
// For each element of a filter that is turned for backward input: from the
// second level cache, and from beyond.
inline constexpr double kTurnCached = 0.9, kTurn = 2.5;

// For each element of the result: stored once, by the tile that computed it.
inline constexpr double kStorePointwise = 0.04;
inline constexpr double kStore = 0.06;
// The same, where the results do not fit the second level cache.
inline constexpr double kStoreFar = 0.1;
// Another pass over the result, for bias and activation.
inline constexpr double kPass = 0.1;

// direct: a call of the kernel of products; products that begin cost as much as
// so many more channels.
inline constexpr double kDirectCall = 25, kDirectLeadIn = 2.2;
// direct, backward input: the share of the peak; what begins cost as many
// channels and columns; a call for each group.
inline constexpr double kDirectBackwardRate = 0.95;
inline constexpr double kDirectBackwardLeadIn = 6;
inline constexpr double kDirectBackwardColumns = 2.5;
inline constexpr double kDirectBackwardCall = 60;
// For each element of a filter that is packed in panels, more of few output
// channels; and if the panels are kept until they are read.
inline constexpr double kTurnPanel = 0.05, kTurnPanelLeadIn = 30;
inline constexpr double kTurnedAhead = 0.25;

// few_channels: a row of results, and for each number that its lines gather.
inline constexpr double kFewChannelsRow = 50, kFewChannelsGather = 0.1;

// For each number of a row that a band copies between zeros.
inline constexpr double kBandCopy = 0.03;

// few_channels, backward filter: the share of the peak.
inline constexpr double kFewChannelsBackwardRate = 0.75;

// few_outputs: the share of the peak; a row of results, and for each result the
// lanes that are added.
inline constexpr double kFewOutputsRate = 0.8;
inline constexpr double kFewOutputsRow = 50, kFewOutputsSum = 1;

// grouped: the share of the peak, where columns of the filter share what is
// loaded, and where each loads its own, less in narrow images; for each sum.
inline constexpr double kGroupedRate = 0.85, kGroupedOneRate = 0.35;
inline constexpr double kGroupedNarrow = 0.7, kGroupedSum = 0.12;

// gemm: backward, flops in a nanosecond on all cores; the waste of thin groups,
// in channels.
inline constexpr double kGemmBackwardFlopsPerNs = 215;
inline constexpr double kGemmGroupWaste = 64;

// im2col: shares of the peak; Eigen's flops in a nanosecond; products that
// begin, in channels; for each number of a patch, and for each piece of it.
inline constexpr double kIm2colRate = 0.9, kIm2colBackwardRate = 0.925;
inline constexpr double kEigenFlopsPerNs = 20;
inline constexpr double kIm2colLeadIn = 4;
inline constexpr double kPatchForward = 0.05, kPatchForwardPiece = 4;
inline constexpr double kPatchBackward = 0.3, kPatchBackwardPiece = 3.5;

// depthwise: flops in a nanosecond at most, by direction and channels; the
// share of the peak; flops for each number of a vector's run.
inline constexpr double kDepthwiseFlopsPerNs = 35;
inline constexpr double kDepthwiseMultiplierFlopsPerNs = 15;
inline constexpr double kDepthwiseBackwardInputFlopsPerNs = 5;
inline constexpr double kDepthwiseRate = 0.3;
inline constexpr double kDepthwiseRunStart = 0.5, kDepthwiseRun = 1.2;
inline constexpr double kDepthwiseTilesRate = 0.6;

// winograd: for each element of a transformed tile, in and out; if the channels
// are no whole vectors, more; for each number of images that do not fit the
// caches; for each byte of a transformed filter; products that begin, in
// channels.
inline constexpr double kTransform = 0.16, kTransformOut = 0.12;
inline constexpr double kTransformLine = 0.12;
inline constexpr double kTransformTail = 11;
inline constexpr double kFarImage = 0.25;
inline constexpr double kTransformFilterByte = 0.18;
inline constexpr double kTransformFarFilterByte = 0.3;
inline constexpr double kWinogradLeadIn = 1.5;
// winograd, backward filter: for each sum of a chunk of tiles: beyond the last
// level cache, beyond the second, in it; products that begin, in tiles.
inline constexpr double kSumFar = 1.0, kSumNear = 0.3, kSumCached = 0.1;
inline constexpr double kLastSums = 0.4, kWinogradBackwardLeadIn = 8;

// bfloat16: of pairs of products, in terms of the peak of float32; for each
// number of the image that is rounded.
inline constexpr double kPairsOfPeak = 2.4, kRoundToPairs = 0.15;

// bytes: of a product, in terms of the peak of float32, with four products a
// lane and with pairs of 16 bits; for each number of the image that becomes a
// code; for each pixel that a tile looks up; for each result.
inline constexpr double kBytesOfPeak = 0.75, kBytePairsOfPeak = 2;
inline constexpr double kCode = 0.03, kByteTap = 1, kStoreBytes = 0.1;

// For each byte that a prepared filter takes beyond the filter's own: not a
// time but a price, a millisecond for 33 MB.
inline constexpr double kFilterBytePrice = 0.03;

}  // namespace cost
}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_CONV_COSTS_H_
