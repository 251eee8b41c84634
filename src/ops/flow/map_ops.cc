// TensorMaps: maps from tensors to tensors as values, in DT_VARIANT scalars.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using shape_inference::ScalarShape;
using shape_inference::UnknownShape;

REGISTER_OP("EmptyTensorMap").Output("handle: variant").SetShapeFn(ScalarShape);
REGISTER_OP("TensorMapSize")
    .Input("input_handle: variant")
    .Output("size: int32")
    .SetShapeFn(ScalarShape);
REGISTER_OP("TensorMapLookup")
    .Input("input_handle: variant")
    .Input("key: key_dtype")
    .Output("value: value_dtype")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .SetShapeFn(UnknownShape);
REGISTER_OP("TensorMapInsert")
    .Input("input_handle: variant")
    .Input("key: key_dtype")
    .Input("value: value_dtype")
    .Output("output_handle: variant")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .SetShapeFn(ScalarShape);
REGISTER_OP("TensorMapErase")
    .Input("input_handle: variant")
    .Input("key: key_dtype")
    .Output("output_handle: variant")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .SetShapeFn(ScalarShape);
REGISTER_OP("TensorMapHasKey")
    .Input("input_handle: variant")
    .Input("key: key_dtype")
    .Output("has_key: bool")
    .Attr("key_dtype: type")
    .SetShapeFn(ScalarShape);
REGISTER_OP("TensorMapStackKeys")
    .Input("input_handle: variant")
    .Output("keys: key_dtype")
    .Attr("key_dtype: type")
    .SetShapeFn(UnknownShape);

}  // namespace
}  // namespace headrace
