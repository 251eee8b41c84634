// Some rows or pixels of a convolution, on this thread, for kernels that take a
// part of an image through several convolutions (conv_bands.h). The tails have
// no `rest`.
#ifndef HEADRACE_KERNELS_CONV_CONV_ROWS_H_
#define HEADRACE_KERNELS_CONV_CONV_ROWS_H_

#include "kernels/conv/conv_impl.h"
#include "kernels/lib/vector_tail.h"

namespace headrace::conv {

// Output rows [y, end), at least two, of one image, for what Depthwise3x3
// accepts. `in` begins at row `in_row` of the image and has all rows that are
// seen; `zeros` has one for each channel; row y goes to `out`. The tail adds
// nothing.
void Depthwise3x3Rows(const ConvParams& p, const float* filter,
                      const float* zeros, const VectorTail& tail,
                      const float* in, int64_t in_row, int64_t y, int64_t end,
                      float* out);

// `count` pixels, for what Pointwise accepts without strides. `in` begins at
// the first of them, `out` is the whole result's beginning, and `pixel` the
// index of the first in it.
void PointwisePixels(const ConvParams& p, const void* prepared,
                     const VectorTail& tail, const float* in, int64_t count,
                     int64_t pixel, float* out);

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_CONV_ROWS_H_
