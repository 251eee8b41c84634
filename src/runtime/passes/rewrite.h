// What passes that replace nodes have in common: which nodes may go, and how
// one node takes the place of several.
#ifndef HEADRACE_RUNTIME_PASSES_REWRITE_H_
#define HEADRACE_RUNTIME_PASSES_REWRITE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/passes/graph_pass.h"

namespace headrace {

// Attr of a merged node: names of the nodes that it stands for. NodeErrorSuffix
// knows it too.
inline constexpr char kMergedNodesAttr[] = "_merged_nodes";

// The value of a constant that may be read at any time; else null.
const Tensor* FreeConstant(const Node& n);
// The same of what feeds data input `i`.
const Tensor* ConstantInput(const Node& n, int i);

// The elements of an int32 or int64 tensor; nothing of null and of other types.
std::optional<std::vector<int64_t>> Integers(const Tensor* t);
// The same of what feeds data input `i`; nothing if that is no constant.
inline std::optional<std::vector<int64_t>> IntegerInput(const Node& n, int i) {
  return Integers(ConstantInput(n, i));
}

// The op takes an attr of this name.
bool HasAttr(const OpDef& op, absl::string_view name);
// The op's default of the attr `name` is `value`.
bool IsDefault(const OpDef& op, absl::string_view name, const AttrValue& value);

// Thread-compatible; used by one pass over one graph.
class Rewriter {
 public:
  Rewriter(const GraphPassContext& context, Graph* graph)
      : context_(context), graph_(graph) {}

  // The step does not ask for `n` itself: it is no target, and nobody wants to
  // be on its device.
  bool MayRemove(const Node& n);
  // The step does not ask for `n` itself. Nodes may want to be on its device:
  // if `n` goes, MovePeers tells them whose.
  bool MayReplace(const Node& n) const;
  // Nodes that are colocated with the node `from`, which is gone, are colocated
  // with `to` from now on.
  void MovePeers(const std::string& from, const Node& to);
  // The edge to the one reader of output 0 if nothing else depends on `n` and
  // it may be removed; else null. The reader may be a _Retval.
  const Edge* OnlyReader(const Node& n);
  // Two nodes that may become one: device and colocation are equal, and neither
  // asks for a kernel of its own.
  static bool SamePlace(const Node& a, const Node& b);

  // Whether a fused node in the place of the layer `n` can apply `activation`,
  // on every device on which it may be placed.
  bool CanFuse(const Node& n, const OpDef& activation) const;

  // A constant that belongs to `like`: its device and source line.
  StatusOr<Node*> AddConst(const Node& like, absl::string_view name,
                           Tensor value);

  // Removes `chain` and puts a node with the op and attrs of `def` there. It
  // has the name, device and consumers of the chain's last node and waits for
  // what any of them waited for; errors name all of them. Within the chain each
  // node but the last must have one reader, the next. Null, and nothing has
  // changed, if such a node is refused or would run on fewer kinds of devices
  // than the chain's first.
  StatusOr<Node*> Merge(absl::Span<Node* const> chain, NodeDef def,
                        absl::Span<const Endpoint> inputs);
  // The same for `nodes` of any form, of which others read `outputs` alone:
  // these become outputs of the new node. Who may read what is the caller's to
  // check.
  struct Output {
    Endpoint from;
    int index;
  };
  StatusOr<Node*> Replace(absl::Span<Node* const> nodes,
                          absl::Span<const Output> outputs, NodeDef def,
                          absl::Span<const Endpoint> inputs);
  // The same for nodes of which others read output 0 of the last alone. Adds to
  // `changes` how many nodes there are less.
  Status ReplaceByOne(absl::Span<Node* const> nodes, NodeDef def,
                      absl::Span<const Endpoint> inputs, int* changes);

 private:
  const GraphPassContext& context_;
  Graph* const graph_;
  void FindPeers();
  void AddPeers(const Node& n);

  // By each name that "loc:@name" refers to, the ids of the nodes with that
  // attr; some of these may be gone. Empty until somebody asks.
  std::optional<absl::flat_hash_map<std::string, std::vector<int>>> peers_;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PASSES_REWRITE_H_
