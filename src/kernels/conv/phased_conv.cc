// Backward input with strides as some forward convolutions without: pixels of
// the input's gradient that are `stride` apart see the same taps of the filter,
//
//   dx[y, x, c] = sum dy[(y + pad - ty) / s, (x + pad - tx) / s, o] W[ty, tx]
//                 over ty = (y + pad) mod s, ty + s, ..., and tx likewise
//
// A phase is the pixels of one remainder: a forward convolution of dy with
// those taps, turned by 180 degrees and transposed. Its results are spread over
// the gradient afterwards. A phase without taps is zero.
//
// Accuracy: that of the forward implementation.
#include <algorithm>
#include <type_traits>

#include "absl/algorithm/container.h"
#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/conv/turned_filter.h"

namespace headrace::conv {
namespace {

using Dims = ConvSizes::Dims;

int64_t Volume(const Dims& d) { return d[0] * d[1] * d[2]; }

struct Phase {
  Dims remainder;
  Dims first;  // pixel of the gradient
  ConvParams forward;

  bool HasPixels() const { return Volume(forward.out) > 0; }
  bool HasTaps() const { return Volume(forward.filter) > 0; }

  // Phase `i` of the Volume(p.stride) phases.
  Phase(const ConvParams& p, int64_t i) : forward(p) {
    remainder = {i / (p.stride[1] * p.stride[2]), i / p.stride[2] % p.stride[1],
                 i % p.stride[2]};
    std::swap(forward.in_channels, forward.out_channels);
    forward.in = p.out;
    forward.stride = {1, 1, 1};
    for (int d = 0; d < 3; ++d) {
      const int64_t s = p.stride[d], a = remainder[d];
      const int64_t taps = a < p.filter[d] ? CeilDiv(p.filter[d] - a, s) : 0;
      first[d] = ((a - p.pad_before[d]) % s + s) % s;
      const int64_t pixels =
          first[d] < p.in[d] ? CeilDiv(p.in[d] - first[d], s) : 0;
      forward.filter[d] = taps;
      forward.out[d] = pixels;
      forward.pad_before[d] = taps - 1 - (first[d] + p.pad_before[d] - a) / s;
      forward.pad_after[d] =
          pixels + taps - 1 - p.out[d] - forward.pad_before[d];
    }
  }
};

// `forward` reads prepared filters alone, of floats.
class PhasedConv : public ConvImplementation {
 public:
  PhasedConv(const char* name, const ConvImplementation* forward)
      : name_(name), forward_(forward) {}

  const char* Name() const override { return name_; }
  bool Accepts(const ConvParams& p, const CpuFeatures& cpu) const override {
    const bool strided = absl::c_any_of(p.stride, [](auto s) { return s > 1; });
    if (p.dtype != DT_FLOAT || p.groups != 1 || p.dilation != Dims{1, 1, 1} ||
        !strided ||
        absl::c_any_of(p.stride, [](auto s) { return s > kMostStride; })) {
      return false;
    }
    return ForEachPhase(p, [&](const Phase& phase) {
      return forward_->Accepts(phase.forward, cpu);
    });
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    double ns = TurnNs(p, cpu) + cost::kPass * p.in_elements();
    ForEachPhase(p, [&](const Phase& phase) {
      ns += forward_->EstimateNs(phase.forward, cpu);
      return true;
    });
    return ns;
  }
  int64_t WorkspaceBytes(const ConvParams& p, int threads) const override {
    int64_t bytes = 0;
    ForEachPhase(p, [&](const Phase& phase) {
      bytes = std::max(bytes, ResultBytes(phase) + forward_->WorkspaceBytes(
                                                       phase.forward, threads));
      return true;
    });
    return bytes;
  }
  // The turned filter of each phase stands before what is made of it. Phases
  // without pixels have theirs, too: the form serves images of every size.
  int64_t PreparedFilterBytes(const ConvParams& p) const override {
    int64_t bytes = 0;
    for (int64_t i = 0; i < Volume(p.stride); ++i) {
      bytes += FormBytes(Phase(p, i));
    }
    return bytes;
  }
  void PrepareFilter(ThreadPool* pool, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    char* to = static_cast<char*>(prepared);
    for (int64_t i = 0; i < Volume(p.stride); ++i) {
      const Phase phase(p, i);
      if (!phase.HasTaps()) continue;
      const Dims& size = phase.forward.filter;
      const auto tap_of = [&](int64_t t) {
        const Dims at = {t / (size[1] * size[2]), t / size[2] % size[1],
                         t % size[2]};
        int64_t tap = 0;
        for (int d = 0; d < 3; ++d) {
          tap = tap * p.filter[d] + phase.remainder[d] +
                p.stride[d] * (size[d] - 1 - at[d]);
        }
        return tap;
      };
      float* const turned = reinterpret_cast<float*>(to);
      TurnTaps(pool, p, static_cast<const float*>(filter), Volume(size), tap_of,
               turned);
      forward_->PrepareFilter(pool, phase.forward, turned,
                              to + TurnedBytes(phase));
      to += FormBytes(phase);
    }
  }
  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const char* form = static_cast<const char*>(args.prepared_filter);
    for (int64_t i = 0; i < Volume(p.stride); ++i) {
      const Phase phase(p, i);
      const int64_t bytes = FormBytes(phase);
      if (phase.HasPixels()) {
        if (phase.HasTaps()) {
          ConvArgs forward = args;
          forward.params = &phase.forward;
          forward.input = args.out_backprop;
          forward.out_backprop = nullptr;
          forward.prepared_filter = form + TurnedBytes(phase);
          forward.result = args.workspace;
          forward.workspace =
              static_cast<char*>(args.workspace) + ResultBytes(phase);
          forward_->Run(forward);
        }
        Spread(args, phase);
      }
      form += bytes;
    }
  }

