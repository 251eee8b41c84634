#include "kernels/conv/conv_choice.h"

#include <algorithm>
#include <utility>

#include "absl/numeric/bits.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/thread_pool.h"

namespace headrace {
namespace {

// Images of which a kernel remembers what it took.
constexpr size_t kRecent = 8;
// Candidates that are estimated to be so much slower than another, or were so
// much slower in their first run, are not measured on.
constexpr double kHopelessEstimate = 6, kHopelessRun = 3;
constexpr int kRuns = 12;

const char* DirectionName(ConvDirection d) {
  switch (d) {
    case ConvDirection::kForward:
      return "forward";
    case ConvDirection::kBackwardInput:
      return "backward_input";
    case ConvDirection::kBackwardFilter:
      break;
  }
  return "backward_filter";
}

// Up to 32 as it is, then in steps of an eighth of the power of two below.
int64_t Rounded(int64_t n) {
  if (n <= 32) return n;
  const int64_t step = int64_t{1}
                       << (absl::bit_width(static_cast<uint64_t>(n)) - 4);
  return (n + step - 1) / step * step;
}

int64_t RoundedBatch(int64_t n) {
  return static_cast<int64_t>(absl::bit_ceil(static_cast<uint64_t>(n)));
}

std::vector<std::pair<double, const ConvImplementation*>> Candidates(
    ConvDirection direction, const ConvParams& p) {
  std::vector<std::pair<double, const ConvImplementation*>> out;
  for (const ConvImplementation* i : ConvImplementations(direction)) {
    if (i->Accepts(p, HostCpu())) {
      out.emplace_back(ConvCostNs(*i, p, HostCpu()), i);
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.first < b.first;
  });
  return out;
}

// A convolution on numbers that do not matter, but are no denormals.
class Trial {
 public:
  Trial(ThreadPool* pool, ConvDirection direction, const ConvParams& p,
        bool fused)
      : pool_(pool), p_(p), fused_(fused) {
    using D = ConvDirection;
    ok_ = (direction == D::kBackwardInput || Make(p.in_elements(), &input_)) &&
          (direction == D::kBackwardFilter ||
           Make(p.filter_elements(), &filter_)) &&
          (direction == D::kForward || Make(p.out_elements(), &dy_)) &&
          Make(direction == D::kForward         ? p.out_elements()
               : direction == D::kBackwardInput ? p.in_elements()
                                                : p.filter_elements(),
               &result_) &&
          Make(p.out_channels, &bias_);
  }

  bool ok() const { return ok_; }

  // What an implementation needs beside the tensors; empty if it needs nothing.
  struct Scratch {
    Tensor prepared, workspace;
  };
  bool Prepare(const ConvImplementation& i, Scratch* s) const {
    if (!Bytes(i.WorkspaceBytes(p_, pool_->NumThreads()), &s->workspace)) {
      return false;
    }
    const int64_t form = i.PreparedFilterBytes(p_);
    if (form == 0) return true;
    if (!Bytes(form, &s->prepared)) return false;
    i.PrepareFilter(pool_, p_, filter_.raw_data(), s->prepared.raw_data());
    return true;
  }

  double RunNs(const ConvImplementation& i, Scratch* s) {
    const uint64_t start = Env::Default()->NowNanos();
    if (!p_.constant_filter && s->prepared.IsInitialized()) {
      i.PrepareFilter(pool_, p_, filter_.raw_data(), s->prepared.raw_data());
    }
    Epilogue epilogue;
    if (fused_) {
      epilogue.bias = &bias_;
      if (p_.dtype != DT_INT32) epilogue.activation = Activation::kRelu;
    }
    ConvArgs args;
    args.pool = pool_;
    args.params = &p_;
    args.input = Data(input_);
    args.filter = Data(filter_);
    args.out_backprop = Data(dy_);
    args.prepared_filter = Data(s->prepared);
    args.result = result_.raw_data();
    args.workspace = s->workspace.raw_data();
    if (i.AppliesEpilogue()) args.epilogue = epilogue;
    i.Run(args);
    if (fused_ && !i.AppliesEpilogue()) {
      ApplyEpilogue(pool_, p_.dtype, epilogue, p_.batch * p_.out_pixels(),
                    p_.out_channels, result_.raw_data());
    }
    return static_cast<double>(Env::Default()->NowNanos() - start);
  }

