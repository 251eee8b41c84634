// Of fold_transpose and fold_tensordot: what is folded, and what is not.
#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class TensordotTest : public PassTest {
 protected:
  // The MatMul of x, reshaped to a matrix, by w, reshaped to `sizes`.
  Endpoint Dense(const std::string& name, Endpoint x, Endpoint w,
                 Endpoint sizes) {
    const Endpoint rows =
        Op(name + "/rows", "Reshape", {x, Ints(name + "/matrix", {-1, 4})});
    const Endpoint product = Op(name + "/product", "MatMul", {rows, w});
    return Op(name, "Reshape", {product, sizes});
  }
  // Sizes `from` to `to` of x, and `last`.
  Endpoint Sizes(const std::string& name, Endpoint x,
                 const std::vector<int32_t>& dims, int32_t last) {
    const Endpoint zero =
        Const(&g_, name + "/zero", Tensor::Scalar<int32_t>(0));
    return Op(name, "ConcatV2",
              {Op(name + "/gather", "GatherV2",
                  {Op(name + "/shape", "Shape", {x}),
                   Ints(name + "/dims", dims), zero}),
               Ints(name + "/last", {last}), zero});
  }
};

TEST_F(TensordotTest, ReshapesAroundAProductAreLeftOut) {
  const Endpoint open = In("open", {-1, -1, 4}), half = In("half", {-1, 3, 4});
  const Endpoint w = Weights("w", {4, 5});
  Fetch(Dense("a", open, w, Sizes("s", open, {0, 1}, 5)));
  Fetch(Dense("b", half, w, Ints("t", {-1, 3, 5})));
  const auto part = [&](const std::string& name, int32_t from) {
    return Op(
        name, "StridedSlice",
        {Op(name + "/shape", "Shape", {open}), Ints(name + "/begin", {from}),
         Ints(name + "/end", {from + 1}), Ints(name + "/stride", {1})},
        {{"shrink_axis_mask", int64_t{1}}});
  };
  const Endpoint five = Const(&g_, "five", Tensor::Scalar<int32_t>(5));
  Fetch(
      Dense("c", open, w, Op("u", "Pack", {part("p", 0), part("q", 1), five})));
  EXPECT_EQ(Run("fold_tensordot"),
            "a = BatchMatMulV2(open, w)\n"
            "fetch_a_0 = _Retval(a)\n"
            "b = BatchMatMulV2(half, w)\n"
            "fetch_b_0 = _Retval(b)\n"
            "c = BatchMatMulV2(open, w)\n"
            "fetch_c_0 = _Retval(c)\n");
  EXPECT_EQ(Changes("fold_tensordot"), 6);
}

TEST_F(TensordotTest, OtherShapesAndReadersKeepTheReshapes) {
  const Endpoint x = In("x", {-1, -1, 4}), other = In("other", {-1, -1, 4});
  const Endpoint w = Weights("w", {4, 5});
  Fetch(Dense("swapped", x, w, Sizes("s", x, {1, 0}, 5)));
  Fetch(Dense("of_another", x, w, Sizes("t", other, {0, 1}, 5)));
  Fetch(Dense("two_open", x, w, In("fed", {3}, DT_INT32)));
  Fetch(Dense("more", x, w, Sizes("v", x, {0, 1, 1}, 5)));
  Fetch(Dense("read", x, w, Sizes("u", x, {0, 1}, 5)));
  Fetch({g_.FindNode("read/product"), 0});
  context_.targets.insert("wanted/product");
  Fetch(Dense("wanted", x, w, Sizes("y", x, {0, 1}, 5)));
  Run("fold_tensordot");
  EXPECT_EQ(Changes("fold_tensordot"), 0);
}

TEST_F(TensordotTest, TransposesGoIntoProducts) {
  const Endpoint x = In("x", {6, 4}), y = In("y", {5, 4});
  const Endpoint swap = Ints("swap", {1, 0});
  Fetch(Op("a", "MatMul", {x, Op("t", "Transpose", {y, swap})}));
  const Endpoint read = Op("read", "Transpose", {y, swap});
  Fetch(Op("b", "MatMul", {x, read}));
  Fetch(read);
  const Endpoint w = Weights("w", {6, 5});
  Fetch(Op("c", "MatMul", {Op("u", "Transpose", {x, swap}), w}));
  const Endpoint z = In("z", {2, 3, 4}), v = In("v", {3, 2, 4});
  const Endpoint turn = Ints("turn", {1, 0, 2});
  Fetch(Op("d", "BatchMatMulV2", {Op("turned", "Transpose", {z, turn}), v},
           {{"adj_y", true}}));
  EXPECT_EQ(Run("fold_transpose"),
            "a = MatMul(x, y)\n"
            "fetch_a_0 = _Retval(a)\n"
            "read = Transpose(y, swap)\n"
            "b = MatMul(x, read)\n"
            "fetch_b_0 = _Retval(b)\n"
            "fetch_read_0 = _Retval(read)\n"
            "u = Transpose(x, swap)\n"
            "c = MatMul(u, w)\n"
            "fetch_c_0 = _Retval(c)\n"
            "turned = Transpose(z, turn)\n"
            "d = BatchMatMulV2(turned, v)\n"
            "fetch_d_0 = _Retval(d)\n");
  bool transposed = false;
  ASSERT_EQ(g_.FindNode("a")->attrs().Get("transpose_b", &transposed),
            OkStatus());
  EXPECT_TRUE(transposed);
}

}  // namespace
}  // namespace headrace
