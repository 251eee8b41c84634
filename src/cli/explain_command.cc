// headrace explain: how a model would run here, node by node: which algorithms
// its convolutions could take, what each is estimated and was measured to take,
// and which one is chosen; and what memory a run takes.
#include <cstdio>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/trial.h"
#include "runtime/memory_plan.h"

namespace headrace::cli {
namespace {

constexpr char kHelp[] =
    "usage: headrace explain MODEL [OPTIONS]\n\n"
    "Runs a model (a GraphDef, binary or text, or the folder of a SavedModel) "
    "once and\ntells, for each convolution, the algorithms that can compute "
    "it, the time that the\ncost model predicts for each on one core, the time "
    "that was measured, and which one\nis chosen; what the graph passes did; "
    "and the memory that the tensors of a run take.\n\n"
    "  --cache FILE        choose by the times that 'headrace tune' kept in "
    "FILE\n"
    "  --measure           measure first, for --seconds (30) at most; keeps "
    "nothing\n"
    "  --seconds S         how long\n"
    "%s";

constexpr size_t kLargest = 8;

struct ExplainArgs {
  TrialArgs trial;
  std::string cache;
  bool measure = false;
  double seconds = 30;
};

void PrintUse(const AlgorithmTuner::Use& use, const AlgorithmChoices& choices) {
  std::printf("%s\n  %s\n", use.node.c_str(), use.problem.c_str());
  std::map<std::string, double> measured;
  if (const AlgorithmChoices::Times* times =
          choices.Find(ThisMachine(), use.problem)) {
    for (const AlgorithmChoices::Time& t : *times) {
      measured[t.algorithm] = t.ns;
    }
  }
  bool listed = false;
  for (const AlgorithmChoices::Time& t : use.predicted) {
    listed |= t.algorithm == use.chosen;
    const auto it = measured.find(t.algorithm);
    const std::string time =
        it == measured.end() ? "-" : absl::StrFormat("%.3f", it->second / 1e6);
    std::printf("    %-20s predicted %10.3f ms   measured %10s ms%s\n",
                t.algorithm.c_str(), t.ns / 1e6, time.c_str(),
                t.algorithm == use.chosen ? "   chosen" : "");
  }
  if (!listed) {
    std::printf(
        "    %-20s together with others of the node, so that what lies between "
        "them\n                         stays in the cache   chosen\n",
        use.chosen.c_str());
  }
}

// Prints the changes of the graph passes.
void PrintPasses(const pb::RunMetadata& metadata) {
  std::printf("\ngraph passes, and the nodes that each removed or replaced:\n");
  for (const pb::GraphPassReport& pass : metadata.headrace_passes()) {
    std::printf("  %-18s %s\n", pass.name().c_str(),
                pass.off() ? "off" : absl::StrCat(pass.changes()).c_str());
  }
}

std::string Bytes(int64_t n) {
  char text[40];
  const bool large = n >= 1000000;
  std::snprintf(text, sizeof(text), "%.2f %s",
                static_cast<double>(n) / (large ? 1e6 : 1e3),
                large ? "MB" : "KB");
  return text;
}

Status PrintMemory(const Trial& trial) {
  std::vector<std::pair<Endpoint, TensorShape>> shapes;
  for (const Session::Feed& f : trial.feeds) {
    shapes.emplace_back(f.first, f.second.shape());
  }
  MemoryPlan plan;
  const Status s =
      MoveTo(trial.session->PlanMemory(shapes, trial.fetches, {}), &plan);
  if (errors::IsUnimplemented(s)) {
    std::printf("\nmemory: not planned: %s\n",
                std::string(s.message()).c_str());
    return OkStatus();
  }
  HR_RETURN_IF_ERROR(s);
  Allocator* const allocator = CpuAllocator();
  allocator->ResetPeak();
  const int64_t before = allocator->GetStats().bytes_in_use;
  HR_RETURN_IF_ERROR(trial.Run());
  const int64_t measured = allocator->GetStats().peak_bytes_in_use - before;
  std::printf(
      "\nmemory: the tensors of a run take %s at most at once, took %s; %s "
      "without sharing\n",
      Bytes(plan.peak_bytes).c_str(), Bytes(measured).c_str(),
      Bytes(plan.total_bytes).c_str());
  if (!plan.unknown.empty()) {
    std::printf("  %zu tensors of unknown size are not counted, as %s\n",
                plan.unknown.size(), plan.unknown[0].c_str());
  }
  for (size_t i = 0; i < plan.blocks.size() && i < kLargest; ++i) {
    const MemoryPlan::Block& b = plan.blocks[i];
    std::printf("  %12s at %12s  %s %s\n", Bytes(b.bytes).c_str(),
                Bytes(b.offset).c_str(), b.name.c_str(), b.contents.c_str());
  }
  return OkStatus();
}

Status Explain(const ExplainArgs& args) {
  using Tuning = pb::ConfigProto::Headrace;
  pb::ConfigProto config;
  Tuning* const tuning = config.mutable_headrace();
  tuning->set_conv_tuning(args.measure ? Tuning::BUSY : Tuning::REPORT);
  tuning->set_conv_cache(args.cache);
  tuning->set_conv_tuning_seconds(args.seconds);
  Trial trial;
  HR_RETURN_IF_ERROR(PrepareTrial(args.trial, config, &trial));
  pb::RunMetadata metadata;
  HR_RETURN_IF_ERROR(trial.Run(&metadata));
  const RefPtr<AlgorithmTuner> tuner = trial.tuner();
  if (args.measure) {
    tuner->Wait();
    HR_RETURN_IF_ERROR(trial.Run());  // takes what was measured
  }
  const std::vector<AlgorithmTuner::Use> uses = tuner->Uses();
  std::printf(
      "machine: %s\n%zu convolutions\ntimes: predicted of one core, measured "
      "of %d threads\n\n",
      ThisMachine().c_str(), uses.size(),
      trial.session->ListDevices().front()->thread_pool()->NumThreads());
  const AlgorithmChoices choices = tuner->Choices();
  for (const AlgorithmTuner::Use& u : uses) PrintUse(u, choices);
  PrintPasses(metadata);
  return PrintMemory(trial);
}

}  // namespace

int ExplainCommand(const Args& args) {
  ArgReader reader(args);
  ExplainArgs parsed;
  std::string value;
  Status status;
  while (!reader.done() && status.ok()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::printf(kHelp, kTrialHelp);
      return 0;
    }
    if (reader.Flag("--measure")) {
      parsed.measure = true;
    } else if (reader.Option("--seconds", &value)) {
      status = ParseSeconds(value, &parsed.seconds);
    } else if (!reader.Option("--cache", &parsed.cache)) {
      TakeTrialArg(&reader, &parsed.trial, &status);
    }
  }
  if (status.ok()) status = reader.status();
  if (status.ok() && parsed.trial.model.empty()) {
    status = errors::InvalidArgument("which model?");
  }
  if (!status.ok()) return UsageError("explain", std::string(status.message()));
  status = Explain(parsed);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace headrace::cli
