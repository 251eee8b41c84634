// For tests of propagators: runs a plan by hand, a node at a time in an order
// of the test's choice, without an executor. Values are int32 or bool scalars.
#ifndef HEADRACE_RUNTIME_PROPAGATOR_TEST_UTIL_H_
#define HEADRACE_RUNTIME_PROPAGATOR_TEST_UTIL_H_

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/entry.h"
#include "runtime/plan.h"
#include "runtime/step_test_util.h"

namespace headrace {

// The plan of a graph written as text, and what it needs to stay alive.
struct TestPlan {
  explicit TestPlan(absl::string_view text, int parallel = 10,
                    bool args_are_kept = false) {
    LoadNodes(text, &graph, parallel);
    status = BuildPlan(
        &device, graph,
        {.control_flow = HasControlFlow(graph), .args_are_kept = args_are_kept},
        [this](const Node& n, std::shared_ptr<OpKernel>* kernel) {
          std::unique_ptr<OpKernel> made;
          HR_RETURN_IF_ERROR(CreateNodeKernel(&device, n, &made));
          *kernel = std::move(made);
          return OkStatus();
        },
        &plan);
  }
  // The number of a node that runs; -1 of one that does not.
  int Find(const std::string& name) const {
    for (size_t i = 0; i < plan.nodes.size(); ++i) {
      if (plan.nodes[i].kernel->name() == name) return static_cast<int>(i);
    }
    return -1;
  }

  TestDevice device;
  Graph graph;
  Plan plan;
  Status status;
};

// What the kernel of a live node would do.
inline void ComputeByHand(const Plan& plan, const PlanNode& n, Entry* entries,
                          std::vector<OutputSlot>* outputs) {
  const std::string& op = n.kernel->type_string();
  const auto input = [&](int i) -> const Tensor& {
    const Tensor* const bound = plan.bound[n.first_input + i];
    EXPECT_TRUE(bound != nullptr || entries[i].is_set)
        << n.kernel->name() << " input " << i;
    return bound != nullptr ? *bound : entries[i].value;
  };
  const auto set = [&](int i, Tensor v) {
    (*outputs)[i].value = std::move(v);
    (*outputs)[i].is_set = true;
  };
  if (n.kernel->const_tensor() != nullptr) {
    set(0, *n.kernel->const_tensor());
  } else if (op == "Switch") {
    set(input(1).scalar<bool>() ? 1 : 0, input(0));
  } else if (op == "Merge") {
    int i = 0;
    while (i < n.num_inputs && !entries[i].is_set) ++i;
    ASSERT_LT(i, n.num_inputs) << n.kernel->name();
    set(0, input(i));
    set(1, Tensor::Scalar<int32_t>(i));
  } else if (op == "StepAdd") {
    set(0, Tensor::Scalar<int32_t>(input(0).scalar<int32_t>() +
                                   input(1).scalar<int32_t>()));
  } else if (op == "StepLess") {
    set(0, Tensor::Scalar(input(0).scalar<int32_t>() <
                          input(1).scalar<int32_t>()));
  } else if (op == "StepWrong") {
    set(0, Tensor::Scalar(1.f));
  } else if (op != "StepUnset" && op != "_Recv" && !outputs->empty()) {
    set(0, input(0));  // Identity, Enter, ...
  }
}

// Which of the ready nodes is next.
enum class Order { kFirst, kLast, kRandom };

template <typename Propagator>
class Driver {
 public:
  using Item = typename Propagator::Item;
  using ReadyList = typename Propagator::ReadyList;

  explicit Driver(const Plan& plan) : plan_(plan), propagator_(plan) {}

  // A whole step. Stops at the first error or, with `max_items` >= 0, after so
  // many nodes.
  Status Run(Order order, uint32_t seed = 0, int max_items = -1) {
    runs_.clear();
    seen_.clear();
    most_iterations_ = 0;
    std::mt19937 random(seed);
    const bool alone = seed % 2 == 0;
    ReadyList ready;
    propagator_.Start(&ready);
    while (!ready.empty() && max_items-- != 0) {
      std::map<uint64_t, std::set<int64_t>> iterations;
      for (const Item& i : ready) {
        iterations[Propagator::frame_id(i)].insert(Propagator::frame_iter(i));
      }
      for (const auto& [frame, its] : iterations) {
        most_iterations_ = std::max(most_iterations_, its.size());
      }
      const size_t at = order == Order::kFirst  ? 0
                        : order == Order::kLast ? ready.size() - 1
                                                : random() % ready.size();
      const Item item = ready[at];
      ready.erase(ready.begin() + at);
      HR_RETURN_IF_ERROR(RunNode(item, alone, &ready));
    }
    return OkStatus();
  }

  // "0:1 1:dead": what the node gave in each iteration; sorted.
  std::string Of(const std::string& node) {
    std::vector<std::string>& all = runs_[node];
    std::sort(all.begin(), all.end());
    return absl::StrJoin(all, " ");
  }
  int Count(const std::string& node) {
    return static_cast<int>(runs_[node].size());
  }
  // How many iterations of one frame had something ready at once.
  size_t most_iterations() const { return most_iterations_; }

 private:
  Status RunNode(const Item& item, bool alone, ReadyList* ready) {
    const PlanNode& n = propagator_.node(item);
    Entry* const entries = propagator_.entries(item, n);
    const std::string& name = n.kernel->name();
    EXPECT_TRUE(seen_
                    .insert({name, Propagator::frame_id(item),
                             Propagator::frame_iter(item)})
                    .second)
        << name << " ran twice in iteration " << Propagator::frame_iter(item);
    std::vector<OutputSlot> outputs(n.kernel->num_outputs());
    const bool is_dead = Propagator::IsDead(item) && !n.handles_dead;
    if (!is_dead) ComputeByHand(plan_, n, entries, &outputs);
    std::string value = is_dead ? "dead" : "";
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].is_set) continue;
      absl::StrAppend(
          &value, value.empty() ? "" : ",",
          n.kernel->type_string() == "Switch" ? absl::StrCat(i, "=") : "",
          outputs[i].value.SummarizeValue(4));
    }
    runs_[name].push_back(
        absl::StrCat(Propagator::frame_iter(item), ":", value));
    for (int i = 0; i < n.num_inputs; ++i) Clear(&entries[i]);
    return propagator_.Propagate(
        item, n,
        is_dead || outputs.empty()
            ? Outputs()
            : Outputs(outputs.data(), 0, static_cast<int>(outputs.size())),
        alone, ready);
  }

  const Plan& plan_;
  Propagator propagator_;
  std::map<std::string, std::vector<std::string>> runs_;
  std::set<std::tuple<std::string, uint64_t, int64_t>> seen_;
  size_t most_iterations_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PROPAGATOR_TEST_UTIL_H_
