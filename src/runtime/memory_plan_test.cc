#include "runtime/memory_plan.h"

#include <map>
#include <random>

#include "base/thread_pool.h"
#include "framework/kernel/temporary_memory.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "runtime/step_test_util.h"

namespace headrace {
namespace {

// n floats; of unknown size with n=-1.
REGISTER_OP("MemoryTestMake")
    .Input("x: N * float")
    .Output("y: float")
    .Attr("N: int >= 0")
    .Attr("n: int")
    .SetShapeFn([](InferenceContext* c) {
      int64_t n = 0;
      HR_RETURN_IF_ERROR(c->GetAttr("n", &n));
      c->set_output(0, InferenceContext::Vector(n));
      return OkStatus();
    });
// Of the same shape as x, with as many bytes of temporary memory as x has
// elements.
REGISTER_OP("MemoryTestScratch")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(shape_inference::UnchangedShape);
class MemoryTestScratchOp : public OpKernel, public TemporaryMemory {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override {}
  int64_t TemporaryBytes(absl::Span<const TensorShape> inputs,
                         absl::Span<const TensorShape> outputs,
                         ThreadPool*) override {
    EXPECT_EQ(inputs.size(), 1u);
    EXPECT_EQ(outputs[0], inputs[0]);
    return inputs[0].num_elements();
  }

 protected:
  void DescribeTraits(KernelTraits* traits) override {
    traits->temporary_memory = this;
  }
};
REGISTER_KERNEL_BUILDER(Name("MemoryTestScratch").Device(DEVICE_CPU),
                        MemoryTestScratchOp);
REGISTER_OP("MemoryTestStrings")
    .Output("y: string")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, InferenceContext::Vector(5));
      return OkStatus();
    });
REGISTER_OP("MemoryTestKeep").Input("x: float").SetIsStateful();
class MemoryTestKeepOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override {}
};
REGISTER_KERNEL_BUILDER(Name("MemoryTestKeep").Device(DEVICE_CPU),
                        MemoryTestKeepOp);

class MemoryPlanTest : public ::testing::Test {
 protected:
  Status Plan(absl::string_view text, std::vector<TensorShape> args = {}) {
    graph_ = std::make_unique<Graph>();
    LoadNodes(text, graph_.get());
    return PlanMemory(*graph_, args, kernels_, ThreadPool::Global(), notes_,
                      &plan_);
  }
  // What is planned for "a:0"; null if nothing is.
  const MemoryPlan::Block* Find(const std::string& name) const {
    for (const MemoryPlan::Block& b : plan_.blocks) {
      if (b.name == name) return &b;
    }
    return nullptr;
  }
  bool Share(const std::string& a, const std::string& b) const {
    const MemoryPlan::Block* x = Find(a);
    const MemoryPlan::Block* y = Find(b);
    if (x == nullptr || y == nullptr) {
      ADD_FAILURE() << a << " or " << b << " is not planned";
      return false;
    }
    return x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes;
  }
  // Makes the node's kernel known to the next plan.
  const OpKernel* AddKernel(const std::string& node, const std::string& op,
                            AttrMap attrs) {
    auto def = std::make_shared<NodeDef>();
    def->name = node;
    def->op = op;
    def->attrs = std::move(attrs);
    const OpDef* op_def = nullptr;
    EXPECT_EQ(OpRegistry::Global()->LookUp(op, &op_def), OkStatus());
    std::unique_ptr<OpKernel> kernel;
    EXPECT_EQ(CreateOpKernel(&device_, def, op_def, &kernel), OkStatus());
    kernels_.push_back(std::move(kernel));
    return kernels_.back().get();
  }

  TestDevice device_;
  std::unique_ptr<Graph> graph_;
  std::vector<std::shared_ptr<OpKernel>> kernels_;
  const ReuseNotes* notes_ = nullptr;
  MemoryPlan plan_;
};

TEST_F(MemoryPlanTest, NothingTakesNothing) {
  ASSERT_EQ(Plan(""), OkStatus());
  EXPECT_EQ(plan_.peak_bytes, 0);
  EXPECT_TRUE(plan_.blocks.empty());
  EXPECT_EQ(plan_.Largest(3), "");
}

