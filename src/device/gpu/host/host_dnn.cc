// Dnn of the host platform. Every problem is brought to one layout, NHWC with a
// filter HWIO, as sums; computed by plain loops, and brought back.
#include <cmath>
#include <limits>
#include <vector>

#include "device/gpu/dnn.h"
#include "device/gpu/host/host_numbers.h"
#include "device/gpu/host/host_platform.h"

namespace headrace::gpu {
namespace {

// Calls fn(here, there) for each element: its index in NHWC order, and in the
// given layout.
template <typename F>
void ForImage(DataLayout layout, int64_t batch, int64_t height, int64_t width,
              int64_t depth, F&& fn) {
  int64_t here = 0;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t c = 0; c < depth; ++c, ++here) {
          fn(here, layout == DataLayout::kNHWC
                       ? here
                       : ((n * depth + c) * height + y) * width + x);
        }
      }
    }
  }
}

// The same for a filter, from HWIO.
template <typename F>
void ForFilter(FilterLayout layout, int64_t height, int64_t width, int64_t in,
               int64_t out, F&& fn) {
  int64_t here = 0;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t i = 0; i < in; ++i) {
        for (int64_t o = 0; o < out; ++o, ++here) {
          fn(here, layout == FilterLayout::kHWIO ? here
                   : layout == FilterLayout::kOIHW
                       ? ((o * in + i) * height + y) * width + x
                       : ((o * height + y) * width + x) * in + i);
        }
      }
    }
  }
}

template <typename T>
std::vector<SumOf<T>> LoadImage(DataLayout layout, int64_t batch,
                                const int64_t* size, int64_t depth,
                                const DeviceMemoryBase& from) {
  std::vector<SumOf<T>> out(batch * size[0] * size[1] * depth);
  const T* const data = static_cast<const T*>(from.opaque);
  ForImage(layout, batch, size[0], size[1], depth,
           [&](int64_t here, int64_t there) {
             out[here] = static_cast<SumOf<T>>(data[there]);
           });
  return out;
}

// to = alpha * v + beta * to.
template <typename T>
void Blend(SumOf<T> v, double alpha, double beta, T* to) {
  using S = SumOf<T>;
  v *= static_cast<S>(alpha);
  if (beta != 0) v += static_cast<S>(beta) * static_cast<S>(*to);
  *to = static_cast<T>(v);
}

// Calls fn(in, out, filter) for each pair of a place of the input and one of
// the output that meet, with the indices of their first elements, and of the
// filter's [in_depth / groups, out_depth].
template <typename F>
void ForTaps(const ConvProblem& p, F&& fn) {
  const int64_t in_group = p.in_depth / p.groups;
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t oy = 0; oy < p.output[0]; ++oy) {
      for (int64_t ox = 0; ox < p.output[1]; ++ox) {
        for (int64_t ky = 0; ky < p.filter[0]; ++ky) {
          const int64_t y =
              oy * p.stride[0] - p.padding[0] + ky * p.dilation[0];
          if (y < 0 || y >= p.input[0]) continue;
          for (int64_t kx = 0; kx < p.filter[1]; ++kx) {
            const int64_t x =
                ox * p.stride[1] - p.padding[1] + kx * p.dilation[1];
            if (x < 0 || x >= p.input[1]) continue;
            fn(((n * p.input[0] + y) * p.input[1] + x) * p.in_depth,
               ((n * p.output[0] + oy) * p.output[1] + ox) * p.out_depth,
               (ky * p.filter[1] + kx) * in_group * p.out_depth);
          }
        }
      }
    }
  }
}

