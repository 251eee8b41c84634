#include "framework/op/message_util.h"

#include <gtest/gtest.h>

#include "headrace/attr_value.pb.h"
#include "headrace/function.pb.h"

namespace headrace {
namespace {

TEST(MessageUtilTest, TextIsReadAndWritten) {
  pb::AttrValue value;
  ASSERT_EQ(MessageFromText("list { i: 1 i: 2 }", &value), OkStatus());
  EXPECT_EQ(value.list().i_size(), 2);
  pb::AttrValue again;
  ASSERT_EQ(MessageFromText(MessageToText(value), &again), OkStatus());
  EXPECT_EQ(DeterministicBytes(value), DeterministicBytes(again));
}

TEST(MessageUtilTest, TheFirstErrorHasItsPlace) {
  const std::string deep = [] {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "func { attr { key: 'a' value { ";
    return text;
  }();
  const struct {
    std::string text;
    const char* error;
  } cases[] = {
      {"i: 1\nj: 2\nk: 3", "line 2, column 2: "},
      {"j: 2", "\"tensorflow.AttrValue\" has no field named \"j\""},
      {"i: one", "Expected integer"},
      {deep, "deep"},
  };
  for (const auto& c : cases) {
    pb::AttrValue value;
    const Status s = MessageFromText(c.text, &value);
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(s.message().find(c.error), s.message().npos) << s.message();
  }
}

TEST(MessageUtilTest, TheOrderOfAMapIsNoDifference) {
  pb::FunctionDef a, b;
  for (int i = 0; i < 40; ++i) {
    (*a.mutable_ret())[StrCat("r", i)] = "x";
    (*b.mutable_ret())[StrCat("r", 39 - i)] = "x";
  }
  EXPECT_EQ(DeterministicBytes(a), DeterministicBytes(b));
  EXPECT_TRUE(MessagesEqual(a, b));
  (*b.mutable_ret())["r7"] = "y";
  EXPECT_NE(DeterministicBytes(a), DeterministicBytes(b));
  EXPECT_FALSE(MessagesEqual(a, b));
}

}  // namespace
}  // namespace headrace
