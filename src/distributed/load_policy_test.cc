// What graphs of other processes may do.
#include "distributed/load_policy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "base/env.h"
#include "distributed/master.h"
#include "distributed/server_test_util.h"
#include "distributed/task_server.h"
#include "framework/op/tensor_proto.h"
#include "graph/graph_test_util.h"
#include "headrace/importer.h"
#include "headrace/op.h"

namespace headrace {
namespace {

REGISTER_OP("TestPolicyCustom").Output("x: int32").SetIsStateful();
REGISTER_OP("TestPolicyNetwork")
    .Output("x: int32")
    .SetIsStateful()
    .UsesNetwork();
REGISTER_OP("TestPolicyCode").Output("x: int32").RunsCode();
// Ops of libraries that open files.
REGISTER_OP("TestPolicyFiles")
    .Input("n: int32")
    .Input("from: string")
    .Input("to: string")
    .ReadsFiles()
    .WritesFiles()
    .FileNameInput(1)
    .FileNameInput(2);
REGISTER_OP("TestPolicyFolder")
    .Input("from: string")
    .ReadsFiles()
    .FolderNameInput(0);
REGISTER_OP("TestPolicyAttr")
    .Attr("from: string = '/etc/passwd'")
    .ReadsFiles()
    .FileNameAttr("from");
REGISTER_OP("TestPolicyPrefix")
    .Attr("from: string = 'nothing'")
    .ReadsFiles()
    .FileNameAttr("from", "file:");
REGISTER_OP("TestPolicyOpenFiles").ReadsFiles().UsesOpenFiles();
REGISTER_OP("TestPolicyHiddenNames").Input("from: string").ReadsFiles();

class LoadPolicyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = JoinPath(::testing::TempDir(), "policy_XXXXXX");
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    in_ = JoinPath(folder_, "in");
    for (const char* part : {"in", "in/sub", "inner", "out"}) {
      ASSERT_EQ(Env::Default()->CreateDir(JoinPath(folder_, part)), OkStatus());
    }
    ASSERT_EQ(symlink("../out", JoinPath(in_, "away").c_str()), 0);
    ASSERT_EQ(symlink("sub", JoinPath(in_, "near").c_str()), 0);
    ASSERT_EQ(Env::Default()->WriteFile(JoinPath(folder_, "out/f"), "secret"),
              OkStatus());
    ASSERT_EQ(Env::Default()->WriteFile(JoinPath(in_, "f"), "mine"),
              OkStatus());
  }
  void TearDown() override {
    unsetenv("HEADRACE_ALLOW_FOLDERS");
    unsetenv("HEADRACE_ALLOW_OPS");
    Env::Default()->DeleteRecursively(folder_).IgnoreError();
  }

  std::string folder_, in_;
};

TEST_F(LoadPolicyTest, PathsInAndOutOfFolders) {
  const struct {
    std::string path;
    bool inside, folder_too;
  } cases[] = {
      {in_ + "/f", true, true},
      {in_ + "/new/and/deep", true, true},
      {in_ + "/near/f", true, true},
      {in_ + "/*", true, true},
      {in_, false, true},
      {in_ + "/", false, true},
      {in_ + "/away/f", false, false},
      {in_ + "/away", false, false},
      {in_ + "ner/f", false, false},
      {in_ + "/../out/f", false, false},
      {in_ + "/*/../../out/f", false, false},
      {in_ + "/sub/../f", false, false},
      {std::string("/etc/passwd"), false, false},
      {std::string("f"), false, false},
      {in_ + std::string("/f\0/x", 4), false, false},
      {std::string(""), true, true},
  };
  for (const auto& c : cases) {
    const Status s = CheckAllowedPath(c.path, {in_}, true);
    EXPECT_EQ(s.ok(), c.inside) << c.path << ": " << s;
    EXPECT_EQ(CheckAllowedPath(c.path, {in_}, false).ok(), c.folder_too)
        << c.path;
    EXPECT_TRUE(s.ok() || errors::IsPermissionDenied(s)) << s;
    EXPECT_EQ(CheckAllowedPath(c.path, {}, true).ok(), c.path.empty());
  }
  EXPECT_EQ(CheckAllowedPath("/etc/passwd", {"/"}, true), OkStatus());
}