template <typename T>
void Convolve(const ConvProblem& p, const ConvBuffers& buffers) {
  using S = SumOf<T>;
  const int64_t in_group = p.in_depth / p.groups;
  const int64_t out_group = p.out_depth / p.groups;
  std::vector<S> in, filter, out;
  if (p.kind == ConvKind::kBackwardInput) {
    in.assign(p.InputElements(), S(0));
  } else {
    in = LoadImage<T>(p.layout, p.batch, p.input, p.in_depth, buffers.input);
  }
  filter.assign(p.FilterElements(), S(0));
  const auto for_filter = [&](auto&& fn) {
    ForFilter(p.filter_layout, p.filter[0], p.filter[1], in_group, p.out_depth,
              fn);
  };
  if (p.kind != ConvKind::kBackwardFilter) {
    const T* const data = static_cast<const T*>(buffers.filter.opaque);
    for_filter([&](int64_t here, int64_t there) {
      filter[here] = static_cast<S>(data[there]);
    });
  }
  if (p.kind == ConvKind::kForward) {
    out.assign(p.OutputElements(), S(0));
  } else {
    out =
        LoadImage<T>(p.layout, p.batch, p.output, p.out_depth, buffers.output);
  }
  ForTaps(p, [&](int64_t at_in, int64_t at_out, int64_t at_filter) {
    for (int64_t g = 0; g < p.groups; ++g) {
      S* const y = out.data() + at_out + g * out_group;
      for (int64_t i = 0; i < in_group; ++i) {
        S& x = in[at_in + g * in_group + i];
        S* const w =
            filter.data() + at_filter + i * p.out_depth + g * out_group;
        if (p.kind == ConvKind::kForward) {
          for (int64_t o = 0; o < out_group; ++o) y[o] += x * w[o];
        } else if (p.kind == ConvKind::kBackwardInput) {
          S sum = 0;
          for (int64_t o = 0; o < out_group; ++o) sum += y[o] * w[o];
          x += sum;
        } else {
          for (int64_t o = 0; o < out_group; ++o) w[o] += x * y[o];
        }
      }
    }
  });
  if (p.kind == ConvKind::kBackwardInput) {
    T* const to = static_cast<T*>(buffers.input.opaque);
    ForImage(p.layout, p.batch, p.input[0], p.input[1], p.in_depth,
             [&](int64_t here, int64_t there) {
               Blend(in[here], buffers.alpha, buffers.beta, to + there);
             });
  } else if (p.kind == ConvKind::kBackwardFilter) {
    T* const to = static_cast<T*>(buffers.filter.opaque);
    for_filter([&](int64_t here, int64_t there) {
      Blend(filter[here], buffers.alpha, buffers.beta, to + there);
    });
  } else {
    T* const to = static_cast<T*>(buffers.output.opaque);
    const T* const bias = static_cast<const T*>(buffers.bias.opaque);
    const T* const addend = static_cast<const T*>(buffers.addend.opaque);
    ForImage(p.layout, p.batch, p.output[0], p.output[1], p.out_depth,
             [&](int64_t here, int64_t there) {
               S v = static_cast<S>(buffers.alpha) * out[here];
               if (buffers.beta != 0) {
                 v += static_cast<S>(buffers.beta) * static_cast<S>(to[there]);
               }
               if (p.has_bias) v += static_cast<S>(bias[here % p.out_depth]);
               if (p.has_addend) v += static_cast<S>(addend[there]);
               to[there] = static_cast<T>(Activate(p.activation, v));
             });
  }
}

// Calls fn(in, out) for each element of the input that a window covers.
template <typename F>
void ForWindows(const PoolProblem& p, F&& fn) {
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t oy = 0; oy < p.output[0]; ++oy) {
      const int64_t y0 = oy * p.stride[0] - p.padding_before[0];
      for (int64_t ox = 0; ox < p.output[1]; ++ox) {
        const int64_t x0 = ox * p.stride[1] - p.padding_before[1];
        const int64_t out = ((n * p.output[0] + oy) * p.output[1] + ox);
        for (int64_t y = std::max<int64_t>(y0, 0);
             y < std::min(y0 + p.window[0], p.input[0]); ++y) {
          for (int64_t x = std::max<int64_t>(x0, 0);
               x < std::min(x0 + p.window[1], p.input[1]); ++x) {
            fn((n * p.input[0] + y) * p.input[1] + x, out);
          }
        }
      }
    }
  }
}

template <typename T>
std::vector<SumOf<T>> Pooled(const PoolProblem& p,
                             const std::vector<SumOf<T>>& in,
                             std::vector<int64_t>* counts) {
  using S = SumOf<T>;
  const int64_t places = p.batch * p.output[0] * p.output[1];
  std::vector<S> out(places * p.depth, p.mode == PoolMode::kMax
                                           ? -std::numeric_limits<S>::infinity()
                                           : S(0));
  counts->assign(places, 0);
  ForWindows(p, [&](int64_t from, int64_t to) {
    ++(*counts)[to];
    for (int64_t c = 0; c < p.depth; ++c) {
      const S v = in[from * p.depth + c];
      S& o = out[to * p.depth + c];
      if (p.mode == PoolMode::kMax) {
        o = v > o || std::isnan(v) ? v : o;
      } else {
        o += v;
      }
    }
  });
  if (p.mode == PoolMode::kAverage) {
    for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
      out[i] /= static_cast<S>((*counts)[i / p.depth]);
    }
  }
  return out;
}

