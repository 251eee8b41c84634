#include "headrace/session.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "headrace/device.h"
#include "headrace/mutex.h"
#include "session/direct_session.h"
#include "session/distributed_library.h"

namespace headrace {
namespace {

// `what` is FeedInputs, FetchOutputs or TargetNodes: TensorFlow's words.
Status FindEndpoint(const Graph& graph, const std::string& name,
                    const char* what, Endpoint* out) {
  std::string node;
  int index = 0;
  HR_RETURN_IF_ERROR(ParseEndpointName(name, &node, &index));
  out->node = graph.FindNode(node);
  if (out->node == nullptr) {
    return errors::NotFound(what, " node ", name, ": not found");
  }
  if (index < 0 || index >= out->node->num_outputs()) {
    return errors::InvalidArgument(what, " ", name, ": node has ",
                                   out->node->num_outputs(), " outputs");
  }
  out->index = index;
  return OkStatus();
}

// Of targets that libheadrace_distributed.so knows.
constexpr char kRemoteScheme[] = "grpc://";

struct Factories {
  Mutex mu;
  absl::flat_hash_map<std::string, SessionFactory> by_scheme GUARDED_BY(mu);
  static Factories* Get() {
    static Factories* const f = new Factories;
    return f;
  }
};

}  // namespace

Status Session::Run(const std::vector<std::pair<std::string, Tensor>>& feeds,
                    const std::vector<std::string>& fetches,
                    const std::vector<std::string>& targets,
                    std::vector<Tensor>* outputs) {
  return Run(pb::RunOptions::default_instance(), feeds, fetches, targets,
             outputs, nullptr);
}

Status Session::Run(const pb::RunOptions& options,
                    const std::vector<std::pair<std::string, Tensor>>& feeds,
                    const std::vector<std::string>& fetches,
                    const std::vector<std::string>& targets,
                    std::vector<Tensor>* outputs, pb::RunMetadata* metadata) {
  std::vector<Feed> feed_list(feeds.size());
  std::vector<Endpoint> fetch_list(fetches.size());
  std::vector<Node*> target_list(targets.size());
  {
    ReaderMutexLock lock(&graph_->mu());
    for (size_t i = 0; i < feeds.size(); ++i) {
      HR_RETURN_IF_ERROR(FindEndpoint(*graph_, feeds[i].first, "FeedInputs",
                                      &feed_list[i].first));
      feed_list[i].second = feeds[i].second;
    }
    for (size_t i = 0; i < fetches.size(); ++i) {
      HR_RETURN_IF_ERROR(
          FindEndpoint(*graph_, fetches[i], "FetchOutputs", &fetch_list[i]));
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      std::string node;
      int index = 0;
      HR_RETURN_IF_ERROR(ParseEndpointName(targets[i], &node, &index));
      target_list[i] = graph_->FindNode(node);
      if (target_list[i] == nullptr) {
        return errors::NotFound("TargetNodes node ", targets[i], ": not found");
      }
    }
  }
  return Run(options, feed_list, fetch_list, target_list, outputs, metadata);
}

StatusOr<std::shared_ptr<const Session::Prepared>> Session::MakeCallable(
    const pb::CallableOptions& options) {
  auto check_device = [&](const std::string& tensor,
                          const std::string& name) -> Status {
    DeviceName wanted;
    HR_RETURN_IF_ERROR(DeviceName::Parse(name, &wanted));
    for (Device* d : ListDevices()) {
      if (wanted.Matches(d->parsed_name())) return OkStatus();
    }
    return errors::InvalidArgument("CallableOptions: ", tensor,
                                   " is to be on device ", name,
                                   ", which this session does not have");
  };
  for (const auto& [tensor, device] : options.feed_devices()) {
    HR_RETURN_IF_ERROR(check_device(tensor, device));
  }
  for (const auto& [tensor, device] : options.fetch_devices()) {
    HR_RETURN_IF_ERROR(check_device(tensor, device));
  }
  if (options.tensor_connection_size() > 0) {
    return errors::Unimplemented(
        "CallableOptions.tensor_connection is not supported");
  }
  std::vector<Endpoint> feeds(options.feed_size()),
      fetches(options.fetch_size());
  std::vector<Node*> targets;
  {
    ReaderMutexLock lock(&graph_->mu());
    for (int i = 0; i < options.feed_size(); ++i) {
      HR_RETURN_IF_ERROR(
          FindEndpoint(*graph_, options.feed(i), "FeedInputs", &feeds[i]));
    }
    for (int i = 0; i < options.fetch_size(); ++i) {
      HR_RETURN_IF_ERROR(
          FindEndpoint(*graph_, options.fetch(i), "FetchOutputs", &fetches[i]));
    }
    for (const std::string& name : options.target()) {
      targets.push_back(graph_->FindNode(name));
      if (targets.back() == nullptr) {
        return errors::NotFound("TargetNodes node ", name, ": not found");
      }
    }
  }
  return Prepare(feeds, fetches, targets);
}

Status ResetSessions(const std::string& target,
                     const std::vector<std::string>& containers) {
  if (absl::StartsWith(target, kRemoteScheme)) {
    return ResetRemoteSessions(target, containers);
  }
  if (!target.empty() && target != "local") {
    return errors::Unimplemented("the sessions of target '", target,
                                 "' cannot be reset; only those of this "
                                 "process, target ''");
  }
  ResetDirectSessions(containers);
  return OkStatus();
}

StatusOr<std::unique_ptr<Session>> NewSession(const pb::ConfigProto& config,
                                              const std::string& target,
                                              std::shared_ptr<Graph> graph) {
  if (target.empty() || target == "local") {
    std::unique_ptr<Session> made;
    HR_RETURN_IF_ERROR(NewDirectSession(config, std::move(graph), &made));
    return made;
  }
  if (absl::StartsWith(target, kRemoteScheme)) {
    HR_RETURN_IF_ERROR(LoadDistributedLibrary());
  }
  SessionFactory factory = nullptr;
  std::string known;
  {
    Factories* f = Factories::Get();
    MutexLock lock(&f->mu);
    for (const auto& [scheme, candidate] : f->by_scheme) {
      absl::StrAppend(&known, ", '", scheme, "'");
      absl::string_view rest = target;
      if (absl::ConsumePrefix(&rest, scheme)) factory = candidate;
    }
  }
  if (factory == nullptr) {
    return errors::NotFound(
        "No session factory registered for the given session options: {target: "
        "'",
        target, "'}; there are targets: '' (this process)", known);
  }
  return factory(config, target, std::move(graph));
}

void RegisterSessionFactory(const std::string& scheme, SessionFactory factory) {
  Factories* f = Factories::Get();
  MutexLock lock(&f->mu);
  f->by_scheme[scheme] = factory;
}

}  // namespace headrace
