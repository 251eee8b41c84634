// The convolutions of well-known networks, layer by layer and algorithm by
// algorithm: best time, predicted time, and Gflop/s in terms of the plain
// algorithm; a star marks what ChooseConv takes, and "lost" what a choice by
// measurement would save. The last lines are whole networks, and the machine's
// multiply-add peak, measured on the spot.
//
//   bench/conv_networks [network or layer, by a part of its name] [threads]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "headrace/strings.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/lib/gemm_kernel.h"

namespace headrace {
namespace {

struct Layer {
  std::string network, name;
  int count;  // times in the network
  ConvParams p;
};

class Networks {
 public:
  const std::vector<Layer>& layers() const { return layers_; }

  Networks() {
    Vgg16();
    Resnet50();
    MobilenetV1();
    MobilenetV2();
    InceptionV3();
  }

 private:
  // The same layer again counts once more. Returns the output's size.
  int64_t Add(int64_t size, int64_t in, int64_t out, int64_t rows,
              int64_t columns, int64_t stride = 1,
              Padding padding = Padding::kSame, bool depthwise = false) {
    ConvAttrs attrs;
    attrs.strides = {1, stride, stride, 1};
    attrs.dilations = {1, 1, 1, 1};
    attrs.padding = padding;
    ConvParams p;
    const Status s = ConvSizesOf(
        attrs, TensorShape({1, size, size, in}),
        TensorShape({rows, columns, in, depthwise ? 1 : out}), depthwise, &p);
    if (!s.ok()) std::abort();  // the tables below are constants
    p.constant_filter = true;
    const std::string name = StrCat(depthwise ? "dw" : "", rows, "x", columns,
                                    stride > 1 ? StrCat("/", stride) : "",
                                    padding == Padding::kValid ? "v" : "", " ",
                                    size, " ", in, "->", out);
    for (Layer& l : layers_) {
      if (l.network == network_ && l.name == name) {
        ++l.count;
        return p.out[1];
      }
    }
    layers_.push_back({network_, name, 1, p});
    return p.out[1];
  }
  int64_t Depthwise(int64_t size, int64_t channels, int64_t stride) {
    return Add(size, channels, channels, 3, 3, stride, Padding::kSame, true);
  }