template <typename T>
void StoreImage(DataLayout layout, int64_t batch, const int64_t* size,
                int64_t depth, const std::vector<SumOf<T>>& values,
                const DeviceMemoryBase& to) {
  T* const data = static_cast<T*>(to.opaque);
  ForImage(layout, batch, size[0], size[1], depth,
           [&](int64_t here, int64_t there) {
             data[there] = static_cast<T>(values[here]);
           });
}

template <typename T>
void PoolGradient(const PoolProblem& p, const DeviceMemoryBase& input,
                  const DeviceMemoryBase& output_grad,
                  const DeviceMemoryBase& input_grad) {
  using S = SumOf<T>;
  const auto in = LoadImage<T>(p.layout, p.batch, p.input, p.depth, input);
  const auto dy =
      LoadImage<T>(p.layout, p.batch, p.output, p.depth, output_grad);
  std::vector<int64_t> counts;
  const auto out = Pooled<T>(p, in, &counts);
  std::vector<S> dx(in.size(), S(0));
  std::vector<bool> given(out.size(), false);
  ForWindows(p, [&](int64_t from, int64_t to) {
    for (int64_t c = 0; c < p.depth; ++c) {
      const int64_t i = from * p.depth + c, o = to * p.depth + c;
      if (p.mode == PoolMode::kAverage) {
        dx[i] += dy[o] / static_cast<S>(counts[to]);
      } else if (!given[o] && in[i] == out[o]) {  // the first of equal ones
        given[o] = true;
        dx[i] += dy[o];
      }
    }
  });
  StoreImage<T>(p.layout, p.batch, p.input, p.depth, dx, input_grad);
}

Status CheckBuffer(const std::string& problem, const char* name,
                   const DeviceMemoryBase& memory, int64_t elements,
                   DataType type) {
  if (memory.size >=
      static_cast<uint64_t>(elements) * DataTypeObjectSize(type)) {
    return OkStatus();
  }
  return errors::InvalidArgument(problem, ": the buffer of ", name, " has ",
                                 memory.size, " bytes, wanted ", elements,
                                 " elements of ", DataTypeString(type));
}

class HostDnn : public Dnn {
 public:
  explicit HostDnn(bool prefers_nhwc) : prefers_nhwc_(prefers_nhwc) {}

  int version() const override { return 0; }
  bool PrefersNhwc(DataType type) const override {
    return type == DT_HALF || type == DT_BFLOAT16 || prefers_nhwc_;
  }
  bool CanFuse(const ConvProblem& p) const override {
    return p.kind == ConvKind::kForward;
  }

  StatusOr<std::vector<ConvAlgorithm>> ConvAlgorithms(
      const ConvProblem& p, bool deterministic) override {
    HR_RETURN_IF_ERROR(CheckConv(p));
    std::vector<ConvAlgorithm> list;
    // A column for each place of the output, as a product of matrices has.
    const int64_t columns = p.OutputElements() /
                            std::max<int64_t>(1, p.out_depth) * p.filter[0] *
                            p.filter[1] * p.in_depth / p.groups;
    list.push_back({kGemm, "gemm",
                    columns * static_cast<int64_t>(DataTypeObjectSize(p.type)),
                    true});
    list.push_back({kDirect, "direct", 0, true});
    if (!deterministic) list.push_back({kAtomic, "atomic", 256, false});
    return list;
  }

