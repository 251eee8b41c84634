// headrace explain: how a model would run here, node by node
// (session/explain.h).
#include <cstdio>

#include "cli/command.h"
#include "cli/trial.h"
#include "session/explain.h"

namespace headrace::cli {
namespace {

constexpr char kExplainHelp[] =
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

struct ExplainArgs {
  TrialArgs trial;
  std::string cache;
  bool measure = false;
  double seconds = 30;
};

Status Explain(const ExplainArgs& args) {
  using Tuning = pb::ConfigProto::Headrace;
  pb::ConfigProto config;
  Tuning* const tuning = config.mutable_headrace();
  tuning->set_conv_tuning(args.measure ? Tuning::BUSY : Tuning::REPORT);
  tuning->set_conv_cache(args.cache);
  tuning->set_conv_tuning_seconds(args.seconds);
  Trial trial;
  HR_RETURN_IF_ERROR(PrepareTrial(args.trial, config, &trial));
  if (args.measure) {
    HR_RETURN_IF_ERROR(trial.Run());
    trial.tuner()->Wait();  // what follows takes what was measured
  }
  std::string text;
  HR_RETURN_IF_ERROR(ExplainNoValues(
      MoveTo(ExplainRun(trial.session.get(), trial.feeds, trial.fetches, {}),
             &text),
      trial.model));
  std::fputs(text.c_str(), stdout);
  return OkStatus();
}

}  // namespace

int ExplainCommand(const Args& args) {
  ArgReader reader(args);
  ExplainArgs parsed;
  std::string value;
  Status status;
  while (!reader.done() && status.ok()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::printf(kExplainHelp, kTrialHelp);
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