 private:
  static constexpr int64_t kMostStride = 8;

  // Calls use(phase) for those that compute something, until one gives false;
  // true if none does.
  template <typename Use>
  static bool ForEachPhase(const ConvParams& p, const Use& use) {
    for (int64_t i = 0; i < Volume(p.stride); ++i) {
      const Phase phase(p, i);
      if (phase.HasPixels() && phase.HasTaps() && !use(phase)) return false;
    }
    return true;
  }
  static int64_t WholeLines(int64_t floats) {
    return CeilDiv(floats * int64_t{sizeof(float)}, 64) * 64;
  }
  static int64_t ResultBytes(const Phase& phase) {
    return WholeLines(phase.forward.out_elements());
  }
  static int64_t TurnedBytes(const Phase& phase) {
    return WholeLines(phase.forward.filter_elements());
  }
  int64_t FormBytes(const Phase& phase) const {
    if (!phase.HasTaps()) return 0;
    return TurnedBytes(phase) +
           CeilDiv(forward_->PreparedFilterBytes(phase.forward), 64) * 64;
  }

  // Writes the results of the phase, which begin the workspace, to their
  // pixels.
  static void Spread(const ConvArgs& args, const Phase& phase) {
    const ConvParams& p = *args.params;
    const Dims& size = phase.forward.out;
    const int64_t channels = p.in_channels;
    const float* const from = static_cast<const float*>(args.workspace);
    float* const to = static_cast<float*>(args.result);
    const bool zeros = !phase.HasTaps();
    args.pool->ParallelForCost(
        p.batch * size[0] * size[1], 0.2 * size[2] * (channels + 8),
        [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const int64_t y = phase.first[1] + row % size[1] * p.stride[1];
            const int64_t z =
                phase.first[0] + row / size[1] % size[0] * p.stride[0];
            const int64_t image = row / (size[1] * size[0]);
            float* out = to + (((image * p.in[0] + z) * p.in[1] + y) * p.in[2] +
                               phase.first[2]) *
                                  channels;
            const float* in = from + row * size[2] * channels;
            const int64_t step = p.stride[2] * channels;
            if (zeros) {
              for (int64_t x = 0; x < size[2]; ++x) {
                std::fill_n(out + x * step, channels, 0.0f);
              }
              continue;
            }
            switch (channels) {
              case 1:
                SpreadRow(in, size[2], std::integral_constant<int64_t, 1>(),
                          step, out);
                break;
              case 3:
                SpreadRow(in, size[2], std::integral_constant<int64_t, 3>(),
                          step, out);
                break;
              default:
                SpreadRow(in, size[2], channels, step, out);
            }
          }
        });
  }

  // `channels`: a constant where so few are copied faster in place.
  template <typename Channels>
  static void SpreadRow(const float* in, int64_t pixels, Channels channels,
                        int64_t step, float* out) {
    for (int64_t x = 0; x < pixels; ++x) {
      std::copy_n(in + x * channels, int64_t{channels}, out + x * step);
    }
  }

  const char* const name_;
  const ConvImplementation* const forward_;
};

}  // namespace

const ConvImplementation* PhasedDirect() {
  static const PhasedConv implementation("phases_direct", DirectForward());
  return &implementation;
}
const ConvImplementation* PhasedFewOutputs() {
  static const PhasedConv implementation("phases_few_outputs", FewOutputs());
  return &implementation;
}

}  // namespace headrace::conv
