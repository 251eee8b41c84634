#include "kernels/conv/conv_bands.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/conv_rows.h"
#include "kernels/conv/tiles.h"

namespace headrace {

namespace {

using conv::CeilDiv;

constexpr int64_t kFewestRows = 2;
// What lies between must be larger than this: less stays in the caches anyway.
constexpr int64_t kLeastBytes = 512 << 10;
// Rows that a thread takes at once, at least: enough that those which its
// neighbours expand, too, do not matter much, few enough for an even share.
constexpr int64_t kPieceRows = 6;
// Of the 1x1 filters, which are read again for each band.
constexpr int64_t kMostFilterBytes = 320 << 10;

// Each pixel by itself.
bool IsPointwise(const ConvParams& p, const CpuFeatures& cpu) {
  return p.IsPointwise() && conv::Pointwise()->Accepts(p, cpu);
}

int64_t RoundUp(int64_t n) { return CeilDiv(n, 16) * 16; }

// Rows of the input that `rows` of the result see.
int64_t SeenRows(const ConvParams& p, int64_t rows) {
  return (rows - 1) * p.stride[1] + p.filter[1];
}

// Into how many pieces of work an image is cut: a number that a few threads
// share evenly.
int64_t Pieces(const ConvParams& p) {
  const int64_t pieces = std::max<int64_t>(p.out[1] / kPieceRows, 1);
  return pieces < 4 ? pieces : pieces / 4 * 4;
}

}  // namespace

int64_t ConvBands::Sizes::bytes() const {
  return (expanded + filtered) * int64_t{sizeof(float)};
}

ConvBands::Sizes ConvBands::SizesFor(int64_t rows) const {
  // The last band of an image may have a row more than the others.
  const ConvParams& p = depthwise_;
  const int64_t in_row = p.in[2] * p.in_channels;
  const int64_t out_row = p.out[2] * p.in_channels;
  return {expands_ ? RoundUp(SeenRows(p, rows + 1) * in_row) : 0,
          RoundUp((rows + 1) * out_row)};
}

ConvBands::ConvBands(absl::Span<const ConvParams> params, int threads,
                     const CpuFeatures& cpu)
    : threads_(std::min(threads, conv::ScratchSlots::kMost)) {
  if (params.size() != 2 && params.size() != 3) return;
  expands_ = params.size() == 3;
  depthwise_ = params[params.size() - 2];
  const ConvParams& p = depthwise_;
  const ConvParams& project = params.back();
  if (expands_) expand_ = params[0];
  if (!conv::Depthwise3x3()->Accepts(p, cpu) || !IsPointwise(project, cpu) ||
      (expands_ && !IsPointwise(expand_, cpu)) || p.in[0] != 1) {
    return;
  }
  constexpr int64_t kFloat = sizeof(float);
  const int64_t between = p.out_elements() + (expands_ ? p.in_elements() : 0);
  const int64_t filters =
      project.filter_elements() + (expands_ ? expand_.filter_elements() : 0);
  if (between * kFloat < kLeastBytes || filters * kFloat > kMostFilterBytes) {
    return;
  }
  // As many rows as the cache holds.
  int64_t rows = kFewestRows;
  const int64_t piece_rows = CeilDiv(p.out[1], Pieces(p));
  while (rows < piece_rows &&
         SizesFor(rows + kFewestRows).bytes() <=
             (expands_ ? cpu.l2_bytes / 2 : cpu.l2_bytes / 8)) {
    rows += kFewestRows;
  }
  if (SizesFor(rows).bytes() > cpu.l2_bytes * 3 / 4) return;
  const double twice =
      1.0 * SeenRows(p, piece_rows) / (piece_rows * p.stride[1]) - 1;
  const double lost =
      expands_ ? expand_.flops() * twice / conv::PeakFlopsPerNs(cpu) : 0;
  // What lies between would be written to memory and read again.
  if (lost < 2 * conv::FarByteNs(cpu) * between * kFloat) rows_ = rows;
}

int64_t ConvBands::WorkspaceBytes() const {
  return threads_ * SizesFor(rows_).bytes() +
         RoundUp(depthwise_.in_channels) * int64_t{sizeof(float)};
}

void ConvBands::Run(ThreadPool* pool, absl::Span<const BandStage> stages,
                    const float* in, float* out, void* workspace) const {
  const ConvParams& p = depthwise_;
  const BandStage& depthwise = stages[stages.size() - 2];
  const BandStage& project = stages.back();
  const VectorTail expand_tail(stages.front().epilogue),
      depthwise_tail(depthwise.epilogue), project_tail(project.epilogue);
  float* const zeros = static_cast<float*>(workspace);
  std::fill_n(zeros, p.in_channels, 0.0f);
  const Sizes sizes = SizesFor(rows_);
  conv::ScratchSlots slots(zeros + RoundUp(p.in_channels), sizes.bytes(),
                           threads_);
  const int64_t in_row = p.in[2] * stages.front().params->in_channels;
  const int64_t expanded_row = p.in[2] * p.in_channels;
  // More for more threads: the bits are the same.
  const int64_t pieces = std::max(
      Pieces(p),
      std::min<int64_t>(CeilDiv(threads_, p.batch), p.out[1] / kFewestRows));
  pool->ParallelFor(p.batch * pieces, 1, [&](int64_t i, int64_t) {
    const conv::ScratchSlots::Slot slot(&slots);
    float* const expanded = static_cast<float*>(slot.data());
    float* const filtered = expanded + sizes.expanded;
    const int64_t n = i / pieces, piece = i % pieces;
    // Rows are computed in pairs.
    const int64_t begin = p.out[1] * piece / pieces / 2 * 2;
    const int64_t end =
        piece + 1 < pieces ? p.out[1] * (piece + 1) / pieces / 2 * 2 : p.out[1];
    // A band has at least two rows.
    const int64_t bands =
        std::max<int64_t>(1, CeilDiv(end - begin - (kFewestRows - 1), rows_));
    int64_t first = 0, done = 0;  // rows [first, done) are expanded
    for (int64_t band = 0; band < bands; ++band) {
      const int64_t y = begin + band * rows_;
      const int64_t y_end = band + 1 < bands ? y + rows_ : end;
      // Input rows [from, to) are seen.
      const int64_t at = y * p.stride[1] - p.pad_before[1];
      const int64_t from = std::clamp<int64_t>(at, 0, p.in[1]);
      const int64_t to =
          std::clamp<int64_t>(at + SeenRows(p, y_end - y), from, p.in[1]);
      const float* image = in + n * p.in[1] * in_row + from * in_row;
      if (expands_) {
        // Some of them the band before has seen, too.
        const int64_t again = std::max<int64_t>(done - from, 0);
        if (again > 0) {
          std::copy_n(expanded + (from - first) * expanded_row,
                      again * expanded_row, expanded);
        }
        conv::PointwisePixels(
            expand_, stages.front().filter, expand_tail, image + again * in_row,
            (to - from - again) * p.in[2], 0, expanded + again * expanded_row);
        first = from;
        done = to;
        image = expanded;
      }
      conv::Depthwise3x3Rows(p, static_cast<const float*>(depthwise.filter),
                             zeros, depthwise_tail, image, from, y, y_end,
                             filtered);
      conv::PointwisePixels(*project.params, project.filter, project_tail,
                            filtered, (y_end - y) * p.out[2],
                            (n * p.out[1] + y) * p.out[2], out);
    }
  });
}

}  // namespace headrace
