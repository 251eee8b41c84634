// TFE_InferShapes: an op's shape function, without running the op.
#include <memory>

#include "base/exceptions.h"
#include "c_api/eager.h"
#include "headrace/shape_inference.h"
#include "tensorflow/c/c_api_experimental.h"

using headrace::AttrMap;
using headrace::DataType;
using headrace::DtypeAndShape;
using headrace::InferenceContext;
using headrace::OkStatus;
using headrace::PartialTensorShape;
using headrace::Status;
using headrace::Tensor;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;

namespace {

using Shape = PartialTensorShape;

struct DeleteList {
  void operator()(TF_ShapeAndTypeList* list) const {
    TF_DeleteShapeAndTypeList(list);
  }
};
using List = std::unique_ptr<TF_ShapeAndTypeList, DeleteList>;

void WriteShape(const Shape& from, TF_ShapeAndTypeList* list, int i) {
  if (from.unknown_rank()) return;  // as it begins
  TF_ShapeAndTypeListSetShape(list, i, from.dim_sizes().data(), from.dims());
}

Status ReadShapes(const TF_ShapeAndTypeList* list, const char* what, int wanted,
                  std::vector<Shape>* out) {
  if (list->num_items != wanted) {
    return errors::InvalidArgument("TFE_InferShapes: ", list->num_items, " ",
                                   what, ", wanted ", wanted);
  }
  out->resize(wanted);
  for (int i = 0; i < wanted; ++i) {
    HR_RETURN_IF_ERROR(
        MakeShape(list->items[i].dims, list->items[i].num_dims, &(*out)[i]));
  }
  return OkStatus();
}

struct Shapes {
  List outputs;
  std::vector<List> resources;
};

Status Infer(const TFE_Op& op, const TF_ShapeAndTypeList& input_shapes,
             TF_Tensor* const* input_tensors,
             const TF_ShapeAndTypeList* input_tensor_as_shapes,
             TF_ShapeAndTypeList* const* input_resources, Shapes* out) {
  AttrMap attrs = op.op.attrs();
  headrace::AddDefaultAttrs(op.op.op_def(), &attrs);
  headrace::DataTypeVector in_types, out_types;
  HR_RETURN_IF_ERROR(
      headrace::InOutTypes(op.op.op_def(), attrs, &in_types, &out_types));
  const int n = static_cast<int>(in_types.size());
  std::vector<Shape> shapes, as_shapes;
  HR_RETURN_IF_ERROR(ReadShapes(&input_shapes, "shapes of inputs", n, &shapes));
  if (input_tensor_as_shapes != nullptr) {
    HR_RETURN_IF_ERROR(ReadShapes(input_tensor_as_shapes,
                                  "values of inputs as shapes", n, &as_shapes));
  }
  std::vector<const Tensor*> values(n, nullptr);
  std::vector<std::vector<DtypeAndShape>> handles(n);
  for (int i = 0; i < n; ++i) {
    if (input_tensors != nullptr && input_tensors[i] != nullptr) {
      const Tensor& value = input_tensors[i]->tensor;
      if (input_tensors[i]->opaque != nullptr || value.dtype() != in_types[i]) {
        return errors::InvalidArgument(
            "TFE_InferShapes: the value of input ", i, " of ", op.op.name(),
            " is ", DataTypeString(value.dtype()), ", wanted ",
            DataTypeString(in_types[i]));
      }
      values[i] = &value;
    }
    if (input_resources == nullptr || input_resources[i] == nullptr) continue;
    for (int k = 0; k < input_resources[i]->num_items; ++k) {
      const TF_ShapeAndType& item = input_resources[i]->items[k];
      DtypeAndShape known;
      known.dtype = static_cast<DataType>(item.dtype);
      HR_RETURN_IF_ERROR(MakeShape(item.dims, item.num_dims, &known.shape));
      handles[i].push_back(std::move(known));
    }
  }
  InferenceContext c(&op.op.op_def(), &attrs, std::move(shapes),
                     std::move(values), std::move(as_shapes),
                     std::move(handles), static_cast<int>(out_types.size()));
  HR_RETURN_IF_ERROR(c.Run(op.op.op_def().shape_fn));
  const int m = static_cast<int>(out_types.size());
  out->outputs.reset(TF_NewShapeAndTypeList(m));
  for (int i = 0; i < m; ++i) {
    WriteShape(c.output(i), out->outputs.get(), i);
    TF_ShapeAndTypeListSetDtype(out->outputs.get(), i,
                                static_cast<TF_DataType>(out_types[i]));
    const auto& all = c.output_handles();
    const int parts =
        i < static_cast<int>(all.size()) ? static_cast<int>(all[i].size()) : 0;
    out->resources.emplace_back(TF_NewShapeAndTypeList(parts));
    for (int k = 0; k < parts; ++k) {
      WriteShape(all[i][k].shape, out->resources[i].get(), k);
      TF_ShapeAndTypeListSetDtype(out->resources[i].get(), k,
                                  static_cast<TF_DataType>(all[i][k].dtype));
    }
  }
  return OkStatus();
}

}  // namespace

void TFE_InferShapes(TFE_Op* op, TF_ShapeAndTypeList* input_shapes,
                     TF_Tensor** input_tensors,
                     TF_ShapeAndTypeList* input_tensor_as_shapes,
                     TF_ShapeAndTypeList** input_resource_shapes_and_types,
                     TF_ShapeAndTypeList** output_shapes,
                     TF_ShapeAndTypeList*** output_resource_shapes_and_types,
                     TF_Status* status) {
  if (output_shapes != nullptr) *output_shapes = nullptr;
  if (output_resource_shapes_and_types != nullptr) {
    *output_resource_shapes_and_types = nullptr;
  }
  Shapes found;
  const Status s = headrace::CatchExceptions([&]() -> Status {
    if (op == nullptr) return IsNull("TFE_InferShapes", "op");
    if (input_shapes == nullptr) {
      return IsNull("TFE_InferShapes", "list of input shapes");
    }
    return Infer(*op, *input_shapes, input_tensors, input_tensor_as_shapes,
                 input_resource_shapes_and_types, &found);
  });
  Set(status, s);
  if (!s.ok()) return;
  if (output_resource_shapes_and_types != nullptr) {
    auto** lists = new TF_ShapeAndTypeList*[found.resources.size()];
    for (size_t i = 0; i < found.resources.size(); ++i) {
      lists[i] = found.resources[i].release();
    }
    *output_resource_shapes_and_types = lists;
  }
  if (output_shapes != nullptr) *output_shapes = found.outputs.release();
}
