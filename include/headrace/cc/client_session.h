// ClientSession: runs a graph that a Scope built.
//
// Thread-safe, as Session is.
#ifndef HEADRACE_CC_CLIENT_SESSION_H_
#define HEADRACE_CC_CLIENT_SESSION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headrace/cc/scope.h"
#include "headrace/session.h"

namespace headrace {

class ClientSession {
 public:
  using FeedType = std::vector<std::pair<Output, Input::Initializer>>;

  // A step prepared for many runs.
  class Callable {
   public:
    Callable() = default;
    // `feeds` are the values of the feeds, in their order.
    Status Run(const std::vector<Tensor>& feeds,
               std::vector<Tensor>* outputs) const;
    Status Run(const pb::RunOptions& options, const std::vector<Tensor>& feeds,
               std::vector<Tensor>* outputs,
               pb::RunMetadata* metadata = nullptr) const;

   private:
    friend class ClientSession;
    std::shared_ptr<Session> session_;
    std::shared_ptr<const Session::Prepared> prepared_;
  };

  // An error in making the session is what status() and all runs return.
  explicit ClientSession(const Scope& scope, const std::string& target = "");
  ClientSession(const Scope& scope, const pb::ConfigProto& config,
                const std::string& target = "");
  // Runs a graph by a session that exists, say that of a SavedModel.
  ClientSession(const Scope& scope, std::shared_ptr<Session> session);

  // The scope's error first, else what Session::Run says.
  Status Run(const std::vector<Output>& fetches,
             std::vector<Tensor>* outputs) const;
  Status Run(const FeedType& feeds, const std::vector<Output>& fetches,
             std::vector<Tensor>* outputs) const;
  Status Run(const FeedType& feeds, const std::vector<Output>& fetches,
             const std::vector<Operation>& run_ops,
             std::vector<Tensor>* outputs) const;
  Status Run(const pb::RunOptions& options, const FeedType& feeds,
             const std::vector<Output>& fetches,
             const std::vector<Operation>& run_ops,
             std::vector<Tensor>* outputs,
             pb::RunMetadata* metadata = nullptr) const;
  // Runs operations and fetches nothing.
  Status Run(const std::vector<Operation>& run_ops) const;

  StatusOr<Callable> MakeCallable(
      const std::vector<Output>& feeds, const std::vector<Output>& fetches,
      const std::vector<Operation>& run_ops = {}) const;

  // A step that is fed and fetched in pieces; see Session::PRunSetup.
  StatusOr<std::string> PRunSetup(
      const std::vector<Output>& feeds, const std::vector<Output>& fetches,
      const std::vector<Operation>& run_ops = {}) const;
  Status PRun(const std::string& handle, const FeedType& feeds,
              const std::vector<Output>& fetches,
              std::vector<Tensor>* outputs) const;

  const Status& status() const { return status_; }
  // Null after an error.
  Session* session() const { return session_.get(); }
  const Scope& scope() const { return scope_; }

 private:
  Status Check() const;
  Status TakeFeeds(const FeedType& feeds,
                   std::vector<Session::Feed>* taken) const;

  Scope scope_;
  std::shared_ptr<Session> session_;
  Status status_;
};

}  // namespace headrace

#endif  // HEADRACE_CC_CLIENT_SESSION_H_
