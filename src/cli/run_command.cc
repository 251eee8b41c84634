// headrace run: loads a model, feeds it, runs it and prints what comes out.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "cli/command.h"
#include "cli/feed.h"
#include "cli/model.h"
#include "headrace/config.pb.h"
#include "headrace/session.h"
#include "io/npy.h"

namespace headrace::cli {
namespace {

constexpr char kRunHelp[] =
    "usage: headrace run MODEL [--feed NAME=VALUE]... [OPTIONS]\n\n"
    "Runs a model once and prints its outputs. A model is a GraphDef, binary "
    "or text, or\nthe folder of a SavedModel; - is a GraphDef from standard "
    "input.\n\n"
    "  --feed NAME=VALUE   a value for tensor NAME: a .png, .jpg or .npy file, "
    "a number,\n"
    "                      or a list such as '[[1, 2], [3, 4]]'. A picture is "
    "resized to\n"
    "                      what the input wants and given as 0..255.\n"
    "  --fetch NAME        a tensor to print; by default every output that "
    "nothing reads\n"
    "  --top K             print the K largest entries of each row\n"
    "  --labels FILE       names of the entries, one a line\n"
    "  --scale X           multiply pixels by X\n"
    "  --offset X          then add X\n"
    "  --save NAME=FILE    write tensor NAME as .npy\n"
    "  --threads N         threads to use; by default all that the process "
    "may\n"
    "  --precision P       of products in layers: float32 (the default) or "
    "bfloat16\n"
    "  --repeat N          run N more times and print the shortest and median "
    "time\n"
    "  --trace             print where each node ran, how, and for how long: "
    "in the first\n"
    "                      run, which packs weights, or with --repeat in one "
    "after those\n\n"
    "example:\n"
    "  headrace run resnet8.pb --feed input_1:0=photo.png --top 3 --labels "
    "labels.txt\n";

struct RunArgs {
  std::string model;
  std::vector<std::pair<std::string, std::string>> feeds, saves;
  std::vector<std::string> fetches;
  std::string labels;
  FeedOptions feed_options;
  int top = 0;
  int threads = 0;
  int repeat = 0;
  std::string precision;
  bool trace = false;
  bool help = false;
};

Status SplitAssignment(const std::string& option, const std::string& text,
                       std::vector<std::pair<std::string, std::string>>* out) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return errors::InvalidArgument(option, " wants NAME=VALUE, got '", text,
                                   "'");
  }
  out->emplace_back(text.substr(0, at), text.substr(at + 1));
  return OkStatus();
}

Status ParseCount(const std::string& option, const std::string& text,
                  int* out) {
  if (!absl::SimpleAtoi(text, out) || *out < 1) {
    return errors::InvalidArgument(option, " wants a number above 0, got '",
                                   text, "'");
  }
  return OkStatus();
}

Status ParseFloat(const std::string& option, const std::string& text,
                  float* out) {
  if (!absl::SimpleAtof(text, out)) {
    return errors::InvalidArgument(option, " wants a number, got '", text, "'");
  }
  return OkStatus();
}

Status ParseArgs(const Args& args, RunArgs* out) {
  ArgReader reader(args);
  std::string value;
  while (!reader.done()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      out->help = true;
      return OkStatus();
    } else if (reader.Option("--feed", &value)) {
      HR_RETURN_IF_ERROR(SplitAssignment("--feed", value, &out->feeds));
    } else if (reader.Option("--save", &value)) {
      HR_RETURN_IF_ERROR(SplitAssignment("--save", value, &out->saves));
    } else if (reader.Option("--fetch", &value)) {
      out->fetches.push_back(value);
    } else if (reader.Option("--labels", &value)) {
      out->labels = value;
    } else if (reader.Option("--top", &value)) {
      HR_RETURN_IF_ERROR(ParseCount("--top", value, &out->top));
    } else if (reader.Option("--threads", &value)) {
      HR_RETURN_IF_ERROR(ParseCount("--threads", value, &out->threads));
    } else if (reader.Option("--precision", &out->precision)) {
      if (out->precision != "float32" && out->precision != "bfloat16") {
        return errors::InvalidArgument(
            "--precision wants float32 or bfloat16, got '", out->precision,
            "'");
      }
    } else if (reader.Option("--repeat", &value)) {
      HR_RETURN_IF_ERROR(ParseCount("--repeat", value, &out->repeat));
    } else if (reader.Option("--scale", &value)) {
      HR_RETURN_IF_ERROR(
          ParseFloat("--scale", value, &out->feed_options.scale));
    } else if (reader.Option("--offset", &value)) {
      HR_RETURN_IF_ERROR(
          ParseFloat("--offset", value, &out->feed_options.offset));
    } else if (reader.Flag("--trace")) {
      out->trace = true;
    } else if (reader.status().ok()) {
      reader.TakeOnly("model", &out->model);
    }
  }
  HR_RETURN_IF_ERROR(reader.status());
  if (out->model.empty()) return errors::InvalidArgument("which model?");
  return OkStatus();
}

