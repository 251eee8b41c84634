// _FusedElementwise gives what its ops give one after the other, and refuses
// what cannot be a chain.
#include <cmath>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

template <typename T>
Tensor Values(const TensorShape& shape, double first) {
  Tensor t(DataTypeToEnum<T>::value, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<T>()[i] = static_cast<T>(1.5 + std::sin(first + 0.37 * i));
  }
  return t;
}

struct Chain {
  std::vector<std::string> ops;
  std::vector<int64_t> sides;
  std::vector<TensorShape> args;
};

template <typename T>
void ExpectSameAsOneByOne(const TensorShape& shape, const Chain& chain) {
  OpTester fused("_FusedElementwise");
  Tensor x = Values<T>(shape, 0), want = x;
  fused.Attr("ops", chain.ops)
      .Attr("sides", chain.sides)
      .Attr("num_args", static_cast<int64_t>(chain.args.size()))
      .Input(x);
  size_t used = 0;
  for (size_t i = 0; i < chain.ops.size(); ++i) {
    OpTester one(chain.ops[i]);
    Tensor arg;
    if (chain.sides[i] != 0) {
      arg = Values<T>(chain.args[used], static_cast<double>(used + 1));
      fused.Input(arg);
      ++used;
    }
    if (chain.sides[i] == 2) one.Input(arg);
    one.Input(want);
    if (chain.sides[i] == 1) one.Input(arg);
    ASSERT_EQ(one.Run(), OkStatus());
    want = one.Output(0);
  }
  ASSERT_EQ(fused.Run(), OkStatus());
  ASSERT_EQ(fused.Output(0).shape(), want.shape());
  EXPECT_EQ(fused.Output(0).tensor_data(), want.tensor_data());
}

// Rows shorter and longer than a block, whole operands, scalars, on either
// side; sizes at which threads share the work.
TEST(FusedElementwiseTest, SameBitsAsTheOpsOneByOne) {
  const TensorShape shapes[] = {
      TensorShape({}),          TensorShape({5}),       TensorShape({3, 7}),
      TensorShape({2, 3, 255}), TensorShape({5, 1500}), TensorShape({0, 7}),
      TensorShape({40, 9, 257})};
  for (const TensorShape& shape : shapes) {
    SCOPED_TRACE(shape.DebugString());
    TensorShape row;
    if (shape.dims() > 0) row = TensorShape({shape.dim_size(shape.dims() - 1)});
    TensorShape long_row = row;
    if (shape.dims() > 1) long_row.InsertDim(0, 1);
    if (shape.dims() > 2) long_row.set_dim(0, shape.dim_size(1));
    const Chain chain = {
        {"Sub", "Mul", "Relu", "RealDiv", "Tanh", "Pow", "Add", "Sub"},
        {1, 2, 0, 2, 0, 1, 2, 1},
        {row, TensorShape({}), shape, long_row, TensorShape({}), shape}};
    ExpectSameAsOneByOne<float>(shape, chain);
    ExpectSameAsOneByOne<double>(shape, chain);
  }
}

TEST(FusedElementwiseTest, RefusesWhatIsNoChain) {
  struct {
    std::vector<std::string> ops;
    std::vector<int64_t> sides;
    std::vector<TensorShape> args;
    const char* message;
  } cases[] = {
      {{"Neg", "Exp"}, {0}, {}, "ops and sides must be equally long"},
      {{"Neg"}, {3}, {}, "sides[0] must be 0, 1 or 2, got 3"},
      {{"Neg"}, {1}, {TensorShape({})}, "Neg is no element-wise op of 2"},
      {{"Add"}, {0}, {}, "Add is no element-wise op of 1"},
      {{"Add"}, {1}, {}, "the ops want 1 args, got 0"},
      {{"Add"}, {1}, {TensorShape({2})}, "args[0] must have one element"},
      {{"Add"}, {1}, {TensorShape({4, 1})}, "args[0] must have one element"},
      {{"Add"}, {1}, {TensorShape({1, 1, 1})}, "args[0] must have one element"},
      {{"Add"}, {1}, {TensorShape({0})}, "args[0] must have one element"}};
  for (const auto& c : cases) {
    OpTester t("_FusedElementwise");
    t.Attr("ops", c.ops)
        .Attr("sides", c.sides)
        .Attr("num_args", static_cast<int64_t>(c.args.size()))
        .Input(Values<float>(TensorShape({4, 3}), 0));
    for (const TensorShape& s : c.args) t.Input(Values<float>(s, 0));
    const Status s = t.Run();
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
    EXPECT_NE(s.message().find(c.message), absl::string_view::npos)
        << s << ", wanted: " << c.message;
  }
}

}  // namespace
}  // namespace headrace
