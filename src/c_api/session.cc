// TF_Session. A run without options parses nothing and, beyond what the session
// itself needs, allocates the handles of its results alone.
#include <utility>

#include "base/exceptions.h"
#include "c_api/internal.h"
#include "c_api/live_objects.h"

using headrace::Endpoint;
using headrace::Node;
using headrace::OkStatus;
using headrace::Session;
using headrace::Status;
using headrace::Tensor;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace headrace::c_api {

Status RunAndWrap(Session* session, const TF_Buffer* run_options,
                  absl::Span<const Session::Feed> feeds,
                  absl::Span<const Endpoint> fetches,
                  absl::Span<Node* const> targets, TF_Tensor** outputs,
                  TF_Buffer* run_metadata,
                  HR_CancellationManager* cancellation) {
  std::vector<Tensor> values;
  std::shared_ptr<headrace::CancellationManager> manager;
  if (cancellation != nullptr) manager = cancellation->manager;
  if (run_options == nullptr && run_metadata == nullptr) [[likely]] {
    HR_RETURN_IF_ERROR(session->Run(pb::RunOptions::default_instance(), feeds,
                                    fetches, targets, &values, nullptr,
                                    manager.get()));
  } else {
    pb::RunOptions options;
    if (run_options != nullptr) {
      HR_RETURN_IF_ERROR(ParseProto("run_options", run_options->data,
                                    run_options->length, &options));
    }
    if (run_metadata != nullptr && run_metadata->data != nullptr) {
      return errors::InvalidArgument(
          "run_metadata must be an empty buffer; it has ", run_metadata->length,
          " bytes");
    }
    pb::RunMetadata metadata;
    HR_RETURN_IF_ERROR(session->Run(options, feeds, fetches, targets, &values,
                                    run_metadata ? &metadata : nullptr,
                                    manager.get()));
    if (run_metadata != nullptr) {
      HR_RETURN_IF_ERROR(ToBuffer(metadata, run_metadata));
    }
  }
  if (values.size() != fetches.size()) {
    return errors::Internal("a run returned ", values.size(), " tensors for ",
                            fetches.size(), " fetches");
  }
  return WrapAll(&values, outputs);
}

Status WrapAll(std::vector<Tensor>* values, TF_Tensor** outputs) {
  for (size_t i = 0; i < values->size(); ++i) {
    const Status s = WrapTensor(std::move((*values)[i]), &outputs[i]);
    if (s.ok()) [[likely]]
      continue;
    while (i > 0) {
      TF_DeleteTensor(outputs[--i]);
      outputs[i] = nullptr;
    }
    return s;
  }
  return OkStatus();
}

}  // namespace headrace::c_api

namespace {

Status CheckCount(const char* what, const void* array, int n) {
  if (n >= 0 && (array != nullptr || n == 0)) return OkStatus();
  return errors::InvalidArgument(n, " ", what, " at ",
                                 array == nullptr ? "NULL" : "an address");
}

}  // namespace

namespace headrace::c_api {

Status ReadFeeds(const TF_Output* inputs, TF_Tensor* const* values, int n,
                 FeedList* out) {
  HR_RETURN_IF_ERROR(CheckCount("inputs", inputs, n));
  HR_RETURN_IF_ERROR(CheckCount("input values", values, n));
  out->reserve(n);
  for (int i = 0; i < n; ++i) {
    if (!IsOutput(inputs[i])) return BadOutput("a fed tensor", inputs[i]);
    if (values[i] == nullptr) {
      return errors::InvalidArgument("the value fed for '",
                                     ToNode(inputs[i].oper)->name(), ":",
                                     inputs[i].index, "' is NULL");
    }
    const Endpoint fed = {ToNode(inputs[i].oper), inputs[i].index};
    out->emplace_back(fed, Tensor());
    const Status s = ReadTensor(*values[i], &out->back().second);
    if (!s.ok()) [[unlikely]] {
      return Annotate(s, absl::StrCat(" (fed for '", fed.node->name(), ":",
                                      fed.index, "')"));
    }
  }
  return OkStatus();
}

Status ReadEndpoints(const char* what, const TF_Output* outputs, int n,
                     EndpointList* out) {
  HR_RETURN_IF_ERROR(CheckCount(what, outputs, n));
  out->reserve(n);
  for (int i = 0; i < n; ++i) {
    if (!IsOutput(outputs[i])) return BadOutput(what, outputs[i]);
    out->push_back({ToNode(outputs[i].oper), outputs[i].index});
  }
  return OkStatus();
}

Status ReadTargets(const TF_Operation* const* operations, int n,
                   TargetList* out) {
  HR_RETURN_IF_ERROR(CheckCount("targets", operations, n));
  out->reserve(n);
  for (int i = 0; i < n; ++i) {
    if (operations[i] == nullptr) {
      return errors::InvalidArgument("target ", i, " is NULL");
    }
    out->push_back(ToNode(operations[i]));
  }
  return OkStatus();
}

}  // namespace headrace::c_api

