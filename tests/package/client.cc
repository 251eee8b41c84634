// What of the C++ API crosses the library's edge: messages in and out, Status
// with its text, tensors, strings. Prints 42.
#include <cstdio>

#include "absl/strings/str_format.h"
#include "headrace/importer.h"
#include "headrace/session.h"

using namespace headrace;

static Status Run() {
  pb::GraphDef def;
  auto* a = def.add_node();
  a->set_name("a");
  a->set_op("Placeholder");
  (*a->mutable_attr())["dtype"].set_type(pb::DT_INT32);
  auto* y = def.add_node();
  y->set_name("y");
  y->set_op("AddV2");
  y->add_input("a");
  y->add_input("a:0");
  (*y->mutable_attr())["T"].set_type(pb::DT_INT32);
  pb::GraphDef copy;
  if (!copy.ParseFromString(def.SerializeAsString())) {
    return errors::Internal("the message does not survive");
  }

  std::unique_ptr<Session> session;
  auto graph = std::make_shared<Graph>();
  HR_RETURN_IF_ERROR(ImportGraphDef({}, copy, graph.get()));
  HR_RETURN_IF_ERROR(
      MoveTo(NewSession(pb::ConfigProto(), "", graph), &session));
  std::vector<Tensor> out;
  const Status refused = session->Run({}, {"y:0"}, {}, &out);
  if (refused.code() != absl::StatusCode::kInvalidArgument ||
      refused.message().find("'a'") == absl::string_view::npos) {
    return errors::Internal("no feed: ", refused.ToString());
  }
  HR_RETURN_IF_ERROR(
      session->Run({{"a:0", Tensor::Scalar<int32_t>(21)}}, {"y:0"}, {}, &out));
  std::puts(absl::StrFormat("%d", *out[0].data<int32_t>()).c_str());
  return OkStatus();
}

int main() {
  const Status s = Run();
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
