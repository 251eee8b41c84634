// Checkpoints and SavedModels: written, read, refused.
#include "headrace/cc/saver.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "base/env.h"
#include "headrace/cc/checkpoint_reader.h"
#include "headrace/cc/saved_model.h"
#include "headrace/cc/standard_ops.h"
#include "headrace/cc/throwing.h"
#include "headrace/variable.pb.h"

namespace headrace {
namespace {

class SaverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = StrCat(::testing::TempDir(), "cc_saver_test_",
                     Env::Default()->NowNanos());
    OrThrow(Env::Default()->CreateDir(folder_));
  }
  void TearDown() override {
    Env::Default()->DeleteRecursively(folder_).IgnoreError();
  }
  std::string Path(const std::string& name) const {
    return JoinPath(folder_, name);
  }
  bool Exists(const std::string& name) const {
    return Env::Default()->FileExists(Path(name)).ok();
  }

  std::string folder_;
};

struct Line {
  Scope root = Scope::NewRootScope();
  Output x = ops::Placeholder(root.WithOpName("x"), DT_FLOAT);
  Variable a{root.WithOpName("a"), {2.f, 3.f}};
  Variable n{root.WithOpName("n"), 7};
  Output y = a * x;
  Operation init = GlobalVariablesInitializer(root);
};

TEST_F(SaverTest, RestoresWhatItSaved) {
  Line line;
  Saver saver(line.root);
  const auto change = ops::Assign(line.root, line.a.ref(), {0.f, 0.f});
  ClientSession session(line.root);
  OrThrow(session.Run({line.init}));
  const std::string path = OrThrow(saver.Save(session, Path("model"), 12));
  EXPECT_EQ(path, Path("model-12"));
  EXPECT_EQ(OrThrow(LatestCheckpoint(folder_)), path);
  EXPECT_TRUE(Exists("model-12.meta"));
  pb::MetaGraphDef meta_graph;
  OrThrow(saver.ToMetaGraph(&meta_graph));
  for (const pb::NodeDef& n : meta_graph.graph_def().node()) {
    // The default; newer versions have it, TensorFlow 1.15 does not.
    EXPECT_FALSE(n.attr().contains("validate_shape")) << n.name();
    EXPECT_EQ(n.attr().contains("shape"),
              n.op() == "VariableV2" || n.op() == "PlaceholderWithDefault")
        << n.name();
  }
  EXPECT_EQ(
      meta_graph.collection_def().at("variables").bytes_list().value_size(), 2);
  OrThrow(session.Run(std::vector<Operation>{change}));
  OrThrow(saver.Restore(session, path));
  std::vector<Tensor> out;
  OrThrow(session.Run({line.a, line.n}, &out));
  EXPECT_EQ(out[0].data<float>()[1], 3);
  EXPECT_EQ(out[1].scalar<int32_t>(), 7);

  const CheckpointReader reader = OrThrow(CheckpointReader::Open(path));
  EXPECT_EQ(reader.entries().size(), 2u);
  EXPECT_EQ(reader.entries().at("a").shape, TensorShape({2}));
  EXPECT_EQ(OrThrow(reader.GetTensor("n")).scalar<int32_t>(), 7);
  EXPECT_FALSE(reader.HasTensor("b"));
  EXPECT_TRUE(errors::IsNotFound(reader.GetTensor("b").status()));
  EXPECT_TRUE(errors::IsNotFound(CheckpointReader::Open(Path("no")).status()));
}

