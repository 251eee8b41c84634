// Runs the signature of a SavedModel on ones: saved_model FOLDER.
#include "headrace/cc/saved_model.h"

#include <cstdio>

#include "headrace/cc/throwing.h"

using namespace headrace;

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: saved_model FOLDER\n"), 2;
  const SavedModel model = OrThrow(SavedModel::Load(argv[1]));
  std::map<std::string, Tensor> inputs;
  for (const auto& [name, info] :
       model.meta_graph().signature_def().at("serving_default").inputs()) {
    TensorShape shape;
    for (const auto& dim : info.tensor_shape().dim()) {
      shape.AddDim(dim.size() < 0 ? 1 : dim.size());
    }
    inputs[name] = Input::Initializer(Input::Initializer(1.f), shape).tensor;
  }
  for (const auto& [name, value] : OrThrow(model.Run(inputs))) {
    std::printf("%s = %s\n", name.c_str(), value.DebugString().c_str());
  }
} catch (const StatusError& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
