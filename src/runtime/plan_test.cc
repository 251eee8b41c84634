#include "runtime/plan.h"

#include <map>

#include "base/interrupt.h"
#include "framework/tensor/stored_constant.h"
#include "runtime/propagator_test_util.h"

namespace headrace {
namespace {

// Remembers what it was told of its inputs.
REGISTER_OP("PlanTestKeep")
    .Input("x: int32")
    .Input("y: int32")
    .Output("z: int32");
class PlanTestKeepOp : public OpKernel, public StoredConstantReader {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override {}
  void SetConstantInput(int i, const Tensor& value) override {
    constants[i] = value;
  }
  bool TakesStoredConstant(int input) const override { return input == 1; }

  std::map<int, Tensor> constants;

 protected:
  void DescribeTraits(KernelTraits* traits) override {
    traits->stored_constant_reader = this;
  }
};
REGISTER_KERNEL_BUILDER(Name("PlanTestKeep").Device(DEVICE_CPU),
                        PlanTestKeepOp);

std::string RunNodes(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanNode& n : plan.nodes) names.push_back(n.kernel->name());
  return absl::StrJoin(names, " ");
}

TEST(PlanTest, AnEmptyGraph) {
  const TestPlan p("");
  ASSERT_EQ(p.status, OkStatus());
  EXPECT_TRUE(p.plan.nodes.empty());
  EXPECT_TRUE(p.plan.roots.empty());
  EXPECT_TRUE(p.plan.frames.empty());
  EXPECT_EQ(p.plan.num_slots, 0);
  EXPECT_EQ(p.plan.max_inputs, 0);
}

TEST(PlanTest, NodesWaitForInputsThatAreDelivered) {
  const TestPlan p(R"(
    x: _Arg index=0
    c: Const 1
    i: Identity x
    a: StepAdd x c
    b: StepAdd a i ^e
    e: StepEffect
    r: _Retval b index=0
  )");
  ASSERT_EQ(p.status, OkStatus());
  EXPECT_EQ(p.Find("c"), -1);
  EXPECT_EQ(p.Find("i"), -1);
  struct Case {
    const char* node;
    int inputs, pending;
    bool is_root;
  };
  for (const Case& c :
       {Case{"x", 0, 0, true}, Case{"a", 2, 1, false}, Case{"b", 2, 3, false},
        Case{"e", 0, 0, true}, Case{"r", 1, 1, false}}) {
    SCOPED_TRACE(c.node);
    ASSERT_GE(p.Find(c.node), 0);
    const PlanNode& n = p.plan.nodes[p.Find(c.node)];
    EXPECT_EQ(n.num_inputs, c.inputs);
    EXPECT_EQ(n.pending, c.pending);
    EXPECT_EQ(p.plan.pending[p.Find(c.node)], c.pending);
    EXPECT_EQ(absl::c_linear_search(p.plan.roots, p.Find(c.node)), c.is_root);
    EXPECT_EQ(n.is_retval, c.node[0] == 'r');
  }
  EXPECT_EQ(p.plan.num_slots, 5);
  EXPECT_EQ(p.plan.max_inputs, 2);
  EXPECT_FALSE(p.plan.may_run_long);
  // Of b's second input, which an Identity hands on, too.
  const PlanNode& b = p.plan.nodes[p.Find("b")];
  EXPECT_EQ(p.plan.sources[b.first_input + 1]->name(), "x");
}

TEST(PlanTest, EdgesAreInTheOrderOfTheOutputsTheyTake) {
  const TestPlan p(R"(
    v: _Arg index=0
    q: _Arg T=bool index=1
    s: Switch v q
    a: StepAdd s:1 s
    b: StepSlow s:1
    c: StepSlow s
    e: StepEffect ^s
    f: StepEffect ^s ^v
  )");
  ASSERT_EQ(p.status, OkStatus());
  const PlanNode& s = p.plan.nodes[p.Find("s")];
  int last = 0, last_uses = 0;
  std::map<int, int> count;
  for (int k = s.edges_begin; k < s.edges_end; ++k) {
    const PlanEdge& e = p.plan.edges[k];
    EXPECT_GE(e.src_output, last);
    last = e.src_output;
    ++count[e.src_output];
    last_uses += e.last_use;
    EXPECT_EQ(e.dtype, DT_INT32);
    EXPECT_EQ(e.element_size, 4);
    const std::string& dst = p.plan.nodes[e.dst].kernel->name();
    EXPECT_EQ(e.awaited_alone, dst == "b" || dst == "c") << dst;
    // The last of an output's edges, and no other.
    EXPECT_EQ(e.last_use, k + 1 == s.edges_end ||
                              p.plan.edges[k + 1].src_output != e.src_output);
  }
  EXPECT_EQ(count, (std::map<int, int>{{0, 2}, {1, 2}}));
  EXPECT_EQ(last_uses, 2);
  EXPECT_EQ(s.control_end - s.control_begin, 2);
}

TEST(PlanTest, WhatTheExecutorDoesItself) {
  const TestPlan p(R"(
    x: _Arg index=0
    q: _Arg T=bool index=1
    c: Const 5 ^x
    use: StepEffect ^c
    n: NoOp ^x
    i: Identity x ^n
    s: Switch i q
    m: Merge s s:1
    m2: Merge s s:1
    which: StepSlow m2:1
    t: ControlTrigger ^s
    v: StepVariable
    r: Identity v
    slow: StepSlow r
    now: StepAsync x how=now
  )");
  ASSERT_EQ(p.status, OkStatus());
  const std::map<std::string, PlanAction> wanted = {
      {"c", PlanAction::kConstant}, {"n", PlanAction::kNothing},
      {"i", PlanAction::kPass},     {"s", PlanAction::kSwitch},
      {"m", PlanAction::kMerge},    {"m2", PlanAction::kCompute},
      {"t", PlanAction::kNothing},  {"v", PlanAction::kCompute},
      {"r", PlanAction::kCompute},  {"slow", PlanAction::kCompute},
  };
  for (const auto& [name, action] : wanted) {
    ASSERT_GE(p.Find(name), 0) << name;
    EXPECT_EQ(p.plan.nodes[p.Find(name)].action, action) << name;
  }
  EXPECT_TRUE(p.plan.nodes[p.Find("slow")].expensive);
  EXPECT_FALSE(p.plan.nodes[p.Find("now")].expensive);
  EXPECT_NE(p.plan.nodes[p.Find("now")].async, nullptr);
  EXPECT_TRUE(p.plan.nodes[p.Find("r")].special_inputs);  // a reference
  EXPECT_TRUE(p.plan.nodes[p.Find("m")].special_inputs);
  EXPECT_FALSE(p.plan.nodes[p.Find("i")].special_inputs);
  EXPECT_TRUE(p.plan.may_run_long);
  EXPECT_TRUE(p.plan.nodes[p.Find("s")].may_leave_unset);
  EXPECT_TRUE(p.plan.nodes[p.Find("t")].is_control_trigger);
}

TEST(PlanTest, ConstantsAreBoundToTheirReaders) {
  const TestPlan p(
      "x: _Arg index=0\nc: Const 7,8,9,10,11\nk: PlanTestKeep x c\n"
      "l: PlanTestKeep c x");
  ASSERT_EQ(p.status, OkStatus());
  EXPECT_EQ(RunNodes(p.plan), "x k l");
  for (const auto& [node, input] :
       std::map<std::string, int>{{"k", 1}, {"l", 0}}) {
    const PlanNode& n = p.plan.nodes[p.Find(node)];
    const auto& kernel = dynamic_cast<PlanTestKeepOp&>(*n.kernel);
    ASSERT_EQ(kernel.constants.size(), 1u);
    EXPECT_EQ(kernel.constants.begin()->first, input);
    ASSERT_NE(p.plan.bound[n.first_input + input], nullptr);
    EXPECT_EQ(p.plan.bound[n.first_input + input]->SummarizeValue(9),
              "7 8 9 10 11");
    EXPECT_EQ(p.plan.bound[n.first_input + 1 - input], nullptr);
    // No kernel may take it for its output.
    EXPECT_FALSE(p.plan.bound[n.first_input + input]->OwnsExclusively());
  }
}

TEST(PlanTest, OnlyWhoCanGetsAConstantThatIsNotAligned) {
  alignas(64) char bytes[100] = {};
  TestPlan p("x: _Arg index=0");
  const Tensor unaligned(
      DT_INT32, {10},
      WrapExternalBuffer(bytes, sizeof(bytes), /*writable=*/false, nullptr), 1);
  ASSERT_FALSE(IsAligned(unaligned));
  const Endpoint c = Const(&p.graph, "c", unaligned);
  AddOp(&p.graph, "both", "PlanTestKeep", {c, c});
  Plan plan;
  ASSERT_EQ(BuildPlan(
                &p.device, p.graph, {},
                [&](const Node& n, std::shared_ptr<OpKernel>* kernel) {
                  std::unique_ptr<OpKernel> made;
                  HR_RETURN_IF_ERROR(CreateNodeKernel(&p.device, n, &made));
                  *kernel = std::move(made);
                  return OkStatus();
                },
                &plan),
            OkStatus());
  const PlanNode& both = plan.nodes[plan.nodes.size() - 1];
  EXPECT_TRUE(IsAligned(*plan.bound[both.first_input]));
  EXPECT_EQ(plan.bound[both.first_input + 1]->raw_data(), unaligned.raw_data());
}

TEST(PlanTest, ArgumentsThatAreKeptAreBoundByEachStep) {
  const char* const text = R"(
    x: _Arg index=0
    y: _Arg index=1 ^e
    z: _Arg index=2
    e: StepEffect
    q: _Arg T=bool index=3
    s: Switch x q
    m: Merge s z
    a: StepAdd x y
  )";
  const TestPlan kept(text, 10, /*args_are_kept=*/true);
  ASSERT_EQ(kept.status, OkStatus());
  // Not those that wait, or that a Merge must see arrive.
  std::vector<std::string> args;
  for (const OpKernel* k : kept.plan.args) args.push_back(k->name());
  EXPECT_EQ(absl::StrJoin(args, " "), "x q");
  EXPECT_EQ(kept.Find("x"), -1);
  EXPECT_GE(kept.Find("y"), 0);
  EXPECT_GE(kept.Find("z"), 0);
  EXPECT_EQ(kept.plan.arg_inputs.size(), 3u);  // of s twice and of a
  EXPECT_EQ(kept.plan.nodes[kept.Find("a")].pending, 1);
  const TestPlan run(text);
  ASSERT_EQ(run.status, OkStatus());
  EXPECT_TRUE(run.plan.args.empty());
  EXPECT_GE(run.Find("x"), 0);
}

