// TF_DeprecatedSession: a session with a graph of its own that is extended by
// GraphDefs and run by names.
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
  return CheckOutput(what, ToOutput(*out));
}

Status Run(TF_DeprecatedSession* session, const TF_Buffer* run_options,
           const char** input_names, TF_Tensor** inputs, int ninputs,
           const char** output_names, TF_Tensor** outputs, int noutputs,
           const char** target_oper_names, int ntargets,
           TF_Buffer* run_metadata) {
  if (session == nullptr || ninputs < 0 || noutputs < 0 || ntargets < 0) {
    return errors::InvalidArgument("TF_Run: a NULL session or negative count");
  }
  std::vector<Session::Feed> feeds(ninputs);
  std::vector<Endpoint> fetches(noutputs);
  std::vector<Node*> targets(ntargets);
  {
    MutexLock lock(&session->graph->mu());
    const Graph& graph = *session->graph;
    for (int i = 0; i < ninputs; ++i) {
      HR_RETURN_IF_ERROR(
          FindOutput(graph, "FeedInputs", input_names[i], &feeds[i].first));
      if (inputs[i] == nullptr) {
        return errors::InvalidArgument("the value fed for '", input_names[i],
                                       "' is NULL");
      }
      feeds[i].second = inputs[i]->tensor;
    }
    for (int i = 0; i < noutputs; ++i) {
      HR_RETURN_IF_ERROR(
          FindOutput(graph, "FetchOutputs", output_names[i], &fetches[i]));
    }
    for (int i = 0; i < ntargets; ++i) {
      Endpoint e;
      HR_RETURN_IF_ERROR(
          FindNode(graph, "TargetNodes", target_oper_names[i], &e));
      targets[i] = e.node;
    }
  }
  return RunAndWrap(session->session.get(), run_options, feeds, fetches,
                    targets, outputs, run_metadata);
}

}  // namespace

TF_DeprecatedSession* TF_NewDeprecatedSession(const TF_SessionOptions* opts,
                                              TF_Status* status) {
  auto session = std::make_unique<TF_DeprecatedSession>();
  session->graph = std::make_shared<Graph>();
  const Status s = headrace::NewSession(
      opts == nullptr ? pb::ConfigProto::default_instance() : opts->config,
      opts == nullptr ? "" : opts->target, session->graph, &session->session);
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
    s = headrace::ImportGraphDef({}, def, session->graph.get());
  }
  Set(status, std::move(s));
}

void TF_Run(TF_DeprecatedSession* session, const TF_Buffer* run_options,
            const char** input_names, TF_Tensor** inputs, int ninputs,
            const char** output_names, TF_Tensor** outputs, int noutputs,
            const char** target_oper_names, int ntargets,
            TF_Buffer* run_metadata, TF_Status* status) {
  for (int i = 0; outputs != nullptr && i < noutputs; ++i) outputs[i] = nullptr;
  Set(status,
      Run(session, run_options, input_names, inputs, ninputs, output_names,
          outputs, noutputs, target_oper_names, ntargets, run_metadata));
}
