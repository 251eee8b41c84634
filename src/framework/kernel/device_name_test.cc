#include "headrace/device_name.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(DeviceName, ParsesEveryForm) {
  const struct {
    const char* in;
    const char* out;
  } cases[] = {
      {"", ""},
      {"/", ""},
      {"/job:a_1/replica:0/task:12/device:CPU:0",
       "/job:a_1/replica:0/task:12/device:CPU:0"},
      {"/device:GPU:1/job:b", "/job:b/device:GPU:1"},
      {"/cpu:0", "/device:CPU:0"},
      {"/GPU:*", "/device:GPU:*"},
      {"/job:a/gpu:3", "/job:a/device:GPU:3"},
      {"/device:cpu:0", "/device:cpu:0"},
      {"/device:GPU", "/device:GPU:*"},
      {"/device:*:2", "/device:*:2"},
      {"/job:*/replica:*/task:3", "/task:3"},
      {"CPU:0", "/device:CPU:0"},
      {"cpu:0", "/device:CPU:0"},
      {"TPU_SYSTEM:0", "/device:TPU_SYSTEM:0"},
  };
  for (const auto& c : cases) {
    DeviceName d;
    ASSERT_EQ(DeviceName::Parse(c.in, &d), OkStatus()) << c.in;
    EXPECT_EQ(d.ToString(), c.out) << c.in;
  }
  for (const char* bad :
       {"/job:", "/job:1a", "/job:a/replica:x", "/task:99999999999", "/cpu",
        "/zork:1", "job:a:b", "/device:CPU:0x", "//cpu:0", "/device:"}) {
    DeviceName d;
    const Status s = DeviceName::Parse(bad, &d);
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(DeviceName, Merges) {
  const auto parse = [](const char* s) {
    DeviceName d;
    EXPECT_TRUE(DeviceName::Parse(s, &d).ok());
    return d;
  };
  DeviceName a = parse("/job:a/device:CPU:0");
  ASSERT_EQ(a.Merge(parse("/task:1/device:CPU:*")), OkStatus());
  EXPECT_EQ(a.ToString(), "/job:a/task:1/device:CPU:0");
  EXPECT_EQ(a.Merge(parse("/device:GPU:0")).message(),
            "Cannot merge devices with incompatible types: "
            "'/job:a/task:1/device:CPU:0' and '/device:GPU:0'");
  ASSERT_EQ(a.Merge(parse("/device:CPU:1"), true), OkStatus());
  EXPECT_EQ(a.ToString(), "/job:a/task:1/device:CPU:*");
  ASSERT_EQ(a.Merge(parse("/device:GPU:1"), true), OkStatus());
  EXPECT_EQ(a.ToString(), "/job:a/task:1");
  EXPECT_TRUE(a.Matches(parse("/job:a/replica:0/task:1/device:CPU:0")));
  EXPECT_FALSE(a.Matches(parse("/job:a/replica:0/task:2/device:CPU:0")));
}

}  // namespace
}  // namespace headrace