std::vector<std::string> ReadLabels(const std::string& text) {
  std::vector<std::string> labels;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    labels.emplace_back(absl::StripAsciiWhitespace(line));
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  return labels;
}

// The K largest entries of each row of a float tensor.
Status PrintTop(const std::string& name, const Tensor& t, int top,
                const std::vector<std::string>& labels) {
  if (t.dtype() != DT_FLOAT || t.dims() < 1) {
    return errors::InvalidArgument("--top wants float rows; ", name, " is ",
                                   DataTypeString(t.dtype()), " ",
                                   t.shape().DebugString());
  }
  const int64_t n = t.dim_size(t.dims() - 1);
  if (!labels.empty() && static_cast<int64_t>(labels.size()) != n) {
    return errors::InvalidArgument("there are ", labels.size(),
                                   " labels, but rows of ", name, " have ", n,
                                   " entries");
  }
  std::printf("%s\n", name.c_str());
  std::vector<int64_t> order(n);
  const int64_t rows = n == 0 ? 0 : t.NumElements() / n;
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = t.data<float>() + r * n;
    if (rows > 1) std::printf(" row %lld\n", static_cast<long long>(r));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [row](int64_t a, int64_t b) {
      // NaN last, so that the order is strict.
      return row[a] > row[b] || (std::isnan(row[b]) && !std::isnan(row[a]));
    });
    for (int64_t k = 0; k < std::min<int64_t>(top, n); ++k) {
      const std::string label =
          labels.empty() ? absl::StrCat(order[k]) : labels[order[k]];
      std::printf("  %9.6f  %s\n", row[order[k]], label.c_str());
    }
  }
  return OkStatus();
}

void PrintTrace(const pb::RunMetadata& metadata) {
  std::printf("\n%10s  %-28s %-36s %s\n", "us", "node", "kernel [algorithm]",
              "device");
  double total = 0;
  for (const pb::DeviceStepStats& d : metadata.step_stats().dev_stats()) {
    for (const pb::NodeExecStats& n : d.node_stats()) {
      const double us = static_cast<double>(n.op_end_rel_nanos()) / 1e3;
      total += us;
      std::printf("%10.1f  %-28s %-36s %s\n", us, n.node_name().c_str(),
                  n.timeline_label().c_str(), d.device().c_str());
    }
  }
  std::printf("%10.1f  in all\n", total);
}

