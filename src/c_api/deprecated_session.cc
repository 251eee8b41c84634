// TF_DeprecatedSession: a session with its own graph, which GraphDefs extend.
// Runs name tensors and nodes by strings.
#include "c_api/internal.h"

using headrace::Endpoint;
using headrace::Graph;
using headrace::MutexLock;
using headrace::Node;
using headrace::OkStatus;
using headrace::Session;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

// The node of "a", "a:1" or "^a"; NotFound in TensorFlow's words.
Status FindNode(const Graph& graph, const char* what, const char* name,
                Endpoint* out) {
  std::string node;
  HR_RETURN_IF_ERROR(
      headrace::ParseEndpointName(Text(name), &node, &out->index));
  out->node = graph.FindNode(node);
  if (out->node == nullptr) {
    return errors::NotFound(what, " node ", Text(name), ": not found");
  }
  return OkStatus();
}

Status FindOutput(const Graph& graph, const char* what, const char* name,
                  Endpoint* out) {
  HR_RETURN_IF_ERROR(FindNode(graph, what, name, out));
  const TF_Output output = ToOutput(*out);
  return IsOutput(output) ? OkStatus() : BadOutput(what, output);
}

// The nodes behind names. Arrays of `n` names, or NULL if there are none.
struct Names {
  const char** inputs;
  int ninputs;
  const char** outputs;
  int noutputs;
  const char** targets;
  int ntargets;
};
Status FindAll(TF_DeprecatedSession* session, const Names& names,
               EndpointList* feeds, EndpointList* fetches,
               TargetList* targets) {
  if (session == nullptr || names.ninputs < 0 || names.noutputs < 0 ||
      names.ntargets < 0) {
    return errors::InvalidArgument("a NULL session or negative count");
  }
  if ((names.inputs == nullptr && names.ninputs > 0) ||
      (names.outputs == nullptr && names.noutputs > 0) ||
      (names.targets == nullptr && names.ntargets > 0)) {
    return errors::InvalidArgument("the names at NULL: of ", names.ninputs,
                                   " inputs, ", names.noutputs, " outputs or ",
                                   names.ntargets, " targets");
  }
  MutexLock lock(&session->graph->mu());
  const Graph& graph = *session->graph;
  for (int i = 0; i < names.ninputs; ++i) {
    feeds->emplace_back();
    HR_RETURN_IF_ERROR(
        FindOutput(graph, "FeedInputs", names.inputs[i], &feeds->back()));
  }
  for (int i = 0; i < names.noutputs; ++i) {
    fetches->emplace_back();
    HR_RETURN_IF_ERROR(
        FindOutput(graph, "FetchOutputs", names.outputs[i], &fetches->back()));
  }
  for (int i = 0; i < names.ntargets; ++i) {
    Endpoint e;
    HR_RETURN_IF_ERROR(FindNode(graph, "TargetNodes", names.targets[i], &e));
    targets->push_back(e.node);
  }
  return OkStatus();
}

Status AddValues(const EndpointList& endpoints, TF_Tensor** values,
                 FeedList* out) {
  for (size_t i = 0; i < endpoints.size(); ++i) {
    if (values == nullptr || values[i] == nullptr) {
      return errors::InvalidArgument("the value fed for '",
                                     EndpointName(endpoints[i]), "' is NULL");
    }
    out->emplace_back(endpoints[i], headrace::Tensor());
    HR_RETURN_IF_ERROR(headrace::Annotate(
        ReadTensor(*values[i], &out->back().second),
        absl::StrCat(" (fed for '", EndpointName(endpoints[i]), "')")));
  }
  return OkStatus();
}

Status Run(TF_DeprecatedSession* session, const TF_Buffer* run_options,
           const Names& names, TF_Tensor** inputs, TF_Tensor** outputs,
           TF_Buffer* run_metadata) {
  EndpointList fed, fetches;
  TargetList targets;
  FeedList feeds;
  HR_RETURN_IF_ERROR(FindAll(session, names, &fed, &fetches, &targets));
  HR_RETURN_IF_ERROR(AddValues(fed, inputs, &feeds));
  if (outputs == nullptr && names.noutputs > 0) {
    return errors::InvalidArgument("the output values are NULL");
  }
  return RunAndWrap(session->session.get(), run_options, feeds, fetches,
                    targets, outputs, run_metadata);
}