TEST(PlanTest, FramesCountWhatArrives) {
  const TestPlan p(R"(
    zero: Const 0
    x: _Arg index=0
    lim: Const 3
    enter: Enter zero in=f
    by: Enter x in=f is_constant=true
    limit: Enter lim in=f is_constant=true
    merge: Merge enter next
    less: StepLess merge limit
    cond: LoopCond less
    split: Switch merge cond
    sum: StepAdd split:1 by
    next: NextIteration sum
    exit: Exit split
  )",
                   /*parallel=*/4);
  ASSERT_EQ(p.status, OkStatus());
  ASSERT_EQ(p.plan.frames.size(), 2u);
  const PlanFrame& f = p.plan.frames[1];
  EXPECT_EQ(f.name, "f");
  EXPECT_EQ(f.num_enters, 2);  // `limit` brings a constant: it is passed by
  EXPECT_EQ(f.parallel_iterations, 4);
  EXPECT_EQ(p.Find("limit"), -1);
  // merge less cond split sum next exit
  EXPECT_EQ(f.pending.size(), 7u);
  EXPECT_EQ(f.num_slots, 2 + 2 + 1 + 2 + 2 + 1 + 1);
  const PlanNode& merge = p.plan.nodes[p.Find("merge")];
  EXPECT_TRUE(merge.is_merge);
  EXPECT_EQ(merge.pending, 0);  // control inputs alone count
  EXPECT_FALSE(absl::c_linear_search(p.plan.roots, p.Find("merge")));
  const PlanNode& enter = p.plan.nodes[p.Find("enter")];
  EXPECT_TRUE(enter.is_enter);
  EXPECT_FALSE(enter.is_constant_enter);
  EXPECT_EQ(enter.out_frame, 1);
  EXPECT_TRUE(p.plan.nodes[p.Find("by")].is_constant_enter);
  EXPECT_TRUE(p.plan.nodes[p.Find("next")].is_next_iteration);
  EXPECT_TRUE(p.plan.nodes[p.Find("exit")].is_exit);
  // `zero` goes through an Enter: bound there, so that `enter` is a root.
  EXPECT_TRUE(absl::c_linear_search(p.plan.roots, p.Find("enter")));
}

