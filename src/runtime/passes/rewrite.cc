#include "runtime/passes/rewrite.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/constant_eval.h"
#include "headrace/device.h"
#include "headrace/elementwise_loops.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

// Whatever devices could run `from` can run `to`.
bool RunsWhereverItRan(const NodeDef& from, const NodeDef& to) {
  const std::vector<std::string> old_types =
      KernelRegistry::Global()->SupportedDevices(from);
  const std::vector<std::string> new_types =
      KernelRegistry::Global()->SupportedDevices(to);
  return !new_types.empty() &&
         absl::c_all_of(old_types, [&](const std::string& t) {
           return absl::c_linear_search(new_types, t);
         });
}

// What a node stands for: the nodes that were merged into it, or itself.
void AppendOrigins(const Node& n, std::vector<std::string>* out) {
  std::vector<std::string> names;
  if (!n.attrs().Get(kMergedNodesAttr, &names).ok()) names = {n.name()};
  out->insert(out->end(), names.begin(), names.end());
}

}  // namespace

const Tensor* FreeConstant(const Node& n) {
  return n.control_inputs().empty() ? ConstantValue(n) : nullptr;
}

const Tensor* ConstantInput(const Node& n, int i) {
  const Edge* const e = n.input_edge(i);
  return e == nullptr ? nullptr : FreeConstant(*e->src());
}

std::optional<std::vector<int64_t>> Integers(const Tensor* t) {
  if (t == nullptr) return std::nullopt;
  if (t->dtype() == DT_INT32) {
    const int32_t* const v = t->data<int32_t>();
    return std::vector<int64_t>(v, v + t->NumElements());
  }
  if (t->dtype() != DT_INT64) return std::nullopt;
  const int64_t* const v = t->data<int64_t>();
  return std::vector<int64_t>(v, v + t->NumElements());
}

bool HasAttr(const OpDef& op, absl::string_view name) {
  return op.FindAttr(name) >= 0;
}

bool IsDefault(const OpDef& op, absl::string_view name,
               const AttrValue& value) {
  const int i = op.FindAttr(name);
  return i >= 0 && op.attrs[i].default_value == value;
}

void Rewriter::AddPeers(const Node& n) {
  std::vector<std::string> classes;
  if (!n.attrs().Get("_class", &classes).ok()) return;
  for (absl::string_view c : classes) {
    if (absl::ConsumePrefix(&c, "loc:@") && c != n.name()) {
      (*peers_)[c].push_back(n.id());
    }
  }
}

void Rewriter::FindPeers() {
  if (peers_.has_value()) return;
  peers_.emplace();
  graph_->ForEachNode([&](const Node* n) { AddPeers(*n); });
}

bool Rewriter::MayRemove(const Node& n) {
  FindPeers();
  return MayReplace(n) && !peers_->contains(n.name());
}

bool Rewriter::MayReplace(const Node& n) const {
  return !context_.targets.contains(n.name());
}

void Rewriter::MovePeers(const std::string& from, const Node& to) {
  FindPeers();
  const auto it = peers_->find(from);
  if (it == peers_->end() || from == to.name()) return;
  const std::vector<int> ids = std::move(it->second);
  peers_->erase(it);
  const std::string old_class = absl::StrCat("loc:@", from);
  const std::string new_class = absl::StrCat("loc:@", to.name());
  for (const int id : ids) {
    Node* const n = graph_->node(id);
    std::vector<std::string> classes;
    if (n == nullptr || !n->attrs().Get("_class", &classes).ok()) continue;
    absl::c_replace(classes, old_class, new_class);
    graph_->SetNodeAttr(n, "_class", std::move(classes));
    if (n != &to) (*peers_)[to.name()].push_back(id);
  }
}

const Edge* Rewriter::OnlyReader(const Node& n) {
  if (n.out_edges().size() != 1) return nullptr;
  const Edge* const e = n.out_edges()[0];
  return e->src_output() == 0 && MayRemove(n) ? e : nullptr;
}

bool Rewriter::SamePlace(const Node& a, const Node& b) {
  const auto same = [&](const char* attr) {
    const AttrValue* x = a.attrs().Find(attr);
    const AttrValue* y = b.attrs().Find(attr);
    return x == nullptr ? y == nullptr : y != nullptr && *x == *y;
  };
  return a.requested_device() == b.requested_device() && same("_class") &&
         a.attrs().Find("_kernel") == nullptr &&
         b.attrs().Find("_kernel") == nullptr;
}

