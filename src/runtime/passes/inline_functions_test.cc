// Of the pass InlineFunctions.
#include <set>

#include "base/interrupt.h"
#include "runtime/passes/pass_test_util.h"
#include "runtime/step_test_util.h"

namespace headrace {
namespace {

class InlineTest : public PassTest {
 protected:
  // The functions that most cases call.
  InlineTest() {
    AddFunction(&g_, "Twice", {"x"}, "sum: StepAdd x x", {"y=sum:z:0"});
    AddFunction(&g_, "Swap", {"x", "y"}, "", {"a=y", "b=x"});
    AddFunction(&g_, "Five", {}, "five: Const 5", {"y=five:output:0"});
    AddFunction(&g_, "Effect", {"x"}, "e: StepEffect\nsum: StepAdd x x",
                {"y=sum:z:0"});
  }
  // The graph of a text whose nodes may call functions, inlined; of nodes in
  // order of name.
  std::string Inline(absl::string_view text) {
    LoadNodes(text, &g_);
    changes_ = 0;
    EXPECT_EQ(InlineFunctions(context_, &g_, &changes_), OkStatus());
    std::set<std::string> lines;
    g_.ForEachNode([&](Node* n) {
      std::vector<std::string> in;
      for (const Edge* e : n->data_inputs()) {
        in.push_back(e->src()->name());
        if (e->src_output() > 0) StrAppend(&in.back(), ":", e->src_output());
      }
      std::set<std::string> controls;
      for (const Edge* e : n->control_inputs()) {
        controls.insert("^" + e->src()->name());
      }
      in.insert(in.end(), controls.begin(), controls.end());
      lines.insert(StrCat(n->name(), " = ", n->type_string(), "(",
                          absl::StrJoin(in, " "), ")"));
    });
    return absl::StrJoin(lines, "\n");
  }

