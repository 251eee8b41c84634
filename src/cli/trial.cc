#include "cli/trial.h"

#include <cstdio>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/feed.h"
#include "graph/algorithm.h"
#include "headrace/device.h"

namespace headrace::cli {
namespace {

Status Split(const std::string& option, const std::string& text,
             std::vector<std::pair<std::string, std::string>>* out) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return errors::InvalidArgument(option, " wants NAME=VALUE, got '", text,
                                   "'");
  }
  out->emplace_back(text.substr(0, at), text.substr(at + 1));
  return OkStatus();
}

// Zeros of the shape that the input declares, with ones for what it leaves
// open.
Status MakeUp(const Endpoint& e, const TensorShape* wanted, bool quiet,
              Tensor* out) {
  const PartialTensorShape& declared = e.node->output_shape(e.index);
  TensorShape shape;
  if (wanted != nullptr) {
    if (!declared.IsCompatibleWith(*wanted)) {
      return errors::InvalidArgument("--shape ", EndpointName(e), "=: got ",
                                     wanted->DebugString(), ", the input is ",
                                     declared.DebugString());
    }
    shape = *wanted;
  } else if (declared.unknown_rank()) {
    return errors::InvalidArgument(
        "input ", EndpointName(e),
        " may have any shape: say which, by --shape ", EndpointName(e), "=2,3");
  } else {
    DimVector dims;
    for (int i = 0; i < declared.dims(); ++i) {
      dims.push_back(declared.dim_size(i) < 0 ? 1 : declared.dim_size(i));
    }
    HR_RETURN_IF_ERROR(TensorShape::Build(dims, &shape));
  }
  const DataType type = BaseType(e.node->output_type(e.index));
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), type, shape, out));
  if (DataTypeCanUseMemcpy(type)) {
    std::memset(out->raw_data(), 0, out->TotalBytes());
  }
  if (!quiet) {
    std::printf("input %s %s %s: zeros\n", EndpointName(e).c_str(),
                DataTypeString(type).c_str(), shape.DebugString().c_str());
  }
  return OkStatus();
}

}  // namespace

const char kTrialHelp[] =
    "  --feed NAME=VALUE   a value for tensor NAME, as for 'headrace run'; "
    "inputs without\n"
    "                      one are zeros\n"
    "  --shape NAME=SHAPE  the shape of such zeros, as 8,224,224,3; by default "
    "what the\n"
    "                      model says, with 1 for what it leaves open\n"
    "  --fetch NAME        a tensor to compute; by default every output that "
    "nothing reads\n"
    "  --threads N         threads to use; by default all that the process "
    "may\n";

Status ParseSeconds(const std::string& text, double* seconds) {
  if (absl::SimpleAtod(text, seconds) && *seconds > 0 && *seconds <= 86400) {
    return OkStatus();
  }
  return errors::InvalidArgument(
      "--seconds wants a number above 0, up to 86400 (a day), got '", text,
      "'");
}

Status ParseShape(const std::string& text, TensorShape* shape) {
  DimVector dims;
  for (absl::string_view d : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int64_t n = 0;
    if (!absl::SimpleAtoi(d, &n) || n < 0) {
      return errors::InvalidArgument("'", text,
                                     "' is no shape; wanted one like 1,224,3");
    }
    dims.push_back(n);
  }
  return TensorShape::Build(dims, shape);
}

void TakeTrialArg(ArgReader* reader, TrialArgs* args, Status* status) {
  std::string value;
  if (reader->Option("--feed", &value)) {
    *status = Split("--feed", value, &args->feeds);
  } else if (reader->Option("--shape", &value)) {
    *status = Split("--shape", value, &args->shapes);
  } else if (reader->Option("--fetch", &value)) {
    args->fetches.push_back(value);
  } else if (reader->Option("--threads", &value)) {
    if (!absl::SimpleAtoi(value, &args->threads) || args->threads < 1) {
      *status = errors::InvalidArgument(
          "--threads wants a number above 0, got '", value, "'");
    }
  } else if (reader->status().ok()) {
    reader->TakeOnly("model", &args->model);
  }
}

Status PrepareTrial(const TrialArgs& args, pb::ConfigProto config, Trial* out) {
  config.set_intra_op_parallelism_threads(args.threads);
  config.set_inter_op_parallelism_threads(args.threads);
  HR_RETURN_IF_ERROR(OpenModel(args.model, config, &out->model, &out->session));
  const Graph& graph = *out->model.graph;
  const auto is_fed = [out](const Endpoint& e) {
    for (const Session::Feed& f : out->feeds) {
      if (f.first == e) return true;
    }
    return false;
  };
  for (const auto& [name, text] : args.feeds) {
    HR_ASSIGN_OR_RETURN(const Endpoint e, FindFeed(out->model, name));
    Tensor t;
    HR_RETURN_IF_ERROR(
        Annotate(MakeFeed(text, BaseType(e.node->output_type(e.index)),
                          e.node->output_shape(e.index), FeedOptions(), &t),
                 absl::StrCat(" (feed of ", name, ")")));
    out->feeds.emplace_back(e, std::move(t));
  }
  for (const auto& [name, text] : args.shapes) {
    HR_ASSIGN_OR_RETURN(const Endpoint e, FindFeed(out->model, name));
    if (is_fed(e)) {
      return errors::InvalidArgument(name, " is given twice");
    }
    TensorShape shape;
    HR_RETURN_IF_ERROR(ParseShape(text, &shape));
    Tensor t;
    HR_RETURN_IF_ERROR(MakeUp(e, &shape, args.quiet, &t));
    out->feeds.emplace_back(e, std::move(t));
  }
  for (const std::string& name : args.fetches) {
    HR_ASSIGN_OR_RETURN(const Endpoint e, FindTensor(graph, name));
    out->fetches.push_back(e);
  }
  if (out->fetches.empty()) out->fetches = out->model.outputs;
  if (out->fetches.empty()) {
    return errors::InvalidArgument(
        "the model does not say what to compute: name it by --fetch");
  }
  std::vector<Node*> fetched;
  for (const Endpoint& e : out->fetches) fetched.push_back(e.node);
  const std::vector<bool> needed = ReachableBackwards(graph, fetched);
  for (const Endpoint& e : out->model.inputs) {
    if (!needed[e.node->id()] || is_fed(e) ||
        e.node->type_string() == "PlaceholderWithDefault") {
      continue;
    }
    Tensor t;
    HR_RETURN_IF_ERROR(MakeUp(e, nullptr, args.quiet, &t));
    out->feeds.emplace_back(e, std::move(t));
  }
  return OkStatus();
}

Status Trial::Run(pb::RunMetadata* metadata) const {
  std::vector<Tensor> results;
  pb::RunOptions options;
  if (metadata != nullptr) options.set_trace_level(pb::RunOptions::FULL_TRACE);
  return ExplainNoValues(
      session->Run(options, feeds, fetches, {}, &results, metadata), model);
}

RefPtr<AlgorithmTuner> Trial::tuner() const {
  RefPtr<AlgorithmTuner> tuner;
  session->ListDevices()
      .front()
      ->resource_manager()
      ->Lookup<AlgorithmTuner>(AlgorithmTuner::kContainer,
                               AlgorithmTuner::kName, &tuner)
      .IgnoreError();
  return tuner;
}

}  // namespace headrace::cli
