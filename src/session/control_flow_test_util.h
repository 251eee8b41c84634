// For tests of control flow run through a session. Graphs are texts: see
// graph/node_text_test_util.h.
#ifndef HEADRACE_SESSION_CONTROL_FLOW_TEST_UTIL_H_
#define HEADRACE_SESSION_CONTROL_FLOW_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "framework/kernel/op_tester.h"
#include "graph/node_text_test_util.h"
#include "session/direct_session.h"

namespace headrace {

class ControlFlowTest : public ::testing::Test {
 protected:
  Status Load(absl::string_view text, int devices = 1, int parallel = 10) {
    HR_RETURN_IF_ERROR(
        ImportGraphDef({}, ParseNodes(text, devices, parallel), graph_.get()));
    pb::ConfigProto config;
    (*config.mutable_device_count())["CPU"] = devices;
    // The loops under test are of constants.
    auto* rewrite = config.mutable_graph_options()->mutable_rewrite_options();
    rewrite->set_constant_folding(pb::RewriterConfig::OFF);
    return MoveTo(NewSession(config, "", graph_), &session_);
  }
  Status Run(const std::vector<std::string>& fetches,
             const std::vector<std::string>& targets = {}) {
    out_.clear();
    return session_->Run({}, fetches, targets, &out_);
  }
  // The value of an int32 scalar; a failure is the test's.
  int32_t Get(const std::string& fetch) {
    const Status s = Run({absl::StrCat(fetch, ":0")});
    EXPECT_EQ(s, OkStatus()) << fetch;
    return s.ok() ? out_[0].scalar<int32_t>() : -999;
  }
  static void ExpectError(const Status& s, absl::StatusCode code,
                          const std::vector<std::string>& words) {
    EXPECT_EQ(s.code(), code) << s;
    for (const std::string& w : words) {
      EXPECT_TRUE(absl::StrContains(s.message(), w)) << w << " not in " << s;
    }
  }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unique_ptr<Session> session_;
  std::vector<Tensor> out_;
};

inline constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

}  // namespace headrace

#endif  // HEADRACE_SESSION_CONTROL_FLOW_TEST_UTIL_H_
