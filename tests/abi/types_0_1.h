/* The types of functions_0_1.h, as version 0.1 had them. Never changed. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TF_Status TF_Status;
typedef struct TF_Tensor TF_Tensor;
typedef struct TF_KernelBuilder TF_KernelBuilder;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_OpKernelContext TF_OpKernelContext;
typedef struct TF_AsyncOpKernelDoneCallback TF_AsyncOpKernelDoneCallback;
typedef struct TF_OpDefinitionBuilder TF_OpDefinitionBuilder;
typedef struct TF_ShapeInferenceContext TF_ShapeInferenceContext;
typedef struct TF_ShapeHandle TF_ShapeHandle;
typedef struct TF_DimensionHandle TF_DimensionHandle;
typedef struct SP_Stream_st* SP_Stream;
typedef unsigned char TF_Bool;

typedef enum TF_Code { TF_OK = 0, TF_INVALID_ARGUMENT = 3 } TF_Code;
typedef enum TF_DataType {
  TF_FLOAT = 1,
  TF_STRING = 7,
  TF_INT64 = 9
} TF_DataType;
typedef enum TF_TString_Type {
  TF_TSTR_SMALL = 0,
  TF_TSTR_LARGE = 1,
  TF_TSTR_OFFSET = 2,
  TF_TSTR_VIEW = 3
} TF_TString_Type;

typedef struct TF_Buffer {
  const void* data;
  size_t length;
  void (*data_deallocator)(void* data, size_t length);
} TF_Buffer;
typedef struct TF_StringView {
  const char* data;
  size_t len;
} TF_StringView;
typedef struct TF_TString {
  uint8_t raw[24] __attribute__((aligned(8)));
} TF_TString;
typedef struct TF_AllocatorAttributes {
  size_t struct_size;
  unsigned char on_host;
} TF_AllocatorAttributes;
typedef struct TF_InputRange_Args {
  size_t struct_size;
  void* priv;
  int start, stop;
  TF_Status* status;
} TF_InputRange_Args;
typedef struct TF_RendezvousThunk {
  void* members[4];
} TF_RendezvousThunk;
typedef void (*TF_PayloadVisitor)(const char* key, const char* value,
                                  void* capture);