TEST_F(SaverTest, ResourcesAreSavedAsReferencesAre) {
  const Scope root = Scope::NewRootScope();
  const Variable a(root.WithOpName("a"), {2.f, 3.f}, Variable::kTrainable,
                   Variable::kResource);
  Saver saver(root);
  const Operation init = GlobalVariablesInitializer(root),
                  add = CallAssign(root, "AssignAdd", "", a,
                                   ops::Const(root, {1.f, 1.f}));
  pb::MetaGraphDef meta_graph;
  OrThrow(saver.ToMetaGraph(&meta_graph));
  pb::VariableDef def;
  ASSERT_TRUE(def.ParseFromString(
      meta_graph.collection_def().at("variables").bytes_list().value(0)));
  EXPECT_TRUE(def.is_resource());
  EXPECT_EQ(def.variable_name(), "a:0");
  EXPECT_EQ(def.initializer_name(), "a/Assign");
  EXPECT_EQ(def.snapshot_name(), "a/Read/ReadVariableOp:0");

  ClientSession session(root);
  EXPECT_EQ(saver.Save(session, Path("m")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  OrThrow(session.Run({init}));
  const std::string path = OrThrow(saver.Save(session, Path("m")));
  OrThrow(session.Run(std::vector<Operation>{add}));
  std::vector<Tensor> out;
  OrThrow(session.Run({a}, &out));
  EXPECT_EQ(out[0].data<float>()[1], 4);
  OrThrow(saver.Restore(session, path));
  OrThrow(session.Run({a}, &out));
  EXPECT_EQ(out[0].data<float>()[1], 3);

  // A reference restores what a resource has saved; another shape is refused.
  const Scope other = Scope::NewRootScope();
  const Variable b(other.WithOpName("a"), {0.f, 0.f});
  Saver reads(other);
  ClientSession there(other);
  OrThrow(reads.Restore(there, path));
  OrThrow(there.Run({b}, &out));
  EXPECT_EQ(out[0].data<float>()[0], 2);
  const Scope third = Scope::NewRootScope();
  const Variable c(third.WithOpName("a"), 1.f, Variable::kTrainable,
                   Variable::kResource);
  Saver refused(third);
  const Status s = refused.Restore(ClientSession(third), path);
  EXPECT_TRUE(absl::StrContains(s.message(),
                                "a  float []  the checkpoint has float [2]"))
      << s;
}

TEST_F(SaverTest, ShardsAreFilesOfOneCheckpoint) {
  const Scope root = Scope::NewRootScope();
  const Variable a(root.WithOpName("a"), {2.f, 3.f});
  const Variable b(root.WithDevice("/cpu:0").WithOpName("b"), 7);
  const Variable c(root.WithDevice("/cpu:0").WithOpName("c"), 8,
                   Variable::kTrainable, Variable::kResource);
  Saver saver(root, {}, {.max_to_keep = 1, .sharded = true});
  const Operation init = GlobalVariablesInitializer(root);
  ClientSession session(root);
  OrThrow(session.Run({init}));
  OrThrow(saver.Save(session, Path("m"), 1));
  EXPECT_TRUE(Exists("m-1.data-00000-of-00002"));
  const std::string path = OrThrow(saver.Save(session, Path("m"), 2));
  std::vector<std::string> files;
  OrThrow(Env::Default()->GetChildren(folder_, &files));
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<std::string>{
                       "checkpoint", "m-2.data-00000-of-00002",
                       "m-2.data-00001-of-00002", "m-2.index", "m-2.meta"}));
  EXPECT_TRUE(saver.saver_def().sharded());
  const CheckpointReader reader = OrThrow(CheckpointReader::Open(path));
  EXPECT_EQ(OrThrow(reader.GetTensor("b")).scalar<int32_t>(), 7);

  ClientSession another(root);
  OrThrow(saver.Restore(another, path));
  std::vector<Tensor> out;
  OrThrow(another.Run({a, b, c}, &out));
  EXPECT_EQ(out[0].data<float>()[1], 3);
  EXPECT_EQ(out[1].scalar<int32_t>(), 7);
  EXPECT_EQ(out[2].scalar<int32_t>(), 8);
}

