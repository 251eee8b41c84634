// Convolutions of well-known networks, and matrix products, by algorithm: time,
// Gflop/s of the plain algorithm, and those per second of processor time, which
// mean something on a shared machine too. Every algorithm that accepts a layer
// runs, but for the reference loop; a star marks what ChooseConv takes.
//
// Filters of the forward direction are prepared ahead, those of the gradients,
// which change, in each run. conv_networks.cc has the layers of whole networks.
//
//   bench/conv --benchmark_filter='forward/resnet'
#include <benchmark/benchmark.h>

#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "headrace/strings.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/lib/gemm.h"

namespace headrace {
namespace {

struct Layer {
  const char* name;
  int64_t batch, size, in, out, filter, stride = 1, groups = 1;
};

constexpr Layer kLayers[] = {
    {"vgg_1_1", 1, 224, 3, 64, 3},
    {"vgg_1_2", 1, 224, 64, 64, 3},
    {"vgg_2_2", 1, 112, 128, 128, 3},
    {"vgg_3_2", 1, 56, 256, 256, 3},
    {"vgg_4_2", 1, 28, 512, 512, 3},
    {"vgg_5_1", 1, 14, 512, 512, 3},
    {"resnet_first", 1, 224, 3, 64, 7, 2},
    {"resnet_1x1_64_256", 1, 56, 64, 256, 1},
    {"resnet_1x1_256_64", 1, 56, 256, 64, 1},
    {"resnet_1x1_strided", 1, 56, 256, 512, 1, 2},
    {"resnet_3x3_56", 1, 56, 64, 64, 3},
    {"resnet_3x3_28", 1, 28, 128, 128, 3},
    {"resnet_3x3_14", 1, 14, 256, 256, 3},
    {"resnet_3x3_7", 1, 7, 512, 512, 3},
    {"resnet_1x1_7", 1, 7, 512, 2048, 1},
    {"mobile_dw_112", 1, 112, 32, 32, 3, 1, 32},
    {"mobile_dw_112_s2", 1, 112, 64, 64, 3, 2, 64},
    {"mobile_dw_14", 1, 14, 512, 512, 3, 1, 512},
    {"mobile_pw_14", 1, 14, 512, 512, 1},
    {"lenet_1_b64", 64, 28, 1, 32, 5},
    {"lenet_2_b64", 64, 14, 32, 64, 5},
    {"cifar_b16_32", 16, 32, 64, 64, 3},
    {"cifar_b16_8", 16, 8, 128, 128, 3},
    {"grouped_4x56", 1, 56, 128, 128, 3, 1, 32},
    {"grouped_8x28", 1, 28, 256, 256, 3, 1, 32},
    {"grouped_8x56_s2", 1, 56, 256, 256, 3, 2, 32},
    {"grouped_16x14", 1, 14, 512, 512, 3, 1, 32},
    {"grouped_32x7", 1, 7, 1024, 1024, 3, 1, 32},
    {"grouped_64x28", 1, 28, 128, 128, 3, 1, 2},
    {"grouped_1x1_28", 1, 28, 240, 240, 1, 1, 3},
    {"multiplier_4", 1, 56, 32, 128, 3, 1, 32},
};

// Runs `fn`, counting `flops` for each run.
template <typename F>
void Measure(benchmark::State& state, double flops, F fn) {
  fn();
  const std::clock_t start = std::clock();
  for (auto _ : state) fn();
  const double seconds = 1.0 * (std::clock() - start) / CLOCKS_PER_SEC;
  state.counters["Gflop/s"] = benchmark::Counter(
      flops / 1e9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["Gflop/cpu_s"] = flops / 1e9 * state.iterations() / seconds;
  state.counters["cpu_us"] = seconds * 1e6 / state.iterations();
}

ConvParams Params(const Layer& l) {
  ConvAttrs attrs;
  attrs.strides = {1, l.stride, l.stride, 1};
  attrs.dilations = {1, 1, 1, 1};
  attrs.padding = Padding::kSame;
  ConvParams p;
  const Status s = ConvSizesOf(
      attrs, TensorShape({l.batch, l.size, l.size, l.in}),
      TensorShape({l.filter, l.filter, l.in / l.groups, l.out}), false, &p);
  if (!s.ok()) p.batch = 0;
  return p;
}

void RunConvolution(benchmark::State& state, ConvDirection direction,
                    const ConvParams& p, const ConvImplementation* impl) {
  ThreadPool* pool = ThreadPool::Global();
  // As kernels get memory: large blocks in huge pages.
  const auto floats = [](int64_t n, float value) {
    Tensor t(DT_FLOAT, TensorShape({n}));
    std::fill_n(t.data<float>(), n, value);
    return t;
  };
  const auto bytes = [](int64_t n) {
    Tensor t(DT_UINT8, TensorShape({std::max<int64_t>(n, 64)}));
    std::memset(t.raw_data(), 0, t.TotalBytes());
    return t;
  };
  Tensor in = floats(p.in_elements(), 0.5f),
         w = floats(p.filter_elements(), 0.25f),
         dy = floats(p.out_elements(), 0.5f),
         workspace = bytes(impl->WorkspaceBytes(p, pool->NumThreads())),
         form = bytes(impl->PreparedFilterBytes(p));
  ConvArgs args;
  args.pool = pool;
  args.params = &p;
  args.input = in.raw_data();
  args.filter = w.raw_data();
  args.out_backprop = dy.raw_data();
  args.result = (direction == ConvDirection::kForward         ? dy
                 : direction == ConvDirection::kBackwardInput ? in
                                                              : w)
                    .raw_data();
  args.workspace = workspace.raw_data();
  const bool prepares = impl->PreparedFilterBytes(p) > 0;
  const auto prepare = [&] {
    impl->PrepareFilter(pool, p, w.raw_data(), form.raw_data());
  };
  if (prepares) {
    args.prepared_filter = form.raw_data();
    prepare();
  }
  Measure(state, p.flops(), [&] {
    if (prepares && direction != ConvDirection::kForward) prepare();
    impl->Run(args);
  });
  state.counters["estimate_us"] = impl->EstimateNs(p, HostCpu()) / 1e3;
}

void RunProduct(benchmark::State& state, GemmArgs<float> g) {
  std::vector<float> a(g.m * g.k, 0.5f), b(g.k * g.n, 0.5f), c(g.m * g.n);
  g.a = a.data();
  g.lda = g.transpose_a ? g.m : g.k;
  g.b = b.data();
  g.ldb = g.transpose_b ? g.k : g.n;
  g.c = c.data();
  g.ldc = g.n;
  Measure(state, 2.0 * g.m * g.n * g.k, [&] { Gemm(ThreadPool::Global(), g); });
  state.counters["GB/s"] = benchmark::Counter(
      4e-9 * (1.0 * g.m * g.k + 1.0 * g.k * g.n + 1.0 * g.m * g.n),
      benchmark::Counter::kIsIterationInvariantRate);
}

void Register() {
  constexpr const char* kNames[] = {"forward", "backward_input",
                                    "backward_filter"};
  for (int d = 0; d < 3; ++d) {
    const auto direction = static_cast<ConvDirection>(d);
    for (const Layer& l : kLayers) {
      ConvParams p = Params(l);
      p.constant_filter = direction == ConvDirection::kForward;
      for (const ConvImplementation* impl : ConvImplementations(direction)) {
        if (!impl->Accepts(p, HostCpu()) ||
            std::string(impl->Name()) == "reference") {
          continue;
        }
        benchmark::RegisterBenchmark(
            StrCat(kNames[d], "/", l.name, "/", impl->Name(),
                   impl == ChooseConv(direction, p) ? "*" : "")
                .c_str(),
            [=](benchmark::State& s) { RunConvolution(s, direction, p, impl); })
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  const struct {
    const char* name;
    int64_t m, n, k;
    bool ta = false, tb = false;
  } kProducts[] = {
      {"square_1024", 1024, 1024, 1024},
      {"square_1024_ta", 1024, 1024, 1024, true},
      {"square_1024_tb", 1024, 1024, 1024, false, true},
      {"square_128", 128, 128, 128},
      {"square_32", 32, 32, 32},
      {"vgg_fc6", 1, 4096, 25088},
      {"vgg_fc8", 1, 1000, 4096},
      {"vgg_fc7_b8", 8, 4096, 4096},
      {"lstm_32x512x1024", 32, 1024, 512},
      {"dense_b64_grad_x", 64, 3136, 1024, false, true},
      {"dense_b64_grad_w", 3136, 1024, 64, true},
      {"tall_k", 64, 64, 50176, true},
      {"vector_tb", 1, 4096, 4096, false, true},
      {"column", 4096, 1, 4096},
  };
  for (const auto& c : kProducts) {
    benchmark::RegisterBenchmark(StrCat("gemm/", c.name).c_str(),
                                 [c](benchmark::State& s) {
                                   RunProduct(s, {.m = c.m,
                                                  .n = c.n,
                                                  .k = c.k,
                                                  .transpose_a = c.ta,
                                                  .transpose_b = c.tb});
                                 })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  headrace::Register();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
