// SavedModels, written and read.
//
//   SavedModelBuilder builder("/tmp/model");
//   Status s = builder.Add(session, {"serve"},
//       {{"serving_default", MakeSignature({{"x", x}}, {{"y", y}})}});
//   if (s.ok()) s = builder.Save();
//
//   auto model = SavedModel::Load("/tmp/model");
//   auto results = model->Run({{"x", pixels}});
#ifndef HEADRACE_CC_SAVED_MODEL_H_
#define HEADRACE_CC_SAVED_MODEL_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headrace/cc/client_session.h"
#include "headrace/cc/saver.h"
#include "headrace/saved_model.h"

namespace headrace {

// A signature of named inputs and outputs, for the method "predict".
pb::SignatureDef MakeSignature(
    const std::vector<std::pair<std::string, Output>>& inputs,
    const std::vector<std::pair<std::string, Output>>& outputs,
    const std::string& method_name = "tensorflow/serving/predict");

// Writes a SavedModel. Thread-compatible.
class SavedModelBuilder {
 public:
  // The folder must be empty or not there; what makes the rest fail is
  // reported by Add and Save.
  explicit SavedModelBuilder(std::string export_dir);

  // Adds the session's graph under these tags. The first call also writes the
  // values of the variables, by `saver` or by a new Saver of all of them. A
  // graph without variables is written without. `main_op`, if given, runs when
  // the model is loaded. InvalidArgument for an input or output of a signature
  // that is not in the graph.
  Status Add(const ClientSession& session, const std::vector<std::string>& tags,
             const std::map<std::string, pb::SignatureDef>& signatures,
             Saver* saver = nullptr, const Operation& main_op = {});
  // Copies `file` into the model. When the model is loaded, and main_op runs,
  // the string `path` is where the copy lies. For the graphs that are added
  // later. InvalidArgument if `path` is no string, or a file of that name with
  // other contents is there.
  Status AddAsset(const Output& path, const std::string& file);
  // Writes saved_model.pb, or .pbtxt.
  Status Save(bool as_text = false);

 private:
  Status Prepare();

  const std::string export_dir_;
  bool is_prepared_ = false;
  std::vector<pb::MetaGraphDef> meta_graphs_;
  std::vector<pb::AssetFileDef> assets_;
};

// A SavedModel that was loaded. A value type; copies share the session.
class SavedModel {
 public:
  static StatusOr<SavedModel> Load(
      const std::string& dir, const std::vector<std::string>& tags = {"serve"},
      const pb::ConfigProto& config = pb::ConfigProto());

  // Runs a signature: "serving_default" if there is one of that name and none
  // is given, else the only one. NotFound for an unknown signature or input;
  // the message lists what there is. InvalidArgument for a missing input.
  StatusOr<std::map<std::string, Tensor>> Run(
      const std::map<std::string, Tensor>& inputs,
      const std::string& signature = "") const;

  const pb::MetaGraphDef& meta_graph() const { return model_->meta_graph; }
  Session* session() const { return model_->session.get(); }

 private:
  std::shared_ptr<const LoadedModel> model_;
};

}  // namespace headrace

#endif  // HEADRACE_CC_SAVED_MODEL_H_
