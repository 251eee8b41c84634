#include "base/log.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(LogTest, WritesTheLevelsAskedFor) {
  const LogLevel before = MinLogLevel();
  int evaluated = 0;
  auto text = [&evaluated] {
    ++evaluated;
    return "text";
  };
  const struct {
    LogLevel min;
    int lines;
  } kCases[] = {{LogLevel::INFO, 3},
                {LogLevel::WARNING, 2},
                {LogLevel::ERROR, 1},
                {LogLevel::NONE, 0}};
  for (const auto& c : kCases) {
    SetMinLogLevel(c.min);
    evaluated = 0;
    testing::internal::CaptureStderr();
    HR_LOG(INFO) << text();
    HR_LOG(WARNING) << text();
    HR_LOG(ERROR) << text();
    const std::string out = testing::internal::GetCapturedStderr();
    EXPECT_EQ(evaluated, c.lines);
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), c.lines) << out;
    EXPECT_EQ(out.find("log_test.cc:") != std::string::npos, c.lines > 0);
  }
  SetMinLogLevel(before);
}

}  // namespace
}  // namespace headrace
