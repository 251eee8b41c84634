#include "runtime/memory_plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "framework/allocation_size.h"
#include "framework/function_runtime.h"
#include "framework/temporary_memory.h"
#include "graph/algorithm.h"

namespace headrace {
namespace {

// The order takes a bit for each pair of nodes, the placing a look at each pair
// of blocks.
constexpr int kMaxNodes = 20000;
constexpr int64_t kMaxBytes = int64_t{1} << 60;

// Bits by node.
class NodeSet {
 public:
  explicit NodeSet(int nodes) : words_((nodes + 63) / 64) {}
  void Add(int i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  bool Has(int i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  void AddAll(const NodeSet& o) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= o.words_[i];
  }
  void KeepCommon(const NodeSet& o) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= o.words_[i];
  }

 private:
  std::vector<uint64_t> words_;
};

// Bytes that one producer takes and that several nodes may hold.
struct Buffer {
  MemoryPlan::Block block;
  int producer = 0;        // position in the order
  std::vector<int> users;  // positions; the producer too
  bool to_the_end = false;
};

bool IsOneOf(const std::string& op, std::initializer_list<const char*> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

// The output is a tensor that belongs to somebody else.
bool GivesWhatIsThere(const Node& n) {
  return n.IsArg() || n.IsConstant() || n.IsRecv() ||
         IsOneOf(n.type_string(),
                 {"ReadVariableOp", "ImmutableConst", "GetSessionTensor"});
}

// Output i shares the buffer of input i, or of input 0 if there is one output.
bool HandsOn(const Node& n) {
  return n.IsSwitch() ||
         IsOneOf(n.type_string(),
                 {"Identity", "IdentityN", "Reshape", "Squeeze", "ExpandDims",
                  "StopGradient", "PreventGradient", "Snapshot", "Bitcast",
                  "PlaceholderWithDefault"});
}

// The output may be a part of the input's buffer.
bool MayGivePart(const Node& n) {
  return IsOneOf(n.type_string(), {"Split", "SplitV", "Unpack", "Unstack",
                                   "Slice", "StridedSlice"});
}

// What it reads may stay where it puts it.
bool MayKeep(const Node& n) {
  if (n.IsRetval() || n.IsSend() || n.op_def().is_stateful) return true;
  for (int i = 0; i < n.num_inputs(); ++i) {
    const DataType t = n.input_type(i);
    if (IsRefType(t) || t == DT_RESOURCE || t == DT_VARIANT) return true;
  }
  return false;
}

class Planner {
 public:
  Planner(const Graph& graph, absl::Span<const TensorShape> args,
          absl::Span<const std::shared_ptr<OpKernel>> kernels, ThreadPool* pool,
          MemoryPlan* plan)
      : from_(graph), args_(args), pool_(pool), plan_(plan) {
    for (const auto& k : kernels) kernels_[k->name()] = k.get();
  }

  Status Run() {
    HR_RETURN_IF_ERROR(Copy());
    HR_RETURN_IF_ERROR(TopologicalOrder(graph_, &order_));
    position_.resize(graph_.num_node_ids());
    for (size_t i = 0; i < order_.size(); ++i) {
      position_[order_[i]->id()] = static_cast<int>(i);
    }
    held_.resize(graph_.num_node_ids());
    for (Node* n : order_) HR_RETURN_IF_ERROR(Visit(n));
    Order();
    return Place();
  }

 private:
  Status Copy() {
    if (from_.num_nodes() > kMaxNodes) {
      return errors::Unimplemented("a memory plan of ", from_.num_nodes(),
                                   " nodes; at most ", kMaxNodes,
                                   " are supported");
    }
    graph_.versions() = from_.versions();
    graph_.set_functions(from_.shared_functions());
    std::vector<Node*> copies(from_.num_node_ids());
    Status s;
    from_.ForEachNode([&](Node* n) {
      if (n->IsEnter()) {
        s.Update(errors::Unimplemented(
            "a memory plan of a graph with loops (node ", n->name(), ")"));
      }
      copies[n->id()] = graph_.CopyNode(*n);
    });
    HR_RETURN_IF_ERROR(s);
    from_.ForEachNode([&](Node* n) {
      for (const Edge* e : n->data_inputs()) {
        s.Update(graph_.AddEdge({copies[e->src()->id()], e->src_output()},
                                copies[n->id()], e->dst_input()));
      }
      for (const Edge* e : n->control_inputs()) {
        graph_.AddControlEdge(copies[e->src()->id()], copies[n->id()]);
      }
    });
    return s;
  }

  Status InferShapes(Node* n) {
    if (!n->IsArg()) return graph_.InferShapes(n);
    int64_t index = -1;
    int32_t small = -1;
    if (n->attrs().Get("index", &small).ok()) index = small;
    if (index < 0 || index >= static_cast<int64_t>(args_.size())) {
      return errors::InvalidArgument("no shape for argument ", index);
    }
    graph_.SetOutputShape(n, 0, PartialTensorShape(args_[index]));
    return OkStatus();
  }

  Status Visit(Node* n) {
    HR_RETURN_IF_ERROR(InferShapes(n));
    const int at = position_[n->id()];
    std::vector<std::vector<int>>& held = held_[n->id()];
    held.resize(n->num_outputs());
    const bool keeps = MayKeep(*n);
    for (const Edge* e : n->data_inputs()) {
      for (const int b : held_[e->src()->id()][e->src_output()]) {
        buffers_[b].users.push_back(at);
        buffers_[b].to_the_end |= keeps;
      }
    }
    if (GivesWhatIsThere(*n)) return OkStatus();
    const auto input = [&](int i) -> const std::vector<int>& {
      const Edge* e = n->input_edge(i);
      return held_[e->src()->id()][e->src_output()];
    };
    if (HandsOn(*n) && n->num_inputs() > 0) {
      for (int i = 0; i < n->num_outputs(); ++i) {
        const bool own = n->type_string() == "IdentityN" && i < n->num_inputs();
        held[i] = input(own ? i : 0);
      }
      return OkStatus();
    }
    if (n->IsMerge()) {
      for (int i = 0; i < n->num_inputs(); ++i) {
        held[0].insert(held[0].end(), input(i).begin(), input(i).end());
      }
      return OkStatus();
    }
    for (int i = 0; i < n->num_outputs(); ++i) {
      if (IsRefType(n->output_type(i))) continue;
      HR_RETURN_IF_ERROR(AddOutput(*n, i, at));
      if (MayGivePart(*n)) {
        for (int k = 0; k < n->num_inputs(); ++k) {
          held[i].insert(held[i].end(), input(k).begin(), input(k).end());
        }
      }
    }
    return AddTemporary(*n, at);
  }

  Status AddOutput(const Node& n, int i, int at) {
    const std::string name = absl::StrCat(n.name(), ":", i);
    const DataType type = n.output_type(i);
    TensorShape shape;
    if (!n.output_shape(i).AsTensorShape(&shape) ||
        !DataTypeCanUseMemcpy(type)) {
      plan_->unknown.push_back(name);
      return OkStatus();
    }
    const int64_t size = DataTypeSize(type);
    if (shape.num_elements() > kMaxBytes / size) {
      return errors::ResourceExhausted(name, " ", DataTypeString(type), " ",
                                       shape.DebugString(),
                                       " does not fit any memory");
    }
    const int64_t bytes = shape.num_elements() * size;
    if (bytes <= static_cast<int64_t>(Tensor::kInlineBytes)) return OkStatus();
    held_[n.id()][i].push_back(static_cast<int>(buffers_.size()));
    AddBuffer(name,
              absl::StrCat(DataTypeString(type), " ", shape.DebugString()),
              bytes, at);
    return OkStatus();
  }

  Status AddTemporary(const Node& n, int at) {
    const auto it = kernels_.find(n.name());
    if (it == kernels_.end()) return OkStatus();
    if (dynamic_cast<FunctionCallKernel*>(it->second) != nullptr) {
      plan_->unknown.push_back(n.name() + " (a call)");
    }
    auto* const kernel = dynamic_cast<TemporaryMemory*>(it->second);
    if (kernel == nullptr) return OkStatus();
    std::vector<TensorShape> inputs(n.num_inputs()), outputs(n.num_outputs());
    for (int i = 0; i < n.num_inputs(); ++i) {
      const Edge* e = n.input_edge(i);
      if (!e->src()->output_shape(e->src_output()).AsTensorShape(&inputs[i])) {
        return OkStatus();  // then its output is unknown, or nothing to count
      }
    }
    for (int i = 0; i < n.num_outputs(); ++i) {
      if (!n.output_shape(i).AsTensorShape(&outputs[i])) return OkStatus();
    }
    const int64_t bytes = kernel->TemporaryBytes(inputs, outputs, pool_);
    if (bytes > 0) {
      AddBuffer(absl::StrCat(n.name(), " (temporary)"), "", bytes, at);
    }
    return OkStatus();
  }

  void AddBuffer(std::string name, std::string contents, int64_t bytes,
                 int at) {
    Buffer b;
    b.block.name = std::move(name);
    b.block.contents = std::move(contents);
    b.block.bytes =
        static_cast<int64_t>(AllocationSize(static_cast<size_t>(bytes)));
    b.producer = at;
    b.users.push_back(at);
    buffers_.push_back(std::move(b));
  }

  // For each buffer the nodes that cannot begin before it is free.
  void Order() {
    const int count = static_cast<int>(order_.size());
    std::vector<NodeSet> after(count, NodeSet(count));
    for (int i = count - 1; i >= 0; --i) {
      for (const Edge* e : order_[i]->out_edges()) {
        const int to = position_[e->dst()->id()];
        after[i].AddAll(after[to]);
        after[i].Add(to);
      }
    }
    for (const Buffer& b : buffers_) {
      NodeSet free(count);
      if (!b.to_the_end) {
        free = after[b.users[0]];
        for (const int u : b.users) free.KeepCommon(after[u]);
      }
      free_.push_back(std::move(free));
    }
  }

  // The largest first, each as low as those already placed that may be alive
  // beside it allow.
  Status Place() {
    std::vector<int> by_size(buffers_.size());
    for (size_t i = 0; i < by_size.size(); ++i)
      by_size[i] = static_cast<int>(i);
    std::stable_sort(by_size.begin(), by_size.end(), [this](int a, int b) {
      return buffers_[a].block.bytes > buffers_[b].block.bytes;
    });
    std::vector<int> placed;  // by offset
    for (const int i : by_size) {
      MemoryPlan::Block& block = buffers_[i].block;
      int64_t offset = 0;
      for (const int k : placed) {
        if (free_[k].Has(buffers_[i].producer) ||
            free_[i].Has(buffers_[k].producer)) {
          continue;
        }
        const MemoryPlan::Block& other = buffers_[k].block;
        if (offset + block.bytes <= other.offset) break;
        offset = std::max(offset, other.offset + other.bytes);
      }
      if (offset > kMaxBytes) {
        return errors::ResourceExhausted("the tensors fit no memory");
      }
      block.offset = offset;
      const auto before = [this](int64_t o, int k) {
        return o < buffers_[k].block.offset;
      };
      placed.insert(
          std::upper_bound(placed.begin(), placed.end(), offset, before), i);
      plan_->peak_bytes = std::max(plan_->peak_bytes, offset + block.bytes);
      plan_->total_bytes += block.bytes;
      plan_->blocks.push_back(block);
    }
    return OkStatus();
  }

  const Graph& from_;
  const absl::Span<const TensorShape> args_;
  ThreadPool* const pool_;
  MemoryPlan* const plan_;
  absl::flat_hash_map<absl::string_view, OpKernel*> kernels_;
  Graph graph_;  // with the arguments' shapes
  std::vector<Node*> order_;
  std::vector<int> position_;                        // by id
  std::vector<std::vector<std::vector<int>>> held_;  // buffers by id and output
  std::vector<Buffer> buffers_;
  std::vector<NodeSet> free_;  // by buffer
};

}  // namespace

std::string MemoryPlan::Largest(int count) const {
  std::string text;
  for (const Block& b : blocks) {
    if (count-- == 0) break;
    absl::StrAppend(&text, text.empty() ? "" : ", ", b.name,
                    b.contents.empty() ? "" : " ", b.contents, " ", b.bytes,
                    " bytes");
  }
  return text;
}

Status PlanMemory(const Graph& graph, absl::Span<const TensorShape> args,
                  absl::Span<const std::shared_ptr<OpKernel>> kernels,
                  ThreadPool* pool, MemoryPlan* plan) {
  *plan = MemoryPlan();
  return Planner(graph, args, kernels, pool, plan).Run();
}

}  // namespace headrace
