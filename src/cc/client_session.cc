#include "headrace/cc/client_session.h"

#include "cc/scope_data.h"

namespace headrace {
namespace {

Status TakeOutputs(const Scope& scope, const std::vector<Output>& outputs,
                   const char* what, std::vector<Endpoint>* taken) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output& o = outputs[i];
    if (o.empty()) {
      return errors::InvalidArgument("ClientSession: ", what, " ", i,
                                     " is an empty Output");
    }
    if (o.op().scope_data()->shared->graph != scope.graph()) {
      return errors::InvalidArgument("ClientSession: ", what, " ", i, ", ",
                                     o.name(), ", belongs to another graph");
    }
    if (o.index() < 0 || o.index() >= o.node()->num_outputs()) {
      return errors::InvalidArgument(
          "ClientSession: ", what, " ", i, ": '", o.node()->name(), "' has ",
          o.node()->num_outputs(), " outputs, got output ", o.index());
    }
    taken->push_back(o.endpoint());
  }
  return OkStatus();
}

Status TakeOps(const Scope& scope, const std::vector<Operation>& ops,
               std::vector<Node*>* taken) {
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].empty()) {
      return errors::InvalidArgument("ClientSession: operation ", i,
                                     " is empty");
    }
    if (ops[i].scope_data()->shared->graph != scope.graph()) {
      return errors::InvalidArgument("ClientSession: operation ", i, ", '",
                                     ops[i].name(),
                                     "', belongs to another graph");
    }
    taken->push_back(ops[i].node());
  }
  return OkStatus();
}

}  // namespace

ClientSession::ClientSession(const Scope& scope, const std::string& target)
    : ClientSession(scope, pb::ConfigProto(), target) {}

ClientSession::ClientSession(const Scope& scope, const pb::ConfigProto& config,
                             const std::string& target)
    : scope_(scope) {
  StatusOr<std::unique_ptr<Session>> made =
      NewSession(config, target, scope.graph());
  status_ = made.status();
  if (status_.ok()) session_ = *std::move(made);
}

ClientSession::ClientSession(const Scope& scope,
                             std::shared_ptr<Session> session)
    : scope_(scope), session_(std::move(session)) {
  if (session_ == nullptr) {
    status_ = errors::InvalidArgument("ClientSession: got no session");
  } else if (session_->graph() != scope.graph()) {
    status_ = errors::InvalidArgument(
        "ClientSession: the session runs another graph than the scope's");
    session_.reset();
  }
}

Status ClientSession::Check() const {
  HR_RETURN_IF_ERROR(scope_.status());
  return status_;
}

Status ClientSession::TakeFeeds(const FeedType& feeds,
                                std::vector<Session::Feed>* taken) const {
  std::vector<Output> outputs;
  for (const auto& [output, value] : feeds) outputs.push_back(output);
  std::vector<Endpoint> ends;
  HR_RETURN_IF_ERROR(TakeOutputs(scope_, outputs, "feed", &ends));
  for (size_t i = 0; i < feeds.size(); ++i) {
    const Input::Initializer& value = feeds[i].second;
    const std::string where = StrCat(" (feed ", outputs[i].name(), ")");
    HR_RETURN_IF_ERROR(Annotate(value.status, where));
    Tensor tensor = value.tensor;
    if (value.is_literal) {
      HR_RETURN_IF_ERROR(Annotate(
          internal::ConvertLiteral(value.tensor, outputs[i].type(), &tensor),
          where));
    }
    taken->emplace_back(ends[i], std::move(tensor));
  }
  return OkStatus();
}

Status ClientSession::Run(const std::vector<Output>& fetches,
                          std::vector<Tensor>* outputs) const {
  return Run(FeedType(), fetches, {}, outputs);
}

Status ClientSession::Run(const FeedType& feeds,
                          const std::vector<Output>& fetches,
                          std::vector<Tensor>* outputs) const {
  return Run(feeds, fetches, {}, outputs);
}