Status PRunSetup(TF_DeprecatedSession* session, const Names& names,
                 const char** handle) {
  EndpointList feeds, fetches;
  TargetList targets;
  HR_RETURN_IF_ERROR(FindAll(session, names, &feeds, &fetches, &targets));
  return StartPartialRun(session->session, feeds, fetches, targets, handle);
}

Status PRun(TF_DeprecatedSession* session, const char* handle,
            const Names& names, TF_Tensor** inputs, TF_Tensor** outputs) {
  EndpointList fed, fetches;
  TargetList targets;
  FeedList feeds;
  HR_RETURN_IF_ERROR(FindAll(session, names, &fed, &fetches, &targets));
  HR_RETURN_IF_ERROR(AddValues(fed, inputs, &feeds));
  return ContinuePartialRun(session->session.get(), handle, feeds, fetches,
                            outputs);
}

}  // namespace

TF_DeprecatedSession* TF_NewDeprecatedSession(const TF_SessionOptions* opts,
                                              TF_Status* status) {
  auto session = std::make_unique<TF_DeprecatedSession>();
  session->graph = std::make_shared<Graph>();
  std::unique_ptr<Session> made;
  const Status s = MoveTo(
      headrace::NewSession(
          opts == nullptr ? pb::ConfigProto::default_instance() : opts->config,
          opts == nullptr ? "" : opts->target, session->graph),
      &made);
  session->session = std::move(made);
  Set(status, s);
  return s.ok() ? session.release() : nullptr;
}

void TF_CloseDeprecatedSession(TF_DeprecatedSession* session,
                               TF_Status* status) {
  Set(status, session == nullptr
                  ? errors::InvalidArgument("the session is NULL")
                  : session->session->Close());
}

void TF_DeleteDeprecatedSession(TF_DeprecatedSession* session,
                                TF_Status* status) {
  delete session;
  SetOk(status);
}

void TF_ExtendGraph(TF_DeprecatedSession* session, const void* proto,
                    size_t proto_len, TF_Status* status) {
  if (session == nullptr) {
    return Set(status, errors::InvalidArgument("the session is NULL"));
  }
  pb::GraphDef def;
  Status s = ParseProto("TF_ExtendGraph", proto, proto_len, &def);
  if (s.ok()) {
    MutexLock lock(&session->graph->mu());
    headrace::ImportOptions options;
    options.extends = true;
    s = headrace::ImportGraphDef(options, def, session->graph.get());
  }
  Set(status, std::move(s));
}

void TF_Run(TF_DeprecatedSession* session, const TF_Buffer* run_options,
            const char** input_names, TF_Tensor** inputs, int ninputs,
            const char** output_names, TF_Tensor** outputs, int noutputs,
            const char** target_oper_names, int ntargets,
            TF_Buffer* run_metadata, TF_Status* status) {
  for (int i = 0; outputs != nullptr && i < noutputs; ++i) outputs[i] = nullptr;
  Set(status, Run(session, run_options,
                  {input_names, ninputs, output_names, noutputs,
                   target_oper_names, ntargets},
                  inputs, outputs, run_metadata));
}

void TF_PRunSetup(TF_DeprecatedSession* session, const char** input_names,
                  int ninputs, const char** output_names, int noutputs,
                  const char** target_oper_names, int ntargets,
                  const char** handle, TF_Status* status) {
  if (handle != nullptr) *handle = nullptr;
  Set(status, PRunSetup(session,
                        {input_names, ninputs, output_names, noutputs,
                         target_oper_names, ntargets},
                        handle));
}

void TF_PRun(TF_DeprecatedSession* session, const char* handle,
             const char** input_names, TF_Tensor** inputs, int ninputs,
             const char** output_names, TF_Tensor** outputs, int noutputs,
             const char** target_oper_names, int ntargets, TF_Status* status) {
  for (int i = 0; outputs != nullptr && i < noutputs; ++i) outputs[i] = nullptr;
  Set(status, PRun(session, handle,
                   {input_names, ninputs, output_names, noutputs,
                    target_oper_names, ntargets},
                   inputs, outputs));
}
