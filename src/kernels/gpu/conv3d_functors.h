// Functors of three-dimensional convolutions and their gradients: a thread for
// each element of the result, which adds up its products in one order.
#ifndef HEADRACE_KERNELS_GPU_CONV3D_FUNCTORS_H_
#define HEADRACE_KERNELS_GPU_CONV3D_FUNCTORS_H_

#include "kernels/gpu/grid.h"

namespace headrace::gpu {

// A voxel's place in images of this size.
struct VoxelBox {
  int64_t size[3], channels;
  bool channels_last;

  HR_HOST_DEVICE int64_t At(int64_t n, const int64_t* at, int64_t c) const {
    const int64_t batch = channels_last ? n : n * channels + c;
    const int64_t voxel =
        ((batch * size[0] + at[0]) * size[1] + at[1]) * size[2] + at[2];
    return channels_last ? voxel * channels + c : voxel;
  }
  // The inverse.
  HR_HOST_DEVICE void Split(int64_t i, int64_t* n, int64_t* at,
                            int64_t* c) const {
    if (channels_last) *c = Remainder(&i, channels);
    for (int d = 2; d >= 0; --d) at[d] = Remainder(&i, size[d]);
    if (!channels_last) *c = Remainder(&i, channels);
    *n = i;
  }

 private:
  HR_HOST_DEVICE static int64_t Remainder(int64_t* i, int64_t by) {
    const int64_t next = Divide(*i, by), rest = *i - next * by;
    *i = next;
    return rest;
  }
};

struct Conv3DSizes {
  VoxelBox in, out;
  int64_t batch, groups;
  int64_t filter[3], stride[3], dilation[3], pad[3];

  HR_HOST_DEVICE int64_t group_in() const { return in.channels / groups; }
  HR_HOST_DEVICE int64_t group_out() const { return out.channels / groups; }
  HR_HOST_DEVICE int64_t taps() const {
    return filter[0] * filter[1] * filter[2];
  }
  HR_HOST_DEVICE void Tap(int64_t t, int64_t* k) const {
    k[2] = t % filter[2];
    k[1] = t / filter[2] % filter[1];
    k[0] = t / filter[2] / filter[1];
  }
  // The input voxel under tap k of the window at `out`; false outside.
  HR_HOST_DEVICE bool Under(const int64_t* place, const int64_t* k,
                            int64_t* at) const {
    for (int d = 0; d < 3; ++d) {
      at[d] = place[d] * stride[d] + k[d] * dilation[d] - pad[d];
      if (at[d] < 0 || at[d] >= in.size[d]) return false;
    }
    return true;
  }
  // The window whose tap k is over input voxel `at`; false if there is none.
  HR_HOST_DEVICE bool Over(const int64_t* at, const int64_t* k,
                           int64_t* place) const {
    for (int d = 0; d < 3; ++d) {
      const int64_t begin = at[d] + pad[d] - k[d] * dilation[d];
      if (begin < 0 || begin % stride[d] != 0) return false;
      place[d] = begin / stride[d];
      if (place[d] >= out.size[d]) return false;
    }
    return true;
  }
  // Of the filter [.., in channels of a group, out channels].
  HR_HOST_DEVICE int64_t FilterAt(int64_t tap, int64_t i, int64_t o) const {
    return (tap * group_in() + i) * out.channels + o;
  }
};

template <typename T>
struct Conv3DMap {
  Conv3DSizes s;
  const T *x, *filter;
  T* y;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t n, o, place[3], k[3], at[3];
    s.out.Split(i, &n, place, &o);
    const int64_t first = o / s.group_out() * s.group_in();
    ComputeType<T> sum = 0;
    for (int64_t t = 0; t < s.taps(); ++t) {
      s.Tap(t, k);
      if (!s.Under(place, k, at)) continue;
      for (int64_t c = 0; c < s.group_in(); ++c) {
        sum += Load(x[s.in.At(n, at, first + c)]) *
               Load(filter[s.FilterAt(t, c, o)]);
      }
    }
    y[i] = Store<T>(sum);
  }
};

template <typename T>
struct Conv3DInputMap {
  Conv3DSizes s;
  const T *dy, *filter;
  T* dx;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t n, c, place[3], k[3], at[3];
    s.in.Split(i, &n, at, &c);
    const int64_t group = c / s.group_in();
    const int64_t inside = c - group * s.group_in();
    ComputeType<T> sum = 0;
    for (int64_t t = 0; t < s.taps(); ++t) {
      s.Tap(t, k);
      if (!s.Over(at, k, place)) continue;
      for (int64_t j = 0; j < s.group_out(); ++j) {
        const int64_t o = group * s.group_out() + j;
        sum += Load(dy[s.out.At(n, place, o)]) *
               Load(filter[s.FilterAt(t, inside, o)]);
      }
    }
    dx[i] = Store<T>(sum);
  }
};

template <typename T>
struct Conv3DFilterMap {
  Conv3DSizes s;
  const T *x, *dy;
  T* df;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = Divide(i, s.out.channels);
    const int64_t o = i - row * s.out.channels;
    const int64_t t = Divide(row, s.group_in());
    const int64_t c = o / s.group_out() * s.group_in() + row - t * s.group_in();
    int64_t place[3], k[3], at[3];
    s.Tap(t, k);
    ComputeType<T> sum = 0;
    for (int64_t n = 0; n < s.batch; ++n) {
      for (place[0] = 0; place[0] < s.out.size[0]; ++place[0]) {
        for (place[1] = 0; place[1] < s.out.size[1]; ++place[1]) {
          for (place[2] = 0; place[2] < s.out.size[2]; ++place[2]) {
            if (!s.Under(place, k, at)) continue;
            sum += Load(x[s.in.At(n, at, c)]) * Load(dy[s.out.At(n, place, o)]);
          }
        }
      }
    }
    df[i] = Store<T>(sum);
  }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_CONV3D_FUNCTORS_H_
