/* Functions that TensorFlow calls experimental and that clients use. The
   conventions on errors, ownership and threads are those of c_api.h. */
#ifndef TENSORFLOW_C_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_C_API_EXPERIMENTAL_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/eager/c_api_experimental.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Options --------------------------------------------------------------
 */

/* Sets optimizer_options.global_jit_level of the session's options. This
   library has no just-in-time compiler: the value is kept, without effect. */
TF_CAPI_EXPORT extern void TF_EnableXLACompilation(TF_SessionOptions* options,
                                                   unsigned char enable);
/* Settings of a compiler that is not there. They are kept, so that they can be
   read, and have no effect. The first two return the value before. */
TF_CAPI_EXPORT extern unsigned char TF_SetXlaEnableLazyCompilation(
    unsigned char enable);
TF_CAPI_EXPORT extern unsigned char TF_SetTfXlaCpuGlobalJit(
    unsigned char enable);
/* "0" to "2", "fusible", "single-gpu(N)"; other modes are ignored. */
TF_CAPI_EXPORT extern void TF_SetXlaAutoJitMode(const char* mode);
TF_CAPI_EXPORT extern unsigned char TF_GetXlaAutoJitEnabled(void);
TF_CAPI_EXPORT extern void TF_SetXlaMinClusterSize(int size);
TF_CAPI_EXPORT extern unsigned char TF_GetXlaConstantFoldingDisabled(void);
TF_CAPI_EXPORT extern void TF_SetXlaConstantFoldingDisabled(
    unsigned char should_enable);

/* Serialized ConfigProto and RunOptions, for the caller to delete. */
TF_CAPI_EXPORT extern TF_Buffer* TF_CreateConfig(
    unsigned char enable_xla_compilation, unsigned char gpu_memory_allow_growth,
    unsigned int num_cpu_devices);
TF_CAPI_EXPORT extern TF_Buffer* TF_CreateRunOptions(
    unsigned char enable_full_trace);

/* Whether a colocation must name a node of the GraphDef; by default it must. */
TF_CAPI_EXPORT extern void
TF_ImportGraphDefOptionsSetValidateColocationConstraints(
    TF_ImportGraphDefOptions* opts, unsigned char enable);

/* ---- Looking at things ----------------------------------------------------
 */

/* A GraphDef or FunctionDef as text of `*len` characters, for the caller to
   free(). NULL if the argument is. */
TF_CAPI_EXPORT extern const char* TF_GraphDebugString(TF_Graph* graph,
                                                      size_t* len);
TF_CAPI_EXPORT extern char* TF_FunctionDebugString(TF_Function* func,
                                                   size_t* len);
/* 1 for a stateful op. NOT_FOUND for an op that is not registered. */
TF_CAPI_EXPORT extern int TF_OpIsStateful(const char* op_type,
                                          TF_Status* status);
/* The attr with the length of a list input ("N"); lives for ever. NULL if the
   input is no list of one type. */
TF_CAPI_EXPORT extern const char* TF_GetNumberAttrForOpListInput(
    const char* op_name, int input_index, TF_Status* status);

/* Attrs of an op, to ask where it could run. */
typedef struct TF_AttrBuilder TF_AttrBuilder;
TF_CAPI_EXPORT extern TF_AttrBuilder* TF_NewAttrBuilder(const char* op_name);
TF_CAPI_EXPORT extern void TF_DeleteAttrBuilder(TF_AttrBuilder* builder);
TF_CAPI_EXPORT extern void TF_AttrBuilderSetType(TF_AttrBuilder* builder,
                                                 const char* attr_name,
                                                 TF_DataType value);
TF_CAPI_EXPORT extern void TF_AttrBuilderSetTypeList(TF_AttrBuilder* builder,
                                                     const char* attr_name,
                                                     const TF_DataType* values,
                                                     int num_values);
/* OK if there is a kernel for a device of that type ("CPU"). */
TF_CAPI_EXPORT extern void TF_AttrBuilderCheckCanRunOnDevice(
    TF_AttrBuilder* builder, const char* device_type, TF_Status* status);

/* ---- Checkpoints ----------------------------------------------------------
 */

