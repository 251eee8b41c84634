// headrace tune: measures the algorithms that a model can choose from and keeps
// the times in a file; lists and merges such files.
#include <cstdio>

#include "absl/strings/strip.h"
#include "base/file_lock.h"
#include "cli/command.h"
#include "cli/trial.h"
#include "framework/tuning/algorithm_choices.h"

namespace headrace::cli {
namespace {

constexpr char kTuneHelp[] =
    "usage: headrace tune MODEL [OPTIONS]\n"
    "       headrace tune --list FILE...\n"
    "       headrace tune --merge OUT FILE...\n\n"
    "Measures, for each convolution of a model (a GraphDef, binary or text, or "
    "the folder\nof a SavedModel) at the sizes it meets, the algorithms that "
    "can compute it, and keeps\nthe times in a file. Sessions take the fastest "
    "if HEADRACE_CONV_CACHE, or\nConfigProto.headrace.conv_cache, names that "
    "file. It holds for this kind of processor\nand this version; a file may "
    "have parts for several, so that it can travel with a\nmodel.\n\n"
    "  --cache FILE        where to keep the times, beside what is there; by "
    "default\n"
    "                      MODEL.choices\n"
    "  --seconds S         how long to measure at most; 60\n"
    "%s"
    "  --list FILE...      print what files hold\n"
    "  --merge OUT FILE... write what files hold into one, the shorter "
    "times\n\n"
    "example:\n"
    "  headrace tune resnet50.pb --shape input:0=1,224,224,3\n"
    "  HEADRACE_CONV_CACHE=resnet50.pb.choices ./server\n";

int List(const std::vector<std::string>& files) {
  if (files.empty()) return UsageError("tune", "--list which files?");
  for (const std::string& file : files) {
    StatusOr<AlgorithmChoices> choices =
        AlgorithmChoices::ReadFile(Env::Default(), file);
    if (!choices.ok()) return Fail(choices.status());
    std::printf("%s\n", file.c_str());
    for (const auto& [machine, section] : choices->machines()) {
      std::printf("  %s%s\n", machine.c_str(),
                  machine == ThisMachine() ? "  (this machine)" : "");
      for (const auto& [problem, times] : section) {
        std::printf("    %s\n     ", problem.c_str());
        for (const AlgorithmChoices::Time& t : times) {
          std::printf(" %s %.3f ms", t.algorithm.c_str(), t.ns / 1e6);
        }
        std::printf("\n");
      }
    }
  }
  return 0;
}

Status Merge(const std::vector<std::string>& files) {
  Env* const env = Env::Default();
  AlgorithmChoices all;
  // The first may be read too, while a process adds to it.
  HR_ASSIGN_OR_RETURN(const FileLock lock, FileLock::Take(files[0]));
  for (size_t i = 1; i < files.size(); ++i) {
    HR_ASSIGN_OR_RETURN(const AlgorithmChoices choices,
                        AlgorithmChoices::ReadFile(env, files[i]));
    all.Merge(choices);
  }
  return all.WriteFile(env, files[0]);
}

double TimeOf(const AlgorithmChoices::Times& times, const std::string& name) {
  for (const AlgorithmChoices::Time& t : times) {
    if (t.algorithm == name) return t.ns;
  }
  return 0;
}

// A minute's measuring should not be lost to a file that cannot be written.
Status CheckCanKeep(const std::string& cache) {
  return Annotate(FileLock::Take(cache).status(),
                  StrCat(" (nothing can be kept in ", cache, ")"));
}

Status Tune(const TrialArgs& args, const std::string& cache, double seconds) {
  HR_RETURN_IF_ERROR(CheckCanKeep(cache));
  pb::ConfigProto config;
  pb::ConfigProto::Headrace* const tuning = config.mutable_headrace();
  tuning->set_conv_tuning(pb::ConfigProto::Headrace::BUSY);
  tuning->set_conv_cache(cache);
  tuning->set_conv_tuning_seconds(seconds);
  Trial trial;
  HR_RETURN_IF_ERROR(PrepareTrial(args, config, &trial));
  HR_RETURN_IF_ERROR(trial.Run());
  const RefPtr<AlgorithmTuner> tuner = trial.tuner();
  const std::vector<AlgorithmTuner::Use> uses = tuner->Uses();
  const int64_t left_out = tuner->Wait();
  tuner->Stop();
  const AlgorithmChoices choices = tuner->Choices();

  bool any = false;
  double before = 0, after = 0;
  std::printf("%10s %10s  %-28s %s\n", "was ms", "is ms", "algorithm", "node");
  for (const AlgorithmTuner::Use& u : uses) {
    const AlgorithmChoices::Times* times =
        choices.Find(ThisMachine(), u.problem);
    if (times == nullptr) continue;
    any = true;
    const double best = times->front().ns;
    // The algorithm that the estimate chose may have been too slow to be
    // measured.
    const double first = TimeOf(*times, u.predicted.front().algorithm);
    before += first == 0 ? best : first;
    after += best;
    const std::string change =
        times->front().algorithm == u.predicted.front().algorithm
            ? times->front().algorithm
            : StrCat(u.predicted.front().algorithm, " -> ",
                     times->front().algorithm);
    std::printf("%10.3f %10.3f  %-28s %s\n", (first == 0 ? best : first) / 1e6,
                best / 1e6, change.c_str(), u.node.c_str());
  }
  std::printf("%10.3f %10.3f  in all\n", before / 1e6, after / 1e6);
  if (uses.empty()) {
    std::printf("nothing to measure: the run met no convolution\n");
    return OkStatus();
  }
  if (left_out > 0) {
    std::printf("not measured for lack of time: %lld; give more --seconds\n",
                static_cast<long long>(left_out));
  }
  HR_RETURN_IF_ERROR(tuner->SaveStatus());
  if (any) std::printf("kept in %s\n", cache.c_str());
  return OkStatus();
}

}  // namespace

int TuneCommand(const Args& args) {
  ArgReader reader(args);
  TrialArgs trial;
  std::string cache, value;
  double seconds = 60;
  bool list = false, merge = false;
  Args files;
  Status status;
  while (!reader.done() && status.ok()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::printf(kTuneHelp, kTrialHelp);
      return 0;
    }
    if (list || merge) {
      files.push_back(reader.Positional());
      continue;
    }
    list = reader.Flag("--list");
    merge = !list && reader.Flag("--merge");
    if (list || merge) continue;
    if (reader.Option("--cache", &cache)) continue;
    if (reader.Option("--seconds", &value)) {
      status = ParseSeconds(value, &seconds);
      continue;
    }
    TakeTrialArg(&reader, &trial, &status);
  }
  if (status.ok()) status = reader.status();
  if (status.ok() && list) return List(files);
  if (status.ok() && merge) {
    if (files.size() < 2) {
      return UsageError("tune",
                        "--merge wants the file to write, then those to read");
    }
    status = Merge(files);
    return status.ok() ? 0 : Fail(status);
  }
  if (status.ok() && trial.model.empty()) {
    status = errors::InvalidArgument("which model?");
  }
  if (status.ok() && trial.model == "-" && cache.empty()) {
    status = errors::InvalidArgument(
        "--cache FILE is wanted for a model from standard input");
  }
  if (!status.ok()) return UsageError("tune", std::string(status.message()));
  if (cache.empty()) {  // beside a folder, not in it
    cache = StrCat(absl::StripSuffix(trial.model, "/"), ".choices");
  }
  status = Tune(trial, cache, seconds);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace headrace::cli
