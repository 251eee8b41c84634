// _FusedElementwiseGroup gives what its ops give one after the other, whatever
// reads what, and refuses what is no group.
#include <cmath>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

template <typename T>
Tensor Values(const TensorShape& shape, double first) {
  Tensor t(DataTypeToEnum<T>::value, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<T>()[i] =
        static_cast<T>(1.5 + std::sin(first + 0.37 * static_cast<double>(i)));
  }
  return t;
}

struct Group {
  std::vector<std::string> ops;
  std::vector<int64_t> operands;
  std::vector<int64_t> results;
};

OpTester& Configure(const Group& g, int64_t inputs, OpTester* t) {
  return t->Attr("ops", g.ops)
      .Attr("operands", g.operands)
      .Attr("results", g.results)
      .Attr("num_inputs", inputs)
      .Attr("num_outputs", static_cast<int64_t>(g.results.size()));
}

template <typename T>
void ExpectSameAsOneByOne(const Group& g, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> values = inputs;
  for (size_t i = 0; i < g.ops.size(); ++i) {
    OpTester one(g.ops[i]);
    one.Input(values[g.operands[2 * i]]);
    if (g.operands[2 * i + 1] >= 0) one.Input(values[g.operands[2 * i + 1]]);
    ASSERT_EQ(one.Run(), OkStatus());
    values.push_back(one.Output(0));
  }
  OpTester fused("_FusedElementwiseGroup");
  Configure(g, static_cast<int64_t>(inputs.size()), &fused);
  for (const Tensor& t : inputs) fused.Input(t);
  ASSERT_EQ(fused.Run(), OkStatus());
  for (size_t k = 0; k < g.results.size(); ++k) {
    const Tensor& want = values[inputs.size() + g.results[k]];
    ASSERT_EQ(fused.Output(static_cast<int>(k)).shape(), want.shape());
    EXPECT_EQ(fused.Output(static_cast<int>(k)).tensor_data(),
              want.tensor_data())
        << k;
  }
}

template <typename T>
void CheckShapes() {
  for (const TensorShape& shape :
       {TensorShape({5}), TensorShape({3, 70}), TensorShape({2, 3, 255}),
        TensorShape({5, 1500}), TensorShape({0, 70}), TensorShape({4, 0}),
        TensorShape({7, 1}), TensorShape({1, 1}), TensorShape({40, 9, 257})}) {
    SCOPED_TRACE(shape.DebugString());
    const int last = shape.dims() - 1;
    TensorShape column = shape;
    column.set_dim(last, 1);
    // Whole, row, column, scalar, whole.
    const std::vector<Tensor> inputs = {
        Values<T>(shape, 0), Values<T>(TensorShape({shape.dim_size(last)}), 1),
        Values<T>(column, 2), Values<T>(TensorShape({}), 3),
        Values<T>(shape, 4)};
    const Group group = {
        {"Sub", "Mul", "Tanh", "RealDiv", "TanhGrad", "Add", "Neg", "Mul"},
        {0, 2,     // 5: x - column
         5, 1,     // 6: .. * row
         6, -1,    // 7: tanh
         3, 7,     // 8: scalar / ..
         7, 4,     // 9: gradient
         8, 9,     // 10
         5, -1,    // 11
         10, 11},  // 12
        {2, 7, 0}};
    ExpectSameAsOneByOne<T>(group, inputs);
  }
}

TEST(FusedElementwiseGroup, SameBitsAsTheOpsOneByOne) {
  CheckShapes<float>();
  CheckShapes<double>();
}

// Values are read long after they are computed, so that scratch is not reused
// too early.
TEST(FusedElementwiseGroup, ManyValuesLiveAtOnce) {
  Group g;
  for (int64_t i = 0; i < 24; ++i) {
    g.ops.push_back("Add");
    g.operands.insert(g.operands.end(), {i, 0});  // the value before + x
  }
  for (int64_t i = 0; i < 23; ++i) {
    g.ops.push_back("Mul");
    g.operands.insert(g.operands.end(), {24 - i, i == 0 ? 1 : 24 + i});
  }
  g.results = {46};
  ExpectSameAsOneByOne<float>(g, {Values<float>(TensorShape({3, 700}), 0)});
}

TEST(FusedElementwiseGroup, RefusesWhatIsNoGroup) {
  const TensorShape shape({4, 3});
  const struct {
    Group group;
    std::vector<TensorShape> inputs;
    const char* message;
  } cases[] = {
      {{{"Neg"}, {0}, {0}}, {shape}, "two operands for each, got 1 and 1"},
      {{{"Neg"}, {1, -1}, {0}}, {shape}, "operands of ops[0]"},
      {{{"Neg"}, {-1, -1}, {0}}, {shape}, "operands of ops[0]"},
      {{{"Add"}, {0, 1}, {0}}, {shape}, "operands of ops[0]"},
      {{{"Add"}, {0, -1}, {0}}, {shape}, "Add is no element-wise op of 1"},
      {{{"Cast"}, {0, -1}, {0}}, {shape}, "Cast is no element-wise op of 1"},
      {{{"Neg"}, {0, -1}, {1}}, {shape}, "results[0] must be another of the 1"},
      {{{"Neg"}, {0, -1}, {0, 0}}, {shape}, "results[1] must be another"},
      {{{"Add"}, {0, 1}, {0}},
       {shape, TensorShape({2})},
       "inputs[1] must have one element, or be a row or a column"},
      {{{"Add"}, {0, 1}, {0}}, {shape, TensorShape({3, 1})}, "inputs[1] must"},
      {{{"Add"}, {0, 1}, {0}}, {shape, TensorShape({1, 1, 1})}, "inputs[1]"},
      {{std::vector<std::string>(49, "Neg"), std::vector<int64_t>(98, 0), {0}},
       {shape},
       "wanted 1 to 48"},
  };
  for (const auto& c : cases) {
    OpTester t("_FusedElementwiseGroup");
    Configure(c.group, static_cast<int64_t>(c.inputs.size()), &t);
    for (const TensorShape& s : c.inputs) t.Input(Values<float>(s, 0));
    const Status s = t.Run();
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
    EXPECT_NE(s.message().find(c.message), absl::string_view::npos)
        << s << ", wanted: " << c.message;
  }
}

}  // namespace
}  // namespace headrace