/* Reads checkpoints of both formats. Thread-safe. */
typedef struct TF_CheckpointReader TF_CheckpointReader;
/* `filename` is the checkpoint's prefix. NULL on error. */
TF_CAPI_EXPORT extern TF_CheckpointReader* TF_NewCheckpointReader(
    const char* filename, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteCheckpointReader(
    TF_CheckpointReader* reader);
TF_CAPI_EXPORT extern int TF_CheckpointReaderSize(TF_CheckpointReader* reader);
/* Names in order; they live as long as the reader. NULL for an index that is
   out of range. */
TF_CAPI_EXPORT extern const char* TF_CheckpointReaderGetVariable(
    TF_CheckpointReader* reader, int index);
TF_CAPI_EXPORT extern int TF_CheckpointReaderHasTensor(
    TF_CheckpointReader* reader, const char* name);
/* 0 and -1 for a name that is not there. */
TF_CAPI_EXPORT extern TF_DataType TF_CheckpointReaderGetVariableDataType(
    TF_CheckpointReader* reader, const char* name);
TF_CAPI_EXPORT extern int TF_CheckpointReaderGetVariableNumDims(
    TF_CheckpointReader* reader, const char* name);
/* INVALID_ARGUMENT unless num_dims is the variable's. */
TF_CAPI_EXPORT extern void TF_CheckpointReaderGetVariableShape(
    TF_CheckpointReader* reader, const char* name, int64_t* dims, int num_dims,
    TF_Status* status);
/* A new tensor. NULL on error. */
TF_CAPI_EXPORT extern TF_Tensor* TF_CheckpointReaderGetTensor(
    TF_CheckpointReader* reader, const char* name, TF_Status* status);

/* ---- Queues by number -----------------------------------------------------
 */

/* Run the graph's node "fifo_queue_dequeue_<tensor_id>", and
   "fifo_queue_enqueue_<tensor_id>" with `tensor` fed to
   "arg_tensor_enqueue_<tensor_id>". They wait for the queue. */
TF_CAPI_EXPORT extern TF_Tensor* TF_DequeueNamedTensor(TF_Session* session,
                                                       int tensor_id,
                                                       TF_Status* status);
TF_CAPI_EXPORT extern void TF_EnqueueNamedTensor(TF_Session* session,
                                                 int tensor_id,
                                                 TF_Tensor* tensor,
                                                 TF_Status* status);

/* ---- Lists of shapes and types --------------------------------------------
 */

typedef struct TF_ShapeAndType {
  int num_dims;      /* -1: unknown rank */
  int64_t* dims;     /* -1: an unknown dimension */
  TF_DataType dtype; /* 0: unknown */
} TF_ShapeAndType;
typedef struct TF_ShapeAndTypeList {
  int num_items;
  TF_ShapeAndType* items;
} TF_ShapeAndTypeList;

/* Items of unknown shape and type. NULL if num_shapes is negative. */
TF_CAPI_EXPORT extern TF_ShapeAndTypeList* TF_NewShapeAndTypeList(
    int num_shapes);
/* No effect for an index that is out of range. */
TF_CAPI_EXPORT extern void TF_ShapeAndTypeListSetShape(
    TF_ShapeAndTypeList* shape_list, int index, const int64_t* dims,
    int num_dims);
TF_CAPI_EXPORT extern void TF_ShapeAndTypeListSetUnknownShape(
    TF_ShapeAndTypeList* shape_list, int index);
TF_CAPI_EXPORT extern void TF_ShapeAndTypeListSetDtype(
    TF_ShapeAndTypeList* shape_list, int index, TF_DataType dtype);
TF_CAPI_EXPORT extern void TF_DeleteShapeAndTypeList(
    TF_ShapeAndTypeList* shape_list);
/* Also deletes the array, which comes from new[]. */
TF_CAPI_EXPORT extern void TF_DeleteShapeAndTypeListArray(
    TF_ShapeAndTypeList** shape_list_array, int num_items);

/* The shapes and types of an op's outputs, by its shape function; the op does
   not run and its own inputs do not matter. Its attrs must be set.
   `input_shapes` has an item for each input; of it the types are not looked
   at. The other arguments about inputs may be NULL, and so may their elements:
   values of inputs, what is known of inputs that are read as shapes, and what
   resource inputs refer to. `output_resource_shapes_and_types` may be NULL, or
   gets an array with a list for each output. The results are for
   TF_DeleteShapeAndTypeList and TF_DeleteShapeAndTypeListArray; NULL on error.
 */
TF_CAPI_EXPORT extern void TFE_InferShapes(
    TFE_Op* op, TF_ShapeAndTypeList* input_shapes, TF_Tensor** input_tensors,
    TF_ShapeAndTypeList* input_tensor_as_shapes,
    TF_ShapeAndTypeList** input_resource_shapes_and_types,
    TF_ShapeAndTypeList** output_shapes,
    TF_ShapeAndTypeList*** output_resource_shapes_and_types, TF_Status* status);

/* ---- Devices as plug-ins --------------------------------------------------
 */

/* UNIMPLEMENTED and NULL: a library adds a device by headrace/device_factory.h
   and TF_LoadLibrary. */
TF_CAPI_EXPORT extern TF_Library* TF_LoadPluggableDeviceLibrary(
    const char* library_filename, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeletePluggableDeviceLibraryHandle(
    TF_Library* lib_handle);

/* ---- The process ----------------------------------------------------------
 */

/* No effect: nothing has to be initialised. */
TF_CAPI_EXPORT extern void TF_InitMain(const char* usage, int* argc,
                                       char*** argv);
/* A TCP port that no one listens on at this moment; -1 if there is none. */
TF_CAPI_EXPORT extern int TF_PickUnusedPortOrDie(void);
/* TF_SetStatus with TF_INTERNAL. */
TF_CAPI_EXPORT extern void TF_MakeInternalErrorStatus(TF_Status* status,
                                                      const char* errMsg);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSORFLOW_C_C_API_EXPERIMENTAL_H_ */