  int changes_ = 0;
};

TEST_F(InlineTest, ACallGivesWayToItsBody) {
  EXPECT_EQ(Inline("in: _Arg index=0\nf: Twice in\nout: _Retval f index=0"),
            "f/sum = StepAdd(in in)\n"
            "in = _Arg()\n"
            "out = _Retval(f/sum)");
  EXPECT_EQ(changes_, 1);
  const Node& sum = *g_.FindNode("f/sum");
  EXPECT_EQ(sum.def().source, "function 'Twice', called by {{node f}}");
}

TEST_F(InlineTest, ACallOpGivesWayUnlessItAsksNotTo) {
  LoadNodes("p: _Arg index=0\nq: _Arg index=1", &g_);
  NameAttrList f;
  f.name = "Swap";
  const std::vector<DataType> two(2, DT_INT32);
  const AttrMap attrs{{"f", f}, {"Tin", two}, {"Tout", two}};
  AttrMap apart = attrs;
  apart.Set("_noinline", true);
  const std::vector<Endpoint> in = {{g_.FindNode("p"), 0},
                                    {g_.FindNode("q"), 0}};
  Node* const call = AddOp(&g_, "call", "PartitionedCall", in, attrs);
  Node* const stays = AddOp(&g_, "stays", "PartitionedCall", in, apart);
  AddOp(&g_, "a", "StepAdd", {{call, 0}, {stays, 0}});
  AddOp(&g_, "b", "StepAdd", {{call, 1}, {stays, 1}});
  EXPECT_EQ(Inline(""),
            "a = StepAdd(q stays)\n"
            "b = StepAdd(p stays:1)\n"
            "p = _Arg()\n"
            "q = _Arg()\n"
            "stays = PartitionedCall(p q)");
}

TEST_F(InlineTest, ResultsThatAreArgumentsGoStraightThrough) {
  EXPECT_EQ(Inline("p: _Arg index=0\nq: _Arg index=1\nf: Swap p q\n"
                   "a: StepSlow f\nb: StepSlow f:1"),
            "a = StepSlow(q)\n"
            "b = StepSlow(p)\n"
            "p = _Arg()\n"
            "q = _Arg()");
}

TEST_F(InlineTest, WhatTheCallWaitsForTheBodyWaitsFor) {
  EXPECT_EQ(Inline("in: _Arg index=0\nbefore: StepEffect\n"
                   "f: Twice in ^before\ng: Five ^before\n"
                   "out: StepAdd f g"),
            "before = StepEffect()\n"
            "f/output_0 = Identity(f/sum ^before)\n"
            "f/sum = StepAdd(in in ^before)\n"
            "g/five = Const(^before)\n"
            "g/output_0 = Identity(g/five ^before)\n"
            "in = _Arg()\n"
            "out = StepAdd(f/output_0 g/output_0)");
}

TEST_F(InlineTest, WhoWaitsForTheCallWaitsForItsResults) {
  EXPECT_EQ(Inline("in: _Arg index=0\nf: Twice in\nafter: StepEffect ^f"),
            "after = StepEffect(^f/output_control)\n"
            "f/output_control = NoOp(^f/sum)\n"
            "f/sum = StepAdd(in in)\n"
            "in = _Arg()");
}

TEST_F(InlineTest, EffectsRunAndResultsWaitForThem) {
  EXPECT_EQ(Inline("in: _Arg index=0\nf: Effect in\nout: StepSlow f\n"
                   "also: StepSlow f"),
            "also = StepSlow(f/output_0)\n"
            "f/e = StepEffect()\n"
            "f/output_0 = Identity(f/sum ^f/output_control)\n"
            "f/output_control = NoOp(^f/e)\n"
            "f/sum = StepAdd(in in)\n"
            "in = _Arg()\n"
            "out = StepSlow(f/output_0)");
}

TEST_F(InlineTest, ATargetKeepsANodeOfItsName) {
  context_.targets.insert("f");
  EXPECT_EQ(Inline("in: _Arg index=0\nf: Twice in"),
            "f = NoOp(^f/output_control)\n"
            "f/output_control = NoOp(^f/sum)\n"
            "f/sum = StepAdd(in in)\n"
            "in = _Arg()");
}

TEST_F(InlineTest, CallsOutOfCallsGoAsFarAsTheyDoNotRecur) {
  AddFunction(&g_, "Four", {"x"}, "a: Twice x\nb: Twice a:y:0", {"y=b:y:0"});
  AddFunction(&g_, "Ever", {"x"}, "a: Twice x\nb: Ever a:y:0", {"y=b:y:0"});
  AddFunction(&g_, "Outer", {"x"}, "a: Ever x", {"y=a:y:0"});
  EXPECT_EQ(Inline("in: _Arg index=0\nf: Four in\ng: Ever in\n"
                   "h: Outer in\nfg: StepAdd f g\nout: StepAdd fg h"),
            "f/a/sum = StepAdd(in in)\n"
            "f/b/sum = StepAdd(f/a/sum f/a/sum)\n"
            "fg = StepAdd(f/b/sum g/b)\n"
            "g/a/sum = StepAdd(in in)\n"
            "g/b = Ever(g/a/sum)\n"
            "h/a/a/sum = StepAdd(in in)\n"
            "h/a/b = Ever(h/a/a/sum)\n"
            "in = _Arg()\n"
            "out = StepAdd(fg h/a/b)");
  EXPECT_EQ(changes_, 8);
}

TEST_F(InlineTest, DevicesAndColocation) {
  AddFunction(&g_, "Peers", {"x"},
              "a: StepAdd x x\nb: StepAdd a:z:0 x loc=a\n"
              "c: StepAdd a:z:0 x loc=stranger",
              {"y=b:z:0", "w=c:z:0"});
  Inline("in: _Arg index=0\nf: Peers in @/cpu:3\nout: StepAdd f f:1");
  for (const char* n : {"f/a", "f/b", "f/c"}) {
    ASSERT_NE(g_.FindNode(n), nullptr) << n;
    EXPECT_EQ(g_.FindNode(n)->requested_device(), "/cpu:3") << n;
  }
  std::vector<std::string> classes;
  ASSERT_EQ(g_.FindNode("f/b")->attrs().Get("_class", &classes), OkStatus());
  EXPECT_EQ(classes, (std::vector<std::string>{"loc:@f/a"}));
  EXPECT_EQ(g_.FindNode("f/c")->attrs().Find("_class"), nullptr);
}

TEST_F(InlineTest, NamesThatAreTakenAreNotTakenTwice) {
  EXPECT_EQ(Inline("in: _Arg index=0\nf/sum: StepSlow in\nf: Twice f/sum\n"
                   "out: StepSlow f"),
            "f/sum = StepSlow(in)\n"
            "f/sum_1 = StepAdd(f/sum f/sum)\n"
            "in = _Arg()\n"
            "out = StepSlow(f/sum_1)");
}

TEST_F(InlineTest, ShapesOfArgumentsAreKnownInTheBody) {
  AddFunction(&g_, "Shaped", {"x"}, "s: StepSlow x", {"y=s:y:0"});
  Inline("in: Placeholder shape=[2,3]\nf: Shaped in\nout: StepSlow f");
  EXPECT_EQ(g_.FindNode("f/s")->output_shape(0).DebugString(), "[2,3]");
  EXPECT_EQ(g_.FindNode("f/s")->requested_device(), "");
}

TEST_F(InlineTest, BodiesThatMustStayTogetherStay) {
  AddFunction(&g_, "Branch", {"x"},
              "p: Const true\ns: Switch x p:output:0\n"
              "m: Merge s:output_false:0 s:output_true:0",
              {"y=m:output:0"});
  // Its kernel keeps a stream of numbers, which all calls share.
  AddFunction(&g_, "Random", {"x"},
              "c: Const 2,2\n"
              "r: RandomUniformInt c:output:0 x x Tout=int32",
              {"y=r:output:0"});
  const std::string text =
      "in: _Arg index=0\nf: Branch in\ng: Random in\nout: StepAdd f g";
  Inline(text);
  EXPECT_EQ(changes_, 0);
  EXPECT_NE(g_.FindNode("f"), nullptr);
  EXPECT_NE(g_.FindNode("g"), nullptr);
}

TEST_F(InlineTest, NoneInAGraphWithDeadValues) {
  Inline(
      "in: _Arg index=0\np: Const true\ns: Switch in p\nf: Twice s\n"
      "out: StepSlow f");
  EXPECT_EQ(changes_, 0);
  EXPECT_NE(g_.FindNode("f"), nullptr);
}

TEST_F(InlineTest, ABodyThatIsNotValidIsLeftToFailWhenItRuns) {
  AddFunction(&g_, "Broken", {"x"}, "a: StepAdd x zork:y:0", {"y=a:z:0"});
  AddFunction(&g_, "Unknown", {"x"}, "a: Zork x", {"y=a:z:0"});
  Inline("in: _Arg index=0\nf: Broken in\ng: Unknown in\nout: StepAdd f g");
  EXPECT_EQ(changes_, 0);
  EXPECT_NE(g_.FindNode("f"), nullptr);
}

TEST_F(InlineTest, EndsWhenItIsInterrupted) {
  LoadNodes("in: _Arg index=0\nf: Twice in", &g_);
  const Interrupt interrupt([] { return errors::Cancelled("enough"); });
  int changes = 0;
  EXPECT_EQ(InlineFunctions(context_, &g_, &changes),
            errors::Cancelled("enough"));
  Graph without;
  EXPECT_EQ(InlineFunctions(context_, &without, &changes), OkStatus());
}

}  // namespace
}  // namespace headrace
