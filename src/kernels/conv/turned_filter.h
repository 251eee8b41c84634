// Filters turned for backward input: taps in another order, each transposed.
#ifndef HEADRACE_KERNELS_CONV_TURNED_FILTER_H_
#define HEADRACE_KERNELS_CONV_TURNED_FILTER_H_

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/conv/tiles.h"

namespace headrace::conv {

// Writes W[tap_of(t)][c, o] to turned[t][o, c] for t < `taps`; `filter` is that
// of `p`.
template <typename TapOf>
void TurnTaps(ThreadPool* pool, const ConvParams& p, const float* filter,
              int64_t taps, const TapOf& tap_of, float* turned) {
  constexpr int64_t kEdge = 16;
  const int64_t rows = p.in_channels, columns = p.out_channels;
  const int64_t bands = CeilDiv(rows, kEdge);
  pool->ParallelForCost(
      taps * bands, 0.6 * kEdge * columns, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t tap = i / bands;
          const float* from = filter + tap_of(tap) * rows * columns;
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

// What turning such a filter takes, in nanoseconds; 0 if it is kept.
double TurnNs(const ConvParams& p, const CpuFeatures& cpu);

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_TURNED_FILTER_H_
