// SaveV2 and RestoreV2, the ops of version 1, and what they refuse.
#include <unistd.h>

#include "base/env.h"
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

Tensor Str(const std::string& s) { return Tensor::Scalar<tstring>(s); }
Tensor Strs(const std::vector<tstring>& v) {
  return Tensor::Vector<tstring>(v);
}

class SaveRestoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    prefix_ = StrCat(::testing::TempDir(), "/save_restore_", getpid(), "/m");
  }
  void TearDown() override {
    (void)Env::Default()->DeleteRecursively(std::string(Dirname(prefix_))).ok();
  }
  Status Save(const std::vector<tstring>& names,
              const std::vector<tstring>& specs) {
    OpTester t("SaveV2");
    t.Attr("dtypes", std::vector<DataType>{DT_FLOAT, DT_STRING})
        .Input(Str(prefix_))
        .Input(Strs(names))
        .Input(Strs(specs))
        .Input(MakeTensor<float>({2}, {1, 2}))
        .Input(Str("text"));
    return t.Run();
  }
  std::string prefix_;
};

TEST_F(SaveRestoreTest, RoundTrip) {
  ASSERT_EQ(Save({"f", "s"}, {"", ""}), OkStatus());
  OpTester t("RestoreV2");
  t.Attr("dtypes", std::vector<DataType>{DT_STRING, DT_FLOAT, DT_FLOAT})
      .Input(Str(prefix_))
      .Input(Strs({"s", "f", "f"}))
      .Input(Strs({"", "", "2 1,1"}));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(t.Output(0).scalar<tstring>(), tstring("text"));
  EXPECT_EQ(t.Output(1).SummarizeValue(9), "1 2");
  EXPECT_EQ(t.Output(2).SummarizeValue(9), "2");
}

TEST_F(SaveRestoreTest, Refusals) {
  EXPECT_TRUE(errors::IsInvalidArgument(Save({"f", "f"}, {"", ""})));
  EXPECT_TRUE(errors::IsInvalidArgument(Save({"f"}, {"", ""})));
  EXPECT_TRUE(errors::IsInvalidArgument(Save({"f", "s"}, {"4 9,9", ""})));
  ASSERT_EQ(Save({"f", "s"}, {"4 0,2", ""}), OkStatus());
  const auto restore = [&](const tstring& name, DataType type,
                           const tstring& spec) {
    OpTester t("RestoreV2");
    t.Attr("dtypes", std::vector<DataType>{type})
        .Input(Str(prefix_))
        .Input(Strs({name}))
        .Input(Strs({spec}));
    return t.Run();
  };
  EXPECT_TRUE(errors::IsInvalidArgument(restore("f", DT_FLOAT, "")));
  EXPECT_EQ(restore("f", DT_FLOAT, "4 0,2"), OkStatus());
  EXPECT_TRUE(errors::IsInvalidArgument(restore("f", DT_INT32, "4 0,2")));
  EXPECT_TRUE(errors::IsNotFound(restore("g", DT_FLOAT, "")));
  prefix_ += "elsewhere";
  EXPECT_TRUE(errors::IsNotFound(restore("f", DT_FLOAT, "")));
}

TEST_F(SaveRestoreTest, VersionOneAndItsFallback) {
  ASSERT_TRUE(
      Env::Default()->CreateDirRecursively(std::string(Dirname(prefix_))).ok());
  OpTester save("Save");
  save.Attr("T", std::vector<DataType>{DT_INT32})
      .Input(Str(prefix_))
      .Input(Strs({"i"}))
      .Input(MakeTensor<int32_t>({2}, {-1, 8}));
  ASSERT_EQ(save.Run(), OkStatus());
  OpTester one("Restore");
  one.Attr("dt", DT_INT32).Input(Str(prefix_)).Input(Str("i"));
  ASSERT_EQ(one.Run(), OkStatus());
  EXPECT_EQ(one.Output(0).SummarizeValue(9), "-1 8");
  OpTester two("RestoreV2");
  two.Attr("dtypes", std::vector<DataType>{DT_INT32})
      .Input(Str(prefix_))
      .Input(Strs({"i"}))
      .Input(Strs({""}));
  ASSERT_EQ(two.Run(), OkStatus());
  EXPECT_EQ(two.Output(0).SummarizeValue(9), "-1 8");
}

TEST(ShardedFilename, Formats) {
  OpTester t("ShardedFilename");
  t.Input(Str("m")).Input(MakeScalar<int32_t>(1)).Input(MakeScalar<int32_t>(3));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(t.Output(0).scalar<tstring>(), tstring("m-00001-of-00003"));
}

}  // namespace
}  // namespace headrace