TEST_F(MemoryPlanTest, WhatIsNoLongerReadMakesRoom) {
  ASSERT_EQ(Plan(R"(
    a: MemoryTestMake n=1000
    b: MemoryTestMake a n=1000
    c: MemoryTestMake b n=1000
    d: MemoryTestMake c n=1000
  )"),
            OkStatus());
  const int64_t one = 4032;  // 4000 bytes in cache lines
  EXPECT_EQ(plan_.total_bytes, 4 * one);
  EXPECT_EQ(plan_.peak_bytes, 2 * one);
  EXPECT_TRUE(Share("a:0", "c:0"));
  EXPECT_TRUE(Share("b:0", "d:0"));
  EXPECT_FALSE(Share("a:0", "b:0"));
  EXPECT_FALSE(Share("b:0", "c:0"));
  EXPECT_EQ(Find("a:0")->contents, "float [1000]");
  EXPECT_EQ(Find("a:0")->node, graph_->FindNode("a"));
}

TEST_F(MemoryPlanTest, WhatMayRunAtOnceDoesNotShare) {
  const char* const text = R"(
    a: MemoryTestMake n=1000
    b: MemoryTestMake a n=1000
    c: MemoryTestMake a n=1000
    x: MemoryTestMake n=1000
    y: MemoryTestMake x n=1000
  )";
  ASSERT_EQ(Plan(text), OkStatus());
  EXPECT_FALSE(Share("b:0", "c:0"));
  EXPECT_FALSE(Share("a:0", "x:0"));
  EXPECT_FALSE(Share("c:0", "y:0"));
  // Unless one waits for the other's end.
  ASSERT_EQ(Plan(absl::StrCat(text, "z: MemoryTestMake ^c ^b ^y n=1000")),
            OkStatus());
  EXPECT_TRUE(Share("z:0", "a:0"));
}

TEST_F(MemoryPlanTest, WhatIsFetchedOrKeptStaysToTheEnd) {
  for (const char* keeper : {"_Retval a T=float index=0", "MemoryTestKeep a"}) {
    SCOPED_TRACE(keeper);
    ASSERT_EQ(Plan(absl::StrCat("a: MemoryTestMake n=1000\n"
                                "keep: ",
                                keeper,
                                "\nb: MemoryTestMake a n=1000\n"
                                "c: MemoryTestMake b ^keep n=1000\n")),
              OkStatus());
    EXPECT_TRUE(Find("a:0")->is_kept);
    EXPECT_FALSE(Find("b:0")->is_kept);
    EXPECT_FALSE(Share("a:0", "c:0"));
  }
}

TEST_F(MemoryPlanTest, WhatIsHandedOnLivesAsLongAsItsReaders) {
  ASSERT_EQ(Plan(R"(
    shape: Const 10,100
    a: MemoryTestMake n=1000
    i: Identity a T=float
    r: Reshape i shape T=float
    b: MemoryTestMake a n=1000
    c: MemoryTestMake b n=1000
    d: MemoryTestMake c r n=1000
    e: MemoryTestMake d n=1000
  )"),
            OkStatus());
  EXPECT_EQ(Find("i:0"), nullptr);
  EXPECT_EQ(Find("r:0"), nullptr);
  EXPECT_FALSE(Share("a:0", "c:0"));
  EXPECT_FALSE(Share("a:0", "d:0"));
  EXPECT_TRUE(Share("a:0", "e:0"));
}

TEST_F(MemoryPlanTest, APartOfATensorMayKeepTheWhole) {
  ASSERT_EQ(Plan(R"(
    axis: Const 0
    a: MemoryTestMake n=1000
    s: Split axis a num_split=2 T=float
    b: MemoryTestMake a s n=1000
    c: MemoryTestMake b n=1000
    last: MemoryTestMake c s:1 n=1000
  )"),
            OkStatus());
  ASSERT_NE(Find("s:0"), nullptr);  // or it is a copy
  EXPECT_FALSE(Share("a:0", "c:0"));
  EXPECT_FALSE(Share("s:1", "c:0"));
}

TEST_F(MemoryPlanTest, AMergeHoldsWhicheverComes) {
  ASSERT_EQ(Plan(R"(
    p: Const true
    a: MemoryTestMake n=1000
    s: Switch a p T=float
    off: MemoryTestMake s n=1000
    on: MemoryTestMake s:1 n=1000
    m: Merge off on T=float
    b: MemoryTestMake m n=1000
    c: MemoryTestMake b m n=1000
  )"),
            OkStatus());
  EXPECT_FALSE(Share("off:0", "b:0"));
  EXPECT_FALSE(Share("on:0", "b:0"));
  EXPECT_FALSE(Share("on:0", "off:0"));
  EXPECT_TRUE(Share("a:0", "b:0"));
}