namespace {

Status Run(TF_Session* session, const TF_Buffer* run_options,
           const TF_Output* inputs, TF_Tensor* const* input_values, int ninputs,
           const TF_Output* outputs, TF_Tensor** output_values, int noutputs,
           const TF_Operation* const* target_opers, int ntargets,
           TF_Buffer* run_metadata, HR_CancellationManager* cancellation) {
  if (session == nullptr) {
    return errors::InvalidArgument("the session is NULL");
  }
  FeedList feeds;
  EndpointList fetches;
  TargetList targets;
  HR_RETURN_IF_ERROR(ReadFeeds(inputs, input_values, ninputs, &feeds));
  HR_RETURN_IF_ERROR(
      ReadEndpoints("a fetched tensor", outputs, noutputs, &fetches));
  HR_RETURN_IF_ERROR(CheckCount("output values", output_values, noutputs));
  HR_RETURN_IF_ERROR(ReadTargets(target_opers, ntargets, &targets));
  return RunAndWrap(session->session.get(), run_options, feeds, fetches,
                    targets, output_values, run_metadata, cancellation);
}

Status NoSession(const char* function) {
  return errors::InvalidArgument(function,
                                 ": the session was deleted before, or it is "
                                 "none");
}

void ClearOutputs(TF_Tensor** outputs, int n) {
  for (int i = 0; outputs != nullptr && i < n; ++i) outputs[i] = nullptr;
}

}  // namespace

TF_SessionOptions* TF_NewSessionOptions() { return new TF_SessionOptions; }

void TF_SetTarget(TF_SessionOptions* options, const char* target) {
  if (options != nullptr) options->target = std::string(Text(target));
}

void TF_SetConfig(TF_SessionOptions* options, const void* proto,
                  size_t proto_len, TF_Status* status) {
  if (options == nullptr) {
    return Set(status, errors::InvalidArgument("the session options are NULL"));
  }
  pb::ConfigProto config;
  const Status s = ParseProto("TF_SetConfig", proto, proto_len, &config);
  if (s.ok()) options->config = std::move(config);
  Set(status, s);
}

void TF_DeleteSessionOptions(TF_SessionOptions* options) { delete options; }

TF_Session* TF_NewSession(TF_Graph* graph, const TF_SessionOptions* opts,
                          TF_Status* status) {
  if (graph == nullptr) {
    Set(status, errors::InvalidArgument("TF_NewSession: the graph is NULL"));
    return nullptr;
  }
  std::unique_ptr<TF_Session> session;
  const Status s = headrace::CatchExceptions([&] {
    session = std::make_unique<TF_Session>();
    std::unique_ptr<Session> made;
    const Status s =
        MoveTo(headrace::NewSession(
                   opts == nullptr ? pb::ConfigProto::default_instance()
                                   : opts->config,
                   opts == nullptr ? "" : opts->target, graph->graph),
               &made);
    session->session = std::move(made);
    if (s.ok()) LiveObjects<TF_Session>::Add(session.get());
    return s;
  });
  Set(status, s);
  return s.ok() ? session.release() : nullptr;
}

void TF_Reset(const TF_SessionOptions* opt, const char** containers,
              int ncontainers, TF_Status* status) {
  const Status s = CheckCount("containers", containers, ncontainers);
  if (!s.ok()) return Set(status, s);
  std::vector<std::string> names;
  for (int i = 0; i < ncontainers; ++i) names.emplace_back(Text(containers[i]));
  Set(status,
      headrace::ResetSessions(opt == nullptr ? "" : opt->target, names));
}

void TF_CloseSession(TF_Session* session, TF_Status* status) {
  if (session == nullptr) {
    return Set(status, errors::InvalidArgument("the session is NULL"));
  }
  if (!LiveObjects<TF_Session>::Contains(session)) {
    return Set(status, NoSession("TF_CloseSession"));
  }
  Set(status, session->session->Close());
}

void TF_DeleteSession(TF_Session* session, TF_Status* status) {
  if (session != nullptr && !LiveObjects<TF_Session>::Remove(session)) {
    return Set(status, NoSession("TF_DeleteSession"));
  }
  delete session;
  SetOk(status);
}

void TF_SessionRun(TF_Session* session, const TF_Buffer* run_options,
                   const TF_Output* inputs, TF_Tensor* const* input_values,
                   int ninputs, const TF_Output* outputs,
                   TF_Tensor** output_values, int noutputs,
                   const TF_Operation* const* target_opers, int ntargets,
                   TF_Buffer* run_metadata, TF_Status* status) {
  HR_SessionRunCancellable(session, run_options, inputs, input_values, ninputs,
                           outputs, output_values, noutputs, target_opers,
                           ntargets, run_metadata, nullptr, status);
}

void HR_SessionRunCancellable(TF_Session* session, const TF_Buffer* run_options,
                              const TF_Output* inputs,
                              TF_Tensor* const* input_values, int ninputs,
                              const TF_Output* outputs,
                              TF_Tensor** output_values, int noutputs,
                              const TF_Operation* const* target_opers,
                              int ntargets, TF_Buffer* run_metadata,
                              HR_CancellationManager* cancellation,
                              TF_Status* status) {
  ClearOutputs(output_values, noutputs);
  const Status s = headrace::CatchExceptions([&] {
    return Run(session, run_options, inputs, input_values, ninputs, outputs,
               output_values, noutputs, target_opers, ntargets, run_metadata,
               cancellation);
  });
  // There may have been no memory for the handles of all.
  for (int i = 0; !s.ok() && output_values != nullptr && i < noutputs; ++i) {
    TF_DeleteTensor(std::exchange(output_values[i], nullptr));
  }
  Set(status, s);
}
