#include "runtime/passes/symbolic_shape.h"

#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

TEST_F(PassTest, SizesThatMustComeOutEqualAreKnownToBe) {
  const Endpoint x = In("x", {-1, -1, -1, 4}), y = In("y", {-1, -1, -1, 4});
  const auto pool = [&](const std::string& name, int k, int stride,
                        const std::string& padding) {
    return Op(name, "MaxPool", {x},
              {{"ksize", std::vector<int64_t>{1, k, k, 1}},
               {"strides", std::vector<int64_t>{1, stride, stride, 1}},
               {"padding", padding}});
  };
  const Endpoint w1 = Weights("w1", {1, 1, 4, 4}),
                 w3 = Weights("w3", {3, 3, 4, 4});
  struct {
    Endpoint a, b;
    bool equal;
  } cases[] = {
      {x, Op("relu", "Relu", {x}), true},
      {x, y, false},
      {x, Conv("c1", x, w3), true},
      {x, Conv("c2", x, w1, "VALID"), true},
      {x, Conv("c3", x, w3, "VALID"), false},
      {pool("p1", 2, 2, "SAME"), pool("p2", 3, 2, "SAME"), true},
      {pool("p3", 1, 2, "VALID"), pool("p4", 3, 2, "SAME"), true},
      {pool("p5", 2, 2, "VALID"), pool("p6", 2, 2, "VALID"), true},
      {pool("p7", 3, 2, "VALID"), pool("p8", 2, 2, "VALID"), false},
      {x, Op("sum", "Add", {x, Op("neg", "Neg", {x})}), true},
      {x, Op("sum_y", "Add", {x, y}), false},
  };
  SymbolicShapes shapes;
  ASSERT_EQ(SymbolicShapes::Make(g_, &shapes), OkStatus());
  for (const auto& c : cases) {
    EXPECT_EQ(shapes.SurelyEqual(c.a, c.b), c.equal)
        << c.a.node->name() << " " << c.b.node->name();
  }
}

}  // namespace
}  // namespace headrace