TEST_F(MemoryPlanTest, WhatIsSmallOrSomebodyElsesIsNotCounted) {
  ASSERT_EQ(Plan(R"(
    c: Const 1,2,3,4,5,6,7,8
    x: _Arg T=float index=0
    small: MemoryTestMake n=4
    zero: MemoryTestMake n=0
    i: MemoryTestMake x small n=100
  )",
                 {TensorShape({1000})}),
            OkStatus());
  EXPECT_EQ(plan_.blocks.size(), 1u);
  EXPECT_EQ(plan_.peak_bytes, 448);
  EXPECT_TRUE(plan_.unknown.empty());
}

TEST_F(MemoryPlanTest, WhatIsNotKnownIsNamed) {
  ASSERT_EQ(Plan("a: MemoryTestMake n=-1\ns: MemoryTestStrings\n"
                 "b: MemoryTestMake a n=100"),
            OkStatus());
  EXPECT_EQ(plan_.unknown, (std::vector<std::string>{"a:0", "s:0"}));
  EXPECT_EQ(plan_.blocks.size(), 1u);
}

TEST_F(MemoryPlanTest, ShapesFollowTheArguments) {
  const char* const text =
      "x: _Arg T=float index=0\ny: _Arg T=float index=1\n"
      "sum: Add x y T=float\nr: MemoryTestMake sum n=100";
  ASSERT_EQ(Plan(text, {TensorShape({30, 1}), TensorShape({1, 50})}),
            OkStatus());
  EXPECT_EQ(Find("sum:0")->contents, "float [30,50]");
  ExpectError(Plan(text, {TensorShape({30})}),
              absl::StatusCode::kInvalidArgument, "no shape for argument 1");
  ExpectError(Plan(text, {TensorShape({30}), TensorShape({31})}),
              absl::StatusCode::kInvalidArgument, "are 30 and 31");
}

TEST_F(MemoryPlanTest, TemporaryMemoryIsThereWhileItsNodeRuns) {
  AddKernel("b", "MemoryTestScratch", {});
  ASSERT_EQ(Plan(R"(
    a: MemoryTestMake n=1000
    b: MemoryTestScratch a
    c: MemoryTestMake b n=1000
  )"),
            OkStatus());
  const MemoryPlan::Block* const t = Find("b (temporary)");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->bytes, 1024);
  EXPECT_EQ(t->output, -1);
  EXPECT_EQ(t->contents, "");
  EXPECT_FALSE(Share("b (temporary)", "a:0"));
  EXPECT_FALSE(Share("b (temporary)", "b:0"));
  EXPECT_EQ(plan_.peak_bytes, 2 * 4032 + 1024);
  EXPECT_EQ(plan_.Largest(1), "a:0 float [1000] 4032 bytes");
  EXPECT_EQ(plan_.Largest(9),
            "a:0 float [1000] 4032 bytes, b:0 float [1000] 4032 bytes, "
            "c:0 float [1000] 4032 bytes, b (temporary) 1024 bytes");
  EXPECT_EQ(plan_.Largest(0), "");
}

TEST_F(MemoryPlanTest, WhatWroteOverItsInputNeedsNoPlaceOfItsOwn) {
  const OpKernel* const b = AddKernel("b", "MemoryTestScratch", {});
  ReuseNotes notes;
  notes.Note(b, 0, 0, 4000);
  notes_ = &notes;
  ASSERT_EQ(Plan(R"(
    a: MemoryTestMake n=1000
    b: MemoryTestScratch a
    c: MemoryTestMake b n=1000
    d: MemoryTestMake c n=1000
  )"),
            OkStatus());
  EXPECT_EQ(Find("b:0"), nullptr);
  EXPECT_FALSE(Share("a:0", "c:0"));  // b is a's buffer
  EXPECT_TRUE(Share("a:0", "d:0"));
}

