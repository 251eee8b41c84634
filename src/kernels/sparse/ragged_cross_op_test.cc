// Expected values are TensorFlow's.
#include "kernels/sparse/ragged_test_util.h"

namespace headrace {
namespace {

struct Cross {
  std::vector<Tensor> ragged_values, ragged_splits, sparse_indices,
      sparse_values, sparse_shapes, dense;
  std::string order;
  int64_t buckets = 0;
};
Status RunCross(const Cross& c, bool hashed, DataType splits, OpTester* t) {
  const auto types = [](const std::vector<Tensor>& list) {
    std::vector<DataType> out;
    for (const Tensor& x : list) out.push_back(x.dtype());
    return out;
  };
  t->Attr("ragged_values_types", types(c.ragged_values))
      .Attr("ragged_splits_types", types(c.ragged_splits))
      .Attr("sparse_values_types", types(c.sparse_values))
      .Attr("dense_types", types(c.dense))
      .Attr("Nsparse", static_cast<int64_t>(c.sparse_indices.size()))
      .Attr("input_order", c.order)
      .Attr("hashed_output", hashed)
      .Attr("num_buckets", c.buckets)
      .Attr("hash_key", int64_t{123})
      .Attr("out_values_type", hashed ? DT_INT64 : DT_STRING)
      .Attr("out_row_splits_type", splits);
  for (const auto* list :
       {&c.ragged_values, &c.ragged_splits, &c.sparse_indices, &c.sparse_values,
        &c.sparse_shapes, &c.dense}) {
    for (const Tensor& x : *list) t->Input(x);
  }
  return t->Run();
}

TEST(RaggedCrossTest, Results) {
  const Tensor abc = Strings({"a", "b", "c"}), rows = V({0, 2, 2, 3});
  const Tensor four = V({1, 2, 3, 4}), four_rows = V({0, 1, 2, 4});
  const Tensor at = MakeTensor<int64_t>({4, 2}, {0, 0, 1, 0, 1, 1, 2, 1});
  const Tensor pqrs = Strings({"p", "q", "r", "s"});
  const Tensor dense =
      MakeTensor<tstring>({3, 2}, {tstring("x"), tstring("y"), tstring("z"),
                                   tstring("w"), tstring("u"), tstring("v")});
  const struct {
    Cross cross;
    bool hashed;
    Tensor values;
    Ints splits;
  } cases[] = {
      {{{abc, four}, {rows, four_rows}, {}, {}, {}, {}, "RR"},
       false,
       Strings({"a_X_1", "b_X_1", "c_X_3", "c_X_4"}),
       {0, 2, 2, 4}},
      {{{abc, four}, {rows, four_rows}, {}, {}, {}, {}, "RR", 100},
       true,
       V({60, 80, 7, 11}),
       {0, 2, 2, 4}},
      {{{abc}, {rows}, {at}, {pqrs}, {V({3, 2})}, {dense}, "RSD"},
       false,
       Strings({"a_X_p_X_x", "a_X_p_X_y", "b_X_p_X_x", "b_X_p_X_y", "c_X_s_X_u",
                "c_X_s_X_v"}),
       {0, 4, 4, 6}},
      {{{abc}, {rows}, {at}, {pqrs}, {V({3, 2})}, {dense}, "DSR"},
       false,
       Strings({"x_X_p_X_a", "x_X_p_X_b", "y_X_p_X_a", "y_X_p_X_b", "u_X_s_X_c",
                "v_X_s_X_c"}),
       {0, 4, 4, 6}},
      {{{}, {}, {}, {}, {}, {MakeTensor<int64_t>({1, 2}, {1, 2})}, "D"},
       true,
       V({5460693908070567633, 4013637289993903739}),
       {0, 2}},
      {{{},
        {},
        {},
        {},
        {},
        {MakeTensor<int64_t>({1, 2}, {1, -2}),
         MakeTensor<tstring>({1, 1}, {tstring("a")})},
        "DD",
        10},
       true,
       V({5, 4}),
       {0, 2}},
      {{{}, {}, {}, {}, {}, {}, ""}, false, Strings({}), {0}},
      {{{Strings({})}, {V({0, 0, 0})}, {}, {}, {}, {}, "R"},
       false,
       Strings({}),
       {0, 0, 0}},
  };
  for (const auto& c : cases) {
    OpTester t("RaggedCross");
    ASSERT_EQ(RunCross(c.cross, c.hashed, DT_INT64, &t), OkStatus());
    ExpectEqual(t.Output(0), c.values);
    ExpectEqual(t.Output(1), V(c.splits));
  }
  // Splits of every type, each as it comes.
  OpTester t("RaggedCross");
  ASSERT_EQ(RunCross({{abc, four},
                      {V<int32_t>({0, 2, 2, 3}), four_rows},
                      {},
                      {},
                      {},
                      {},
                      "RR"},
                     false, DT_INT32, &t),
            OkStatus());
  ExpectEqual(t.Output(1), V<int32_t>({0, 2, 2, 4}));
}

TEST(RaggedCrossTest, Refusals) {
  const Tensor abc = Strings({"a", "b", "c"}), rows = V({0, 2, 2, 3});
  const Tensor at = MakeTensor<int64_t>({1, 2}, {0, 0});
  const struct {
    Cross cross;
    const char* message;
  } cases[] = {
      {{{abc}, {rows}, {}, {}, {}, {}, ""}, "Invalid input_order"},
      {{{abc}, {rows}, {}, {}, {}, {}, "X"}, "Invalid input_order"},
      {{{abc}, {rows}, {}, {}, {}, {}, "RR"}, "Invalid input_order"},
      {{{abc}, {rows}, {}, {}, {}, {}, "D"}, "Invalid input_order"},
      {{{abc, abc}, {rows, V({0, 3})}, {}, {}, {}, {}, "RR"}, ""},
      {{{abc}, {V({1, 2, 3})}, {}, {}, {}, {}, "R"}, "must begin with 0"},
      {{{abc}, {V({0, 2})}, {}, {}, {}, {}, "R"}, "number of values, 3, got 2"},
      {{{abc}, {V({0, 7})}, {}, {}, {}, {}, "R"}, "number of values, 3, got 7"},
      {{{abc}, {V({0, 2, 1, 3})}, {}, {}, {}, {}, "R"}, "must not fall"},
      {{{abc}, {V(Ints{})}, {}, {}, {}, {}, "R"}, ""},
      {{{abc}, {MakeScalar<int64_t>(0)}, {}, {}, {}, {}, "R"}, ""},
      {{{MakeTensor<tstring>({1, 1}, {tstring("a")})},
        {V({0, 1})},
        {},
        {},
        {},
        {},
        "R"},
       ""},
      {{{}, {}, {}, {}, {}, {Strings({"a"})}, "D"}, ""},
      {{{},
        {},
        {MakeTensor<int64_t>({1, 1}, {0})},
        {Strings({"p"})},
        {V({2})},
        {},
        "S"},
       "rank 2"},
      {{{}, {}, {at}, {Strings({"p", "q"})}, {V({2, 1})}, {}, "S"}, ""},
      {{{abc}, {rows, rows}, {}, {}, {}, {}, "R"}, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.message);
    OpTester t("RaggedCross");
    ExpectError(RunCross(c.cross, false, DT_INT64, &t), kInvalid, c.message);
  }
  OpTester many("RaggedCross");
  ExpectError(
      RunCross({{}, {}, {at}, {Strings({"p"})}, {V({kMax / 64, 1})}, {}, "S"},
               false, DT_INT64, &many),
      absl::StatusCode::kResourceExhausted, "");
  OpTester t("RaggedCross");
  t.Attr("ragged_values_types", std::vector<DataType>())
      .Attr("ragged_splits_types", std::vector<DataType>())
      .Attr("sparse_values_types", std::vector<DataType>())
      .Attr("dense_types", std::vector<DataType>())
      .Attr("Nsparse", int64_t{0})
      .Attr("input_order", std::string())
      .Attr("hashed_output", true)
      .Attr("num_buckets", int64_t{0})
      .Attr("hash_key", int64_t{1})
      .Attr("out_values_type", DT_STRING)
      .Attr("out_row_splits_type", DT_INT64);
  ExpectError(t.Run(), kInvalid, "out_values_type must be int64");
}

}  // namespace
}  // namespace headrace