TEST_F(LoadPolicyTest, FromTheEnvironment) {
  LoadPolicy p = *LoadPolicy::FromEnvironment(true);
  EXPECT_TRUE(p.all_folders && p.custom && !p.code && !p.network);
  p = *LoadPolicy::FromEnvironment(false);
  EXPECT_TRUE(!p.all_folders && p.folders.empty() && !p.custom && !p.code);
  setenv("HEADRACE_ALLOW_FOLDERS", "*", 1);
  setenv("HEADRACE_ALLOW_OPS", "code,network", 1);
  p = *LoadPolicy::FromEnvironment(false);
  EXPECT_TRUE(p.all_folders && p.code && p.network && !p.custom);
  setenv("HEADRACE_ALLOW_FOLDERS", (in_ + "/:" + in_ + "/away").c_str(), 1);
  p = *LoadPolicy::FromEnvironment(true);
  EXPECT_FALSE(p.all_folders);
  EXPECT_EQ(p.folders,
            (std::vector<std::string>{in_, JoinPath(folder_, "out")}));
  setenv("HEADRACE_ALLOW_FOLDERS", "", 1);
  p = *LoadPolicy::FromEnvironment(true);
  EXPECT_TRUE(!p.all_folders && p.folders.empty());
  setenv("HEADRACE_ALLOW_FOLDERS", "relative", 1);
  EXPECT_FALSE(LoadPolicy::FromEnvironment(true).ok());
  unsetenv("HEADRACE_ALLOW_FOLDERS");
  setenv("HEADRACE_ALLOW_OPS", "everything", 1);
  EXPECT_FALSE(LoadPolicy::FromEnvironment(true).ok());
}

// Each op that a schema says touches files is known to the policy, or refused.
TEST_F(LoadPolicyTest, EveryOpWithFilesIsLookedAt) {
  LoadPolicy policy;
  policy.all_folders = false;
  int checked = 0, refused = 0;
  for (const OpDef* op : OpRegistry::Global()->All()) {
    if (!HasAny(EffectsOf(*op), Effect::kReadsFiles | Effect::kWritesFiles)) {
      continue;
    }
    pb::GraphDef graph;
    pb::NodeDef* const n = graph.add_node();
    n->set_name("n");
    n->set_op(op->name);
    for (size_t i = 0; i < op->inputs.size(); ++i) n->add_input(StrCat("i", i));
    // Attrs that name files.
    for (const char* attr :
         {"filename", "file_pattern", "memory_region_name", "vocab_file"}) {
      if (op->FindAttr(attr) >= 0) {
        (*n->mutable_attr())[attr].set_s("/etc/passwd");
      }
    }
    const Status s = policy.Apply(&graph);
    const bool writer = !op->inputs.empty() && op->inputs[0].name == "writer" &&
                        !absl::StartsWith(op->name, "Create");
    if (!s.ok()) {
      EXPECT_TRUE(errors::IsPermissionDenied(s)) << s;
      EXPECT_TRUE(absl::StrContains(s.message(), op->name)) << s;
      ++refused;
    } else if (!writer && op->name != "PrintV2" && !op->inputs.empty()) {
      // The input is one of names.
      ASSERT_GT(graph.node_size(), 1) << op->name;
      for (int i = 1; i < graph.node_size(); ++i) {
        EXPECT_EQ(graph.node(i).op(), "_AllowedPath");
        bool is_string = false;
        for (size_t k = 0; k < op->inputs.size(); ++k) {
          if (graph.node(i).input(0) != StrCat("i", k)) continue;
          is_string = op->inputs[k].type == DT_STRING;
          EXPECT_EQ(graph.node(0).input(static_cast<int>(k)),
                    graph.node(i).name());
        }
        EXPECT_TRUE(is_string) << op->name;
      }
      ++checked;
    }
  }
  EXPECT_GT(checked, 25);
  EXPECT_GT(refused, 5);
}

