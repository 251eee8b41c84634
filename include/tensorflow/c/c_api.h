/* The C API: graphs, sessions and what they are made of.

   Names, values and layouts are those of TensorFlow's own C API, so that a
   program written for it builds against these headers and runs with this
   library.

   Errors: a call that can fail takes a TF_Status; after any code but TF_OK its
   results are not set, or NULL where that is said. No call ends the process or
   throws: wrong arguments are INVALID_ARGUMENT, and NULL handles are accepted
   where a call can say so.

   Ownership: what a TF_New... function returned, a TF_Delete... function
   deletes; those accept NULL. Strings, arrays and protocol buffers given to a
   call are copied, unless it says otherwise.

   Threads: a TF_Graph may be used from several threads, and while sessions run
   on it. A TF_Session may be run from several threads. Everything else belongs
   to one thread at a time. Functions that look at a TF_Operation's consumers or
   control outputs see a moment: another thread may be adding more. */
#ifndef TENSORFLOW_C_C_API_H_
#define TENSORFLOW_C_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_attrtype.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/c/tf_tstring.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Characters that belong to somebody else; not NUL-terminated. */
typedef struct TF_StringView {
  const char* data;
  size_t len;
} TF_StringView;

/* The TensorFlow release whose behaviour this library has: "1.15.5". */
TF_CAPI_EXPORT extern const char* TF_Version(void);

/* Reads a serialized TensorProto into `to`, whose content it replaces. */
TF_CAPI_EXPORT extern void TF_TensorFromProto(const TF_Buffer* from,
                                              TF_Tensor* to, TF_Status* status);

/* ---- Session options ---------------------------------------------------- */

typedef struct TF_SessionOptions TF_SessionOptions;

TF_CAPI_EXPORT extern TF_SessionOptions* TF_NewSessionOptions(void);
/* Where sessions run: "" in this process, "grpc://host:port" elsewhere. */
TF_CAPI_EXPORT extern void TF_SetTarget(TF_SessionOptions* options,
                                        const char* target);
