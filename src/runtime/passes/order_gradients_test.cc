#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class OrderGradientsTest : public PassTest {
 protected:
  void Update(const std::string& name, Endpoint gradient, int64_t size = 4) {
    const Endpoint variable =
        Op(name + "_v", "VariableV2", {},
           {{"dtype", DT_FLOAT}, {"shape", TensorShape({size, size})}});
    Op(name, "ApplyGradientDescent", {variable, rate_, gradient});
    context_.targets.insert(name);
  }
  // Layers of one product each, the first of which is number 1, of square
  // matrices; the gradients of weights are w3, w2, w1.
  void Backward(const Endpoint& image, const Endpoint& top, int64_t size = 4) {
    Endpoint dy = top;
    for (int layer = 3; layer > 0; --layer) {
      const std::string number = std::to_string(layer);
      const Endpoint x = Op("x" + number, "Neg", {image}),
                     w = In("v" + number, {size, size});
      Update("u" + number,
             Op("w" + number, "MatMul", {x, dy}, {{"transpose_a", true}}),
             size);
      dy = Op("d" + number, "MatMul", {dy, w}, {{"transpose_b", true}});
    }
    Fetch(dy);
  }
  std::string Controls(const std::string& node) {
    const Node* const n = g_.FindNode(node);
    std::vector<std::string> names;
    for (const Edge* e : n->control_inputs()) names.push_back(e->src()->name());
    return absl::StrJoin(names, " ");
  }

  Endpoint rate_ = Scalar("rate", 0.5f);
};

TEST_F(OrderGradientsTest, WeightsComeBeforeTheLayerAfterNext) {
  const Endpoint x = In("x", {4, 4});
  Backward(x, Op("top", "Neg", {x}));
  Run("order_gradients");
  EXPECT_EQ(Changes("order_gradients"), 3);
  EXPECT_EQ(Controls("d3"), "x3 x2");  // those that are read soon
  EXPECT_EQ(Controls("d2"), "w3");
  EXPECT_EQ(Controls("d1"), "");  // no longer a way than that of w2
}

TEST_F(OrderGradientsTest, LargeOnesComeBeforeTheNextLayer) {
  const Endpoint x = In("x", {300, 300});
  Backward(x, Op("top", "Neg", {x}), 300);
  Run("order_gradients");
  EXPECT_EQ(Controls("d3"), "x2 w3");
  EXPECT_EQ(Controls("d2"), "w2");
  EXPECT_EQ(Controls("d1"), "");  // no longer a way than that of w1
}

TEST_F(OrderGradientsTest, NothingIsOrderedWhereNothingIsUpdated) {
  const Endpoint x = In("x", {4, 4});
  const Endpoint a = Op("a", "Exp", {x}), b = Op("b", "Neg", {a}),
                 c = Op("c", "Neg", {b}), d = Op("d", "Neg", {c});
  Fetch(Op("side", "Abs", {a}));
  Fetch(Op("other", "Abs", {c}));
  Fetch(d);
  Run("order_gradients");
  EXPECT_EQ(Changes("order_gradients"), 0);
}

// A gradient may need no more than the shape of a value of long ago.
TEST_F(OrderGradientsTest, ShapesAreTakenBeforeTheWayGoesOn) {
  const Endpoint x = In("x", {-1, 4}), a = Op("a", "Exp", {x}),
                 b = Op("b", "Neg", {a}), c = Op("c", "Neg", {b});
  const Endpoint shape = Op("shape", "Shape", {a});
  Fetch(Op("other", "Abs", {b}));
  Update("u",
         Op("w", "Fill", {shape, Op("d", "Sum", {c, Ints("all", {0, 1})})}));
  Run("order_gradients");
  EXPECT_EQ(Controls("c"), "shape");
}

// What the layer waits for must not wait for the layer: the queue may be filled
// with its result.
TEST_F(OrderGradientsTest, WhatMayWaitHoldsNothingUp) {
  const Endpoint x = In("x", {4, 4}), top = Op("top", "Neg", {x});
  const Endpoint queue =
      Op("queue", "FIFOQueueV2", {},
         {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  const Endpoint taken =
      Op("taken", "QueueDequeueV2", {queue},
         {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  Update("late", Op("product", "Mul", {top, taken}));
  Backward(x, top);
  Run("order_gradients");
  EXPECT_EQ(Controls("d3"), "x3 x2");
  EXPECT_EQ(Controls("d2"), "w3");
}

TEST_F(OrderGradientsTest, NothingIsOrderedWhereValuesMayBeDead) {
  const Endpoint x = In("x", {4, 4});
  Backward(x, Op("top", "Neg", {x}));
  Fetch(Op("branch", "Switch", {In("y", {2}), In("p", {}, DT_BOOL)}));
  Run("order_gradients");
  EXPECT_EQ(Changes("order_gradients"), 0);
}

}  // namespace
}  // namespace headrace
