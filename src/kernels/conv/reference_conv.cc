// The definition, as loops: the implementation that accepts everything and that
// the others are tested against. Sums are kept in double (int32: wrapping).
//
//   y[n,o,:] = sum over taps t, channels c of
//              x[n, o*stride + t*dilation - pad, group*C + c] * w[t, c, o']
//
// Both gradients read the same formula from another side: the gradient of x
// gathers over the outputs that touch an input pixel, the gradient of w over
// all pixels of the batch.
#include <type_traits>

#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/lib/visit_type.h"

namespace headrace::conv {
namespace {

template <typename T>
using Sum = std::conditional_t<std::is_integral_v<T>, uint32_t, double>;

// The output position along one dimension that tap t takes from input i; false
// if there is none.
bool OutputAt(const ConvParams& p, int dim, int64_t i, int64_t t, int64_t* o) {
  const int64_t at = i + p.pad_before[dim] - t * p.dilation[dim];
  if (at < 0 || at % p.stride[dim] != 0) return false;
  *o = at / p.stride[dim];
  return *o < p.out[dim];
}

// The input position; false in the padding.
bool InputAt(const ConvParams& p, int dim, int64_t o, int64_t t, int64_t* i) {
  *i = o * p.stride[dim] + t * p.dilation[dim] - p.pad_before[dim];
  return *i >= 0 && *i < p.in[dim];
}

// Calls fn(z, y, x) for all positions.
template <typename F>
void Each(const ConvSizes::Dims& d, F fn) {
  for (int64_t z = 0; z < d[0]; ++z) {
    for (int64_t y = 0; y < d[1]; ++y) {
      for (int64_t x = 0; x < d[2]; ++x) fn(z, y, x);
    }
  }
}

int64_t At(const ConvSizes::Dims& d, int64_t z, int64_t y, int64_t x) {
  return (z * d[1] + y) * d[2] + x;
}

template <typename T>
void Forward(const ConvArgs& args) {
  const ConvParams& p = *args.params;
  const T* in = static_cast<const T*>(args.input);
  const T* w = static_cast<const T*>(args.filter);
  T* out = static_cast<T*>(args.result);
  const int64_t rows = p.batch * p.out[0] * p.out[1];
  args.pool->ParallelForCost(
      rows, p.flops() / rows, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t n = row / (p.out[0] * p.out[1]);
          const int64_t oz = row / p.out[1] % p.out[0], oy = row % p.out[1];
          for (int64_t ox = 0; ox < p.out[2]; ++ox) {
            for (int64_t o = 0; o < p.out_channels; ++o) {
              const int64_t c0 = o / p.group_out() * p.group_in();
              Sum<T> sum = 0;
              Each(p.filter, [&](int64_t tz, int64_t ty, int64_t tx) {
                int64_t z, y, x;
                if (!InputAt(p, 0, oz, tz, &z) || !InputAt(p, 1, oy, ty, &y) ||
                    !InputAt(p, 2, ox, tx, &x)) {
                  return;
                }
                const T* xs =
                    in +
                    (n * p.in_pixels() + At(p.in, z, y, x)) * p.in_channels +
                    c0;
                const T* ws =
                    w +
                    At(p.filter, tz, ty, tx) * p.group_in() * p.out_channels +
                    o;
                for (int64_t c = 0; c < p.group_in(); ++c) {
                  sum += Sum<T>(xs[c]) * Sum<T>(ws[c * p.out_channels]);
                }
              });
              out[(row * p.out[2] + ox) * p.out_channels + o] =
                  static_cast<T>(sum);
            }
          }
        }
      });
}