  Status Convolve(Stream* stream, const ConvProblem& p,
                  const ConvAlgorithm& algorithm, const ConvBuffers& buffers,
                  ScratchAllocator* scratch) override {
    HR_RETURN_IF_ERROR(CheckConv(p));
    const std::string name = p.ToString();
    HR_RETURN_IF_ERROR(
        CheckBuffer(name, "input", buffers.input, p.InputElements(), p.type));
    HR_RETURN_IF_ERROR(CheckBuffer(name, "filter", buffers.filter,
                                   p.FilterElements(), p.type));
    HR_RETURN_IF_ERROR(CheckBuffer(name, "output", buffers.output,
                                   p.OutputElements(), p.type));
    if (p.has_bias) {
      HR_RETURN_IF_ERROR(
          CheckBuffer(name, "bias", buffers.bias, p.out_depth, p.type));
    }
    if (p.has_addend) {
      HR_RETURN_IF_ERROR(CheckBuffer(name, "addend", buffers.addend,
                                     p.OutputElements(), p.type));
    }
    HR_ASSIGN_OR_RETURN(const std::vector<ConvAlgorithm> known,
                        ConvAlgorithms(p, /*deterministic=*/false));
    const ConvAlgorithm* chosen = nullptr;
    for (const ConvAlgorithm& a : known) {
      if (a.id == algorithm.id) chosen = &a;
    }
    if (chosen == nullptr) {
      return errors::InvalidArgument(name, ": no algorithm ", algorithm.id);
    }
    DeviceMemoryBase workspace;
    if (chosen->workspace_bytes > 0) {
      if (scratch == nullptr) {
        return errors::InvalidArgument(name, ": algorithm ", chosen->name,
                                       " wants a workspace of ",
                                       chosen->workspace_bytes, " bytes");
      }
      HR_ASSIGN_OR_RETURN(workspace,
                          scratch->Allocate(chosen->workspace_bytes));
    }
    return static_cast<HostStream*>(stream)->Enqueue(
        name, [p, buffers, workspace] {
          // What a library leaves there.
          if (workspace.size > 0) {
            std::fill_n(static_cast<char*>(workspace.opaque), workspace.size,
                        '\xff');
          }
          ForFloatingType(p.type, [&](auto zero) {
            gpu::Convolve<decltype(zero)>(p, buffers);
          });
          return OkStatus();
        });
  }

  Status Pool(Stream* stream, const PoolProblem& p, DeviceMemoryBase input,
              DeviceMemoryBase output) override {
    HR_RETURN_IF_ERROR(CheckPool(p));
    HR_RETURN_IF_ERROR(CheckPoolBuffers(p, input, output));
    return static_cast<HostStream*>(stream)->Enqueue(
        p.ToString(), [p, input, output] {
          ForFloatingType(p.type, [&](auto zero) {
            using T = decltype(zero);
            std::vector<int64_t> counts;
            StoreImage<T>(
                p.layout, p.batch, p.output, p.depth,
                Pooled<T>(
                    p, LoadImage<T>(p.layout, p.batch, p.input, p.depth, input),
                    &counts),
                output);
          });
          return OkStatus();
        });
  }

  Status PoolGrad(Stream* stream, const PoolProblem& p, DeviceMemoryBase input,
                  DeviceMemoryBase output, DeviceMemoryBase output_grad,
                  DeviceMemoryBase input_grad) override {
    HR_RETURN_IF_ERROR(CheckPool(p));
    HR_RETURN_IF_ERROR(CheckPoolBuffers(p, input, output));
    HR_RETURN_IF_ERROR(CheckPoolBuffers(p, input_grad, output_grad));
    return static_cast<HostStream*>(stream)->Enqueue(
        StrCat(p.ToString(), " grad"), [p, input, output_grad, input_grad] {
          ForFloatingType(p.type, [&](auto zero) {
            PoolGradient<decltype(zero)>(p, input, output_grad, input_grad);
          });
          return OkStatus();
        });
  }

  Status BatchNormInference(Stream* stream, const BatchNormProblem& p,
                            DeviceMemoryBase x, DeviceMemoryBase scale,
                            DeviceMemoryBase offset, DeviceMemoryBase mean,
                            DeviceMemoryBase variance,
                            DeviceMemoryBase y) override {
    HR_RETURN_IF_ERROR(CheckNorm(p, {x, y}, {scale, offset, mean, variance}));
    return static_cast<HostStream*>(stream)->Enqueue(p.ToString(), [=] {
      ForFloatingType(p.type, [&](auto zero) {
        using T = decltype(zero);
        Normalize<T>(
            p, x, Floats(scale), Floats(offset), Floats(mean),
            [&](int64_t c) {
              return 1 / std::sqrt(Floats(variance)[c] + p.epsilon);
            },
            y);
      });
      return OkStatus();
    });
  }

