// Dnn of the host platform. Every problem is brought to one layout, NHWC with a
// filter HWIO, as sums; computed by plain loops, and brought back.
#include <algorithm>
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

 private:
  enum : int64_t { kDirect, kGemm, kAtomic };

  const bool prefers_nhwc_;
};

}  // namespace

std::unique_ptr<Dnn> NewHostDnn(bool prefers_nhwc) {
  return std::make_unique<HostDnn>(prefers_nhwc);
}

}  // namespace headrace::gpu
