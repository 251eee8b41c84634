#include "graph/client_graph.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "framework/op/open_attrs.h"
#include "graph/algorithm.h"

namespace headrace {
namespace {

class ClientGraphBuilder {
 public:
  ClientGraphBuilder(const Graph& graph, absl::Span<const Endpoint> feeds,
                     absl::Span<const Endpoint> fetches,
                     absl::Span<Node* const> targets,
                     const std::string& client_device)
      : graph_(graph),
        feeds_(feeds),
        fetches_(fetches),
        targets_(targets),
        client_device_(client_device),
        out_(std::make_unique<Graph>()),
        has_feed_(graph.num_node_ids()),
        needed_(graph.num_node_ids()),
        copies_(graph.num_node_ids(), nullptr) {
    out_->versions() = graph.versions();
    out_->set_functions(graph.shared_functions());
  }

  StatusOr<std::unique_ptr<Graph>> Build() {
    HR_RETURN_IF_ERROR(Check());
    for (size_t i = 0; i < feeds_.size(); ++i) {
      HR_RETURN_IF_ERROR(AddArg(static_cast<int>(i)));
    }
    HR_RETURN_IF_ERROR(CopyNeeded());
    HR_RETURN_IF_ERROR(Connect());
    for (size_t i = 0; i < fetches_.size(); ++i) {
      HR_RETURN_IF_ERROR(AddRetval(static_cast<int>(i)));
    }
    return std::move(out_);
  }

 private:
  Status Check() {
    HR_RETURN_IF_ERROR(graph_.CheckNames());
    if (fetches_.empty() && targets_.empty()) {
      return errors::InvalidArgument(
          "Must specify at least one target to fetch or execute.");
    }
    for (const Endpoint& f : feeds_) {
      HR_RETURN_IF_ERROR(CheckOwned("feed", f.node));
      if (f.node == nullptr || f.index < 0 ||
          f.index >= f.node->num_outputs()) {
        return errors::InvalidArgument(
            "a feed names an output that is not "
            "there: ",
            f.node ? EndpointName(f) : "null");
      }
      if (!fed_.emplace(f, nullptr).second) {
        return errors::InvalidArgument("Endpoint \"", FullName(f),
                                       "\" fed more than once.");
      }
      has_feed_[f.node->id()] = true;
    }
    for (const Endpoint& f : fetches_) {
      HR_RETURN_IF_ERROR(CheckOwned("fetch", f.node));
      if (f.node == nullptr || f.index < 0 ||
          f.index >= f.node->num_outputs()) {
        return errors::InvalidArgument(
            "a fetch names an output that is not "
            "there: ",
            f.node ? EndpointName(f) : "null");
      }
      if (fed_.contains(f)) {
        return errors::InvalidArgument(FullName(f),
                                       " is both fed and fetched.");
      }
    }
    for (const Node* t : targets_) {
      if (t == nullptr) return errors::InvalidArgument("a target is null");
      HR_RETURN_IF_ERROR(CheckOwned("target", t));
    }
    return OkStatus();
  }

  // Ids mean something in one graph only.
  Status CheckOwned(const char* what, const Node* n) const {
    if (n == nullptr ||
        (n->id() < graph_.num_node_ids() && graph_.node(n->id()) == n)) {
      return OkStatus();
    }
    return errors::InvalidArgument("a ", what, " names node '", n->name(),
                                   "', which is of another graph");
  }

  // "a:0", with the index that EndpointName leaves out.
  static std::string FullName(const Endpoint& e) {
    return absl::StrCat(e.node->name(), ":", e.index);
  }

  // `prefix`, or with a number behind it: a name that no node of the client
  // has, whether it is needed or not, and none that was added.
  std::string FreeName(const std::string& prefix) const {
    const auto taken = [this](const std::string& name) {
      return graph_.FindNode(name) != nullptr ||
             out_->FindNode(name) != nullptr;
    };
    std::string name = prefix;
    for (int i = 1; taken(name); ++i) {
      name = absl::StrCat(prefix, "_", i);
    }
    return name;
  }

  Status AddArg(int index) {
    const Endpoint& f = feeds_[index];
    NodeDef def;
    def.name = FreeName(
        absl::StrCat("_arg_", f.node->name(), "_", f.index, "_", index));
    def.op = "_Arg";
    def.source = f.node->def().source;
    def.attrs.Set("T", BaseType(f.node->output_type(f.index)));
    def.attrs.Set("index", index);
    HR_ASSIGN_OR_RETURN(Node * arg, out_->AddUnconnectedNode(std::move(def)));
    out_->SetOutputShape(arg, 0, f.node->output_shape(f.index));
    arg->set_assigned_device(client_device_);
    arg->set_placement_reason("fed by the client");
    fed_[f] = arg;
    return OkStatus();
  }

  Status AddRetval(int index) {
    const Endpoint& f = fetches_[index];
    NodeDef def;
    def.name = FreeName(
        absl::StrCat("_retval_", f.node->name(), "_", f.index, "_", index));
    def.op = "_Retval";
    def.source = f.node->def().source;
    def.attrs.Set("T", BaseType(f.node->output_type(f.index)));
    def.attrs.Set("index", index);
    HR_ASSIGN_OR_RETURN(Node * retval,
                        out_->AddUnconnectedNode(std::move(def)));
    retval->set_assigned_device(client_device_);
    retval->set_placement_reason("fetched by the client");
    return out_->AddEdge({copies_[f.node->id()], f.index}, retval, 0);
  }

