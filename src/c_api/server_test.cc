// TF_Server: what a server does, and what NULLs and bad messages give.
#include <gtest/gtest.h>

#include <string>

#include "headrace/server.pb.h"
#include "tensorflow/c/c_api.h"

namespace {

class ServerTest : public ::testing::Test {
 protected:
  ~ServerTest() override { TF_DeleteStatus(status_); }
  TF_Server* New(const std::string& proto) {
    return TF_NewServer(proto.data(), proto.size(), status_);
  }
  TF_Status* const status_ = TF_NewStatus();
};

TEST_F(ServerTest, ASessionOnAServer) {
  headrace::pb::ServerDef def;
  def.set_protocol("grpc");
  def.set_job_name("local");
  headrace::pb::JobDef* const job = def.mutable_cluster()->add_job();
  job->set_name("local");
  (*job->mutable_tasks())[0] = "localhost:0";
  TF_Server* const server = New(def.SerializeAsString());
  if (TF_GetCode(status_) == TF_UNIMPLEMENTED) {
    GTEST_SKIP() << TF_Message(status_);
  }
  ASSERT_EQ(TF_GetCode(status_), TF_OK) << TF_Message(status_);
  TF_ServerStart(server, status_);
  ASSERT_EQ(TF_GetCode(status_), TF_OK) << TF_Message(status_);
  const std::string target = TF_ServerTarget(server);
  EXPECT_EQ(target.rfind("grpc://localhost:", 0), 0u) << target;

  TF_Graph* const graph = TF_NewGraph();
  TF_OperationDescription* const desc = TF_NewOperation(graph, "NoOp", "n");
  TF_Operation* const op = TF_FinishOperation(desc, status_);
  ASSERT_EQ(TF_GetCode(status_), TF_OK) << TF_Message(status_);
  TF_SessionOptions* const options = TF_NewSessionOptions();
  TF_SetTarget(options, target.c_str());
  TF_Session* const session = TF_NewSession(graph, options, status_);
  ASSERT_EQ(TF_GetCode(status_), TF_OK) << TF_Message(status_);
  TF_SessionRun(session, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, &op,
                1, nullptr, status_);
  EXPECT_EQ(TF_GetCode(status_), TF_OK) << TF_Message(status_);
  TF_DeleteSession(session, status_);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);

  TF_ServerStop(server, status_);
  EXPECT_EQ(TF_GetCode(status_), TF_OK) << TF_Message(status_);
  TF_ServerJoin(server, status_);
  EXPECT_EQ(TF_GetCode(status_), TF_OK) << TF_Message(status_);
  TF_ServerStart(server, status_);
  EXPECT_EQ(TF_GetCode(status_), TF_FAILED_PRECONDITION);
  TF_DeleteServer(server);
}

TEST_F(ServerTest, Refusals) {
  EXPECT_EQ(TF_NewServer(nullptr, 0, status_), nullptr);
  EXPECT_NE(TF_GetCode(status_), TF_OK);
  EXPECT_EQ(New("\xff\xff"), nullptr);
  EXPECT_EQ(TF_GetCode(status_), TF_INVALID_ARGUMENT);
  headrace::pb::ServerDef def;
  EXPECT_EQ(New(def.SerializeAsString()), nullptr);
  EXPECT_EQ(TF_GetCode(status_), TF_UNIMPLEMENTED);  // no protocol
  for (auto* call : {TF_ServerStart, TF_ServerStop, TF_ServerJoin}) {
    call(nullptr, status_);
    EXPECT_EQ(TF_GetCode(status_), TF_INVALID_ARGUMENT);
  }
  EXPECT_EQ(TF_ServerTarget(nullptr), nullptr);
  TF_DeleteServer(nullptr);
}

}  // namespace
