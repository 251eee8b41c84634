#include "headrace/elementwise_loops.h"

#include "absl/container/flat_hash_map.h"
#include "base/push_front.h"
#include "headrace/mutex.h"
#include "headrace/op_traits.h"

namespace headrace {
namespace {

constinit std::atomic<const NamedLoops<UnaryLoop>*> g_unary_loops{nullptr};
constinit std::atomic<const NamedLoops<BinaryLoop>*> g_binary_loops{nullptr};

template <typename Loop>
class LoopTable {
 public:
  explicit LoopTable(const std::atomic<const NamedLoops<Loop>*>* head)
      : head_(*head) {}

  const Loop* Find(absl::string_view op, DataType type) {
    MutexLock lock(&mu_);
    const NamedLoops<Loop>* const newest =
        head_.load(std::memory_order_acquire);
    for (const auto* l = newest; l != taken_; l = l->next) {
      by_op_.try_emplace(l->op, l);
    }
    taken_ = newest;
    const auto found = by_op_.find(op);
    if (found == by_op_.end()) return nullptr;
    if (type == DT_FLOAT) return found->second->of_float;
    return type == DT_DOUBLE ? found->second->of_double : nullptr;
  }

 private:
  const std::atomic<const NamedLoops<Loop>*>& head_;
  Mutex mu_;
  const NamedLoops<Loop>* taken_ GUARDED_BY(mu_) = nullptr;
  absl::flat_hash_map<absl::string_view, const NamedLoops<Loop>*> by_op_
      GUARDED_BY(mu_);
};

}  // namespace

const UnaryLoop* FindUnaryLoop(absl::string_view op, DataType type) {
  static auto* const table = new LoopTable<UnaryLoop>(&g_unary_loops);
  return table->Find(op, type);
}
const BinaryLoop* FindBinaryLoop(absl::string_view op, DataType type) {
  static auto* const table = new LoopTable<BinaryLoop>(&g_binary_loops);
  return table->Find(op, type);
}

bool HasLoop(const OpDef& op, DataType type) {
  return op.inputs.size() == 1 ? FindUnaryLoop(op.name, type) != nullptr
                               : FindBinaryLoop(op.name, type) != nullptr;
}

bool CanFuseOnHost(const OpDef& activation) {
  switch (activation.traits->activation.kind) {
    case ActivationTraits::kNone:
      return false;
    case ActivationTraits::kRelu:
    case ActivationTraits::kRelu6:
      return true;
    case ActivationTraits::kFunction:
      break;
  }
  return HasLoop(activation, DT_FLOAT) && HasLoop(activation, DT_DOUBLE);
}

void NameLoops(NamedLoops<UnaryLoop>* loops) {
  PushFront(&g_unary_loops, loops, &loops->next);
}
void NameLoops(NamedLoops<BinaryLoop>* loops) {
  PushFront(&g_binary_loops, loops, &loops->next);
}

}  // namespace headrace