TEST_F(LoadPolicyTest, AnOpOfALibrarySaysWhereItsFileNamesAre) {
  LoadPolicy policy;
  policy.all_folders = false;
  policy.folders = {in_};
  const struct {
    const char* op;
    const char* attr;  // of "from"; null: not given
    int checks;        // -1: refused
    bool inside = true;
  } cases[] = {
      {"TestPolicyFiles", nullptr, 2},
      {"TestPolicyFolder", nullptr, 1, false},
      {"TestPolicyAttr", nullptr, -1},  // its default is a file
      {"TestPolicyAttr", "/etc/hosts", -1},
      {"TestPolicyAttr", "IN/f", 0},
      {"TestPolicyPrefix", nullptr, 0},
      {"TestPolicyPrefix", "/etc/hosts", 0},
      {"TestPolicyPrefix", "file:/etc/hosts", -1},
      {"TestPolicyPrefix", "file:IN/f", 0},
      {"TestPolicyOpenFiles", nullptr, 0},
      {"TestPolicyHiddenNames", nullptr, -1},
  };
  for (const auto& c : cases) {
    const std::string attr =
        c.attr == nullptr ? "" : absl::StrReplaceAll(c.attr, {{"IN", in_}});
    SCOPED_TRACE(StrCat(c.op, " ", attr));
    pb::GraphDef graph;
    pb::NodeDef* const n = graph.add_node();
    n->set_name("n");
    n->set_op(c.op);
    const OpDef& op = *OpRegistry::Global()->Find(c.op);
    for (const OpDef::Arg& a : op.inputs) n->add_input(a.name);
    if (c.attr != nullptr) (*n->mutable_attr())["from"].set_s(attr);
    const Status s = policy.Apply(&graph);
    if (c.checks < 0) {
      EXPECT_TRUE(errors::IsPermissionDenied(s)) << s;
      continue;
    }
    ASSERT_EQ(s, OkStatus());
    EXPECT_EQ(graph.node_size(), 1 + c.checks);
    for (int i = 1; i < graph.node_size(); ++i) {
      EXPECT_EQ(graph.node(i).op(), "_AllowedPath");
      EXPECT_EQ(graph.node(i).attr().at("inside").b(), c.inside);
      // In the place of the last inputs.
      const int input = graph.node(0).input_size() - graph.node_size() + i;
      EXPECT_EQ(graph.node(0).input(input), graph.node(i).name());
      EXPECT_EQ(graph.node(i).input(0), op.inputs[input].name);
    }
  }
}

// A schema that forgets its effects would let an op pass. Those with arguments
// that are called after files have effects on files.
TEST_F(LoadPolicyTest, OpsThatNameFilesSaySo) {
  int found = 0;
  for (const OpDef* op : OpRegistry::Global()->All()) {
    std::string named;
    const auto look = [&](const std::string& name) {
      for (const char* part : {"file", "ckpt", "logdir", "memory_region"}) {
        if (absl::StrContains(name, part)) named = name;
      }
    };
    for (const OpDef::Arg& a : op->inputs) look(a.name);
    for (const OpDef::Attr& a : op->attrs) {
      if (a.type == AttrType::kString) look(a.name);
    }
    if (named.empty()) continue;
    ++found;
    EXPECT_TRUE(
        HasAny(EffectsOf(*op), Effect::kReadsFiles | Effect::kWritesFiles))
        << op->name << ": " << named;
  }
  EXPECT_GT(found, 20);
}

TEST_F(LoadPolicyTest, KindsOfOps) {
  const struct {
    const char *op, *word;
    bool LoadPolicy::*allow;
  } cases[] = {{"TestPolicyCustom", "custom", &LoadPolicy::custom},
               {"TestPolicyNetwork", "network", &LoadPolicy::network},
               {"TestPolicyCode", "code", &LoadPolicy::code}};
  for (const auto& c : cases) {
    LoadPolicy policy;
    policy.custom = false;
    pb::GraphDef graph, function;
    pb::NodeDef* n = graph.add_node();
    n->set_name("n");
    n->set_op(c.op);
    n = function.add_node();
    n->set_name("call");
    n->set_op("F");
    pb::FunctionDef* const f = function.mutable_library()->add_function();
    f->mutable_signature()->set_name("F");
    *f->add_node_def() = graph.node(0);
    for (pb::GraphDef* g : {&graph, &function}) {
      const Status s = policy.Apply(g);
      EXPECT_TRUE(errors::IsPermissionDenied(s)) << s;
      EXPECT_TRUE(absl::StrContains(s.message(), StrCat("op ", c.op)) &&
                  absl::StrContains(s.message(), "node n") &&
                  absl::StrContains(s.message(), c.word))
          << s;
    }
    policy.*c.allow = true;
    EXPECT_EQ(policy.Apply(&graph), OkStatus());
    EXPECT_EQ(policy.Apply(&function), OkStatus());
    EXPECT_EQ(function.library().function_size(), 1);
    // A function that nothing calls goes, and does no harm.
    policy.*c.allow = false;
    function.mutable_node(0)->set_op("NoOp");
    EXPECT_EQ(policy.Apply(&function), OkStatus());
    EXPECT_EQ(function.library().function_size(), 0);
  }
}

