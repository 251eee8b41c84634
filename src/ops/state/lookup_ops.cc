// Lookup tables. The handle of a resource table carries nothing but its two
// types: [0] keys, [1] values with the shape of one value.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::NoOutputs;
using shape_inference::ScalarShape;
using shape_inference::StringHandleShape;

Status TableShape(InferenceContext* c) {
  DtypeAndShape key, value;
  HR_RETURN_IF_ERROR(c->GetAttr("key_dtype", &key.dtype));
  HR_RETURN_IF_ERROR(c->GetAttr("value_dtype", &value.dtype));
  value.shape = Shape::Scalar();
  if (c->attrs().Find("value_shape") != nullptr) {
    HR_RETURN_IF_ERROR(c->GetAttr("value_shape", &value.shape));
  }
  c->set_output(0, c->Scalar());
  c->set_output_handle(0, {key, value});
  return OkStatus();
}

Status InitializeShape(InferenceContext* c) {
  Shape keys, unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &keys));
  return c->Merge(keys, c->input(2), &unused);
}

Status InitializeFromFileShape(InferenceContext* c) {
  Shape unused;
  return c->WithRank(c->input(1), 0, &unused);
}

Status InitializeFromDatasetShape(InferenceContext* c) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
  return c->WithRank(c->input(1), 0, &unused);
}

// The shape of the keys and then of a value, which the default has too.
Status FindShape(InferenceContext* c) {
  c->set_output(0, c->UnknownShape());
  const std::vector<DtypeAndShape>* h = c->input_handle(0);
  if (h == nullptr || h->size() != 2) return OkStatus();
  const Shape& value = (*h)[1].shape;
  // A table whose keys are vectors takes the last dimension as one key; only
  // tables of scalar values never do.
  if (!c->RankKnown(value) || value.dims() != 0) return OkStatus();
  c->set_output(0, c->input(1));
  return OkStatus();
}

Status ExportShape(InferenceContext* c) {
  c->set_output(0, c->UnknownShape());
  c->set_output(1, c->UnknownShape());
  return OkStatus();
}

