#include <algorithm>
#include <iterator>

#include "framework/shape_fns/common_shape_fns.h"
#include "ops/data/dataset_op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

constexpr const char* kVectors[] = {"filenames",
                                    "patterns",
                                    "byte_offsets",
                                    "select_cols",
                                    "exclude_cols",
                                    "indices",
                                    "values",
                                    "dense_shape",
                                    "optimizations",
                                    "optimizations_enabled",
                                    "optimizations_disabled",
                                    "optimizations_default"};

Status CheckScalars(InferenceContext* c) {
  int at = 0;
  for (const OpDef::Arg& arg : c->op_def().inputs) {
    if (arg.number_attr >= 0 || arg.type_list_attr >= 0) {
      std::vector<Shape> list;
      HR_RETURN_IF_ERROR(c->input(arg.name, &list));
      at += static_cast<int>(list.size());
      continue;
    }
    Shape unused;
    const bool vector = std::find(std::begin(kVectors), std::end(kVectors),
                                  arg.name) != std::end(kVectors);
    if (!vector) HR_RETURN_IF_ERROR(c->WithRank(c->input(at), 0, &unused));
    ++at;
  }
  return OkStatus();
}

}  // namespace

Status DatasetShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckScalars(c));
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->Scalar());
  return OkStatus();
}

Status ElementShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckScalars(c));
  std::vector<Shape> shapes;
  HR_RETURN_IF_ERROR(c->GetAttr("output_shapes", &shapes));
  if (static_cast<int>(shapes.size()) != c->num_outputs()) {
    return errors::InvalidArgument(
        "`output_shapes` must be the same length as `output_types` (",
        shapes.size(), " vs. ", c->num_outputs(), ")");
  }
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, shapes[i]);
  return OkStatus();
}

Status DatasetConsumerShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckScalars(c));
  return shape_inference::NoOutputs(c);
}

}  // namespace headrace