/* A serialized ConfigProto. */
TF_CAPI_EXPORT extern void TF_SetConfig(TF_SessionOptions* options,
                                        const void* proto, size_t proto_len,
                                        TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteSessionOptions(TF_SessionOptions*);

/* ---- Graphs: building --------------------------------------------------- */

/* Nodes and edges. A graph lives until it and every session on it are
   deleted. */
typedef struct TF_Graph TF_Graph;
/* A node being described: by one thread, until TF_FinishOperation. */
typedef struct TF_OperationDescription TF_OperationDescription;
/* A node; lives as long as its graph and is never deleted. */
typedef struct TF_Operation TF_Operation;

typedef struct TF_Input {
  TF_Operation* oper;
  int index;
} TF_Input;
typedef struct TF_Output {
  TF_Operation* oper;
  int index;
} TF_Output;

typedef struct TF_Function TF_Function;
typedef struct TF_FunctionOptions TF_FunctionOptions;

TF_CAPI_EXPORT extern TF_Graph* TF_NewGraph(void);
/* Deleting again does nothing until a new graph has the address; other uses of
   a deleted graph are undefined. */
TF_CAPI_EXPORT extern void TF_DeleteGraph(TF_Graph*);

/* Refines what is known of an output's shape: -1 is an unknown dimension,
   num_dims -1 an unknown rank. INVALID_ARGUMENT if it contradicts what is known
   already. */
TF_CAPI_EXPORT extern void TF_GraphSetTensorShape(TF_Graph* graph,
                                                  TF_Output output,
                                                  const int64_t* dims,
                                                  const int num_dims,
                                                  TF_Status* status);
/* -1 if the rank is unknown. */
TF_CAPI_EXPORT extern int TF_GraphGetTensorNumDims(TF_Graph* graph,
                                                   TF_Output output,
                                                   TF_Status* status);
/* `num_dims` is what TF_GraphGetTensorNumDims returned; unknown dimensions come
   out as -1. */
TF_CAPI_EXPORT extern void TF_GraphGetTensorShape(TF_Graph* graph,
                                                  TF_Output output,
                                                  int64_t* dims, int num_dims,
                                                  TF_Status* status);

/* Begins a node. Nothing is checked and nothing is added to the graph before
   TF_FinishOperation, which also reports what was wrong with the calls
   between. */
TF_CAPI_EXPORT extern TF_OperationDescription* TF_NewOperation(
    TF_Graph* graph, const char* op_type, const char* oper_name);
/* The same; TF_FinishOperationLocked ends it. */
TF_CAPI_EXPORT extern TF_OperationDescription* TF_NewOperationLocked(
    TF_Graph* graph, const char* op_type, const char* oper_name);

/* Asks for a device, "/job:a/task:0/device:CPU:0" or a part of it. */
TF_CAPI_EXPORT extern void TF_SetDevice(TF_OperationDescription* desc,
                                        const char* device);
/* Inputs in the order of the op's signature: TF_AddInput for an argument that
   is one tensor, TF_AddInputList for one that is a list, also of none. */
TF_CAPI_EXPORT extern void TF_AddInput(TF_OperationDescription* desc,
                                       TF_Output input);
TF_CAPI_EXPORT extern void TF_AddInputList(TF_OperationDescription* desc,
                                           const TF_Output* inputs,
                                           int num_inputs);
/* The node will run after `input`. */
TF_CAPI_EXPORT extern void TF_AddControlInput(TF_OperationDescription* desc,
                                              TF_Operation* input);
/* The node will be placed on the device of `op`. */
TF_CAPI_EXPORT extern void TF_ColocateWith(TF_OperationDescription* desc,
                                           TF_Operation* op);

/* Attributes, by name. Those that the inputs determine (types, lengths of
   lists) and those with a default may be left out. */
TF_CAPI_EXPORT extern void TF_SetAttrString(TF_OperationDescription* desc,
                                            const char* attr_name,
                                            const void* value, size_t length);
TF_CAPI_EXPORT extern void TF_SetAttrStringList(TF_OperationDescription* desc,
                                                const char* attr_name,
                                                const void* const* values,
                                                const size_t* lengths,
                                                int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrInt(TF_OperationDescription* desc,
                                         const char* attr_name, int64_t value);
TF_CAPI_EXPORT extern void TF_SetAttrIntList(TF_OperationDescription* desc,
                                             const char* attr_name,
                                             const int64_t* values,
                                             int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrFloat(TF_OperationDescription* desc,
                                           const char* attr_name, float value);
TF_CAPI_EXPORT extern void TF_SetAttrFloatList(TF_OperationDescription* desc,
                                               const char* attr_name,
                                               const float* values,
                                               int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrBool(TF_OperationDescription* desc,
                                          const char* attr_name,
                                          unsigned char value);
TF_CAPI_EXPORT extern void TF_SetAttrBoolList(TF_OperationDescription* desc,
                                              const char* attr_name,
                                              const unsigned char* values,
                                              int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrType(TF_OperationDescription* desc,
                                          const char* attr_name,
                                          TF_DataType value);
TF_CAPI_EXPORT extern void TF_SetAttrTypeList(TF_OperationDescription* desc,
                                              const char* attr_name,
                                              const TF_DataType* values,
                                              int num_values);
/* In the body of a function: the value of the function's attr of that name. */
TF_CAPI_EXPORT extern void TF_SetAttrPlaceholder(TF_OperationDescription* desc,
                                                 const char* attr_name,
                                                 const char* placeholder);
TF_CAPI_EXPORT extern void TF_SetAttrFuncName(TF_OperationDescription* desc,
                                              const char* attr_name,
                                              const char* value, size_t length);
/* -1 is an unknown dimension; num_dims -1 an unknown rank. */
TF_CAPI_EXPORT extern void TF_SetAttrShape(TF_OperationDescription* desc,
                                           const char* attr_name,
                                           const int64_t* dims, int num_dims);
TF_CAPI_EXPORT extern void TF_SetAttrShapeList(TF_OperationDescription* desc,
                                               const char* attr_name,
                                               const int64_t* const* dims,
                                               const int* num_dims,
                                               int num_shapes);
/* Serialized TensorShapeProtos. */
TF_CAPI_EXPORT extern void TF_SetAttrTensorShapeProto(
    TF_OperationDescription* desc, const char* attr_name, const void* proto,
    size_t proto_len, TF_Status* status);
TF_CAPI_EXPORT extern void TF_SetAttrTensorShapeProtoList(
    TF_OperationDescription* desc, const char* attr_name,
    const void* const* protos, const size_t* proto_lens, int num_shapes,
    TF_Status* status);
/* The elements are copied. */
TF_CAPI_EXPORT extern void TF_SetAttrTensor(TF_OperationDescription* desc,
                                            const char* attr_name,
                                            TF_Tensor* value,
                                            TF_Status* status);
TF_CAPI_EXPORT extern void TF_SetAttrTensorList(TF_OperationDescription* desc,
                                                const char* attr_name,
                                                TF_Tensor* const* values,
                                                int num_values,
                                                TF_Status* status);
/* A serialized AttrValue of any kind. */
TF_CAPI_EXPORT extern void TF_SetAttrValueProto(TF_OperationDescription* desc,
                                                const char* attr_name,
                                                const void* proto,
                                                size_t proto_len,
                                                TF_Status* status);

/* Checks the node, infers its shapes and adds it. `desc` is deleted in any
   case; a second call for it is INVALID_ARGUMENT until a new description has
   its address, other uses of it are undefined; NULL on error, and the graph is
   as it was. NOT_FOUND for an unknown op, INVALID_ARGUMENT for a name that is
   taken, inputs or attributes that do not fit and shapes that cannot work. */
TF_CAPI_EXPORT extern TF_Operation* TF_FinishOperation(
    TF_OperationDescription* desc, TF_Status* status);
/* The same without taking the graph's mutex: for a thread that is the only one
   to use the graph. */
TF_CAPI_EXPORT extern TF_Operation* TF_FinishOperationLocked(
    TF_OperationDescription* desc, TF_Status* status);

/* Takes an input of a node from another output of the same type instead. */
TF_CAPI_EXPORT extern void TF_UpdateEdge(TF_Graph* graph, TF_Output new_src,
                                         TF_Input dst, TF_Status* status);

/* ---- Operations: what a node is ----------------------------------------- */

/* Strings live as long as the operation. */
TF_CAPI_EXPORT extern const char* TF_OperationName(TF_Operation* oper);
TF_CAPI_EXPORT extern const char* TF_OperationOpType(TF_Operation* oper);
/* As it was asked for, "" if it was not. */
TF_CAPI_EXPORT extern const char* TF_OperationDevice(TF_Operation* oper);

TF_CAPI_EXPORT extern int TF_OperationNumOutputs(TF_Operation* oper);
/* 0, no type, if there is no such output; so for inputs. */
TF_CAPI_EXPORT extern TF_DataType TF_OperationOutputType(TF_Output oper_out);
/* The number of tensors that an argument of the signature stands for; -1 on
   error. */
TF_CAPI_EXPORT extern int TF_OperationOutputListLength(TF_Operation* oper,
                                                       const char* arg_name,
                                                       TF_Status* status);
TF_CAPI_EXPORT extern int TF_OperationNumInputs(TF_Operation* oper);
TF_CAPI_EXPORT extern TF_DataType TF_OperationInputType(TF_Input oper_in);
TF_CAPI_EXPORT extern int TF_OperationInputListLength(TF_Operation* oper,
                                                      const char* arg_name,
                                                      TF_Status* status);

/* Where an input comes from; {NULL, -1} if there is no such input. */
TF_CAPI_EXPORT extern TF_Output TF_OperationInput(TF_Input oper_in);
/* The first `max_inputs` of them. */
TF_CAPI_EXPORT extern void TF_OperationAllInputs(TF_Operation* oper,
                                                 TF_Output* inputs,
                                                 int max_inputs);
TF_CAPI_EXPORT extern int TF_OperationOutputNumConsumers(TF_Output oper_out);
/* These fill at most max_... entries and return how many there are. */
TF_CAPI_EXPORT extern int TF_OperationOutputConsumers(TF_Output oper_out,
                                                      TF_Input* consumers,
                                                      int max_consumers);
TF_CAPI_EXPORT extern int TF_OperationNumControlInputs(TF_Operation* oper);
TF_CAPI_EXPORT extern int TF_OperationGetControlInputs(
    TF_Operation* oper, TF_Operation** control_inputs, int max_control_inputs);
TF_CAPI_EXPORT extern int TF_OperationNumControlOutputs(TF_Operation* oper);
TF_CAPI_EXPORT extern int TF_OperationGetControlOutputs(
    TF_Operation* oper, TF_Operation** control_outputs,
    int max_control_outputs);

/* What an attribute is, so that a caller can make room for it. */
typedef struct TF_AttrMetadata {
  unsigned char is_list;
  int64_t list_size; /* -1 if it is no list */
  TF_AttrType type;  /* of the elements, if it is a list */
  /* TF_ATTR_STRING: bytes, of all strings for a list. TF_ATTR_SHAPE:
     dimensions, of all shapes for a list; -1 for one shape of unknown rank.
     Else -1. */
  int64_t total_size;
} TF_AttrMetadata;

/* INVALID_ARGUMENT if the operation has no such attribute; so for all below,
   also if it is of another kind. */
TF_CAPI_EXPORT extern TF_AttrMetadata TF_OperationGetAttrMetadata(
    TF_Operation* oper, const char* attr_name, TF_Status* status);
/* At most `max_length` bytes, without a NUL. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrString(TF_Operation* oper,
                                                     const char* attr_name,
                                                     void* value,
                                                     size_t max_length,
                                                     TF_Status* status);
/* `values` will point into `storage`, which has room for total_size bytes. Of
   lists, here and below, the first max_... elements. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrStringList(
    TF_Operation* oper, const char* attr_name, void** values, size_t* lengths,
    int max_values, void* storage, size_t storage_size, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrInt(TF_Operation* oper,
                                                  const char* attr_name,
                                                  int64_t* value,
                                                  TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrIntList(TF_Operation* oper,
                                                      const char* attr_name,
                                                      int64_t* values,
                                                      int max_values,
                                                      TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrFloat(TF_Operation* oper,
                                                    const char* attr_name,
                                                    float* value,
                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrFloatList(TF_Operation* oper,
                                                        const char* attr_name,
                                                        float* values,
                                                        int max_values,
                                                        TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrBool(TF_Operation* oper,
                                                   const char* attr_name,
                                                   unsigned char* value,
                                                   TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrBoolList(TF_Operation* oper,
                                                       const char* attr_name,
                                                       unsigned char* values,
                                                       int max_values,
                                                       TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrType(TF_Operation* oper,
                                                   const char* attr_name,
                                                   TF_DataType* value,
                                                   TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTypeList(TF_Operation* oper,
                                                       const char* attr_name,
                                                       TF_DataType* values,
                                                       int max_values,
                                                       TF_Status* status);
/* Unknown dimensions come out as -1; nothing is written for an unknown rank. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrShape(TF_Operation* oper,
                                                    const char* attr_name,
                                                    int64_t* value,
                                                    int num_dims,
                                                    TF_Status* status);
/* `dims` will point into `storage`; num_dims is -1 for an unknown rank. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrShapeList(
    TF_Operation* oper, const char* attr_name, int64_t** dims, int* num_dims,
    int num_shapes, int64_t* storage, int storage_size, TF_Status* status);
/* Serialized TensorShapeProtos; the list makes buffers for the caller to
   delete. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorShapeProto(
    TF_Operation* oper, const char* attr_name, TF_Buffer* value,
    TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorShapeProtoList(
    TF_Operation* oper, const char* attr_name, TF_Buffer** values,
    int max_values, TF_Status* status);
/* New tensors, for the caller to delete. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensor(TF_Operation* oper,
                                                     const char* attr_name,
                                                     TF_Tensor** value,
                                                     TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorList(TF_Operation* oper,
                                                         const char* attr_name,
                                                         TF_Tensor** values,
                                                         int max_values,
                                                         TF_Status* status);
/* A serialized AttrValue. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrValueProto(
    TF_Operation* oper, const char* attr_name, TF_Buffer* output_attr_value,
    TF_Status* status);
/* The attributes by number, sorted by name. The length is without a NUL, and
   the name is written without one; -1 if there is no such number. */
TF_CAPI_EXPORT extern int TF_OperationGetNumAttrs(TF_Operation* oper);
TF_CAPI_EXPORT extern int TF_OperationGetAttrNameLength(TF_Operation* oper,
                                                        int i);
TF_CAPI_EXPORT extern void TF_OperationGetAttrName(TF_Operation* oper, int i,
                                                   char* output,
                                                   TF_Status* status);

/* A serialized NodeDef. */
TF_CAPI_EXPORT extern void TF_OperationToNodeDef(TF_Operation* oper,
                                                 TF_Buffer* output_node_def,
                                                 TF_Status* status);

/* ---- Graphs: what is in them -------------------------------------------- */

/* NULL if there is none of that name. */
TF_CAPI_EXPORT extern TF_Operation* TF_GraphOperationByName(
    TF_Graph* graph, const char* oper_name);
/* The operations one after the other: begin with *pos == 0, end at NULL. */
TF_CAPI_EXPORT extern TF_Operation* TF_GraphNextOperation(TF_Graph* graph,
                                                          size_t* pos);

/* Serialized messages: GraphDef, OpDef, VersionDef. The buffer must be empty
   (data NULL), here and wherever a call fills one. */
TF_CAPI_EXPORT extern void TF_GraphToGraphDef(TF_Graph* graph,
                                              TF_Buffer* output_graph_def,
                                              TF_Status* status);
TF_CAPI_EXPORT extern void TF_GraphGetOpDef(TF_Graph* graph,
                                            const char* op_name,
                                            TF_Buffer* output_op_def,
                                            TF_Status* status);
TF_CAPI_EXPORT extern void TF_GraphVersions(TF_Graph* graph,
                                            TF_Buffer* output_version_def,
                                            TF_Status* status);

/* ---- Import ------------------------------------------------------------- */

typedef struct TF_ImportGraphDefOptions TF_ImportGraphDefOptions;

TF_CAPI_EXPORT extern TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions(
    void);
TF_CAPI_EXPORT extern void TF_DeleteImportGraphDefOptions(
    TF_ImportGraphDefOptions* opts);
/* Nodes will be named "prefix/name". */
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetPrefix(
    TF_ImportGraphDefOptions* opts, const char* prefix);
/* For nodes that ask for none. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetDefaultDevice(
    TF_ImportGraphDefOptions* opts, const char* device);
/* A node whose name is taken gets a new one; otherwise that is an error. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetUniquifyNames(
    TF_ImportGraphDefOptions* opts, unsigned char uniquify_names);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetUniquifyPrefix(
    TF_ImportGraphDefOptions* opts, unsigned char uniquify_prefix);
/* Inputs from `src_name`:`src_index` of the GraphDef come from `dst`, of the
   graph imported into, instead. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddInputMapping(
    TF_ImportGraphDefOptions* opts, const char* src_name, int src_index,
    TF_Output dst);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsRemapControlDependency(
    TF_ImportGraphDefOptions* opts, const char* src_name, TF_Operation* dst);
/* Imported nodes without inputs will run after `oper`. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddControlDependency(
    TF_ImportGraphDefOptions* opts, TF_Operation* oper);
/* What the import shall return: outputs and operations by their names in the
   GraphDef. A mapped output comes back as what it was mapped to. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddReturnOutput(
    TF_ImportGraphDefOptions* opts, const char* oper_name, int index);
TF_CAPI_EXPORT extern int TF_ImportGraphDefOptionsNumReturnOutputs(
    const TF_ImportGraphDefOptions* opts);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddReturnOperation(
    TF_ImportGraphDefOptions* opts, const char* oper_name);
TF_CAPI_EXPORT extern int TF_ImportGraphDefOptionsNumReturnOperations(
    const TF_ImportGraphDefOptions* opts);

typedef struct TF_ImportGraphDefResults TF_ImportGraphDefResults;

/* The arrays belong to `results`. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsReturnOutputs(
    TF_ImportGraphDefResults* results, int* num_outputs, TF_Output** outputs);
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsReturnOperations(
    TF_ImportGraphDefResults* results, int* num_opers, TF_Operation*** opers);
/* Input mappings that named nothing in the GraphDef. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsMissingUnusedInputMappings(
    TF_ImportGraphDefResults* results, int* num_missing_unused_input_mappings,
    const char*** src_names, int** src_indexes);
TF_CAPI_EXPORT extern void TF_DeleteImportGraphDefResults(
    TF_ImportGraphDefResults* results);

/* Adds the nodes of a serialized GraphDef, all or, on error, none. `options`
   may be NULL. */
TF_CAPI_EXPORT extern TF_ImportGraphDefResults*
TF_GraphImportGraphDefWithResults(TF_Graph* graph, const TF_Buffer* graph_def,
                                  const TF_ImportGraphDefOptions* options,
                                  TF_Status* status);
/* `return_outputs` has room for the outputs that the options ask for. */
TF_CAPI_EXPORT extern void TF_GraphImportGraphDefWithReturnOutputs(
    TF_Graph* graph, const TF_Buffer* graph_def,
    const TF_ImportGraphDefOptions* options, TF_Output* return_outputs,
    int num_return_outputs, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GraphImportGraphDef(
    TF_Graph* graph, const TF_Buffer* graph_def,
    const TF_ImportGraphDefOptions* options, TF_Status* status);

/* ---- Functions ---------------------------------------------------------- */

/* Makes `func`, and `grad` as its gradient unless NULL, known to the graph.
   Both are copied. INVALID_ARGUMENT if another function has that name. */
TF_CAPI_EXPORT extern void TF_GraphCopyFunction(TF_Graph* g,
                                                const TF_Function* func,
                                                const TF_Function* grad,
                                                TF_Status* status);
TF_CAPI_EXPORT extern int TF_GraphNumFunctions(TF_Graph* g);
/* Copies of at most `max_func` functions, for the caller to delete; returns how
   many. */
TF_CAPI_EXPORT extern int TF_GraphGetFunctions(TF_Graph* g, TF_Function** funcs,
                                               int max_func, TF_Status* status);

/* A function of operations of `fn_body`, for the caller to delete. `num_opers`
   -1: of all but those of `inputs`. What the operations need of others must be
   in `inputs`. `output_names` are the names of the results, NULL for those of
   their operations; a call runs the operations in `control_outputs` even if no
   result needs them. With `append_hash_to_fn_name` the name ends in a hash of
   the function. NULL on error. */
TF_CAPI_EXPORT extern TF_Function* TF_GraphToFunctionWithControlOutputs(
    const TF_Graph* fn_body, const char* fn_name,
    unsigned char append_hash_to_fn_name, int num_opers,
    const TF_Operation* const* opers, int ninputs, const TF_Output* inputs,
    int noutputs, const TF_Output* outputs, const char* const* output_names,
    int ncontrol_outputs, const TF_Operation* const* control_outputs,
    const char* const* control_output_names, const TF_FunctionOptions* opts,
    const char* description, TF_Status* status);
/* The same without control outputs. */
TF_CAPI_EXPORT extern TF_Function* TF_GraphToFunction(
    const TF_Graph* fn_body, const char* fn_name,
    unsigned char append_hash_to_fn_name, int num_opers,
    const TF_Operation* const* opers, int ninputs, const TF_Output* inputs,
    int noutputs, const TF_Output* outputs, const char* const* output_names,
    const TF_FunctionOptions* opts, const char* description, TF_Status* status);

/* Lives as long as `func`. */
TF_CAPI_EXPORT extern const char* TF_FunctionName(TF_Function* func);
/* Serialized FunctionDefs and AttrValues. */
TF_CAPI_EXPORT extern void TF_FunctionToFunctionDef(TF_Function* func,
                                                    TF_Buffer* output_func_def,
                                                    TF_Status* status);
TF_CAPI_EXPORT extern TF_Function* TF_FunctionImportFunctionDef(
    const void* proto, size_t proto_len, TF_Status* status);
TF_CAPI_EXPORT extern void TF_FunctionSetAttrValueProto(TF_Function* func,
                                                        const char* attr_name,
                                                        const void* proto,
                                                        size_t proto_len,
                                                        TF_Status* status);
TF_CAPI_EXPORT extern void TF_FunctionGetAttrValueProto(
    TF_Function* func, const char* attr_name, TF_Buffer* output_attr_value,
    TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteFunction(TF_Function* func);

/* ---- Loops and gradients ------------------------------------------------ */

/* Filled in by the client between TF_NewWhile and TF_FinishWhile. */
typedef struct TF_WhileParams {
  const int ninputs;
  TF_Graph* const cond_graph;
  const TF_Output* const cond_inputs;
  TF_Output cond_output;
  TF_Graph* const body_graph;
  const TF_Output* const body_inputs;
  TF_Output* const body_outputs;
  const char* name;
} TF_WhileParams;

/* Begins a loop with variables that start as `inputs`. The client adds to the
   graphs for the condition and the body, of the variables `cond_inputs` and
   `body_inputs`; sets `cond_output`, `body_outputs` and `name`; and calls one
   of the two functions below, which free the graphs and the lists. */
TF_CAPI_EXPORT extern TF_WhileParams TF_NewWhile(TF_Graph* g, TF_Output* inputs,
                                                 int ninputs,
                                                 TF_Status* status);
/* Adds the loop to the graph. `outputs` has room for the final values of the
   variables; on error nothing is added, and they are not set. */
TF_CAPI_EXPORT extern void TF_FinishWhile(const TF_WhileParams* params,
                                          TF_Status* status,
                                          TF_Output* outputs);
TF_CAPI_EXPORT extern void TF_AbortWhile(const TF_WhileParams* params);

/* Adds operations for the derivatives of the sum of `y` by each `x`, which they
   set `dy` to. `dx`: the gradients of `y`, of the same types; NULL for ones. A
   dy is {NULL, 0} if y depends on x only through tensors of integers or through
   operations that no gradient goes through, as Shape. On error every dy is
   {NULL, 0}. TF_NOT_FOUND if an operation on the way has no gradient. `prefix`:
   a scope for the new names that is not in use. */
TF_CAPI_EXPORT extern void TF_AddGradients(TF_Graph* g, TF_Output* y, int ny,
                                           TF_Output* x, int nx, TF_Output* dx,
                                           TF_Status* status, TF_Output* dy);
TF_CAPI_EXPORT extern void TF_AddGradientsWithPrefix(
    TF_Graph* g, const char* prefix, TF_Output* y, int ny, TF_Output* x, int nx,
    TF_Output* dx, TF_Status* status, TF_Output* dy);

/* ---- Sessions ----------------------------------------------------------- */

/* Runs parts of a graph, which it keeps alive; sees what is added to it. */
typedef struct TF_Session TF_Session;

/* NULL on error. `opts` may be NULL and may be deleted afterwards. */
TF_CAPI_EXPORT extern TF_Session* TF_NewSession(TF_Graph* graph,
                                                const TF_SessionOptions* opts,
                                                TF_Status* status);
/* The graph with exactly these tags, in `graph`, which must be empty, and a
   session with its variables restored and its main operation run.
   `meta_graph_def`, an empty buffer or NULL, gets the MetaGraphDef. */
TF_CAPI_EXPORT extern TF_Session* TF_LoadSessionFromSavedModel(
    const TF_SessionOptions* session_options, const TF_Buffer* run_options,
    const char* export_dir, const char* const* tags, int tags_len,
    TF_Graph* graph, TF_Buffer* meta_graph_def, TF_Status* status);
/* Runs in progress and later ones fail with CANCELLED. */
TF_CAPI_EXPORT extern void TF_CloseSession(TF_Session*, TF_Status* status);
/* Closes, waits for runs in progress and frees. Of a session that was deleted
   before, closing and deleting are INVALID_ARGUMENT until a new session has its
   address; other uses are undefined. */
TF_CAPI_EXPORT extern void TF_DeleteSession(TF_Session*, TF_Status* status);

/* Runs what the outputs and targets need, with `input_values` in place of
   `inputs`.

   `run_options` is a serialized RunOptions or NULL. `run_metadata` is an empty
   buffer for a serialized RunMetadata or NULL. The fed tensors stay the
   caller's; the library may go on sharing their memory. On success
   `output_values` are new tensors for the caller to delete, on error all are
   NULL. The message of an error names the node that failed. */
TF_CAPI_EXPORT extern void TF_SessionRun(
    TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs,
    TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs,
    TF_Tensor** output_values, int noutputs,
    const TF_Operation* const* target_opers, int ntargets,
    TF_Buffer* run_metadata, TF_Status*);

/* Partial runs: a run whose feeds and fetches come in several calls. Setup
   declares all of them and the targets, and sets `*handle`, which
   TF_DeletePRunHandle frees. Each call of TF_SessionPRun gives some of the
   feeds and takes some of the fetches, each once; a fetch whose feeds have not
   come is INVALID_ARGUMENT. The run ends when every feed was given and every
   fetch taken, or when its handle is deleted. */
TF_CAPI_EXPORT extern void TF_SessionPRunSetup(
    TF_Session*, const TF_Output* inputs, int ninputs, const TF_Output* outputs,
    int noutputs, const TF_Operation* const* target_opers, int ntargets,
    const char** handle, TF_Status*);
TF_CAPI_EXPORT extern void TF_SessionPRun(
    TF_Session*, const char* handle, const TF_Output* inputs,
    TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs,
    TF_Tensor** output_values, int noutputs,
    const TF_Operation* const* target_opers, int ntargets, TF_Status*);
TF_CAPI_EXPORT extern void TF_DeletePRunHandle(const char* handle);

/* The session of TensorFlow's first C API: it has a graph of its own, and names
   ("a:0", "a") for what it runs. */
typedef struct TF_DeprecatedSession TF_DeprecatedSession;

TF_CAPI_EXPORT extern TF_DeprecatedSession* TF_NewDeprecatedSession(
    const TF_SessionOptions*, TF_Status* status);
TF_CAPI_EXPORT extern void TF_CloseDeprecatedSession(TF_DeprecatedSession*,
                                                     TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteDeprecatedSession(TF_DeprecatedSession*,
                                                      TF_Status* status);
/* Adds the nodes of a serialized GraphDef. */
TF_CAPI_EXPORT extern void TF_ExtendGraph(TF_DeprecatedSession*,
                                          const void* proto, size_t proto_len,
                                          TF_Status*);
/* Closes every session of the target, this process by default, and drops the
   variables and other state that they keep in the containers; of the default
   container if none is named. */
TF_CAPI_EXPORT extern void TF_Reset(const TF_SessionOptions* opt,
                                    const char** containers, int ncontainers,
                                    TF_Status* status);
/* As TF_SessionRun. */
TF_CAPI_EXPORT extern void TF_Run(TF_DeprecatedSession*,
                                  const TF_Buffer* run_options,
                                  const char** input_names, TF_Tensor** inputs,
                                  int ninputs, const char** output_names,
                                  TF_Tensor** outputs, int noutputs,
                                  const char** target_oper_names, int ntargets,
                                  TF_Buffer* run_metadata, TF_Status*);
/* As TF_SessionPRunSetup and TF_SessionPRun. */
TF_CAPI_EXPORT extern void TF_PRunSetup(TF_DeprecatedSession*,
                                        const char** input_names, int ninputs,
                                        const char** output_names, int noutputs,
                                        const char** target_oper_names,
                                        int ntargets, const char** handle,
                                        TF_Status*);
TF_CAPI_EXPORT extern void TF_PRun(TF_DeprecatedSession*, const char* handle,
                                   const char** input_names, TF_Tensor** inputs,
                                   int ninputs, const char** output_names,
                                   TF_Tensor** outputs, int noutputs,
                                   const char** target_oper_names, int ntargets,
                                   TF_Status*);

/* ---- Devices ------------------------------------------------------------ */

typedef struct TF_DeviceList TF_DeviceList;

/* NULL on error. The caller deletes the list; strings live as long as it. */
TF_CAPI_EXPORT extern TF_DeviceList* TF_SessionListDevices(TF_Session* session,
                                                           TF_Status* status);
TF_CAPI_EXPORT extern TF_DeviceList* TF_DeprecatedSessionListDevices(
    TF_DeprecatedSession* session, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteDeviceList(TF_DeviceList* list);
TF_CAPI_EXPORT extern int TF_DeviceListCount(const TF_DeviceList* list);
/* INVALID_ARGUMENT for an index that is out of range. */
TF_CAPI_EXPORT extern const char* TF_DeviceListName(const TF_DeviceList* list,
                                                    int index,
                                                    TF_Status* status);
TF_CAPI_EXPORT extern const char* TF_DeviceListType(const TF_DeviceList* list,
                                                    int index,
                                                    TF_Status* status);
TF_CAPI_EXPORT extern int64_t TF_DeviceListMemoryBytes(
    const TF_DeviceList* list, int index, TF_Status* status);
TF_CAPI_EXPORT extern uint64_t TF_DeviceListIncarnation(
    const TF_DeviceList* list, int index, TF_Status* status);

/* ---- Servers ------------------------------------------------------------ */

/* This process as a task of a cluster. It is loaded from
   libheadrace_distributed.so, which lies beside libheadrace.so. */
typedef struct TF_Server TF_Server;

/* `proto` is a serialized ServerDef. NULL on error. The server listens, but
   serves from TF_ServerStart on. */
TF_CAPI_EXPORT extern TF_Server* TF_NewServer(const void* proto,
                                              size_t proto_len,
                                              TF_Status* status);
TF_CAPI_EXPORT extern void TF_ServerStart(TF_Server* server, TF_Status* status);
/* A stopped server cannot be started again. */
TF_CAPI_EXPORT extern void TF_ServerStop(TF_Server* server, TF_Status* status);
/* Waits until the server was stopped. */
TF_CAPI_EXPORT extern void TF_ServerJoin(TF_Server* server, TF_Status* status);
/* "grpc://host:port", for TF_SetTarget; lives as long as the server. */
TF_CAPI_EXPORT extern const char* TF_ServerTarget(TF_Server* server);
/* Stops and frees. */
TF_CAPI_EXPORT extern void TF_DeleteServer(TF_Server* server);

/* ---- Ops and kernels ---------------------------------------------------- */

/* A library of custom ops and kernels; it stays loaded for ever. */
typedef struct TF_Library TF_Library;

/* NULL on error; NOT_FOUND with the loader's words. */
TF_CAPI_EXPORT extern TF_Library* TF_LoadLibrary(const char* library_filename,
                                                 TF_Status* status);
/* A serialized OpList of what the library added; the bytes belong to the
   handle. */
TF_CAPI_EXPORT extern TF_Buffer TF_GetOpList(TF_Library* lib_handle);
TF_CAPI_EXPORT extern void TF_DeleteLibraryHandle(TF_Library* lib_handle);

/* Serialized OpList and KernelLists, for the caller to delete. */
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllOpList(void);
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status);
TF_CAPI_EXPORT extern TF_Buffer* TF_GetRegisteredKernelsForOp(
    const char* name, TF_Status* status);

/* ---- Documentation of ops ------------------------------------------------ */

/* How a binding presents ops: an ApiDef (api_def.proto) for each. */
typedef struct TF_ApiDefMap TF_ApiDefMap;

/* With the default ApiDef of each op of a serialized OpList. NULL on error. */
TF_CAPI_EXPORT extern TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list_buffer,
                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteApiDefMap(TF_ApiDefMap* apimap);
/* Merges an ApiDefs message in text form. It may have texts of several lines,
   from <<WORD to a line WORD. INVALID_ARGUMENT, and no change, if the text is
   malformed. Ops that the map does not have are ignored. FAILED_PRECONDITION
   after a TF_ApiDefMapGet. */
TF_CAPI_EXPORT extern void TF_ApiDefMapPut(TF_ApiDefMap* api_def_map,
                                           const char* text, size_t text_len,
                                           TF_Status* status);
/* A serialized ApiDef, for the caller to delete; NULL if the map has no such
   op. */
TF_CAPI_EXPORT extern TF_Buffer* TF_ApiDefMapGet(TF_ApiDefMap* api_def_map,
                                                 const char* name,
                                                 size_t name_len,
                                                 TF_Status* status);

/* ---- Messages and files ---------------------------------------------------
 */

/* From now on the text of PrintV2 goes to `listener`, and no longer to the
   standard streams. Several listeners all get it. Called from any thread;
   the text lives for the call. */
TF_CAPI_EXPORT extern void TF_RegisterLogListener(
    void (*listener)(const char*));
/* UNIMPLEMENTED: files are those of the system. */
TF_CAPI_EXPORT extern void TF_RegisterFilesystemPlugin(
    const char* plugin_filename, TF_Status* status);

/* ---- Changes of a graph ---------------------------------------------------
 */

/* These change nodes that exist, as TensorFlow's Python front end needs it. A
   session sees a change in steps that it has not run yet. */
TF_CAPI_EXPORT extern void TF_AddOperationControlInput(TF_Graph* graph,
                                                       TF_Operation* op,
                                                       TF_Operation* input);
TF_CAPI_EXPORT extern void TF_RemoveAllControlInputs(TF_Graph* graph,
                                                     TF_Operation* op);
TF_CAPI_EXPORT extern void TF_SetRequestedDevice(TF_Graph* graph,
                                                 TF_Operation* op,
                                                 const char* device);
/* A serialized AttrValue. INVALID_ARGUMENT if it does not fit the op's
   signature, or would change the types of inputs or outputs. */
TF_CAPI_EXPORT extern void TF_SetAttr(TF_Graph* graph, TF_Operation* op,
                                      const char* attr_name,
                                      TF_Buffer* attr_value_proto,
                                      TF_Status* status);
/* INVALID_ARGUMENT for an attr of the op's signature. */
TF_CAPI_EXPORT extern void TF_ClearAttr(TF_Graph* graph, TF_Operation* op,
                                        const char* attr_name,
                                        TF_Status* status);
/* Full types are of no effect here; they are not kept. */
TF_CAPI_EXPORT extern void TF_SetFullType(TF_Graph* graph, TF_Operation* op,
                                          const TF_Buffer* full_type_proto);
/* Connects the first unconnected input of `dst`, a While node. */
TF_CAPI_EXPORT extern void TF_AddWhileInputHack(TF_Graph* graph,
                                                TF_Output new_src,
                                                TF_Operation* dst,
                                                TF_Status* status);
/* No effect: an op without a shape function has outputs of unknown shape. */
TF_CAPI_EXPORT extern void TF_SetRequireShapeInferenceFns(TF_Graph* graph,
                                                          bool require);
/* No effect: a session sees what is added to its graph. */
TF_CAPI_EXPORT extern void TF_ExtendSession(TF_Session* session,
                                            TF_Status* status);
/* What the resource handle at an output refers to: a serialized
   CppShapeInferenceResult.HandleData, for the caller to delete; NULL if nothing
   is known. */
TF_CAPI_EXPORT extern TF_Buffer* TF_GetHandleShapeAndType(TF_Graph* graph,
                                                          TF_Output output);
TF_CAPI_EXPORT extern void TF_SetHandleShapeAndType(TF_Graph* graph,
                                                    TF_Output output,
                                                    const void* proto,
                                                    size_t proto_len,
                                                    TF_Status* status);
/* True, and a new tensor, if the output depends on constants alone. */
TF_CAPI_EXPORT extern unsigned char TF_TryEvaluateConstant(TF_Graph* graph,
                                                           TF_Output output,
                                                           TF_Tensor** result,
                                                           TF_Status* status);
/* As TF_GraphImportGraphDefWithResults, but `graph_def->data` points to a
   tensorflow::GraphDef object in the caller's memory. UNIMPLEMENTED: this
   library has no such class. */
TF_CAPI_EXPORT extern TF_ImportGraphDefResults*
TF_GraphImportGraphDefWithResultsNoSerialization(
    TF_Graph* graph, const TF_Buffer* graph_def,
    const TF_ImportGraphDefOptions* options, TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSORFLOW_C_C_API_H_ */
