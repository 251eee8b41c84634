#include "kernels/state/lookup_table.h"

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

using absl::StatusCode;

LookupTable::Options Ints(bool immutable) {
  LookupTable::Options o;
  o.name = "t";
  o.key_dtype = DT_INT64;
  o.value_dtype = DT_FLOAT;
  o.immutable = immutable;
  return o;
}
Tensor K(std::vector<int64_t> v) {
  return MakeTensor<int64_t>({static_cast<int64_t>(v.size())}, v);
}
Tensor V(std::vector<float> v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}

TEST(LookupTableTest, IsInitializedOnce) {
  LookupTable t(Ints(true));
  Tensor out = V({0, 0});
  ExpectError(t.Find(K({1, 9}), MakeScalar<float>(-1), &out),
              StatusCode::kFailedPrecondition, "Table not initialized.");
  ExpectError(t.Initialize(K({1, 1}), V({1, 2})),
              StatusCode::kFailedPrecondition, "different value for same key");
  EXPECT_EQ(t.Initialize(K({1, 1}), V({1, 1})), OkStatus());
  EXPECT_EQ(t.Import(K({1}), V({5})), OkStatus());
  EXPECT_EQ(t.Find(K({1, 9}), MakeScalar<float>(-1), &out), OkStatus());
  ExpectEqual(out, V({1, -1}));
  EXPECT_EQ(t.size(), 1);
  ExpectError(t.Insert(K({2}), V({2})), StatusCode::kUnimplemented,
              "no insertions");
}

TEST(LookupTableTest, MutableTablesChange) {
  LookupTable::Options o = Ints(false);
  o.reserved = {LookupTable::KeyAt(K({0}), 0, 1)};
  LookupTable t(o);
  EXPECT_EQ(t.Insert(K({1, 2}), V({1, 2})), OkStatus());
  EXPECT_EQ(t.Insert(K({2}), V({20})), OkStatus());
  EXPECT_EQ(t.Remove(K({1, 7})), OkStatus());
  Tensor keys, values;
  EXPECT_EQ(t.Export(&keys, &values), OkStatus());
  ExpectEqual(keys, K({2}));
  ExpectEqual(values, V({20}));
  Tensor out = V({0, 0});
  EXPECT_EQ(t.Find(K({1, 2}), V({-1, -2}), &out), OkStatus());
  ExpectEqual(out, V({-1, 20}));
  constexpr auto kInvalid = StatusCode::kInvalidArgument;
  ExpectError(t.Find(K({1, 2}), V({1, 2, 3}), &out), kInvalid, "default value");
  ExpectError(t.Insert(K({0}), V({1})), kInvalid, "empty_key");
  ExpectError(t.Insert(K({1}), V({1, 2})), kInvalid, "Expected shape [1]");
  ExpectError(t.Insert(V({1}), V({1})), kInvalid, "float keys");
}

}  // namespace
}  // namespace headrace
