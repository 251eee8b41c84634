// For tests of control flow run through a session. Graphs are written a node a
// line: "name: Op input ... attr=value ... @device". Types are int32 unless T
// says otherwise; "name: Const 5" makes a scalar, "in=f" on an Enter names its
// frame.
#ifndef HEADRACE_SESSION_CONTROL_FLOW_TEST_UTIL_H_
#define HEADRACE_SESSION_CONTROL_FLOW_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "framework/kernel/op_tester.h"
#include "graph/importer.h"
#include "session/direct_session.h"

namespace headrace {

inline void SetConst(absl::string_view text, pb::NodeDef* n) {
  Tensor t;
  int32_t i;
  float f;
  if (text == "true" || text == "false") {
    t = Tensor::Scalar(text == "true");
  } else if (absl::SimpleAtoi(text, &i)) {
    t = Tensor::Scalar(i);
  } else {
    ASSERT_TRUE(absl::SimpleAtof(text, &f)) << text;
    t = Tensor::Scalar(f);
  }
  (*n->mutable_attr())["dtype"].set_type(static_cast<pb::DataType>(t.dtype()));
  auto* value = (*n->mutable_attr())["value"].mutable_tensor();
  value->set_dtype(static_cast<pb::DataType>(t.dtype()));
  value->mutable_tensor_shape();
  if (t.dtype() == DT_BOOL) value->add_bool_val(t.scalar<bool>());
  if (t.dtype() == DT_INT32) value->add_int_val(t.scalar<int32_t>());
  if (t.dtype() == DT_FLOAT) value->add_float_val(t.scalar<float>());
}

inline void SetAttr(absl::string_view name, absl::string_view value,
                    pb::NodeDef* n) {
  auto& attr = (*n->mutable_attr())[std::string(name)];
  int64_t i;
  DataType type;
  if (value == "true" || value == "false") {
    attr.set_b(value == "true");
  } else if (absl::SimpleAtoi(value, &i)) {
    attr.set_i(i);
  } else if (value == "[]") {
    attr.mutable_shape();
  } else if (DataTypeFromString(value, &type)) {
    attr.set_type(static_cast<pb::DataType>(type));
  } else {
    attr.set_s(std::string(value));
  }
}

// `devices`: how many there are; "@k" beyond means the last one. `parallel`:
// the parallel_iterations of the frames.
inline pb::GraphDef ParseNodes(absl::string_view text, int devices = 1,
                               int parallel = 10) {
  pb::GraphDef def;
  def.mutable_versions()->set_producer(21);
  for (absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipWhitespace());
    pb::NodeDef* n = def.add_node();
    n->set_name(std::string(absl::StripSuffix(words[0], ":")));
    n->set_op(std::string(words[1]));
    const OpDef* op;
    EXPECT_EQ(OpRegistry::Global()->LookUp(n->op(), &op), OkStatus());
    if (op == nullptr) continue;
    for (const auto& a : op->attrs) {
      if (a.name == "T" || a.name == "dtype") SetAttr(a.name, "int32", n);
    }
    for (size_t i = 2; i < words.size(); ++i) {
      const absl::string_view w = words[i];
      const std::vector<absl::string_view> attr = absl::StrSplit(w, '=');
      int k;
      if (n->op() == "Const" && i == 2) {
        SetConst(w, n);
      } else if (attr.size() == 2 && attr[0] == "in") {
        SetAttr("frame_name", attr[1], n);
        SetAttr("parallel_iterations", absl::StrCat(parallel), n);
      } else if (attr.size() == 2) {
        SetAttr(attr[0], attr[1], n);
      } else if (w[0] == '@') {
        EXPECT_TRUE(absl::SimpleAtoi(w.substr(1), &k));
        n->set_device(absl::StrCat("/cpu:", std::min(k, devices - 1)));
      } else {
        n->add_input(std::string(w));
      }
    }
    if (absl::EndsWith(n->op(), "Merge")) SetAttr("N", "2", n);
  }
  return def;
}

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
    return NewSession(config, "", graph_, &session_);
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