TEST_F(MemoryPlanTest, WhatAnUpdateLetGoEndsWithIt) {
  const char* const kGraph = R"(
    a: MemoryTestMake n=1000
    k: MemoryTestKeep a
    b: MemoryTestMake n=1000 ^k
  )";
  ASSERT_EQ(Plan(kGraph), OkStatus());
  EXPECT_TRUE(Find("a:0")->is_kept);
  EXPECT_FALSE(Share("a:0", "b:0"));
  const OpKernel* const k = AddKernel("k", "MemoryTestKeep", {});
  ReuseNotes notes;
  notes_ = &notes;
  ASSERT_EQ(Plan(kGraph), OkStatus());
  EXPECT_TRUE(Find("a:0")->is_kept);
  notes.NoteLetGo(k, 0);
  ASSERT_EQ(Plan(kGraph), OkStatus());
  EXPECT_FALSE(Find("a:0")->is_kept);
  EXPECT_TRUE(Share("a:0", "b:0"));
}

TEST_F(MemoryPlanTest, RefusesWhatCannotBePlanned) {
  const auto kUnimplemented = absl::StatusCode::kUnimplemented;
  ExpectError(Plan("a: MemoryTestMake n=100\ne: Enter a T=float in=f"),
              kUnimplemented, "a graph with loops (node e)");
  ExpectError(Plan("a: MemoryTestMake n=4611686018427387904"),
              absl::StatusCode::kResourceExhausted,
              "a:0 float [4611686018427387904] does not fit any memory");
  // Each of them would fit.
  std::string many;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&many, "a", i, ": MemoryTestMake n=200000000000000000\n");
  }
  ExpectError(Plan(many), absl::StatusCode::kResourceExhausted,
              "the tensors fit no memory");
  Graph large;
  for (int i = 0; i <= 20000; ++i) {
    NodeDef def;
    def.name = absl::StrCat("n", i);
    def.op = "NoOp";
    ASSERT_TRUE(large.AddNode(std::move(def), {}).ok());
  }
  ExpectError(PlanMemory(large, {}, {}, ThreadPool::Global(), nullptr, &plan_),
              kUnimplemented, "20001 nodes; at most 20000");
}

// Whatever the order in which nodes run, no two tensors that are alive at once
// share bytes.
TEST_F(MemoryPlanTest, RandomGraphsInRandomOrders) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const int nodes = 3 + static_cast<int>(random() % 25);
    std::string text;
    for (int i = 0; i < nodes; ++i) {
      absl::StrAppend(&text, "n", i, ":");
      const int kind = i == 0 ? 0 : random() % 5;
      if (kind == 1) {
        absl::StrAppend(&text, " Identity n", random() % i, " T=float\n");
        continue;
      }
      absl::StrAppend(&text, " MemoryTestMake n=", 8 + random() % 100000);
      for (int k = 0; i > 0 && k < static_cast<int>(random() % 3); ++k) {
        absl::StrAppend(&text, " n", random() % i);
      }
      if (i > 0 && kind == 2) absl::StrAppend(&text, " ^n", random() % i);
      absl::StrAppend(&text, "\n");
    }
    ASSERT_EQ(Plan(text), OkStatus()) << text;
    // What each output is: a block, its own or one that is handed on.
    std::map<const Node*, const MemoryPlan::Block*> block;
    for (int i = 0; i < nodes; ++i) {
      const Node* const n = graph_->FindNode(absl::StrCat("n", i));
      const Node* from = n;
      while (from->type_string() == "Identity") {
        from = from->input_edge(0)->src();
      }
      block[n] = Find(absl::StrCat(from->name(), ":0"));
      ASSERT_NE(block[n], nullptr) << n->name();
    }
    for (int order = 0; order < 5; ++order) {
      std::map<const Node*, int> waits;
      std::map<const MemoryPlan::Block*, int> readers;
      std::vector<const Node*> ready;
      graph_->ForEachNode([&](Node* n) {
        waits[n] = static_cast<int>(n->data_inputs().size() +
                                    n->control_inputs().size());
        if (waits[n] == 0) ready.push_back(n);
        for (const Edge* e : n->data_inputs()) ++readers[block[e->src()]];
      });
      std::set<const MemoryPlan::Block*> alive;
      while (!ready.empty()) {
        const size_t at = random() % ready.size();
        const Node* const n = ready[at];
        ready.erase(ready.begin() + at);
        const MemoryPlan::Block* const mine = block[n];
        if (alive.insert(mine).second) {
          for (const MemoryPlan::Block* other : alive) {
            if (other == mine) continue;
            EXPECT_TRUE(mine->offset + mine->bytes <= other->offset ||
                        other->offset + other->bytes <= mine->offset)
                << mine->name << " and " << other->name << " in\n"
                << text;
            EXPECT_TRUE(
                mine->arena_offset < 0 || other->arena_offset < 0 ||
                mine->arena_offset + mine->arena_bytes <= other->arena_offset ||
                other->arena_offset + other->arena_bytes <= mine->arena_offset)
                << mine->name << " and " << other->name << " in\n"
                << text;
          }
          EXPECT_LE(mine->offset + mine->bytes, plan_.peak_bytes);
        }
        for (const Edge* e : n->data_inputs()) {
          if (--readers[block[e->src()]] == 0) alive.erase(block[e->src()]);
        }
        if (readers[mine] == 0) alive.erase(mine);
        for (const Edge* e : n->out_edges()) {
          if (--waits[e->dst()] == 0) ready.push_back(e->dst());
        }
      }
    }
  }
}