  // The _Arg that replaces the source of a data edge. Null if it is not fed.
  Node* ArgOf(const Edge& e) const {
    if (!has_feed_[e.src()->id()]) return nullptr;
    const auto it = fed_.find({e.src(), e.src_output()});
    return it == fed_.end() ? nullptr : it->second;
  }

  // A fed placeholder gives its outgoing control edges to its _Arg.
  Node* FedPlaceholder(const Node* n) const {
    if (!n->IsPlaceholder()) return nullptr;
    auto it = fed_.find(Endpoint{const_cast<Node*>(n), 0});
    return it == fed_.end() ? nullptr : it->second;
  }

  Status CopyNeeded() {
    std::vector<Node*> stack;
    int count = 0;
    auto need = [&](Node* n) {
      if (needed_[n->id()]) return;
      needed_[n->id()] = true;
      ++count;
      stack.push_back(n);
    };
    for (const Endpoint& f : fetches_) need(f.node);
    // A fed placeholder as a target has nothing to do.
    for (Node* t : targets_) {
      if (FedPlaceholder(t) == nullptr) need(t);
    }
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      for (const Edge* e : n->data_inputs()) {
        if (ArgOf(*e) == nullptr) need(e->src());
      }
      for (const Edge* e : n->control_inputs()) {
        if (FedPlaceholder(e->src()) == nullptr) need(e->src());
      }
    }
    out_->Reserve(count + static_cast<int>(fetches_.size()));
    // In order of id, so that equal requests give equal graphs.
    Status s;
    graph_.ForEachNode([&](Node* n) {
      if (!needed_[n->id()]) return;
      if (n->IsRetval()) s.Update(CheckRetval(*n));
      if (HasPlaceholder(n->attrs())) {
        s.Update(Annotate(CheckNoPlaceholder(n->op_def(), n->attrs()),
                          absl::StrCat(" ", NodeErrorSuffix(n->def()))));
      }
      copies_[n->id()] = out_->CopyNode(*n);
    });
    return s;
  }

  // A step gives each result once, from one thread.
  Status CheckRetval(const Node& n) const {
    int64_t index = 0;
    HR_RETURN_IF_ERROR(n.attrs().Get("index", &index));
    if (index < 0 || index >= static_cast<int64_t>(fetches_.size())) {
      return OkStatus();  // refused where it runs
    }
    return errors::InvalidArgument("Retval[", index, "] of node '", n.name(),
                                   "' has already been set by fetch ",
                                   FullName(fetches_[index]));
  }

  Status Connect() {
    Status s;
    graph_.ForEachNode([&](Node* n) {
      Node* copy = copies_[n->id()];
      if (copy == nullptr || !s.ok()) return;
      for (const Edge* e : n->data_inputs()) {
        Node* const arg = ArgOf(*e);
        const Endpoint from =
            arg != nullptr ? Endpoint{arg, 0}
                           : Endpoint{copies_[e->src()->id()], e->src_output()};
        s.Update(out_->AddEdge(from, copy, e->dst_input()));
      }
      for (const Edge* e : n->control_inputs()) {
        Node* arg = FedPlaceholder(e->src());
        out_->AddControlEdge(arg ? arg : copies_[e->src()->id()], copy);
      }
    });
    return s;
  }

  const Graph& graph_;
  const absl::Span<const Endpoint> feeds_, fetches_;
  const absl::Span<Node* const> targets_;
  const std::string& client_device_;
  std::unique_ptr<Graph> out_;
  absl::flat_hash_map<Endpoint, Node*> fed_;  // to the _Arg
  // By node id in graph_.
  std::vector<bool> has_feed_, needed_;
  std::vector<Node*> copies_;
};

}  // namespace

StatusOr<std::unique_ptr<Graph>> BuildClientGraph(
    const Graph& graph, absl::Span<const Endpoint> feeds,
    absl::Span<const Endpoint> fetches, absl::Span<Node* const> targets,
    const std::string& client_device) {
  HR_ASSIGN_OR_RETURN(
      std::unique_ptr<Graph> out,
      ClientGraphBuilder(graph, feeds, fetches, targets, client_device)
          .Build());
  // Cycles are refused here, where the client's names are known.
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(*out, &order));
  return out;
}

Status FindArgsAndRetvals(const Graph& client, size_t num_feeds,
                          size_t num_fetches, std::vector<Node*>* args,
                          std::vector<Node*>* retvals) {
  args->assign(num_feeds, nullptr);
  retvals->assign(num_fetches, nullptr);
  Status s;
  client.ForEachNode([&](Node* n) {
    if (!n->IsArg() && !n->IsRetval()) return;
    std::vector<Node*>* const all = n->IsArg() ? args : retvals;
    int64_t index = -1;
    s.Update(n->attrs().Get("index", &index));
    if (index >= 0 && index < static_cast<int64_t>(all->size()) &&
        (*all)[static_cast<size_t>(index)] == nullptr) {
      (*all)[static_cast<size_t>(index)] = n;
      return;
    }
    s.Update(errors::InvalidArgument(
        "node '", n->name(), "' is ", n->type_string(), " ", index,
        " of a function; this step has ", num_feeds, " feeds and ", num_fetches,
        " fetches"));
  });
  return s;
}

Status ForgetFedShapes(Graph* client) {
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(*client, &order));
  // All first: a Merge sees what a NextIteration had.
  for (Node* n : order) {
    for (int i = 0; i < n->num_outputs(); ++i) {
      client->SetOutputShape(n, i, PartialTensorShape::UnknownRank());
    }
  }
  for (Node* n : order) {
    // If inference fails here, the shape stays unknown, and the kernel reports
    // the error.
    if (!n->IsArg()) client->InferShapes(n).IgnoreError();
  }
  return OkStatus();
}

}  // namespace headrace