Status Run(const RunArgs& args) {
  pb::ConfigProto config;
  config.set_intra_op_parallelism_threads(args.threads);
  config.set_inter_op_parallelism_threads(args.threads);
  config.mutable_headrace()->set_precision(args.precision);
  Model model;
  std::unique_ptr<Session> session;
  HR_RETURN_IF_ERROR(OpenModel(args.model, config, &model, &session));
  const Graph* const graph = model.graph.get();

  std::vector<Session::Feed> feeds;
  for (const auto& [name, text] : args.feeds) {
    HR_ASSIGN_OR_RETURN(const Endpoint e, FindFeed(model, name));
    Tensor t;
    HR_RETURN_IF_ERROR(
        Annotate(MakeFeed(text, BaseType(e.node->output_type(e.index)),
                          e.node->output_shape(e.index), args.feed_options, &t),
                 absl::StrCat(" (feed of ", name, ")")));
    feeds.emplace_back(e, std::move(t));
  }
  std::vector<Endpoint> fetches;
  std::vector<std::string> names;
  auto fetch = [&](const std::string& name) -> Status {
    HR_ASSIGN_OR_RETURN(const Endpoint e, FindTensor(*graph, name));
    fetches.push_back(e);
    names.push_back(name);
    return OkStatus();
  };
  for (const std::string& name : args.fetches) HR_RETURN_IF_ERROR(fetch(name));
  if (fetches.empty()) {
    for (const Endpoint& e : model.outputs) {
      fetches.push_back(e);
      names.push_back(absl::StrCat(e.node->name(), ":", e.index));
    }
  }
  const size_t printed = fetches.size();
  for (const auto& [name, file] : args.saves) HR_RETURN_IF_ERROR(fetch(name));
  if (fetches.empty()) {
    return errors::InvalidArgument(
        "the model does not say what to compute: name it by --fetch");
  }
  std::vector<std::string> labels;
  if (!args.labels.empty()) {
    std::string text;
    HR_RETURN_IF_ERROR(Env::Default()->ReadFile(args.labels, &text));
    labels = ReadLabels(text);
  }

  pb::RunOptions options;
  const bool repeats = args.repeat > 0;
  if (args.trace && !repeats) {
    options.set_trace_level(pb::RunOptions::FULL_TRACE);
  }
  pb::RunMetadata metadata;
  // A fed tensor is already known, and a session does not return it.
  std::vector<Tensor> outputs(fetches.size());
  std::vector<Endpoint> computed;
  std::vector<size_t> slot;
  for (size_t i = 0; i < fetches.size(); ++i) {
    auto fed = std::find_if(feeds.begin(), feeds.end(), [&](const auto& f) {
      return f.first == fetches[i];
    });
    if (fed != feeds.end()) {
      outputs[i] = fed->second;
    } else {
      computed.push_back(fetches[i]);
      slot.push_back(i);
    }
  }
  if (!computed.empty()) {
    std::vector<Tensor> results;
    HR_RETURN_IF_ERROR(ExplainNoFeed(
        ExplainNoValues(
            session->Run(options, feeds, computed, {}, &results, &metadata),
            model),
        model, feeds));
    for (size_t k = 0; k < slot.size(); ++k) outputs[slot[k]] = results[k];
  }

  for (size_t i = 0; i < printed; ++i) {
    if (args.top > 0) {
      HR_RETURN_IF_ERROR(PrintTop(names[i], outputs[i], args.top, labels));
    } else {
      std::printf("%s %s %s\n%s\n", names[i].c_str(),
                  DataTypeString(outputs[i].dtype()).c_str(),
                  outputs[i].shape().DebugString().c_str(),
                  outputs[i].SummarizeValue(64).c_str());
    }
  }
  for (size_t i = 0; i < args.saves.size(); ++i) {
    std::string bytes;
    HR_RETURN_IF_ERROR(WriteNpy(outputs[printed + i], &bytes));
    HR_RETURN_IF_ERROR(Env::Default()->WriteFile(args.saves[i].second, bytes));
  }
  if (repeats && !computed.empty()) {
    std::vector<double> ms;
    std::vector<Tensor> results;
    for (int i = 0; i < args.repeat; ++i) {
      const int64_t start = Env::Default()->NowNanos();
      HR_RETURN_IF_ERROR(session->Run(pb::RunOptions(), feeds, computed, {},
                                      &results, nullptr));
      ms.push_back(static_cast<double>(Env::Default()->NowNanos() - start) /
                   1e6);
    }
    std::sort(ms.begin(), ms.end());
    std::printf("%d runs: shortest %.3f ms, median %.3f ms\n", args.repeat,
                ms.front(), ms[ms.size() / 2]);
    if (args.trace) {
      options.set_trace_level(pb::RunOptions::FULL_TRACE);
      HR_RETURN_IF_ERROR(
          session->Run(options, feeds, computed, {}, &results, &metadata));
    }
  }
  if (args.trace) PrintTrace(metadata);
  return OkStatus();
}

}  // namespace

int RunCommand(const Args& args) {
  RunArgs parsed;
  const Status s = ParseArgs(args, &parsed);
  if (!s.ok()) return UsageError("run", std::string(s.message()));
  if (parsed.help) {
    std::fputs(kRunHelp, stdout);
    return 0;
  }
  const Status ran = Run(parsed);
  return ran.ok() ? 0 : Fail(ran);
}

}  // namespace headrace::cli