  Status BatchNormTraining(Stream* stream, const BatchNormProblem& p,
                           DeviceMemoryBase x, DeviceMemoryBase scale,
                           DeviceMemoryBase offset, DeviceMemoryBase y,
                           DeviceMemoryBase mean, DeviceMemoryBase variance,
                           DeviceMemoryBase saved_inv_std) override {
    HR_RETURN_IF_ERROR(
        CheckNorm(p, {x, y}, {scale, offset, mean, variance, saved_inv_std}));
    return static_cast<HostStream*>(stream)->Enqueue(p.ToString(), [=] {
      ForFloatingType(p.type, [&](auto zero) {
        using T = decltype(zero);
        const T* const in = static_cast<const T*>(x.opaque);
        const double rows = static_cast<double>(p.batch * p.height * p.width);
        std::vector<double> sum(p.depth), squares(p.depth);
        Each(p, [&](int64_t here, int64_t at) {
          sum[here % p.depth] += static_cast<float>(in[at]);
        });
        for (double& s : sum) s /= rows;
        Each(p, [&](int64_t here, int64_t at) {
          const double d = static_cast<float>(in[at]) - sum[here % p.depth];
          squares[here % p.depth] += d * d;
        });
        for (int64_t c = 0; c < p.depth; ++c) {
          Floats(mean)[c] = static_cast<float>(sum[c]);
          Floats(variance)[c] =
              static_cast<float>(squares[c] / (rows > 1 ? rows - 1 : rows));
          Floats(saved_inv_std)[c] =
              static_cast<float>(1 / std::sqrt(squares[c] / rows + p.epsilon));
        }
        Normalize<T>(
            p, x, Floats(scale), Floats(offset), Floats(mean),
            [&](int64_t c) { return Floats(saved_inv_std)[c]; }, y);
      });
      return OkStatus();
    });
  }

  Status BatchNormGrad(Stream* stream, const BatchNormProblem& p,
                       DeviceMemoryBase y_grad, DeviceMemoryBase x,
                       DeviceMemoryBase scale, DeviceMemoryBase mean,
                       DeviceMemoryBase saved_inv_std, DeviceMemoryBase x_grad,
                       DeviceMemoryBase scale_grad,
                       DeviceMemoryBase offset_grad) override {
    HR_RETURN_IF_ERROR(
        CheckNorm(p, {y_grad, x, x_grad},
                  {scale, mean, saved_inv_std, scale_grad, offset_grad}));
    return static_cast<HostStream*>(stream)->Enqueue(
        StrCat(p.ToString(), " grad"), [=] {
          ForFloatingType(p.type, [&](auto zero) {
            using T = decltype(zero);
            const T* const in = static_cast<const T*>(x.opaque);
            const T* const dy = static_cast<const T*>(y_grad.opaque);
            T* const dx = static_cast<T*>(x_grad.opaque);
            const double rows =
                static_cast<double>(p.batch * p.height * p.width);
            std::vector<double> sum(p.depth), products(p.depth);
            const auto normal = [&](int64_t c, int64_t at) {
              return (static_cast<double>(static_cast<float>(in[at])) -
                      Floats(mean)[c]) *
                     Floats(saved_inv_std)[c];
            };
            Each(p, [&](int64_t here, int64_t at) {
              const int64_t c = here % p.depth;
              sum[c] += static_cast<float>(dy[at]);
              products[c] += static_cast<float>(dy[at]) * normal(c, at);
            });
            Each(p, [&](int64_t here, int64_t at) {
              const int64_t c = here % p.depth;
              dx[at] = static_cast<T>(static_cast<float>(
                  Floats(scale)[c] * Floats(saved_inv_std)[c] *
                  (static_cast<float>(dy[at]) - sum[c] / rows -
                   normal(c, at) * products[c] / rows)));
            });
            for (int64_t c = 0; c < p.depth; ++c) {
              Floats(scale_grad)[c] = static_cast<float>(products[c]);
              Floats(offset_grad)[c] = static_cast<float>(sum[c]);
            }
          });
          return OkStatus();
        });
  }

