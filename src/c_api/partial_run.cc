// Partial runs: TF_SessionPRunSetup, TF_SessionPRun, TF_DeletePRunHandle. A
// handle is a separate string. Deleting it ends a run that is not complete.
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "c_api/internal.h"
#include "headrace/mutex.h"

using headrace::MutexLock;
using headrace::Session;
using headrace::Status;
using headrace::Tensor;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

// Whose run each handle is.
struct Handles {
  headrace::Mutex mu;
  absl::flat_hash_map<const char*, std::weak_ptr<Session>> sessions
      GUARDED_BY(mu);
};
Handles* GetHandles() {
  static Handles* const handles = new Handles;
  return handles;
}

}  // namespace

namespace headrace::c_api {

Status StartPartialRun(const std::shared_ptr<Session>& session,
                       absl::Span<const Endpoint> feeds,
                       absl::Span<const Endpoint> fetches,
                       absl::Span<Node* const> targets, const char** handle) {
  if (handle == nullptr) {
    return errors::InvalidArgument("the handle is NULL");
  }
  HR_ASSIGN_OR_RETURN(const std::string name,
                      session->PRunSetup(feeds, fetches, targets));
  char* copy = new char[name.size() + 1];
  std::memcpy(copy, name.c_str(), name.size() + 1);
  *handle = copy;
  Handles* handles = GetHandles();
  MutexLock lock(&handles->mu);
  handles->sessions[copy] = session;
  return OkStatus();
}

Status ContinuePartialRun(Session* session, const char* handle,
                          absl::Span<const Session::Feed> feeds,
                          absl::Span<const Endpoint> fetches,
                          TF_Tensor** outputs, const TF_Buffer* run_options,
                          HR_CancellationManager* cancellation) {
  if (handle == nullptr) {
    return errors::InvalidArgument("the handle is NULL");
  }
  if (!fetches.empty() && outputs == nullptr) {
    return errors::InvalidArgument("the output values are NULL");
  }
  pb::RunOptions options;
  if (run_options != nullptr) {
    HR_RETURN_IF_ERROR(ParseProto("run_options", run_options->data,
                                  run_options->length, &options));
  }
  std::shared_ptr<headrace::CancellationManager> manager;
  if (cancellation != nullptr) manager = cancellation->manager;
  std::vector<Tensor> values;
  HR_RETURN_IF_ERROR(
      session->PRun(handle, options, feeds, fetches, &values, manager.get()));
  return WrapAll(&values, outputs);
}

}  // namespace headrace::c_api

namespace {

Status Setup(TF_Session* session, const TF_Output* inputs, int ninputs,
             const TF_Output* outputs, int noutputs,
             const TF_Operation* const* target_opers, int ntargets,
             const char** handle) {
  if (session == nullptr) {
    return errors::InvalidArgument("the session is NULL");
  }
  EndpointList feeds, fetches;
  TargetList targets;
  HR_RETURN_IF_ERROR(ReadEndpoints("a fed tensor", inputs, ninputs, &feeds));
  HR_RETURN_IF_ERROR(
      ReadEndpoints("a fetched tensor", outputs, noutputs, &fetches));
  HR_RETURN_IF_ERROR(ReadTargets(target_opers, ntargets, &targets));
  return StartPartialRun(session->session, feeds, fetches, targets, handle);
}

Status Continue(TF_Session* session, const char* handle,
                const TF_Buffer* run_options, const TF_Output* inputs,
                TF_Tensor* const* input_values, int ninputs,
                const TF_Output* outputs, TF_Tensor** output_values,
                int noutputs, HR_CancellationManager* cancellation) {
  if (session == nullptr) {
    return errors::InvalidArgument("the session is NULL");
  }
  FeedList feeds;
  EndpointList fetches;
  HR_RETURN_IF_ERROR(ReadFeeds(inputs, input_values, ninputs, &feeds));
  HR_RETURN_IF_ERROR(
      ReadEndpoints("a fetched tensor", outputs, noutputs, &fetches));
  return ContinuePartialRun(session->session.get(), handle, feeds, fetches,
                            output_values, run_options, cancellation);
}

}  // namespace

void TF_SessionPRunSetup(TF_Session* session, const TF_Output* inputs,
                         int ninputs, const TF_Output* outputs, int noutputs,
                         const TF_Operation* const* target_opers, int ntargets,
                         const char** handle, TF_Status* status) {
  if (handle != nullptr) *handle = nullptr;
  Set(status, Setup(session, inputs, ninputs, outputs, noutputs, target_opers,
                    ntargets, handle));
}

void TF_SessionPRun(TF_Session* session, const char* handle,
                    const TF_Output* inputs, TF_Tensor* const* input_values,
                    int ninputs, const TF_Output* outputs,
                    TF_Tensor** output_values, int noutputs,
                    const TF_Operation* const*, int, TF_Status* status) {
  HR_SessionPRunCancellable(session, handle, nullptr, inputs, input_values,
                            ninputs, outputs, output_values, noutputs, nullptr,
                            status);
}

void HR_SessionPRunCancellable(
    TF_Session* session, const char* handle, const TF_Buffer* run_options,
    const TF_Output* inputs, TF_Tensor* const* input_values, int ninputs,
    const TF_Output* outputs, TF_Tensor** output_values, int noutputs,
    HR_CancellationManager* cancellation, TF_Status* status) {
  for (int i = 0; output_values != nullptr && i < noutputs; ++i) {
    output_values[i] = nullptr;
  }
  Set(status,
      Continue(session, handle, run_options, inputs, input_values, ninputs,
               outputs, output_values, noutputs, cancellation));
}

void TF_DeletePRunHandle(const char* handle) {
  if (handle == nullptr) return;
  std::shared_ptr<Session> session;
  {
    Handles* handles = GetHandles();
    MutexLock lock(&handles->mu);
    auto it = handles->sessions.find(handle);
    if (it != handles->sessions.end()) {
      session = it->second.lock();
      handles->sessions.erase(it);
    }
  }
  if (session != nullptr) session->PRunClose(handle);
  delete[] handle;
}
