#include "runtime/memory_plan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "framework/kernel/temporary_memory.h"
#include "framework/memory/allocation_size.h"
#include "graph/algorithm.h"

namespace headrace {
namespace {

// The order takes a bit for each pair of nodes, the placing a look at each pair
// of blocks.
constexpr int kMaxNodes = 20000;
constexpr int64_t kMaxBytes = int64_t{1} << 60;
// Between tensors in an arena: their rows would otherwise compete for the same
// lines of the first level cache.
constexpr int64_t kSkew = 5 * 64;

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

// The output is a tensor that belongs to somebody else.
bool GivesWhatIsThere(const Node& n) {
  return n.IsArg() || n.IsConstant() || n.IsRecv() ||
         n.traits().output_buffer == OutputBuffer::kStored;
}

// The input whose buffer output `i` shares; -1 if there is none.
int InputOfView(const Node& n, int i) {
  switch (n.traits().output_buffer) {
    case OutputBuffer::kInput:
    case OutputBuffer::kView:
      return n.num_inputs() > 0 ? 0 : -1;
    case OutputBuffer::kEachInput:
      return i < n.num_inputs() ? i : -1;
    default:
      return -1;
  }
}

// What it reads may stay where it puts it, as far as can be told without a run.
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
          const ReuseNotes* notes, MemoryPlan* plan)
      : from_(graph), args_(args), pool_(pool), notes_(notes), plan_(plan) {
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
  using Block = MemoryPlan::Block;

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
      if (copies[n->id()] != nullptr) {
        originals_.resize(graph_.num_node_ids());
        originals_[copies[n->id()]->id()] = n;
      }
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
    const bool may_keep = MayKeep(*n);
    for (const Edge* e : n->data_inputs()) {
      const bool keeps = may_keep && !LetGo(*n, e->dst_input());
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
    if (n->num_outputs() > 0 && InputOfView(*n, 0) >= 0) {
      for (int i = 0; i < n->num_outputs(); ++i) {
        held[i] = input(std::max(0, InputOfView(*n, i)));
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
      const int taken = TakenOver(*n, i);
      if (taken != ReuseNotes::kOwn && !input(taken).empty()) {
        held[i] = input(taken);
        continue;
      }
      HR_RETURN_IF_ERROR(AddOutput(*n, i, at));
      if (n->traits().output_buffer == OutputBuffer::kPart) {
        for (int k = 0; k < n->num_inputs(); ++k) {
          held[i].insert(held[i].end(), input(k).begin(), input(k).end());
        }
      }
    }
    return AddTemporary(*n, at);
  }

  int TakenOver(const Node& n, int output) const {
    const auto it = kernels_.find(n.name());
    return notes_ == nullptr || it == kernels_.end()
               ? ReuseNotes::kOwn
               : notes_->InputOf(it->second, output);
  }

  bool LetGo(const Node& n, int input) const {
    const auto it = kernels_.find(n.name());
    return notes_ != nullptr && it != kernels_.end() &&
           notes_->LetGo(it->second, input);
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
    buffers_.back().block.output = i;
    return OkStatus();
  }

  Status AddTemporary(const Node& n, int at) {
    const auto it = kernels_.find(n.name());
    if (it == kernels_.end()) return OkStatus();
    const KernelTraits& traits = it->second->traits();
    if (traits.calls_functions) {
      plan_->unknown.push_back(n.name() + " (a call)");
    }
    if (traits.temporary_memory == nullptr) return OkStatus();
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
    const int64_t bytes =
        traits.temporary_memory->TemporaryBytes(inputs, outputs, pool_);
    if (bytes > 0) {
      AddBuffer(absl::StrCat(n.name(), " (temporary)"), "", bytes, at);
    }
    return OkStatus();
  }

  void AddBuffer(std::string name, std::string contents, int64_t bytes,
                 int at) {
    Buffer b;
    b.block.arena_bytes = (bytes + 63) / 64 * 64 + kSkew;
    b.block.name = std::move(name);
    b.block.contents = std::move(contents);
    b.block.bytes =
        static_cast<int64_t>(AllocationSize(static_cast<size_t>(bytes)));
    b.block.node = originals_[order_[at]->id()];
    b.producer = at;
    b.users.push_back(at);
    buffers_.push_back(std::move(b));
  }

  // For each buffer the nodes that cannot begin before it is free.
  void Order() {
    if (buffers_.empty()) return;
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

  // All together; and those that go into an arena apart from the others.
  Status Place() {
    std::vector<int> all, apart, rest;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      MemoryPlan::Block& b = buffers_[i].block;
      b.is_kept = buffers_[i].to_the_end;
      const bool is_large = b.bytes >= static_cast<int64_t>(kLargeAllocation);
      const bool is_apart = !b.is_kept && is_large;
      all.push_back(static_cast<int>(i));
      (is_apart ? apart : rest).push_back(static_cast<int>(i));
    }
    HR_RETURN_IF_ERROR(
        PlaceAll(&all, &Block::bytes, &Block::offset, &plan_->peak_bytes));
    if (apart.size() > 1) {
      int64_t arena = 0, beside = 0;
      HR_RETURN_IF_ERROR(
          PlaceAll(&rest, &Block::bytes, &Block::arena_offset, &beside));
      for (const int i : rest) buffers_[i].block.arena_offset = -1;
      HR_RETURN_IF_ERROR(
          PlaceAll(&apart, &Block::arena_bytes, &Block::arena_offset, &arena));
      arena = static_cast<int64_t>(AllocationSize(static_cast<size_t>(arena)));
      plan_->peak_bytes = std::max(plan_->peak_bytes, arena + beside);
    }
    for (const int i : all) {
      plan_->total_bytes += buffers_[i].block.bytes;
      plan_->blocks.push_back(buffers_[i].block);
    }
    return OkStatus();
  }

  // In the best of some orders. Sorts them by size, and sets the end of the
  // last.
  Status PlaceAll(std::vector<int>* blocks, int64_t Block::*bytes,
                  int64_t Block::*offset, int64_t* end) {
    // Large ones, large ones that are needed for long, those that are made
    // early.
    const std::function<double(int)> kOrders[] = {
        [&](int i) { return -1.0 * (buffers_[i].block.*bytes); },
        [&](int i) { return -Lifetime(i) * (buffers_[i].block.*bytes); },
        [&](int i) { return buffers_[i].producer; }};
    std::vector<int64_t> best;
    for (const auto& order : kOrders) {
      std::stable_sort(blocks->begin(), blocks->end(),
                       [&](int a, int b) { return order(a) < order(b); });
      int64_t reached = 0;
      HR_RETURN_IF_ERROR(PlaceInOrder(*blocks, bytes, offset, &reached));
      if (!best.empty() && reached >= *end) continue;
      *end = reached;
      best.assign(buffers_.size(), 0);
      for (const int i : *blocks) best[i] = buffers_[i].block.*offset;
    }
    std::stable_sort(blocks->begin(), blocks->end(), [this](int a, int b) {
      return buffers_[a].block.bytes > buffers_[b].block.bytes;
    });
    for (const int i : *blocks) buffers_[i].block.*offset = best[i];
    return OkStatus();
  }

  // In nodes of the order.
  double Lifetime(int i) const {
    const Buffer& b = buffers_[i];
    return 1 + *std::max_element(b.users.begin(), b.users.end()) - b.producer;
  }

  // Each as low as those already placed that may be alive beside it allow.
  Status PlaceInOrder(const std::vector<int>& blocks, int64_t Block::*bytes,
                      int64_t Block::*offset, int64_t* end) {
    std::vector<int> placed;  // by offset
    for (const int i : blocks) {
      Block& block = buffers_[i].block;
      int64_t at = 0;
      for (const int k : placed) {
        if (free_[k].Has(buffers_[i].producer) ||
            free_[i].Has(buffers_[k].producer)) {
          continue;
        }
        const Block& other = buffers_[k].block;
        if (at + block.*bytes <= other.*offset) break;
        at = std::max(at, other.*offset + other.*bytes);
      }
      if (at > kMaxBytes) {
        return errors::ResourceExhausted("the tensors fit no memory");
      }
      block.*offset = at;
      const auto before = [&](int64_t o, int k) {
        return o < buffers_[k].block.*offset;
      };
      placed.insert(std::upper_bound(placed.begin(), placed.end(), at, before),
                    i);
      *end = std::max(*end, at + block.*bytes);
    }
    return OkStatus();
  }

  const Graph& from_;
  const absl::Span<const TensorShape> args_;
  ThreadPool* const pool_;
  const ReuseNotes* const notes_;
  MemoryPlan* const plan_;
  absl::flat_hash_map<absl::string_view, OpKernel*> kernels_;
  Graph graph_;                         // with the arguments' shapes
  std::vector<const Node*> originals_;  // by id in graph_
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
                  ThreadPool* pool, const ReuseNotes* notes, MemoryPlan* plan) {
  *plan = MemoryPlan();
  return Planner(graph, args, kernels, pool, notes, plan).Run();
}

std::shared_ptr<const ArenaLayout> ArenaOf(const MemoryPlan& plan,
                                           const Executor& executor) {
  const std::vector<const OpKernel*> kernels = executor.RunKernels();
  absl::flat_hash_map<absl::string_view, int64_t> number;
  auto layout = std::make_shared<ArenaLayout>();
  for (const OpKernel* k : kernels) {
    number[k->name()] = static_cast<int64_t>(layout->first_output.size());
    layout->first_output.push_back(
        static_cast<int32_t>(layout->output_place.size()));
    layout->output_place.resize(
        layout->output_place.size() + k->num_outputs() + 1,
        ArenaLayout::kAnywhere);
  }
  for (const MemoryPlan::Block& b : plan.blocks) {
    if (b.arena_offset < 0 && !b.is_kept) continue;
    const auto it = number.find(b.node->name());
    if (it == number.end()) continue;
    const int output =
        b.output >= 0 ? b.output : kernels[it->second]->num_outputs();
    int32_t* const place =
        &layout->output_place[layout->first_output[it->second] + output];
    if (b.is_kept) {
      *place = ArenaLayout::kOutside;
      continue;
    }
    *place = static_cast<int32_t>(layout->places.size());
    layout->places.push_back({b.arena_offset, b.arena_bytes, {}});
    layout->bytes = std::max(layout->bytes, b.arena_offset + b.arena_bytes);
  }
  if (layout->places.size() < 2) return nullptr;
  for (ArenaLayout::Place& a : layout->places) {
    for (size_t i = 0; i < layout->places.size(); ++i) {
      const ArenaLayout::Place& b = layout->places[i];
      if (&a != &b && a.offset < b.offset + b.bytes &&
          b.offset < a.offset + a.bytes) {
        a.overlapping.push_back(static_cast<int32_t>(i));
      }
    }
  }
  return layout;
}

bool MayHaveArena(const Graph& graph) {
  constexpr int kMost = 2000;  // nodes that are planned in some milliseconds
  if (graph.num_nodes() > kMost) return false;
  int large = 0;
  bool has_loops = false;
  graph.ForEachNode([&](Node* n) {
    has_loops |= n->IsEnter();
    if (GivesWhatIsThere(*n)) return;
    for (int i = 0; i < n->num_outputs(); ++i) {
      const int64_t size = DataTypeSize(BaseType(n->output_type(i)));
      TensorShape shape;
      large += size > 0 && (!n->output_shape(i).AsTensorShape(&shape) ||
                            shape.num_elements() >=
                                static_cast<int64_t>(kLargeAllocation) / size);
    }
  });
  return !has_loops && large >= 2;
}

}  // namespace headrace