TEST(PlanTest, SendsAndReceivesNeedARendezvous) {
  const char* const attrs =
      "tensor_name=t send_device=a recv_device=b send_device_incarnation=1";
  const TestPlan recv(absl::StrCat("r: _Recv tensor_type=int32 ", attrs));
  ASSERT_EQ(recv.status, OkStatus());
  EXPECT_TRUE(recv.plan.needs_rendezvous);
  const TestPlan send(absl::StrCat("c: Const 1\ns: _Send c ", attrs));
  ASSERT_EQ(send.status, OkStatus());
  EXPECT_TRUE(send.plan.needs_rendezvous);
  EXPECT_FALSE(TestPlan("c: Const 1\na: StepSlow c").plan.needs_rendezvous);
}

TEST(PlanTest, RefusesWhatItCannotCompile) {
  const TestPlan p("c: Const 1\na: StepSlow c\nb: StepSlow a");
  const auto build = [&](const Status& kernel_status) {
    TestDevice device;
    Plan plan;
    return BuildPlan(
        &device, p.graph, {},
        [&](const Node& n, std::shared_ptr<OpKernel>* kernel) {
          HR_RETURN_IF_ERROR(kernel_status);
          std::unique_ptr<OpKernel> made;
          HR_RETURN_IF_ERROR(CreateNodeKernel(&device, n, &made));
          *kernel = std::move(made);
          return OkStatus();
        },
        &plan);
  };
  EXPECT_EQ(build(OkStatus()), OkStatus());
  EXPECT_EQ(build(errors::DataLoss("no kernel")),
            errors::DataLoss("no kernel"));
  {
    const Interrupt interrupt([] { return errors::Cancelled("enough"); });
    EXPECT_EQ(build(OkStatus()), errors::Cancelled("enough"));
  }
  Graph& g = const_cast<Graph&>(p.graph);
  ASSERT_EQ(g.ReplaceInput(g.FindNode("a"), 0, {g.FindNode("b"), 0}),
            OkStatus());
  ExpectError(build(OkStatus()), absl::StatusCode::kInvalidArgument,
              "cycle with 2 nodes");
  g.RemoveEdge(g.FindNode("a")->input_edge(0));
  ExpectError(build(OkStatus()), absl::StatusCode::kInternal,
              "input 0 of node {{node a}} is not connected");
}

}  // namespace
}  // namespace headrace