REGISTER_OP("HashTable")
    .Output("table_handle: Ref(string)")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("use_node_name_sharing: bool = false")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("HashTableV2")
    .Output("table_handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("use_node_name_sharing: bool = false")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .SetIsStateful()
    .SetShapeFn(TableShape)
    .WritesState();
REGISTER_OP("AnonymousHashTable")
    .Output("table_handle: resource")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .SetIsStateful()
    .SetShapeFn(TableShape)
    .WritesState();
REGISTER_OP("MutableHashTable")
    .Output("table_handle: Ref(string)")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("use_node_name_sharing: bool = false")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("MutableHashTableV2")
    .Output("table_handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("use_node_name_sharing: bool = false")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .SetIsStateful()
    .SetShapeFn(TableShape)
    .WritesState();
REGISTER_OP("AnonymousMutableHashTable")
    .Output("table_handle: resource")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .SetIsStateful()
    .SetShapeFn(TableShape)
    .WritesState();
REGISTER_OP("MutableHashTableOfTensors")
    .Output("table_handle: Ref(string)")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("use_node_name_sharing: bool = false")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .Attr("value_shape: shape = {}")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("MutableHashTableOfTensorsV2")
    .Output("table_handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("use_node_name_sharing: bool = false")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .Attr("value_shape: shape = {}")
    .SetIsStateful()
    .SetShapeFn(TableShape)
    .WritesState();
REGISTER_OP("AnonymousMutableHashTableOfTensors")
    .Output("table_handle: resource")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .Attr("value_shape: shape = {}")
    .SetIsStateful()
    .SetShapeFn(TableShape)
    .WritesState();
REGISTER_OP("MutableDenseHashTable")
    .Input("empty_key: key_dtype")
    .Output("table_handle: Ref(string)")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("use_node_name_sharing: bool = false")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .Attr("value_shape: shape = {}")
    .Attr("initial_num_buckets: int = 131072")
    .Attr("max_load_factor: float = 0.8")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("MutableDenseHashTableV2")
    .Input("empty_key: key_dtype")
    .Input("deleted_key: key_dtype")
    .Output("table_handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("use_node_name_sharing: bool = false")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .Attr("value_shape: shape = {}")
    .Attr("initial_num_buckets: int = 131072")
    .Attr("max_load_factor: float = 0.8")
    .SetIsStateful()
    .SetShapeFn(TableShape)
    .WritesState();
REGISTER_OP("AnonymousMutableDenseHashTable")
    .Input("empty_key: key_dtype")
    .Input("deleted_key: key_dtype")
    .Output("table_handle: resource")
    .Attr("key_dtype: type")
    .Attr("value_dtype: type")
    .Attr("value_shape: shape = {}")
    .Attr("initial_num_buckets: int = 131072")
    .Attr("max_load_factor: float = 0.8")
    .SetIsStateful()
    .SetShapeFn(TableShape)
    .WritesState();
REGISTER_OP("InitializeTable")
    .Input("table_handle: Ref(string)")
    .Input("keys: Tkey")
    .Input("values: Tval")
    .Attr("Tkey: type")
    .Attr("Tval: type")
    .SetShapeFn(InitializeShape)
    .WritesState();
REGISTER_OP("InitializeTableFromTextFile")
    .Input("table_handle: Ref(string)")
    .Input("filename: string")
    .Attr("key_index: int >= -2")
    .Attr("value_index: int >= -2")
    .Attr("vocab_size: int >= -1 = -1")
    .Attr("delimiter: string = '\t'")
    .Attr("offset: int = 0")
    .SetShapeFn(InitializeFromFileShape)
    .WritesState()
    .ReadsFiles()
    .FileNameInput(1);
REGISTER_OP("LookupTableFind")
    .Input("table_handle: Ref(string)")
    .Input("keys: Tin")
    .Input("default_value: Tout")
    .Output("values: Tout")
    .Attr("Tin: type")
    .Attr("Tout: type")
    .SetShapeFn(FindShape)
    .ReadsState();
REGISTER_OP("LookupTableInsert")
    .Input("table_handle: Ref(string)")
    .Input("keys: Tin")
    .Input("values: Tout")
    .Attr("Tin: type")
    .Attr("Tout: type")
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("LookupTableSize")
    .Input("table_handle: Ref(string)")
    .Output("size: int64")
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("LookupTableExport")
    .Input("table_handle: Ref(string)")
    .Output("keys: Tkeys")
    .Output("values: Tvalues")
    .Attr("Tkeys: type")
    .Attr("Tvalues: type")
    .SetShapeFn(ExportShape)
    .ReadsState();
REGISTER_OP("LookupTableImport")
    .Input("table_handle: Ref(string)")
    .Input("keys: Tin")
    .Input("values: Tout")
    .Attr("Tin: type")
    .Attr("Tout: type")
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("InitializeTableV2")
    .Input("table_handle: resource")
    .Input("keys: Tkey")
    .Input("values: Tval")
    .Attr("Tkey: type")
    .Attr("Tval: type")
    .SetIsStateful()
    .SetShapeFn(InitializeShape)
    .WritesState();
REGISTER_OP("InitializeTableFromTextFileV2")
    .Input("table_handle: resource")
    .Input("filename: string")
    .Attr("key_index: int >= -2")
    .Attr("value_index: int >= -2")
    .Attr("vocab_size: int >= -1 = -1")
    .Attr("delimiter: string = '\t'")
    .Attr("offset: int = 0")
    .SetIsStateful()
    .SetShapeFn(InitializeFromFileShape)
    .WritesState()
    .ReadsFiles()
    .FileNameInput(1);
REGISTER_OP("InitializeTableFromDataset")
    .Input("table_handle: resource")
    .Input("dataset: variant")
    .SetIsStateful()
    .SetShapeFn(InitializeFromDatasetShape)
    .WritesState()
    .CallsFunctions();
REGISTER_OP("LookupTableFindV2")
    .Input("table_handle: resource")
    .Input("keys: Tin")
    .Input("default_value: Tout")
    .Output("values: Tout")
    .Attr("Tin: type")
    .Attr("Tout: type")
    .SetIsStateful()
    .SetShapeFn(FindShape)
    .ReadsState();
REGISTER_OP("LookupTableInsertV2")
    .Input("table_handle: resource")
    .Input("keys: Tin")
    .Input("values: Tout")
    .Attr("Tin: type")
    .Attr("Tout: type")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("LookupTableSizeV2")
    .Input("table_handle: resource")
    .Output("size: int64")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("LookupTableExportV2")
    .Input("table_handle: resource")
    .Output("keys: Tkeys")
    .Output("values: Tvalues")
    .Attr("Tkeys: type")
    .Attr("Tvalues: type")
    .SetIsStateful()
    .SetShapeFn(ExportShape)
    .ReadsState();
REGISTER_OP("LookupTableImportV2")
    .Input("table_handle: resource")
    .Input("keys: Tin")
    .Input("values: Tout")
    .Attr("Tin: type")
    .Attr("Tout: type")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("LookupTableRemoveV2")
    .Input("table_handle: resource")
    .Input("keys: Tin")
    .Attr("Tin: type")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();

}  // namespace
}  // namespace headrace