  Status Softmax(Stream* stream, DataType type, int64_t rows, int64_t classes,
                 bool log, DeviceMemoryBase x, DeviceMemoryBase y) override {
    int64_t elements = -1;
    if (rows < 0 || classes < 0 ||
        __builtin_mul_overflow(rows, classes, &elements) ||
        elements > std::numeric_limits<int64_t>::max() / 8) {
      return errors::InvalidArgument("Softmax: ", rows, " rows of ", classes);
    }
    HR_RETURN_IF_ERROR(CheckBuffer("Softmax", "x", x, elements, type));
    HR_RETURN_IF_ERROR(CheckBuffer("Softmax", "y", y, elements, type));
    if (!ForFloatingType(type, [](auto) {})) {
      return errors::InvalidArgument("Softmax: type ", DataTypeString(type));
    }
    if (elements == 0) return OkStatus();
    return static_cast<HostStream*>(stream)->Enqueue("Softmax", [=] {
      ForFloatingType(type, [&](auto zero) {
        using T = decltype(zero);
        using S = SumOf<T>;
        for (int64_t r = 0; r < rows; ++r) {
          const T* const in = static_cast<const T*>(x.opaque) + r * classes;
          T* const out = static_cast<T*>(y.opaque) + r * classes;
          S most = static_cast<S>(in[0]);
          for (int64_t c = 0; c < classes; ++c) {
            most = std::max(most, static_cast<S>(in[c]));
          }
          S sum = 0;
          for (int64_t c = 0; c < classes; ++c) {
            sum += std::exp(static_cast<S>(in[c]) - most);
          }
          for (int64_t c = 0; c < classes; ++c) {
            const S v = static_cast<S>(in[c]) - most;
            out[c] =
                static_cast<T>(log ? v - std::log(sum) : std::exp(v) / sum);
          }
        }
      });
      return OkStatus();
    });
  }

 private:
  enum : int64_t { kDirect, kGemm, kAtomic };

  static float* Floats(const DeviceMemoryBase& m) {
    return static_cast<float*>(m.opaque);
  }
  template <typename F>
  static void Each(const BatchNormProblem& p, F&& fn) {
    ForImage(p.layout, p.batch, p.height, p.width, p.depth, fn);
  }
  template <typename T, typename InvStd>
  static void Normalize(const BatchNormProblem& p, const DeviceMemoryBase& x,
                        const float* scale, const float* offset,
                        const float* mean, InvStd&& inv_std,
                        const DeviceMemoryBase& y) {
    const T* const in = static_cast<const T*>(x.opaque);
    T* const out = static_cast<T*>(y.opaque);
    Each(p, [&](int64_t here, int64_t at) {
      const int64_t c = here % p.depth;
      const float v = (static_cast<float>(in[at]) - mean[c]) *
                          static_cast<float>(inv_std(c)) * scale[c] +
                      offset[c];
      out[at] = static_cast<T>(Activate(p.activation, v));
    });
  }
  static Status CheckNorm(const BatchNormProblem& p,
                          std::initializer_list<DeviceMemoryBase> images,
                          std::initializer_list<DeviceMemoryBase> channels) {
    HR_RETURN_IF_ERROR(CheckBatchNorm(p));
    const std::string name = p.ToString();
    for (const DeviceMemoryBase& m : images) {
      HR_RETURN_IF_ERROR(CheckBuffer(
          name, "an image", m, p.batch * p.height * p.width * p.depth, p.type));
    }
    for (const DeviceMemoryBase& m : channels) {
      HR_RETURN_IF_ERROR(
          CheckBuffer(name, "a statistic", m, p.depth, DT_FLOAT));
    }
    return OkStatus();
  }
  static Status CheckPoolBuffers(const PoolProblem& p,
                                 const DeviceMemoryBase& input,
                                 const DeviceMemoryBase& output) {
    const std::string name = p.ToString();
    HR_RETURN_IF_ERROR(CheckBuffer(name, "input", input,
                                   p.batch * p.input[0] * p.input[1] * p.depth,
                                   p.type));
    return CheckBuffer(name, "output", output,
                       p.batch * p.output[0] * p.output[1] * p.depth, p.type);
  }

  const bool prefers_nhwc_;
};

}  // namespace

std::unique_ptr<Dnn> NewHostDnn(bool prefers_nhwc) {
  return std::make_unique<HostDnn>(prefers_nhwc);
}

}  // namespace headrace::gpu
