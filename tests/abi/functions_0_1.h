/* The functions of the C API for ops and kernels as version 0.1 had them. Never
   changed: libraries that were built with them are in use. Functions of later
   versions go into a file of their own. */
TF_Status* TF_NewStatus(void);
void TF_DeleteStatus(TF_Status*);
void TF_SetStatus(TF_Status* s, TF_Code code, const char* msg);
void TF_SetPayload(TF_Status* s, const char* key, const char* value);
void TF_ForEachPayload(const TF_Status* s, TF_PayloadVisitor visitor,
                       void* capture);
void TF_SetStatusFromIOError(TF_Status* s, int error_code, const char* context);
TF_Code TF_GetCode(const TF_Status* s);
const char* TF_Message(const TF_Status* s);
TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len);
TF_Buffer* TF_NewBuffer(void);
void TF_DeleteBuffer(TF_Buffer*);
TF_Buffer TF_GetBuffer(TF_Buffer* buffer);
size_t TF_DataTypeSize(TF_DataType dt);
TF_Tensor* TF_NewTensor(TF_DataType, const int64_t* dims, int num_dims,
                        void* data, size_t len,
                        void (*deallocator)(void* data, size_t len, void* arg),
                        void* deallocator_arg);
size_t TF_TensorDefaultAlignment(void);
TF_Tensor* TF_AllocateTensor(TF_DataType, const int64_t* dims, int num_dims,
                             size_t len);
TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor);
void TF_DeleteTensor(TF_Tensor*);
TF_DataType TF_TensorType(const TF_Tensor*);
void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims);
int TF_NumDims(const TF_Tensor*);
int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);
size_t TF_TensorByteSize(const TF_Tensor*);
void* TF_TensorData(const TF_Tensor*);
int64_t TF_TensorElementCount(const TF_Tensor* tensor);
void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type,
                          TF_Tensor* to, const int64_t* new_dims,
                          int num_new_dims, TF_Status* status);
bool TF_TensorIsAligned(const TF_Tensor*);
size_t TF_StringEncode(const char* src, size_t src_len, char* dst,
                       size_t dst_len, TF_Status* status);
size_t TF_StringDecode(const char* src, size_t src_len, const char** dst,
                       size_t* dst_len, TF_Status* status);
size_t TF_StringEncodedSize(size_t len);
void TF_StringInit(TF_TString* t);
void TF_StringCopy(TF_TString* dst, const char* src, size_t size);
void TF_StringAssignView(TF_TString* dst, const char* src, size_t size);
const char* TF_StringGetDataPointer(const TF_TString* tstr);
TF_TString_Type TF_StringGetType(const TF_TString* str);
size_t TF_StringGetSize(const TF_TString* tstr);
size_t TF_StringGetCapacity(const TF_TString* str);
void TF_StringDealloc(TF_TString* tstr);
TF_KernelBuilder* TF_NewKernelBuilder(
    const char* op_name, const char* device_name,
    void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_func)(void*, TF_OpKernelContext*),
    void (*delete_func)(void*));
TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char* op_name, const char* device_name,
    void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_async_func)(void*, TF_OpKernelContext*,
                               TF_AsyncOpKernelDoneCallback* done),
    void (*delete_func)(void*));
void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback*);
void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* kernel_builder,
                                     const char* attr_name, TF_DataType type,
                                     TF_Status* status);
void TF_KernelBuilder_HostMemory(TF_KernelBuilder* kernel_builder,
                                 const char* arg_name);
void TF_KernelBuilder_Priority(TF_KernelBuilder* kernel_builder,
                               int32_t priority_number);
void TF_KernelBuilder_Label(TF_KernelBuilder* kernel_builder,
                            const char* label);
void TF_RegisterKernelBuilder(const char* kernel_name,
                              TF_KernelBuilder* builder, TF_Status* status);
void TF_RegisterKernelBuilderWithKernelDef(const char* serialized_kernel_def,
                                           const char* name,
                                           TF_KernelBuilder* builder,
                                           TF_Status* status);
void TF_DeleteKernelBuilder(TF_KernelBuilder* builder);
void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx,
                                     TF_Status* status);
TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx);
TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction* ctx,
                                              TF_Status* status);
bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* ctx,
                                     const char* attr_name, TF_Status* status);
void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx,
                                         const char* attr_name,
                                         int32_t* list_size,
                                         int32_t* total_size,
                                         TF_Status* status);
void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* ctx,
                                         const char* attr_name,
                                         TF_DataType* val, TF_Status* status);
void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction* ctx,
                                          const char* attr_name, int32_t* val,
                                          TF_Status* status);
void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* ctx,
                                          const char* attr_name, int64_t* val,
                                          TF_Status* status);
void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction* ctx,
                                          const char* attr_name, float* val,
                                          TF_Status* status);
void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction* ctx,
                                         const char* attr_name, TF_Bool* val,
                                         TF_Status* status);
void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx,
                                           const char* attr_name, char* val,
                                           size_t max_length,
                                           TF_Status* status);
void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* ctx,
                                           const char* attr_name,
                                           TF_Tensor** val, TF_Status* status);
TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(TF_OpKernelConstruction* ctx,
                                                   const char* attr_name,
                                                   TF_Status* status);
void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* ctx,
                                             const char* attr_name,
                                             TF_DataType* vals, int max_vals,
                                             TF_Status* status);
void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction* ctx,
                                              const char* attr_name,
                                              int32_t* vals, int max_vals,
                                              TF_Status* status);
void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* ctx,
                                              const char* attr_name,
                                              int64_t* vals, int max_vals,
                                              TF_Status* status);
void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction* ctx,
                                              const char* attr_name,
                                              float* vals, int max_vals,
                                              TF_Status* status);
void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction* ctx,
                                             const char* attr_name,
                                             TF_Bool* vals, int max_vals,
                                             TF_Status* status);
void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction* ctx,
                                               const char* attr_name,
                                               char** values, size_t* lengths,
                                               int max_values, void* storage,
                                               size_t storage_size,
                                               TF_Status* status);
void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* ctx,
                                               const char* attr_name,
                                               TF_Tensor** vals, int max_values,
                                               TF_Status* status);
int TF_NumInputs(TF_OpKernelContext* ctx);
void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor,
                 TF_Status* status);
void TF_InputRange(TF_OpKernelContext* ctx, const char* name,
                   TF_InputRange_Args* args);
TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index);
bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status);
int TF_NumOutputs(TF_OpKernelContext* ctx);
TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i);
bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i, TF_Status* status);
TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* context, int index,
                             TF_DataType dtype, const int64_t* dims,
                             int num_dims, size_t len, TF_Status* status);
TF_Tensor* TF_ForwardInputOrAllocateOutput(
    TF_OpKernelContext* context, const int* candidate_input_indices,
    int num_candidate_input_indices, int output_index,
    const int64_t* output_dims, int output_num_dims, int* forwarded_input,
    TF_Status* status);
void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor,
                  TF_Status* status);
TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i,
                               TF_Status* status);
TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* context, TF_DataType dtype,
                           const int64_t* dims, int num_dims,
                           TF_AllocatorAttributes* alloc_attrs,
                           TF_Status* status);
void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status);
TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx);
TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx,
                                           size_t index);
int64_t TF_StepId(TF_OpKernelContext* ctx);
int64_t TF_GetStepId(TF_OpKernelContext* ctx);
uint64_t TF_GetFrameId(TF_OpKernelContext* ctx);
int64_t TF_GetIterId(TF_OpKernelContext* ctx);
int TF_GetDeviceId(TF_OpKernelContext* ctx);
TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx);
TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* ctx);
int TF_GetGraphDefVersion(TF_OpKernelContext* ctx);
void TF_GetSerializedResourceHandleProto(
    TF_OpKernelContext* ctx, int i, TF_Buffer* serialized_resource_handle_proto,
    TF_Status* status);
void TF_GetSerializedConfigProto(TF_OpKernelContext* ctx,
                                 TF_Buffer* serialized_config_proto,
                                 TF_Status* status);
void TF_GetSerializedFunctionDefLibrary(
    TF_OpKernelContext* ctx, TF_Buffer* serialized_function_def_library,
    TF_Status* status);
SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status);
void TF_IncNumDeferredOps(TF_OpKernelContext* context);
void TF_DecNumDeferredOps(TF_OpKernelContext* context);
TF_RendezvousThunk TF_GetRendezvous(TF_OpKernelContext* ctx);
TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* op_name);
void TF_RegisterOpDefinition(TF_OpDefinitionBuilder* builder,
                             TF_Status* status);
void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder* builder);
void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder* builder,
                                   const char* attr_spec);
void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder* builder,
                                    const char* input_spec);
void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder* builder,
                                     const char* output_spec);
void TF_OpDefinitionBuilderSetIsCommutative(TF_OpDefinitionBuilder* builder,
                                            bool is_commutative);
void TF_OpDefinitionBuilderSetIsAggregate(TF_OpDefinitionBuilder* builder,
                                          bool is_aggregate);
void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder* builder,
                                         bool is_stateful);
void TF_OpDefinitionBuilderSetAllowsUninitializedInput(
    TF_OpDefinitionBuilder* builder, bool allows_uninitialized_input);
void TF_OpDefinitionBuilderDeprecated(TF_OpDefinitionBuilder* builder,
                                      int version, const char* explanation);
void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder* builder,
    void (*shape_inference_func)(TF_ShapeInferenceContext* ctx,
                                 TF_Status* status));
int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext* ctx);
TF_ShapeHandle* TF_NewShapeHandle(void);
TF_DimensionHandle* TF_NewDimensionHandle(void);
void TF_DeleteShapeHandle(TF_ShapeHandle* handle);
void TF_DeleteDimensionHandle(TF_DimensionHandle* handle);
void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext* ctx, int i,
                                      TF_ShapeHandle* handle,
                                      TF_Status* status);
void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext* ctx, int i,
                                       TF_ShapeHandle* handle,
                                       TF_Status* status);
void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext* ctx,
                                             TF_Status* status);
TF_ShapeHandle* TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext* ctx);
TF_ShapeHandle* TF_ShapeInferenceContextVectorFromSize(
    TF_ShapeInferenceContext* ctx, size_t size);
void TF_ShapeInferenceContext_GetAttrType(TF_ShapeInferenceContext* ctx,
                                          const char* attr_name,
                                          TF_DataType* val, TF_Status* status);
int64_t TF_ShapeInferenceContextRank(TF_ShapeInferenceContext* ctx,
                                     TF_ShapeHandle* handle);
int TF_ShapeInferenceContextRankKnown(TF_ShapeInferenceContext* ctx,
                                      TF_ShapeHandle* handle);
void TF_ShapeInferenceContextWithRank(TF_ShapeInferenceContext* ctx,
                                      TF_ShapeHandle* handle, int64_t rank,
                                      TF_ShapeHandle* result,
                                      TF_Status* status);
void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext* ctx,
                                             TF_ShapeHandle* handle,
                                             int64_t rank,
                                             TF_ShapeHandle* result,
                                             TF_Status* status);
void TF_ShapeInferenceContextWithRankAtMost(TF_ShapeInferenceContext* ctx,
                                            TF_ShapeHandle* handle,
                                            int64_t rank,
                                            TF_ShapeHandle* result,
                                            TF_Status* status);
void TF_ShapeInferenceContextDim(TF_ShapeInferenceContext* ctx,
                                 TF_ShapeHandle* shape_handle, int64_t i,
                                 TF_DimensionHandle* result);
void TF_ShapeInferenceContextSubshape(TF_ShapeInferenceContext* ctx,
                                      TF_ShapeHandle* shape_handle,
                                      int64_t start, int64_t end,
                                      TF_ShapeHandle* result,
                                      TF_Status* status);
void TF_ShapeInferenceContextConcatenateShapes(TF_ShapeInferenceContext* ctx,
                                               TF_ShapeHandle* first,
                                               TF_ShapeHandle* second,
                                               TF_ShapeHandle* result,
                                               TF_Status* status);
int TF_DimensionHandleValueKnown(TF_DimensionHandle* dim_handle);
int64_t TF_DimensionHandleValue(TF_DimensionHandle* dim_handle);