using ArenaTest = StepTest;

// Large tensors: 256 KiB each.
constexpr char kLarge[] = R"(
  a: Fill dims zero T=float
  b: Neg a T=float
  c: Neg b T=float
  d: Neg c T=float
  dims: Const 65536
  zero: Const 0.5
  out: _Retval d T=float index=0
)";

TEST_F(ArenaTest, LargeTensorsThatEndWithTheStepHavePlaces) {
  std::string text = kLarge;
  text.replace(text.find("65536"), 5, "256,256");
  ASSERT_EQ(Load(text), OkStatus());
  EXPECT_TRUE(MayHaveArena(*graph_));
  MemoryPlan plan;
  ASSERT_EQ(PlanMemory(*graph_, {}, executor_->kernels(), ThreadPool::Global(),
                       nullptr, &plan),
            OkStatus());
  const std::shared_ptr<const ArenaLayout> layout = ArenaOf(plan, *executor_);
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->places.size(), 3u);  // a, b, c
  std::map<std::string, int> place;
  const std::vector<const OpKernel*> kernels = executor_->RunKernels();
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i]->num_outputs() == 0) continue;
    place[kernels[i]->name()] = layout->output_place[layout->first_output[i]];
  }
  EXPECT_EQ(place["d"], ArenaLayout::kOutside);  // it is fetched
  for (const char* n : {"a", "b", "c"}) {
    ASSERT_GE(place[n], 0) << n;
    const ArenaLayout::Place& p = layout->places[place[n]];
    EXPECT_EQ(p.offset % 64, 0) << n;
    EXPECT_GE(p.bytes, 256 * 256 * 4) << n;
    EXPECT_LE(p.offset + p.bytes, layout->bytes) << n;
  }
  // a is gone before c begins: they share, and say so.
  const ArenaLayout::Place& a = layout->places[place["a"]];
  const ArenaLayout::Place& c = layout->places[place["c"]];
  EXPECT_EQ(a.offset, c.offset);
  EXPECT_EQ(a.overlapping, (std::vector<int32_t>{place["c"]}));
  EXPECT_EQ(c.overlapping, (std::vector<int32_t>{place["a"]}));
  EXPECT_TRUE(layout->places[place["b"]].overlapping.empty());
  EXPECT_GE(plan.peak_bytes, layout->bytes);
}

TEST_F(ArenaTest, NotWorthIt) {
  const char* const texts[] = {
      "",
      "c: Const 1\na: StepSlow c",
      // One large tensor.
      ("dims: Const 512,512\nzero: Const 0.5\na: Fill dims zero T=float\n"
       "s: Shape a T=float"),
  };
  for (const char* text : texts) {
    SCOPED_TRACE(text);
    ASSERT_EQ(Load(text), OkStatus());
    EXPECT_FALSE(MayHaveArena(*graph_));
    MemoryPlan plan;
    ASSERT_EQ(PlanMemory(*graph_, {}, executor_->kernels(),
                         ThreadPool::Global(), nullptr, &plan),
              OkStatus());
    EXPECT_EQ(ArenaOf(plan, *executor_), nullptr);
  }
  Graph loop;
  LoadNodes(absl::StrCat("a: MemoryTestMake n=100000\n"
                         "b: MemoryTestMake a n=100000\n"
                         "e: Enter a T=float in=f"),
            &loop);
  EXPECT_FALSE(MayHaveArena(loop));
  // What is not known may be large.
  Graph unknown;
  LoadNodes("a: MemoryTestMake n=-1\nb: MemoryTestMake n=-1", &unknown);
  EXPECT_TRUE(MayHaveArena(unknown));
}

}  // namespace
}  // namespace headrace