template <typename T>
void BackwardInput(const ConvArgs& args) {
  const ConvParams& p = *args.params;
  const T* dy = static_cast<const T*>(args.out_backprop);
  const T* w = static_cast<const T*>(args.filter);
  T* dx = static_cast<T*>(args.result);
  const int64_t rows = p.batch * p.in[0] * p.in[1];
  args.pool->ParallelForCost(
      rows, p.flops() / rows, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t n = row / (p.in[0] * p.in[1]);
          const int64_t iz = row / p.in[1] % p.in[0], iy = row % p.in[1];
          for (int64_t ix = 0; ix < p.in[2]; ++ix) {
            for (int64_t c = 0; c < p.in_channels; ++c) {
              const int64_t o0 = c / p.group_in() * p.group_out();
              Sum<T> sum = 0;
              Each(p.filter, [&](int64_t tz, int64_t ty, int64_t tx) {
                int64_t z, y, x;
                if (!OutputAt(p, 0, iz, tz, &z) ||
                    !OutputAt(p, 1, iy, ty, &y) ||
                    !OutputAt(p, 2, ix, tx, &x)) {
                  return;
                }
                const T* ys =
                    dy +
                    (n * p.out_pixels() + At(p.out, z, y, x)) * p.out_channels +
                    o0;
                const T* ws = w +
                              (At(p.filter, tz, ty, tx) * p.group_in() +
                               c % p.group_in()) *
                                  p.out_channels +
                              o0;
                for (int64_t o = 0; o < p.group_out(); ++o) {
                  sum += Sum<T>(ys[o]) * Sum<T>(ws[o]);
                }
              });
              dx[(row * p.in[2] + ix) * p.in_channels + c] =
                  static_cast<T>(sum);
            }
          }
        }
      });
}

template <typename T>
void BackwardFilter(const ConvArgs& args) {
  const ConvParams& p = *args.params;
  const T* in = static_cast<const T*>(args.input);
  const T* dy = static_cast<const T*>(args.out_backprop);
  T* dw = static_cast<T*>(args.result);
  const int64_t rows = p.taps() * p.group_in();
  args.pool->ParallelForCost(
      rows, p.flops() / rows, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t tap = row / p.group_in(), c = row % p.group_in();
          const int64_t tz = tap / (p.filter[1] * p.filter[2]);
          const int64_t ty = tap / p.filter[2] % p.filter[1];
          const int64_t tx = tap % p.filter[2];
          for (int64_t o = 0; o < p.out_channels; ++o) {
            const int64_t channel = o / p.group_out() * p.group_in() + c;
            Sum<T> sum = 0;
            for (int64_t n = 0; n < p.batch; ++n) {
              Each(p.out, [&](int64_t oz, int64_t oy, int64_t ox) {
                int64_t z, y, x;
                if (!InputAt(p, 0, oz, tz, &z) || !InputAt(p, 1, oy, ty, &y) ||
                    !InputAt(p, 2, ox, tx, &x)) {
                  return;
                }
                sum += Sum<T>(in[(n * p.in_pixels() + At(p.in, z, y, x)) *
                                     p.in_channels +
                                 channel]) *
                       Sum<T>(dy[(n * p.out_pixels() + At(p.out, oz, oy, ox)) *
                                     p.out_channels +
                                 o]);
              });
            }
            dw[row * p.out_channels + o] = static_cast<T>(sum);
          }
        }
      });
}

class ReferenceConv : public ConvImplementation {
 public:
  explicit ReferenceConv(ConvDirection d) : direction_(d) {}
  const char* Name() const override { return "reference"; }
  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.format == DataFormat::kNHWC &&
           (p.dtype == DT_FLOAT || p.dtype == DT_DOUBLE || p.dtype == DT_INT32);
  }
  double EstimateNs(const ConvParams& p, const CpuFeatures&) const override {
    return cost::kReferenceStart + cost::kReferenceFlop * p.flops();
  }
  void Run(const ConvArgs& args) const override {
    VisitType<float, double, int32_t>(args.params->dtype,
                                      [&]<typename T>(T) { RunAs<T>(args); });
  }

 private:
  template <typename T>
  void RunAs(const ConvArgs& args) const {
    switch (direction_) {
      case ConvDirection::kForward:
        return Forward<T>(args);
      case ConvDirection::kBackwardInput:
        return BackwardInput<T>(args);
      case ConvDirection::kBackwardFilter:
        return BackwardFilter<T>(args);
    }
  }
  const ConvDirection direction_;
};

}  // namespace

const ConvImplementation* Reference(ConvDirection d) {
  static const ReferenceConv all[] = {
      ReferenceConv(ConvDirection::kForward),
      ReferenceConv(ConvDirection::kBackwardInput),
      ReferenceConv(ConvDirection::kBackwardFilter)};
  return &all[static_cast<int>(d)];
}

}  // namespace headrace::conv