bool Rewriter::CanFuse(const Node& n, const OpDef& activation) const {
  if (context_.devices.empty()) return CanFuseOnHost(activation);
  const std::vector<std::string> types =
      KernelRegistry::Global()->SupportedDevices(n.def());
  DeviceName wanted;
  const bool is_named = DeviceName::Parse(n.requested_device(), &wanted).ok();
  const auto can_fuse = [&](const Device* d) { return d->CanFuse(activation); };
  std::vector<const Device*> possible;
  for (const Device* d : context_.devices) {
    if (is_named && wanted.Matches(d->parsed_name()) &&
        absl::c_linear_search(types, d->device_type())) {
      possible.push_back(d);
    }
  }
  // The request is not met as it is: soft placement, or the body of a function.
  return absl::c_all_of(possible.empty() ? context_.devices : possible,
                        can_fuse);
}

StatusOr<Node*> Rewriter::AddConst(const Node& like, absl::string_view name,
                                   Tensor value) {
  NodeDef def;
  def.name = graph_->UniqueName(name);
  def.op = "Const";
  def.device = like.requested_device();
  def.source = like.def().source;
  def.attrs.Set("dtype", value.dtype());
  def.attrs.Set("value", std::move(value));
  return graph_->AddNode(std::move(def), {});
}

StatusOr<Node*> Rewriter::Merge(absl::Span<Node* const> chain, NodeDef def,
                                absl::Span<const Endpoint> inputs) {
  const Output result = {{chain.back(), 0}, 0};
  return Replace(chain, {&result, 1}, std::move(def), inputs);
}

StatusOr<Node*> Rewriter::Replace(absl::Span<Node* const> nodes,
                                  absl::Span<const Output> outputs, NodeDef def,
                                  absl::Span<const Endpoint> inputs) {
  const Node& last = *nodes.back();
  std::vector<std::string> origins;
  std::vector<Node*> controls;
  for (const Node* n : nodes) {
    AppendOrigins(*n, &origins);
    for (const Edge* e : n->control_inputs()) {
      if (!absl::c_linear_search(controls, e->src())) {
        controls.push_back(e->src());
      }
    }
  }
  def.device = last.requested_device();
  def.source = nodes.front()->def().source;
  if (const AttrValue* v = last.attrs().Find("_class")) {
    def.attrs.Set("_class", *v);
  }
  if (nodes.size() > 1) def.attrs.Set(kMergedNodesAttr, std::move(origins));

  // Under another name first, while the nodes are still there.
  def.name = graph_->UniqueName(last.name());
  StatusOr<Node*> trial = graph_->AddNode(def, inputs, controls);
  if (!trial.ok()) return nullptr;
  bool fits = RunsWhereverItRan(nodes.front()->def(), (*trial)->def());
  std::vector<PartialTensorShape> shapes;
  for (const Output& o : outputs) {
    PartialTensorShape& shape =
        shapes.emplace_back((*trial)->output_shape(o.index));
    fits =
        fits &&
        o.from.node->output_shape(o.from.index).MergeWith(shape, &shape).ok();
  }
  graph_->RemoveNode(*trial);
  if (!fits) return nullptr;

  def.name = last.name();
  struct Consumer {
    Node* node;
    int input;
    int output;
  };
  std::vector<Consumer> consumers;
  for (const Output& o : outputs) {
    for (const Edge* e : o.from.node->out_edges()) {
      if (e->src_output() == o.from.index || e->IsControlEdge()) {
        consumers.push_back({e->dst(), e->dst_input(), o.index});
      }
    }
  }
  std::erase_if(consumers, [&](const Consumer& c) {
    return absl::c_linear_search(nodes, c.node);
  });
  for (Node* n : nodes) graph_->RemoveNode(n);
  HR_ASSIGN_OR_RETURN(Node * merged,
                      graph_->AddNode(std::move(def), inputs, controls));
  if (peers_.has_value()) AddPeers(*merged);
  for (size_t i = 0; i < outputs.size(); ++i) {
    graph_->SetOutputShape(merged, outputs[i].index, std::move(shapes[i]));
  }
  for (const Consumer& c : consumers) {
    if (c.input == kControlSlot) {
      graph_->AddControlEdge(merged, c.node);
    } else {
      HR_RETURN_IF_ERROR(graph_->AddEdge({merged, c.output}, c.node, c.input));
    }
  }
  return merged;
}

Status Rewriter::ReplaceByOne(absl::Span<Node* const> nodes, NodeDef def,
                              absl::Span<const Endpoint> inputs, int* changes) {
  const Output result = {{nodes.back(), 0}, 0};
  HR_ASSIGN_OR_RETURN(Node * done,
                      Replace(nodes, {&result, 1}, std::move(def), inputs));
  if (done != nullptr) *changes += static_cast<int>(nodes.size()) - 1;
  return OkStatus();
}

}  // namespace headrace
