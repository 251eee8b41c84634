// Some rows or pixels of a convolution, on this thread, for conv_bands.h, which
// takes a part of an image through several convolutions. All data is float,
// NHWC, at any address that is aligned to floats. The tails have no `rest`.
//
// Thread-safe: they write their own rows or pixels alone.
#ifndef HEADRACE_KERNELS_CONV_CONV_ROWS_H_
#define HEADRACE_KERNELS_CONV_CONV_ROWS_H_

#include "kernels/conv/conv_impl.h"
#include "kernels/lib/vector_tail.h"

namespace headrace::conv {

// Computes output rows [y, end), at least two, of one image, for convolutions
// that Depthwise3x3 accepts. `in` begins at row `in_row` of the image and holds
// every row that the outputs see. `zeros` has a zero for each channel. Row y
// goes to `out`. The tail has no addend.
void Depthwise3x3Rows(const ConvParams& p, const float* filter,
                      const float* zeros, const VectorTail& tail,
                      const float* in, int64_t in_row, int64_t y, int64_t end,
                      float* out);

// Computes `count` pixels, for convolutions without strides that Pointwise
// accepts. `in` begins at the first of them. `out` is the beginning of the
// whole result, and `pixel` the index of the first pixel in it. `prepared` is
// the form that Pointwise prepares of the filter.
void PointwisePixels(const ConvParams& p, const void* prepared,
                     const VectorTail& tail, const float* in, int64_t count,
                     int64_t pixel, float* out);

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_CONV_ROWS_H_