  void Vgg16() {
    network_ = "vgg16";
    int64_t in = 3, size = 224;
    for (const auto& [out, count] :
         {std::pair{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
      for (int i = 0; i < count; ++i) {
        Add(size, in, out, 3, 3);
        in = out;
      }
      size /= 2;
    }
  }

  void Resnet50() {
    network_ = "resnet50";
    Add(230, 3, 64, 7, 7, 2, Padding::kValid);
    int64_t in = 64, size = 56, stride = 1;
    for (const auto& [c, count] :
         {std::pair{64, 3}, {128, 4}, {256, 6}, {512, 3}}) {
      for (int i = 0; i < count; ++i) {
        if (i == 0) Add(size, in, 4 * c, 1, 1, stride);
        size = Add(size, in, c, 1, 1, stride);
        Add(size, c, c, 3, 3);
        Add(size, c, 4 * c, 1, 1);
        in = 4 * c;
        stride = 1;
      }
      stride = 2;
    }
  }

  void MobilenetV1() {
    network_ = "mobilenet_v1";
    int64_t in = 32, size = Add(224, 3, 32, 3, 3, 2);
    for (const auto& [out, stride] : {std::pair{64, 1},
                                      {128, 2},
                                      {128, 1},
                                      {256, 2},
                                      {256, 1},
                                      {512, 2},
                                      {512, 1},
                                      {512, 1},
                                      {512, 1},
                                      {512, 1},
                                      {512, 1},
                                      {1024, 2},
                                      {1024, 1}}) {
      size = Depthwise(size, in, stride);
      Add(size, in, out, 1, 1);
      in = out;
    }
  }

  void MobilenetV2() {
    network_ = "mobilenet_v2";
    int64_t in = 32, size = Add(224, 3, 32, 3, 3, 2);
    struct Stage {
      int64_t expand, out, count, stride;
    };
    for (const Stage& s : {Stage{1, 16, 1, 1},
                           {6, 24, 2, 2},
                           {6, 32, 3, 2},
                           {6, 64, 4, 2},
                           {6, 96, 3, 1},
                           {6, 160, 3, 2},
                           {6, 320, 1, 1}}) {
      for (int64_t i = 0; i < s.count; ++i) {
        const int64_t wide = in * s.expand;
        if (s.expand > 1) Add(size, in, wide, 1, 1);
        size = Depthwise(size, wide, i == 0 ? s.stride : 1);
        Add(size, wide, s.out, 1, 1);
        in = s.out;
      }
    }
    Add(size, in, 1280, 1, 1);
  }

  // 1x1 to `first`, then each filter in turn.
  void Branch(int64_t size, int64_t in,
              const std::vector<std::array<int64_t, 3>>& filters) {
    for (const auto& [rows, columns, out] : filters) {
      Add(size, in, out, rows, columns);
      in = out;
    }
  }

  void InceptionV3() {
    network_ = "inception_v3";
    constexpr Padding kValid = Padding::kValid;
    Add(299, 3, 32, 3, 3, 2, kValid);
    Add(149, 32, 32, 3, 3, 1, kValid);
    Add(147, 32, 64, 3, 3);
    Add(73, 64, 80, 1, 1);
    Add(73, 80, 192, 3, 3, 1, kValid);
    for (const auto& [in, pool] : {std::pair{192, 32}, {256, 64}, {288, 64}}) {
      Branch(35, in, {{1, 1, 64}});
      Branch(35, in, {{1, 1, 48}, {5, 5, 64}});
      Branch(35, in, {{1, 1, 64}, {3, 3, 96}, {3, 3, 96}});
      Branch(35, in, {{1, 1, pool}});
    }
    Add(35, 288, 384, 3, 3, 2, kValid);
    Branch(35, 288, {{1, 1, 64}, {3, 3, 96}});
    Add(35, 96, 96, 3, 3, 2, kValid);
    for (const int64_t c : {128, 160, 160, 192}) {
      Branch(17, 768, {{1, 1, 192}});
      Branch(17, 768, {{1, 1, c}, {1, 7, c}, {7, 1, 192}});
      Branch(17, 768,
             {{1, 1, c}, {7, 1, c}, {1, 7, c}, {7, 1, c}, {1, 7, 192}});
      Branch(17, 768, {{1, 1, 192}});
    }
    Branch(17, 768, {{1, 1, 192}});
    Add(17, 192, 320, 3, 3, 2, kValid);
    Branch(17, 768, {{1, 1, 192}, {1, 7, 192}, {7, 1, 192}});
    Add(17, 192, 192, 3, 3, 2, kValid);
    for (const int64_t in : {1280, 2048}) {
      Branch(8, in, {{1, 1, 320}});
      Branch(8, in, {{1, 1, 384}, {1, 3, 384}});
      Branch(8, 384, {{3, 1, 384}});
      Branch(8, in, {{1, 1, 448}, {3, 3, 384}, {1, 3, 384}});
      Branch(8, 384, {{3, 1, 384}});
      Branch(8, in, {{1, 1, 192}});
    }
  }

  std::string network_;
  std::vector<Layer> layers_;
};

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, FreeDeleter>;
Memory Allocate(int64_t bytes) {
  void* p = std::aligned_alloc(64, bytes / 64 * 64 + 64);
  if (p == nullptr) std::abort();
  std::memset(p, 0, bytes);
  return Memory(p);
}
Memory Floats(int64_t n) {
  Memory m = Allocate(4 * n);
  float* f = static_cast<float*>(m.get());
  for (int64_t i = 0; i < n; ++i) f[i] = 0.01f * static_cast<float>(i % 200);
  return m;
}

// The best of at least three runs and 30 ms, in seconds.
double Measure(ThreadPool* pool, const ConvParams& p,
               const ConvImplementation& impl) {
  const Memory in = Floats(p.in_elements()), w = Floats(p.filter_elements()),
               out = Allocate(4 * p.out_elements()),
               workspace = Allocate(impl.WorkspaceBytes(p, pool->NumThreads())),
               prepared = Allocate(impl.PreparedFilterBytes(p));
  Tensor bias(DT_FLOAT, TensorShape({p.out_channels}));
  for (float& b : bias.flat<float>()) b = 0.01f;
  ConvArgs args;
  args.pool = pool;
  args.params = &p;
  args.input = in.get();
  args.filter = w.get();
  args.result = out.get();
  args.workspace = workspace.get();
  if (impl.PreparedFilterBytes(p) > 0) {
    impl.PrepareFilter(pool, p, w.get(), prepared.get());
    args.prepared_filter = prepared.get();
  }
  if (impl.AppliesEpilogue()) {
    args.epilogue.bias = &bias;
    args.epilogue.activation = Activation::kRelu;
  }
  impl.Run(args);
  double best = 1e9, total = 0;
  for (int i = 0; i < 3 || (total < 0.03 && i < 1000); ++i) {
    const double start = Now();
    impl.Run(args);
    const double took = Now() - start;
    best = std::min(best, took);
    total += took;
  }
  return best;
}

// Gflop/s of products that stay in the first level cache, on every thread.
double Peak(ThreadPool* pool) {
  const GemmKernel<float> kernel(
      {.m = 24, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64});
  const Memory a = Floats(64 * 64 * 64), b = Floats(64 * 64 * 64);
  const Memory c = Allocate(4 * 64 * 64 * 64);
  constexpr int kCalls = 5000;
  const int threads = std::min(pool->NumThreads(), 64);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start = Now();
    pool->ParallelFor(threads, 1, [&](int64_t t, int64_t) {
      const auto at = [&](const Memory& m) {
        return static_cast<float*>(m.get()) + t * 64 * 64;
      };
      for (int k = 0; k < kCalls; ++k) kernel(at(a), at(b), at(c));
    });
    best = std::min(best, Now() - start);
  }
  return 2e-9 * 24 * 64 * 64 * kCalls * threads / best;
}

void Run(const std::string& filter, int threads) {
  ThreadPool pool(threads);
  struct Total {
    std::string network;
    double chosen = 0, best = 0, flops = 0;
  };
  std::vector<Total> totals;
  std::printf("\n%d thread%s, peak %.0f Gflop/s\n", threads,
              threads > 1 ? "s" : "", Peak(&pool));
  const Networks networks;
  for (const Layer& l : networks.layers()) {
    if ((l.network + " " + l.name).find(filter) == std::string::npos) continue;
    if (totals.empty() || totals.back().network != l.network) {
      totals.push_back({l.network});
      std::printf("%s\n", l.network.c_str());
    }
    std::printf("  %-24s x%d", l.name.c_str(), l.count);
    const ConvImplementation* chosen = ChooseConv(ConvDirection::kForward, l.p);
    double best = 1e9, taken = 0;
    for (const ConvImplementation* impl :
         ConvImplementations(ConvDirection::kForward)) {
      const std::string name = impl->Name();
      if (!impl->Accepts(l.p, HostCpu()) || name == "reference" ||
          name == "eigen") {
        continue;
      }
      const double s = Measure(&pool, l.p, *impl);
      best = std::min(best, s);
      if (impl == chosen) taken = s;
      std::printf("  %s%s %.3f (%.3f) %.0f", impl == chosen ? "*" : "",
                  name.c_str(), s * 1e3,
                  impl->EstimateNs(l.p, HostCpu()) * 1e-6 / threads,
                  l.p.flops() / s * 1e-9);
    }
    if (taken > 1.05 * best) {
      std::printf("  lost %.0f%%", (taken / best - 1) * 100);
    }
    std::printf("\n");
    std::fflush(stdout);
    totals.back().chosen += taken * l.count;
    totals.back().best += best * l.count;
    totals.back().flops += l.p.flops() * l.count;
  }
  for (const Total& t : totals) {
    std::printf("%-14s chosen %.2f ms, best %.2f ms, %.0f Gflop/s\n",
                t.network.c_str(), t.chosen * 1e3, t.best * 1e3,
                t.flops / t.chosen * 1e-9);
  }
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  const std::string filter = argc > 1 ? argv[1] : "";
  if (argc > 2) {
    headrace::Run(filter, std::max(1, std::atoi(argv[2])));
    return 0;
  }
  for (const int threads : {1, 2}) headrace::Run(filter, threads);
  return 0;
}
