// Functors that resize images [batch, height, width, channels], bilinearly and
// to the nearest neighbour, and their gradients. A thread of a gradient adds up
// what a pixel of the original gets, in the order of the resized image.
// Coordinates are float, as the CPU's (kernels/image/resize.h).
#ifndef HEADRACE_KERNELS_GPU_RESIZE_FUNCTORS_H_
#define HEADRACE_KERNELS_GPU_RESIZE_FUNCTORS_H_

#include "kernels/gpu/elementwise_functors.h"

namespace headrace::gpu {

HR_HOST_DEVICE inline int64_t Clamp(int64_t v, int64_t low, int64_t high) {
  return v < low ? low : v > high ? high : v;
}

// One side: how pixels of the resized image map to those of the original.
struct ResizeSide {
  int64_t in, out;
  float scale;  // pixels of the original for one of the result
  bool align_corners, half_pixel_centers;

  HR_HOST_DEVICE float Linear(int64_t i) const {
    const float x = static_cast<float>(i);
    return half_pixel_centers ? (x + 0.5f) * scale - 0.5f : x * scale;
  }
  HR_HOST_DEVICE int64_t Low(float at) const {
    return Clamp(static_cast<int64_t>(Floor(at)), 0, in - 1);
  }
  HR_HOST_DEVICE int64_t High(float at) const {
    return Clamp(static_cast<int64_t>(Ceil(at)), 0, in - 1);
  }
  HR_HOST_DEVICE int64_t Nearest(int64_t i) const {
    const float x = static_cast<float>(i);
    const float at = half_pixel_centers ? Floor((x + 0.5f) * scale)
                     : align_corners    ? ::roundf(x * scale)
                                        : Floor(x * scale);
    return Clamp(static_cast<int64_t>(at), 0, in - 1);
  }
  // Pixels of the result outside of [*first, *last] take nothing from pixel i
  // of the original. Two more on each side make up for rounding.
  HR_HOST_DEVICE void Readers(int64_t i, int64_t* first, int64_t* last) const {
    const float x = static_cast<float>(i);
    *first = i == 0 ? 0
                    : Clamp(static_cast<int64_t>((x - 1.5f) / scale) - 2, 0,
                            out - 1);
    *last = i == in - 1 ? out - 1
                        : Clamp(static_cast<int64_t>((x + 1.5f) / scale) + 2, 0,
                                out - 1);
  }
};

struct ResizeSides {
  ResizeSide y, x;
  int64_t channels;
};

// Takes an index of [batch, height, width, channels] apart.
struct PixelIndex {
  int64_t batch, y, x, c;
  HR_HOST_DEVICE PixelIndex(int64_t i, int64_t height, int64_t width,
                            int64_t channels) {
    const int64_t pixel = Divide(i, channels);
    c = i - pixel * channels;
    const int64_t row = Divide(pixel, width);
    x = pixel - row * width;
    batch = Divide(row, height);
    y = row - batch * height;
  }
};

template <typename T>
struct ResizeBilinearMap {
  ResizeSides s;
  const T* in;
  float* out;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const PixelIndex p(i, s.y.out, s.x.out, s.channels);
    const float y = s.y.Linear(p.y), x = s.x.Linear(p.x);
    const float down = y - Floor(y), right = x - Floor(x);
    const T* const image = in + p.batch * s.y.in * s.x.in * s.channels + p.c;
    const auto at = [&](int64_t row, int64_t column) {
      return static_cast<float>(
          Load(image[(row * s.x.in + column) * s.channels]));
    };
    const int64_t top = s.y.Low(y), bottom = s.y.High(y);
    const int64_t low = s.x.Low(x), high = s.x.High(x);
    const float tl = at(top, low), bl = at(bottom, low);
    const float t = tl + (at(top, high) - tl) * right;
    const float b = bl + (at(bottom, high) - bl) * right;
    out[i] = t + (b - t) * down;
  }
};

template <typename T>
struct ResizeBilinearGradMap {
  ResizeSides s;
  const float* dy;
  T* dx;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    using C = ComputeType<T>;
    const PixelIndex p(i, s.y.in, s.x.in, s.channels);
    int64_t y_first, y_last, x_first, x_last;
    s.y.Readers(p.y, &y_first, &y_last);
    s.x.Readers(p.x, &x_first, &x_last);
    const float* const image =
        dy + p.batch * s.y.out * s.x.out * s.channels + p.c;
    C sum = C(0);
    for (int64_t oy = y_first; oy <= y_last; ++oy) {
      const float y = s.y.Linear(oy);
      const C wy = Weight<C>(s.y, p.y, y);
      if (wy == C(0)) continue;
      for (int64_t ox = x_first; ox <= x_last; ++ox) {
        const C wx = Weight<C>(s.x, p.x, s.x.Linear(ox));
        if (wx == C(0)) continue;
        sum +=
            static_cast<C>(image[(oy * s.x.out + ox) * s.channels]) * wy * wx;
      }
    }
    dx[i] = Store<T>(sum);
  }

 private:
  // The share of pixel i in what is read at coordinate `at`.
  template <typename C>
  HR_HOST_DEVICE static C Weight(const ResizeSide& side, int64_t i, float at) {
    const C high = static_cast<C>(at - Floor(at));
    C w = C(0);
    if (side.Low(at) == i) w += C(1) - high;
    if (side.High(at) == i) w += high;
    return w;
  }
};

template <int kBytes>
struct ResizeNearestMap {
  using E = Element<kBytes>;
  ResizeSides s;
  const E* in;
  E* out;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const PixelIndex p(i, s.y.out, s.x.out, s.channels);
    out[i] =
        in[((p.batch * s.y.in + s.y.Nearest(p.y)) * s.x.in + s.x.Nearest(p.x)) *
               s.channels +
           p.c];
  }
};

template <typename T>
struct ResizeNearestGradMap {
  ResizeSides s;
  const T* dy;
  T* dx;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const PixelIndex p(i, s.y.in, s.x.in, s.channels);
    int64_t y_first, y_last, x_first, x_last;
    s.y.Readers(p.y, &y_first, &y_last);
    s.x.Readers(p.x, &x_first, &x_last);
    const T* const image = dy + p.batch * s.y.out * s.x.out * s.channels + p.c;
    ComputeType<T> sum = 0;
    for (int64_t oy = y_first; oy <= y_last; ++oy) {
      if (s.y.Nearest(oy) != p.y) continue;
      for (int64_t ox = x_first; ox <= x_last; ++ox) {
        if (s.x.Nearest(ox) != p.x) continue;
        sum += Load(image[(oy * s.x.out + ox) * s.channels]);
      }
    }
    dx[i] = Store<T>(sum);
  }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_RESIZE_FUNCTORS_H_