Status ClientSession::Run(const FeedType& feeds,
                          const std::vector<Output>& fetches,
                          const std::vector<Operation>& run_ops,
                          std::vector<Tensor>* outputs) const {
  return Run(pb::RunOptions(), feeds, fetches, run_ops, outputs);
}

Status ClientSession::Run(const pb::RunOptions& options, const FeedType& feeds,
                          const std::vector<Output>& fetches,
                          const std::vector<Operation>& run_ops,
                          std::vector<Tensor>* outputs,
                          pb::RunMetadata* metadata) const {
  HR_RETURN_IF_ERROR(Check());
  std::vector<Session::Feed> values;
  std::vector<Endpoint> ends;
  std::vector<Node*> targets;
  HR_RETURN_IF_ERROR(TakeFeeds(feeds, &values));
  HR_RETURN_IF_ERROR(TakeOutputs(scope_, fetches, "fetch", &ends));
  HR_RETURN_IF_ERROR(TakeOps(scope_, run_ops, &targets));
  return session_->Run(options, values, ends, targets, outputs, metadata);
}

Status ClientSession::Run(const std::vector<Operation>& run_ops) const {
  return Run(FeedType(), {}, run_ops, nullptr);
}

StatusOr<ClientSession::Callable> ClientSession::MakeCallable(
    const std::vector<Output>& feeds, const std::vector<Output>& fetches,
    const std::vector<Operation>& run_ops) const {
  HR_RETURN_IF_ERROR(Check());
  std::vector<Endpoint> feed_ends, fetch_ends;
  std::vector<Node*> targets;
  HR_RETURN_IF_ERROR(TakeOutputs(scope_, feeds, "feed", &feed_ends));
  HR_RETURN_IF_ERROR(TakeOutputs(scope_, fetches, "fetch", &fetch_ends));
  HR_RETURN_IF_ERROR(TakeOps(scope_, run_ops, &targets));
  Callable callable;
  HR_ASSIGN_OR_RETURN(callable.prepared_,
                      session_->Prepare(feed_ends, fetch_ends, targets));
  callable.session_ = session_;
  return callable;
}

Status ClientSession::Callable::Run(const std::vector<Tensor>& feeds,
                                    std::vector<Tensor>* outputs) const {
  return Run(pb::RunOptions(), feeds, outputs);
}

Status ClientSession::Callable::Run(const pb::RunOptions& options,
                                    const std::vector<Tensor>& feeds,
                                    std::vector<Tensor>* outputs,
                                    pb::RunMetadata* metadata) const {
  if (session_ == nullptr) {
    return errors::FailedPrecondition(
        "Callable: it is empty; ClientSession::MakeCallable makes one");
  }
  return session_->RunPrepared(*prepared_, options, feeds, outputs, metadata);
}

StatusOr<std::string> ClientSession::PRunSetup(
    const std::vector<Output>& feeds, const std::vector<Output>& fetches,
    const std::vector<Operation>& run_ops) const {
  HR_RETURN_IF_ERROR(Check());
  std::vector<Endpoint> feed_ends, fetch_ends;
  std::vector<Node*> targets;
  HR_RETURN_IF_ERROR(TakeOutputs(scope_, feeds, "feed", &feed_ends));
  HR_RETURN_IF_ERROR(TakeOutputs(scope_, fetches, "fetch", &fetch_ends));
  HR_RETURN_IF_ERROR(TakeOps(scope_, run_ops, &targets));
  return session_->PRunSetup(feed_ends, fetch_ends, targets);
}

Status ClientSession::PRun(const std::string& handle, const FeedType& feeds,
                           const std::vector<Output>& fetches,
                           std::vector<Tensor>* outputs) const {
  HR_RETURN_IF_ERROR(Check());
  std::vector<Session::Feed> values;
  std::vector<Endpoint> ends;
  HR_RETURN_IF_ERROR(TakeFeeds(feeds, &values));
  HR_RETURN_IF_ERROR(TakeOutputs(scope_, fetches, "fetch", &ends));
  return session_->PRun(handle, pb::RunOptions(), values, ends, outputs);
}

}  // namespace headrace
