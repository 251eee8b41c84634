// Loading of SavedModels: a model that the test writes, with variables, an
// asset and an initialiser; and what is refused.
#include "headrace/saved_model.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/env.h"
#include "headrace/saved_model.pb.h"
#include "io/tensor_bundle.h"

namespace headrace {
namespace {

// v is restored; the initialiser puts the asset's path into w.
constexpr char kModel[] = R"(
  saved_model_schema_version: 1
  meta_graphs {
    meta_info_def { tags: "serve" tags: "x" }
    graph_def {
      versions { producer: 24 }
      node { name: "v" op: "VariableV2"
        attr { key: "dtype" value { type: DT_FLOAT } }
        attr { key: "shape" value { shape { dim { size: 2 } } } } }
      node { name: "w" op: "VariableV2"
        attr { key: "dtype" value { type: DT_STRING } }
        attr { key: "shape" value { shape { } } } }
      node { name: "file" op: "Placeholder"
        attr { key: "dtype" value { type: DT_STRING } } }
      node { name: "asset" op: "Placeholder"
        attr { key: "dtype" value { type: DT_STRING } } }
      node { name: "names" op: "Const"
        attr { key: "dtype" value { type: DT_STRING } }
        attr { key: "value" value { tensor { dtype: DT_STRING
          tensor_shape { dim { size: 1 } } string_val: "v" } } } }
      node { name: "specs" op: "Const"
        attr { key: "dtype" value { type: DT_STRING } }
        attr { key: "value" value { tensor { dtype: DT_STRING
          tensor_shape { dim { size: 1 } } string_val: "" } } } }
      node { name: "read" op: "RestoreV2"
        input: "file" input: "names" input: "specs"
        attr { key: "dtypes" value { list { type: DT_FLOAT } } } }
      node { name: "restore" op: "Assign" input: "v" input: "read"
        attr { key: "T" value { type: DT_FLOAT } }
        attr { key: "validate_shape" value { b: true } } }
      node { name: "init" op: "Assign" input: "w" input: "asset"
        attr { key: "T" value { type: DT_STRING } }
        attr { key: "validate_shape" value { b: false } } }
    }
    saver_def { filename_tensor_name: "file:0" restore_op_name: "restore"
                version: V2 }
    collection_def { key: "legacy_init_op"
      value { node_list { value: "init" } } }
    asset_file_def { tensor_info { name: "asset:0" } filename: "vocab" }
  })";

class SavedModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = StrCat(::testing::TempDir(), "/saved_model_test_", getpid());
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kModel, &model_));
    auto writer = BundleWriter::Open(env_, dir_ + "/variables/variables");
    ASSERT_TRUE(writer.ok()) << writer.status();
    const float values[] = {3, 4};
    ASSERT_TRUE((*writer)->Add("v", Tensor::Vector<float>(values)).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
  }
  void TearDown() override { (void)env_->DeleteRecursively(dir_).ok(); }

  Status Load(const std::vector<std::string>& tags) {
    session_.reset();
    HR_ASSIGN_OR_RETURN(
        LoadedModel model,
        LoadSavedModel({}, "", {}, dir_, tags, std::make_shared<Graph>()));
    session_ = std::move(model.session);
    return OkStatus();
  }
  Status Write(const std::string& bytes) {
    return env_->WriteFile(dir_ + "/saved_model.pb", bytes);
  }

  Env* const env_ = Env::Default();
  std::string dir_;
  pb::SavedModel model_;
  std::unique_ptr<Session> session_;
};

TEST_F(SavedModelTest, RestoresAndInitialises) {
  for (const bool text : {false, true}) {
    if (text) {
      ASSERT_TRUE(env_->DeleteFile(dir_ + "/saved_model.pb").ok());
      ASSERT_TRUE(env_->WriteFile(dir_ + "/saved_model.pbtxt", kModel).ok());
    } else {
      ASSERT_TRUE(Write(model_.SerializeAsString()).ok());
    }
    ASSERT_EQ(Load({"x", "serve"}), OkStatus());
    std::vector<Tensor> out;
    ASSERT_EQ(session_->Run(std::vector<std::pair<std::string, Tensor>>{},
                            {"v:0", "w:0"}, {}, &out),
              OkStatus());
    EXPECT_EQ(out[0].SummarizeValue(9), "3 4");
    EXPECT_EQ(out[1].scalar<tstring>(), tstring(dir_ + "/assets/vocab"));
  }
}

TEST_F(SavedModelTest, Refusals) {
  const Status no_file = Load({"serve"});
  EXPECT_TRUE(errors::IsNotFound(no_file)) << no_file;
  ASSERT_TRUE(Write(model_.SerializeAsString()).ok());
  const Status no_tags = Load({"serve"});
  EXPECT_TRUE(errors::IsNotFound(no_tags)) << no_tags;
  EXPECT_NE(no_tags.message().find("matching supplied tags: { serve }"),
            absl::string_view::npos);
  pb::MetaGraphDef* m = model_.mutable_meta_graphs(0);
  m->mutable_saver_def()->set_restore_op_name("nobody");
  ASSERT_TRUE(Write(model_.SerializeAsString()).ok());
  EXPECT_FALSE(Load({"serve", "x"}).ok());
}

TEST_F(SavedModelTest, DamagedFilesNeverCrash) {
  const std::string whole = model_.SerializeAsString();
  for (size_t i = 0; i < whole.size(); i += 7) {
    ASSERT_TRUE(Write(whole.substr(0, i)).ok());
    (void)Load({"serve", "x"}).ok();
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ (1 + i % 255));
    ASSERT_TRUE(Write(changed).ok());
    (void)Load({"serve", "x"}).ok();
  }
}

}  // namespace
}  // namespace headrace