TEST_F(SaverTest, KeepsTheNewestCheckpoints) {
  Line line;
  Saver saver(line.root, {}, {.max_to_keep = 2, .write_meta_graph = false});
  ClientSession session(line.root);
  OrThrow(session.Run({line.init}));
  for (int step = 0; step < 4; ++step) {
    OrThrow(saver.Save(session, Path("m"), step));
  }
  EXPECT_FALSE(Exists("m-1.index"));
  EXPECT_FALSE(Exists("m-1.data-00000-of-00001"));
  EXPECT_TRUE(Exists("m-2.index"));
  EXPECT_TRUE(Exists("m-3.index"));
  EXPECT_FALSE(Exists("m-3.meta"));
  EXPECT_EQ(OrThrow(LatestCheckpoint(folder_)), Path("m-3"));
}

TEST_F(SaverTest, WhatDoesNotFitIsTold) {
  Line line;
  Saver saver(line.root);
  ClientSession session(line.root);
  // Nothing is initialised.
  EXPECT_EQ(saver.Save(session, Path("m")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(Exists("m.index"));
  EXPECT_TRUE(errors::IsNotFound(LatestCheckpoint(folder_).status()));
  OrThrow(session.Run({line.init}));
  EXPECT_TRUE(errors::IsNotFound(saver.Save(session, Path("none/m")).status()));
  EXPECT_TRUE(errors::IsInvalidArgument(
      saver.Save(session, Path("checkpoint")).status()));
  const std::string path = OrThrow(saver.Save(session, Path("m")));

  const Scope root = Scope::NewRootScope();
  const Variable a(root.WithOpName("a"), {1.f, 2.f, 3.f});
  const Operation init = GlobalVariablesInitializer(root);
  Saver other(root, {a});
  const Variable b(root.WithOpName("b"), 1.f);
  Saver third(root, {a, b});
  ClientSession there(root);
  OrThrow(there.Run({init}));
  Status s = other.Restore(there, path);
  EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
  EXPECT_TRUE(absl::StrContains(s.message(),
                                "a  float [3]  the checkpoint has float [2]"))
      << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "\nThe checkpoint also has: "))
      << s;
  s = third.Restore(there, path);
  EXPECT_TRUE(errors::IsNotFound(s)) << s;
  EXPECT_TRUE(
      absl::StrContains(s.message(), "b  float []  not found in checkpoint"))
      << s;
  std::vector<Tensor> out;
  OrThrow(there.Run({a}, &out));
  EXPECT_EQ(out[0].data<float>()[2], 3);

  const std::string data = Path("m.data-00000-of-00001");
  OrThrow(Env::Default()->WriteFile(data, "short"));
  s = saver.Restore(session, path);
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss) << s;
  OrThrow(Env::Default()->WriteFile(Path("checkpoint"), "what is this"));
  EXPECT_EQ(LatestCheckpoint(folder_).status().code(),
            absl::StatusCode::kDataLoss);

  const Scope empty = Scope::NewRootScope();
  Saver nothing(empty);
  EXPECT_TRUE(errors::IsInvalidArgument(empty.status()));
  const Scope twice = Scope::NewRootScope();
  const Variable v(twice, 1.f);
  Saver doubled(twice, {v, v});
  EXPECT_TRUE(absl::StrContains(twice.status().message(), "is given twice"));
}

