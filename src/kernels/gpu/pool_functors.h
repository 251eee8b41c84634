// Pooling over two spatial dims, and its gradients; resizing of images. A
// thread computes one element of the result, so gradients need no atomics:
// they visit the windows that cover an input cell, in order.
#ifndef HEADRACE_KERNELS_GPU_POOL_FUNCTORS_H_
#define HEADRACE_KERNELS_GPU_POOL_FUNCTORS_H_

#include "kernels/gpu/grid.h"

namespace headrace::gpu {

// Sizes of a pooling; [0] is height, [1] width. Strides are in elements.
struct PoolSizes {
  int64_t batch, channels;
  int64_t in[2], out[2], window[2], stride[2], pad[2];
  int64_t in_batch, in_row, in_col, in_channel;
  int64_t out_batch, out_row, out_col, out_channel;
  bool channels_last;

  // Takes element i of a tensor [batch, rows, cols, channels], or with the
  // channels second, apart.
  HR_HOST_DEVICE void Split(int64_t i, const int64_t* size, int64_t* b,
                            int64_t* h, int64_t* w, int64_t* c) const {
    int64_t next;
    if (channels_last) {
      next = Divide(i, channels), *c = i - next * channels, i = next;
    }
    next = Divide(i, size[1]), *w = i - next * size[1], i = next;
    next = Divide(i, size[0]), *h = i - next * size[0], i = next;
    if (!channels_last) {
      next = Divide(i, channels), *c = i - next * channels, i = next;
    }
    *b = i;
  }
  // The part of the window of output `o` that is inside the image.
  HR_HOST_DEVICE void Range(int d, int64_t o, int64_t* begin,
                            int64_t* end) const {
    const int64_t first = o * stride[d] - pad[d];
    *begin = first < 0 ? 0 : first;
    *end = first + window[d] < in[d] ? first + window[d] : in[d];
  }
  // The outputs whose windows contain input `i`.
  HR_HOST_DEVICE void Covering(int d, int64_t i, int64_t* begin,
                               int64_t* end) const {
    const int64_t at = i + pad[d];
    *begin = at < window[d] ? 0 : (at - window[d]) / stride[d] + 1;
    *end = at / stride[d] + 1 < out[d] ? at / stride[d] + 1 : out[d];
  }
  HR_HOST_DEVICE int64_t InAt(int64_t b, int64_t h, int64_t w,
                              int64_t c) const {
    return b * in_batch + h * in_row + w * in_col + c * in_channel;
  }
  HR_HOST_DEVICE int64_t OutAt(int64_t b, int64_t h, int64_t w,
                               int64_t c) const {
    return b * out_batch + h * out_row + w * out_col + c * out_channel;
  }
};

// The greatest element; NaN and -inf are passed over.
template <typename T>
struct MaxPoolMap {
  PoolSizes s;
  const T* x;
  T* y;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t b, h, w, c, h0, h1, w0, w1;
    s.Split(i, s.out, &b, &h, &w, &c);
    s.Range(0, h, &h0, &h1);
    s.Range(1, w, &w0, &w1);
    ComputeType<T> best = LowestOf<T>();
    for (int64_t u = h0; u < h1; ++u) {
      for (int64_t v = w0; v < w1; ++v) {
        const ComputeType<T> at = Load(x[s.InAt(b, u, v, c)]);
        if (at > best) best = at;
      }
    }
    y[i] = Store<T>(best);
  }
};

template <typename T>
struct AvgPoolMap {
  PoolSizes s;
  const T* x;
  T* y;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t b, h, w, c, h0, h1, w0, w1;
    s.Split(i, s.out, &b, &h, &w, &c);
    s.Range(0, h, &h0, &h1);
    s.Range(1, w, &w0, &w1);
    ComputeType<T> sum = 0;
    for (int64_t u = h0; u < h1; ++u) {
      for (int64_t v = w0; v < w1; ++v) sum += Load(x[s.InAt(b, u, v, c)]);
    }
    y[i] = Store<T>(sum / static_cast<ComputeType<T>>((h1 - h0) * (w1 - w0)));
  }
};

// The gradient goes to the first greatest element of each window. A window's
// first element stays if it is NaN.
template <typename T>
struct MaxPoolGradMap {
  PoolSizes s;
  const T *x, *dy;
  T* dx;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t b, h, w, c, oh0, oh1, ow0, ow1;
    s.Split(i, s.in, &b, &h, &w, &c);
    s.Covering(0, h, &oh0, &oh1);
    s.Covering(1, w, &ow0, &ow1);
    ComputeType<T> sum = 0;
    for (int64_t oh = oh0; oh < oh1; ++oh) {
      for (int64_t ow = ow0; ow < ow1; ++ow) {
        int64_t h0, h1, w0, w1;
        s.Range(0, oh, &h0, &h1);
        s.Range(1, ow, &w0, &w1);
        int64_t best_h = h0, best_w = w0;
        ComputeType<T> best = Load(x[s.InAt(b, h0, w0, c)]);
        for (int64_t u = h0; u < h1; ++u) {
          for (int64_t v = w0; v < w1; ++v) {
            const ComputeType<T> at = Load(x[s.InAt(b, u, v, c)]);
            if (at > best) best = at, best_h = u, best_w = v;
          }
        }
        if (best_h == h && best_w == w) {
          sum += Load(dy[s.OutAt(b, oh, ow, c)]);
        }
      }
    }
    dx[i] = Store<T>(sum);
  }
};

template <typename T>
struct AvgPoolGradMap {
  PoolSizes s;
  const T* dy;
  T* dx;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t b, h, w, c, oh0, oh1, ow0, ow1;
    s.Split(i, s.in, &b, &h, &w, &c);
    s.Covering(0, h, &oh0, &oh1);
    s.Covering(1, w, &ow0, &ow1);
    ComputeType<T> sum = 0;
    for (int64_t oh = oh0; oh < oh1; ++oh) {
      for (int64_t ow = ow0; ow < ow1; ++ow) {
        int64_t h0, h1, w0, w1;
        s.Range(0, oh, &h0, &h1);
        s.Range(1, ow, &w0, &w1);
        sum += Load(dy[s.OutAt(b, oh, ow, c)]) /
               static_cast<ComputeType<T>>((h1 - h0) * (w1 - w0));
      }
    }
    dx[i] = Store<T>(sum);
  }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_POOL_FUNCTORS_H_