 private:
  static const void* Data(const Tensor& t) {
    return t.IsInitialized() ? t.raw_data() : nullptr;
  }
  static bool Bytes(int64_t n, Tensor* out) {
    return Tensor::Allocate(CpuAllocator(), DT_UINT8, TensorShape({n}), out,
                            Tensor::kHeap)
        .ok();
  }
  bool Make(int64_t elements, Tensor* out) const {
    if (!Tensor::Allocate(CpuAllocator(), p_.dtype, TensorShape({elements}),
                          out, Tensor::kHeap)
             .ok()) {
      return false;
    }
    for (int64_t i = 0; i < elements; ++i) {
      const auto k = static_cast<int32_t>(i * 37 % 101 - 50);
      if (p_.dtype == DT_FLOAT) out->data<float>()[i] = k * 0.02f;
      if (p_.dtype == DT_DOUBLE) out->data<double>()[i] = k * 0.02;
      if (p_.dtype == DT_INT32) out->data<int32_t>()[i] = k;
    }
    return true;
  }

  ThreadPool* const pool_;
  const ConvParams p_;
  const bool fused_;
  Tensor input_, filter_, dy_, result_, bias_;
  bool ok_ = false;
};

}  // namespace

std::string ConvProblem(ConvDirection direction, const ConvParams& p,
                        bool fused, int threads) {
  // Two-dimensional convolutions without the dimension that they do not have.
  const int first = p.in[0] == 1 && p.filter[0] == 1 && p.out[0] == 1 ? 1 : 0;
  const auto dims = [first](const ConvSizes::Dims& d) {
    std::string text;
    for (int i = first; i < 3; ++i) absl::StrAppend(&text, d[i], "x");
    text.pop_back();
    return text;
  };
  ConvSizes::Dims in;
  for (int i = 0; i < 3; ++i) in[i] = Rounded(p.in[i]);
  std::string text = absl::StrCat(
      "conv ", DirectionName(direction), " ", DataTypeString(p.dtype), " ",
      RoundedBatch(p.batch), "x", dims(in), "x", p.in_channels, " filter ",
      dims(p.filter), "x", p.group_in(), "x", p.out_channels, " stride ",
      dims(p.stride), " dilation ", dims(p.dilation), " pad ",
      dims(p.pad_before), " ", dims(p.pad_after));
  if (p.constant_filter) absl::StrAppend(&text, " constant");
  if (fused) absl::StrAppend(&text, " fused");
  return absl::StrCat(text, " threads ", threads);
}

AlgorithmChoices::Times MeasureConv(ThreadPool* pool, ConvDirection direction,
                                    const ConvParams& p, bool fused,
                                    const AlgorithmTuner::Clock& clock) {
  struct Candidate {
    const ConvImplementation* implementation;
    Trial::Scratch scratch;
    double ns = 0;
    int runs = 0;
  };
  Trial trial(pool, direction, p, fused);
  if (!trial.ok()) return {};
  std::vector<Candidate> candidates;
  const auto estimated = Candidates(direction, p);
  double best = 0;
  for (const auto& [estimate, i] : estimated) {
    if (estimate > kHopelessEstimate * estimated[0].first) break;
    if (clock.IsOver()) return {};
    Candidate c{i};
    if (!trial.Prepare(*i, &c.scratch)) continue;
    // The first run is a warm-up that finds out those without hope.
    const double ns = trial.RunNs(*i, &c.scratch);
    clock.Rest(ns);
    if (best != 0 && ns > kHopelessRun * best) continue;
    best = best == 0 ? ns : std::min(best, ns);
    candidates.push_back(std::move(c));
  }
  // In turn, so that what disturbs the one disturbs the others too.
  for (int run = 0; run < kRuns && !clock.IsOver(); ++run) {
    for (Candidate& c : candidates) {
      const double ns = trial.RunNs(*c.implementation, &c.scratch);
      c.ns = c.runs++ == 0 ? ns : std::min(c.ns, ns);
      clock.Rest(ns);
      if (run > 0 && clock.IsOver()) break;
    }
  }
  AlgorithmChoices::Times times;
  for (const Candidate& c : candidates) {
    if (c.runs < 2) return {};
    times.push_back({c.implementation->Name(), c.ns});
  }
  std::stable_sort(times.begin(), times.end(),
                   [](const auto& a, const auto& b) { return a.ns < b.ns; });
  return times;
}

ConvChooser::ConvChooser(const OpKernelConstruction& ctx)
    : node_(ctx.def().name) {
  // NotFound: the cost model decides.
  ctx.device()
      ->resource_manager()
      ->Lookup<AlgorithmTuner>(AlgorithmTuner::kContainer,
                               AlgorithmTuner::kName, &tuner_)
      .IgnoreError();
}

ConvChooser::Choice* ConvChooser::Recent(const ConvParams& p, bool fused) {
  const auto it = std::find_if(
      recent_.begin(), recent_.end(),
      [&](const Choice& c) { return c.p == p && c.fused == fused; });
  return it == recent_.end() ? nullptr : &*it;
}

void ConvChooser::Remember(const Choice& choice) {
  if (Choice* const old = Recent(choice.p, choice.fused)) {
    *old = choice;
    return;
  }
  if (recent_.size() == kRecent) recent_.erase(recent_.begin());
  recent_.push_back(choice);
}

const ConvImplementation* ConvChooser::Choose(ThreadPool* pool,
                                              ConvDirection direction,
                                              const ConvParams& p, bool fused) {
  if (tuner_ == nullptr) return ChooseConv(direction, p);
  // What was measured is of any numbers, in float.
  if (p.bfloat16_products || p.byte_levels != nullptr) {
    const ConvImplementation* const chosen = ChooseConv(direction, p);
    if (p.byte_levels != nullptr) Report(pool, p, fused, chosen->Name());
    return chosen;
  }
  const int64_t generation = tuner_->generation();
  MutexLock lock(&mu_);
  const Choice* const recent = Recent(p, fused);
  if (recent != nullptr && recent->generation == generation) {
    return recent->implementation;
  }
  const ConvImplementation* const chosen = Look(pool, direction, p, fused);
  Remember({p, fused, generation, chosen});
  return chosen;
}

void ConvChooser::Report(ThreadPool* pool, const ConvParams& p, bool fused,
                         const char* how) {
  if (tuner_ == nullptr) return;
  constexpr auto kForward = ConvDirection::kForward;
  MutexLock lock(&mu_);
  if (Recent(p, fused) != nullptr) return;
  AlgorithmTuner::Use use{
      node_, ConvProblem(kForward, p, fused, pool->NumThreads()), how, {}};
  for (const auto& [ns, i] : Candidates(kForward, p)) {
    use.predicted.push_back({i->Name(), ns});
  }
  tuner_->Report(std::move(use));
  Remember({p, fused, tuner_->generation(), nullptr});
}

const ConvImplementation* ConvChooser::Look(ThreadPool* pool,
                                            ConvDirection direction,
                                            const ConvParams& p, bool fused) {
  const std::string problem =
      ConvProblem(direction, p, fused, pool->NumThreads());
  const auto candidates = Candidates(direction, p);
  if (candidates.empty()) return nullptr;
  const ConvImplementation* chosen = ChooseConv(direction, p);
  AlgorithmChoices::Times measured;
  if (tuner_->Find(problem, &measured)) {
    // The fastest that accepts these very sizes.
    const auto named = [&](const AlgorithmChoices::Time& t) {
      return std::find_if(
          candidates.begin(), candidates.end(),
          [&t](const auto& c) { return t.algorithm == c.second->Name(); });
    };
    for (const AlgorithmChoices::Time& t : measured) {
      const auto it = named(t);
      if (it == candidates.end()) continue;
      chosen = it->second;
      break;
    }
  } else {
    tuner_->Measure(problem, [=](const AlgorithmTuner::Clock& clock) {
      return MeasureConv(pool, direction, p, fused, clock);
    });
  }
  AlgorithmTuner::Use use{node_, problem, chosen->Name(), {}};
  for (const auto& [ns, i] : candidates)
    use.predicted.push_back({i->Name(), ns});
  tuner_->Report(std::move(use));
  return chosen;
}

}  // namespace headrace
