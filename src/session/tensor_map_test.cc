// TensorMaps through a session: keys of every kind, values kept apart.
#include <gtest/gtest.h>

#include "graph/graph_test_util.h"
#include "headrace/session.h"

namespace headrace {
namespace {

using absl::StatusCode;

class TensorMapTest : public ::testing::Test {
 protected:
  Endpoint Insert(const std::string& name, Endpoint map, const Tensor& key,
                  const Tensor& value) {
    return {AddOp(g(), name, "TensorMapInsert",
                  {map, Const(g(), name + "/key", key),
                   Const(g(), name + "/value", value)}),
            0};
  }
  Endpoint Key(const std::string& op, const std::string& name, Endpoint map,
               const Tensor& key, AttrMap attrs = {}) {
    return {AddOp(g(), name, op, {map, Const(g(), name + "/key", key)},
                  std::move(attrs)),
            0};
  }
  Status Run(Endpoint fetch, Tensor* out) {
    std::unique_ptr<Session> session;
    HR_RETURN_IF_ERROR(MoveTo(NewSession({}, "", graph_), &session));
    std::vector<Tensor> values;
    HR_RETURN_IF_ERROR(
        session->Run(pb::RunOptions(), {}, {fetch}, {}, &values));
    *out = values[0];
    return OkStatus();
  }
  Graph* g() { return graph_.get(); }
  static Tensor S(const std::string& s) {
    return Tensor::Scalar<tstring>(tstring(s));
  }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
};

TEST_F(TensorMapTest, KeepsValuesByTypeShapeAndElementsOfTheKey) {
  const Tensor pair = MakeTensor<int32_t>({2}, {1, 2});
  const Endpoint empty = {AddOp(g(), "empty", "EmptyTensorMap"), 0};
  const Endpoint a = Insert("a", empty, pair, MakeScalar<float>(3));
  const Endpoint b =
      Insert("b", a, MakeTensor<int32_t>({1, 2}, {1, 2}), MakeScalar<float>(4));
  const Endpoint c = Insert("c", b, S("k"), S("text"));
  const Endpoint replaced = Insert("r", c, pair, MakeScalar<float>(5));
  Tensor out;
  const auto size = [&](const std::string& name, Endpoint map) {
    EXPECT_EQ(Run({AddOp(g(), name, "TensorMapSize", {map}), 0}, &out),
              OkStatus());
    return out.scalar<int32_t>();
  };
  EXPECT_EQ(size("size_c", c), 3);
  EXPECT_EQ(size("size_r", replaced), 3);
  EXPECT_EQ(size("size_empty", empty), 0);
  const AttrMap floats = {{"value_dtype", DT_FLOAT}};
  ASSERT_EQ(Run(Key("TensorMapLookup", "l1", replaced, pair, floats), &out),
            OkStatus());
  EXPECT_EQ(out.scalar<float>(), 5);
  ASSERT_EQ(Run(Key("TensorMapLookup", "l2", c, pair, floats), &out),
            OkStatus());
  EXPECT_EQ(out.scalar<float>(), 3);  // the old map has the old value
  ASSERT_EQ(
      Run(Key("TensorMapLookup", "l3", c, S("k"), {{"value_dtype", DT_STRING}}),
          &out),
      OkStatus());
  ExpectEqual(out, S("text"));
  const Endpoint erased = Key("TensorMapErase", "erased", c, S("k"), floats);
  ASSERT_EQ(Run(Key("TensorMapHasKey", "h1", erased, S("k")), &out),
            OkStatus());
  EXPECT_FALSE(out.scalar<bool>());
  ASSERT_EQ(Run(Key("TensorMapHasKey", "h2", c, S("k")), &out), OkStatus());
  EXPECT_TRUE(out.scalar<bool>());
}

TEST_F(TensorMapTest, StacksKeys) {
  const Endpoint empty = {AddOp(g(), "empty", "EmptyTensorMap"), 0};
  const Endpoint a =
      Insert("a", empty, MakeTensor<int32_t>({2}, {1, 2}), S(""));
  const Endpoint b = Insert("b", a, MakeTensor<int32_t>({2}, {0, 5}), S(""));
  const auto stack = [&](const std::string& name, Endpoint map, DataType t) {
    return Endpoint{
        AddOp(g(), name, "TensorMapStackKeys", {map}, {{"key_dtype", t}}), 0};
  };
  Tensor out;
  ASSERT_EQ(Run(stack("s1", b, DT_INT32), &out), OkStatus());
  ExpectEqual(out, MakeTensor<int32_t>({2, 2}, {0, 5, 1, 2}));
  ExpectError(Run(stack("s2", empty, DT_INT32), &out),
              StatusCode::kInvalidArgument, "cannot be called on empty map");
  ExpectError(Run(stack("s3", b, DT_FLOAT), &out), StatusCode::kInvalidArgument,
              "does not match requested dtype");
  ExpectError(
      Run(stack("s4", Insert("c", b, MakeScalar<int32_t>(1), S("")), DT_INT32),
          &out),
      StatusCode::kInvalidArgument, "same shape");
}

TEST_F(TensorMapTest, RefusesWhatIsNotThere) {
  const Endpoint empty = {AddOp(g(), "empty", "EmptyTensorMap"), 0};
  const Endpoint a = Insert("a", empty, S("k"), MakeScalar<float>(1));
  const AttrMap floats = {{"value_dtype", DT_FLOAT}};
  Tensor out;
  ExpectError(Run(Key("TensorMapLookup", "l", empty, S("k"), floats), &out),
              StatusCode::kInvalidArgument,
              "Trying to lookup non-existent key. Could not find key");
  ExpectError(Run(Key("TensorMapErase", "e", empty, S("k"), floats), &out),
              StatusCode::kInvalidArgument,
              "Trying to erase non-existent item. Could not find key");
  ExpectError(
      Run(Key("TensorMapLookup", "t", a, S("k"), {{"value_dtype", DT_INT32}}),
          &out),
      StatusCode::kInvalidArgument,
      "Type mismatch: actual float vs. expect int32");
  const Endpoint list = {AddOp(g(), "list", "EmptyTensorList",
                               {Const(g(), "shape", MakeScalar<int32_t>(-1)),
                                Const(g(), "max", MakeScalar<int32_t>(-1))},
                               {{"element_dtype", DT_FLOAT}}),
                         0};
  ExpectError(Run(Key("TensorMapHasKey", "n", list, S("k")), &out),
              StatusCode::kInvalidArgument, "is not a map");
}

}  // namespace
}  // namespace headrace
