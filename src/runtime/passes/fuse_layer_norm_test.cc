#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class LayerNormPassTest : public PassTest {
 protected:
  Endpoint Mean(const std::string& name, Endpoint x,
                const std::vector<int32_t>& axes, bool keep = true) {
    return Op(name, "Mean", {x, Ints(name + "/axes", axes)},
              {{"keep_dims", keep}});
  }
  // (x - m) * r, named y.
  Endpoint Norm(Endpoint x, const std::vector<int32_t>& axes,
                const std::string& y = "y") {
    const Endpoint m = Mean(y + "/m", x, axes);
    const Endpoint d = Op(y + "/d", "Sub", {x, m});
    const Endpoint v = Mean(y + "/v", Op(y + "/square", "Square", {d}), axes);
    const Endpoint r =
        Op(y + "/r", "Rsqrt",
           {Op(y + "/sum", "AddV2", {v, Scalar(y + "/e", 0.25f)})});
    return Op(y, "Mul", {d, r});
  }
  const Node& Find(const std::string& name) { return *g_.FindNode(name); }
};

TEST_F(LayerNormPassTest, BecomesOneNode) {
  const Endpoint x = In("x", {-1, 8, 4});
  const Endpoint y = Norm(x, {2});
  const Endpoint scaled = Op("scaled", "Mul", {Weights("scale", {4}), y});
  Fetch(Op("out", "BiasAdd", {scaled, Weights("offset", {4})},
           {{"data_format", "NHWC"}}));
  Fetch(Op("sum", "AddV2", {Norm(x, {1, -1}, "z"), In("other", {-1, 8, 4})}));
  EXPECT_EQ(Run("fuse_layer_norm"),
            "out = _FusedLayerNorm(x, scale, offset)\n"
            "fetch_out_0 = _Retval(out)\n"
            "z = _FusedLayerNorm(x)\n"
            "sum = AddV2(z, other)\n"
            "fetch_sum_0 = _Retval(sum)\n");
  int64_t axes = 0;
  float epsilon = 0;
  EXPECT_EQ(Find("z").attrs().Get("axes", &axes), OkStatus());
  EXPECT_EQ(Find("z").attrs().Get("epsilon", &epsilon), OkStatus());
  EXPECT_EQ(axes, 2);
  EXPECT_EQ(epsilon, 0.25f);
}

TEST_F(LayerNormPassTest, StaysWhereItIsAnotherFormulaOrAPartIsWanted) {
  const Endpoint x = In("x", {-1, 8, 4});
  // Another axis; a mean without that dim; another mean.
  Fetch(Norm(x, {1}, "first"));
  const Endpoint m = Mean("m", x, {2}), n = Mean("n", x, {1});
  const auto rest = [&](const std::string& name, Endpoint a, Endpoint b) {
    const Endpoint v =
        Mean(name + "/v", Op(name + "/s", "SquaredDifference", {x, a}), {2});
    const Endpoint r = Op(name + "/r", "Rsqrt", {v});
    Fetch(Op(name, "Mul", {Op(name + "/d", "Sub", {x, b}), r}));
  };
  rest("second", m, n);
  rest("third", n, m);
  // The variance is fetched.
  Fetch(Norm(x, {2}, "fourth"));
  Fetch({g_.FindNode("fourth/v"), 0});
  // A target.
  context_.targets.insert("fifth/r");
  Fetch(Norm(x, {2}, "fifth"));
  // Of unknown rank: which dims are the last?
  Fetch(Norm(In("u", PartialTensorShape()), {2}, "sixth"));
  Run("fuse_layer_norm");
  EXPECT_EQ(Changes("fuse_layer_norm"), 0);
}

}  // namespace
}  // namespace headrace