TEST_F(SaverTest, SavedModels) {
  const std::string dir = Path("model");
  {
    Line line;
    ClientSession session(line.root);
    OrThrow(session.Run({line.init}));
    SavedModelBuilder builder(dir);
    EXPECT_EQ(builder.Save().code(), absl::StatusCode::kFailedPrecondition);
    pb::SignatureDef wrong = MakeSignature({{"x", line.x}}, {});
    (*wrong.mutable_inputs())["x"].set_name("gone:0");
    EXPECT_TRUE(errors::IsInvalidArgument(
        builder.Add(session, {"serve"}, {{"wrong", wrong}})));
    OrThrow(builder.Add(
        session, {"serve"},
        {{"serving_default", MakeSignature({{"x", line.x}}, {{"y", line.y}})},
         {"twice", MakeSignature({{"x", line.x}}, {{"n", line.n}})}}));
    OrThrow(builder.Save());
    SavedModelBuilder again(dir);
    EXPECT_EQ(again.Add(session, {"serve"}, {}).code(),
              absl::StatusCode::kAlreadyExists);
  }
  const SavedModel model = OrThrow(SavedModel::Load(dir));
  const auto results = OrThrow(model.Run({{"x", Tensor::Scalar<float>(10)}}));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results.at("y").data<float>()[1], 30);
  EXPECT_EQ(OrThrow(model.Run({{"x", Tensor::Scalar<float>(1)}}, "twice"))
                .at("n")
                .scalar<int32_t>(),
            7);
  Status s = model.Run({}, "thrice").status();
  EXPECT_TRUE(absl::StrContains(
      s.message(), "no signature 'thrice'; there are: 'serving_default', "))
      << s;
  s = model.Run({{"z", Tensor::Scalar<float>(1)}}).status();
  EXPECT_TRUE(absl::StrContains(s.message(), "no input 'z'; there are: 'x'"))
      << s;
  EXPECT_TRUE(errors::IsInvalidArgument(model.Run({}).status()));
  EXPECT_TRUE(errors::IsNotFound(SavedModel::Load(dir, {"train"}).status()));
  EXPECT_TRUE(errors::IsNotFound(SavedModel::Load(Path("no")).status()));
}

TEST_F(SaverTest, AModelWithoutVariablesAndWithAMainOp) {
  const Scope root = Scope::NewRootScope();
  const Output x = ops::Placeholder(root.WithOpName("x"), DT_FLOAT);
  const auto main = ops::NoOp(root.WithOpName("main"));
  const Output y = x + 1;
  ClientSession session(root);
  SavedModelBuilder builder(Path("model"));
  OrThrow(builder.Add(session, {"serve"},
                      {{"only", MakeSignature({{"x", x}}, {{"y", y}})}},
                      nullptr, main));
  OrThrow(builder.Save(/*as_text=*/true));
  EXPECT_FALSE(Exists("model/variables"));
  const SavedModel model = OrThrow(SavedModel::Load(Path("model")));
  EXPECT_EQ(OrThrow(model.Run({{"x", Tensor::Scalar<float>(1)}}))
                .at("y")
                .scalar<float>(),
            2);
}

TEST_F(SaverTest, AssetsGoAlongWithTheModel) {
  Env* const env = Env::Default();
  OrThrow(env->WriteFile(Path("words"), "one two"));
  OrThrow(env->CreateDirRecursively(Path("other")));
  OrThrow(env->WriteFile(Path("other/words"), "three"));
  const Scope root = Scope::NewRootScope();
  const Output path = ops::Const(root.WithOpName("path"), Path("words"));
  const Variable words(root.WithOpName("words"), path, Variable::kNotTrainable);
  const Output set = ops::Assign(root.WithOpName("main"), words.ref(), path);
  const Output text = ops::ReadFile(root.WithOpName("text"), words.value());
  ClientSession session(root);
  OrThrow(session.Run({words.initializer()}));
  SavedModelBuilder builder(Path("model"));
  EXPECT_TRUE(errors::IsNotFound(builder.AddAsset(path, Path("gone"))));
  EXPECT_TRUE(errors::IsInvalidArgument(
      builder.AddAsset(ops::Const(root, 1.0f), Path("words"))));
  EXPECT_TRUE(errors::IsInvalidArgument(builder.AddAsset({}, Path("words"))));
  OrThrow(builder.AddAsset(path, Path("words")));
  EXPECT_TRUE(
      errors::IsInvalidArgument(builder.AddAsset(path, Path("other/words"))));
  OrThrow(builder.Add(session, {"serve"},
                      {{"read", MakeSignature({}, {{"text", text}})}}, nullptr,
                      set.op()));
  OrThrow(builder.Save());
  OrThrow(env->WriteFile(Path("words"), "changed"));
  const SavedModel model = OrThrow(SavedModel::Load(Path("model")));
  EXPECT_EQ(OrThrow(model.Run({})).at("text").scalar<tstring>(),
            tstring("one two"));
}

}  // namespace
}  // namespace headrace