TEST_F(LoadPolicyTest, AClientsOwnCheckIsRefused) {
  pb::GraphDef graph;
  graph.add_node()->set_op("_AllowedPath");
  EXPECT_TRUE(errors::IsPermissionDenied(LoadPolicy().Apply(&graph)));
}

TEST_F(LoadPolicyTest, MalformedNodes) {
  LoadPolicy policy;
  policy.all_folders = false;
  for (const char* input : {"", "^a"}) {
    pb::GraphDef graph;
    pb::NodeDef* const n = graph.add_node();
    n->set_op("ReadFile");
    if (*input != 0) n->add_input(input);
    EXPECT_TRUE(errors::IsInvalidArgument(policy.Apply(&graph)));
  }
  pb::GraphDef graph;
  graph.add_node()->set_op("ImmutableConst");
  (*graph.mutable_node(0)->mutable_attr())["memory_region_name"].set_i(1);
  EXPECT_TRUE(errors::IsInvalidArgument(policy.Apply(&graph)));
}

// Over a server: the file's name is fed, so that only a run can see it.
TEST_F(LoadPolicyTest, AServerReadsInItsFolders) {
  setenv("HEADRACE_ALLOW_FOLDERS", in_.c_str(), 1);
  std::unique_ptr<Server> server;
  ASSERT_EQ(MoveTo(NewTaskServer(LocalServer()), &server), OkStatus());
  ASSERT_EQ(server->Start(), OkStatus());
  std::shared_ptr<RpcChannel> channel;
  ASSERT_EQ(MoveTo(NewRpcChannel(server->target().substr(7)), &channel),
            OkStatus());
  Graph g;
  const Endpoint name = Placeholder(&g, "name", DT_STRING);
  AddOp(&g, "read", "ReadFile", {name});
  pb::CreateSessionRequest create;
  GraphToGraphDef(g, create.mutable_graph_def());
  const auto read = [&](MasterInterface* master, const std::string& handle,
                        const char* fed, const std::string& path,
                        std::string* text) {
    RunStepCall call;
    call.header.set_session_handle(handle);
    Tensor value(DT_STRING, TensorShape());
    value.scalar<tstring>() = path;
    call.feeds.emplace_back(fed, value);
    call.header.add_fetch("read:0");
    RunStepResult result;
    const Status s = master->RunStep({}, std::move(call), &result);
    if (s.ok()) *text = std::string(result.fetches[0].second.scalar<tstring>());
    return s;
  };
  const std::unique_ptr<MasterInterface> remote =
      NewRemoteMaster(channel, server->target());
  pb::CreateSessionResponse session;
  ASSERT_EQ(remote->CreateSession({}, create, &session), OkStatus());
  std::string text;
  EXPECT_EQ(
      read(remote.get(), session.session_handle(), "name:0", in_ + "/f", &text),
      OkStatus());
  EXPECT_EQ(text, "mine");
  for (const char* path : {"/out/f", "/in/away/f", "/in/../out/f"}) {
    const Status s = read(remote.get(), session.session_handle(), "name:0",
                          folder_ + path, &text);
    EXPECT_TRUE(errors::IsPermissionDenied(s)) << s;
    for (const char* words :
         {"ReadFile", "node read", path, "--allow-folder"}) {
      EXPECT_TRUE(absl::StrContains(s.message(), words)) << s;
    }
  }
  // What checks the name is no node of the client's.
  EXPECT_TRUE(errors::IsNotFound(read(remote.get(), session.session_handle(),
                                      "read/allowed_path_0:0",
                                      folder_ + "/out/f", &text)));
  // A client in the server's process may do what the process may.
  const std::shared_ptr<Master> local = FindLocalMaster(server->target());
  ASSERT_EQ(local->CreateSession({}, create, &session), OkStatus());
  EXPECT_EQ(read(local.get(), session.session_handle(), "name:0",
                 folder_ + "/out/f", &text),
            OkStatus());
  EXPECT_EQ(text, "secret");
}

}  // namespace
}  // namespace headrace
