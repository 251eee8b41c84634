/* An op with its kernel, compiled with the headers of version 0.1 alone:
   y = sum of factors[i] * x[i] over the inputs, note = "NODE: ROWS". A library
   that was built then still loads and runs. */
#include "types_0_1.h"
/* After the types. */
#include <stdlib.h>
#include <string.h>

#include "functions_0_1.h"

typedef struct {
  int64_t factors[4];
  int32_t count;
  char name[32];
} State;

static void* Create(TF_OpKernelConstruction* ctx) {
  TF_Status* s = TF_NewStatus();
  State* state = calloc(1, sizeof(State));
  int32_t bytes = 0;
  TF_OpKernelConstruction_GetAttrSize(ctx, "factors", &state->count, &bytes, s);
  if (TF_GetCode(s) == TF_OK && state->count > 4) {
    TF_SetStatus(s, TF_INVALID_ARGUMENT, "WeightedSum: more than 4 factors");
  }
  if (TF_GetCode(s) == TF_OK) {
    TF_OpKernelConstruction_GetAttrInt64List(ctx, "factors", state->factors, 4,
                                             s);
  }
  const TF_StringView name = TF_OpKernelConstruction_GetName(ctx);
  memcpy(state->name, name.data, name.len < 31 ? name.len : 31);
  if (TF_GetCode(s) != TF_OK) TF_OpKernelConstruction_Failure(ctx, s);
  TF_DeleteStatus(s);
  return state;
}

static void Sum(const State* state, TF_OpKernelContext* ctx, TF_Status* s) {
  TF_InputRange_Args range = {sizeof(TF_InputRange_Args), NULL, 0, 0, s};
  TF_InputRange(ctx, "x", &range);
  if (TF_GetCode(s) != TF_OK) return;
  if (range.stop - range.start != state->count) {
    TF_SetStatus(s, TF_INVALID_ARGUMENT,
                 "WeightedSum: as many factors as inputs are wanted");
    return;
  }
  TF_Tensor* first = NULL;
  TF_GetInput(ctx, range.start, &first, s);
  if (TF_GetCode(s) != TF_OK) return;
  const int64_t n = TF_TensorElementCount(first);
  TF_AllocatorAttributes on_host = {
      offsetof(TF_AllocatorAttributes, on_host) + 1, 1};
  TF_Tensor* sums = TF_AllocateTemp(ctx, TF_FLOAT, &n, 1, &on_host, s);
  TF_Tensor* y = TF_AllocateOutput(ctx, 0, TF_FLOAT, &n, 1, n * 4, s);
  TF_Tensor* note =
      TF_AllocateOutput(ctx, 1, TF_STRING, NULL, 0, sizeof(TF_TString), s);
  if (TF_GetCode(s) == TF_OK) {
    float* to = TF_TensorData(sums);
    memset(to, 0, n * sizeof(float));
    for (int i = 0; i < state->count; ++i) {
      TF_Tensor* x = NULL;
      TF_GetInput(ctx, range.start + i, &x, s);
      if (TF_TensorElementCount(x) != n) {
        TF_SetStatus(s, TF_INVALID_ARGUMENT, "WeightedSum: sizes differ");
      } else {
        const float* from = TF_TensorData(x);
        for (int64_t j = 0; j < n; ++j) to[j] += state->factors[i] * from[j];
      }
      TF_DeleteTensor(x);
      if (TF_GetCode(s) != TF_OK) break;
    }
    memcpy(TF_TensorData(y), to, n * sizeof(float));
    /* A small string: its length, shifted, then its characters. */
    TF_TString* text = TF_TensorData(note);
    const size_t length = strlen(state->name) < 20 ? strlen(state->name) : 20;
    text->raw[0] = (uint8_t)(length << 2 | TF_TSTR_SMALL);
    memcpy(text->raw + 1, state->name, length);
    if (TF_StringGetSize(text) != length) abort();
  }
  TF_DeleteTensor(first);
  TF_DeleteTensor(sums);
  TF_DeleteTensor(y);
  TF_DeleteTensor(note);
}

static void Compute(void* state, TF_OpKernelContext* ctx) {
  TF_Status* s = TF_NewStatus();
  Sum(state, ctx, s);
  if (TF_GetCode(s) != TF_OK) TF_OpKernelContext_Failure(ctx, s);
  TF_DeleteStatus(s);
}

static void Shape(TF_ShapeInferenceContext* ctx, TF_Status* s) {
  TF_ShapeHandle* x = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, x, s);
  if (TF_GetCode(s) == TF_OK) {
    TF_ShapeInferenceContextWithRank(ctx, x, 1, x, s);
  }
  if (TF_GetCode(s) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, x, s);
  TF_DeleteShapeHandle(x);
  if (TF_GetCode(s) == TF_OK) {
    TF_ShapeHandle* scalar = TF_ShapeInferenceContextScalar(ctx);
    TF_ShapeInferenceContextSetOutput(ctx, 1, scalar, s);
    TF_DeleteShapeHandle(scalar);
  }
}

void TF_InitKernel(void) {
  TF_Status* s = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("AbiWeightedSum");
  TF_OpDefinitionBuilderAddInput(op, "x: N * float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderAddOutput(op, "note: string");
  TF_OpDefinitionBuilderAddAttr(op, "N: int >= 1");
  TF_OpDefinitionBuilderAddAttr(op, "factors: list(int)");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, &Shape);
  TF_RegisterOpDefinition(op, s);
  TF_KernelBuilder* kernel =
      TF_NewKernelBuilder("AbiWeightedSum", "CPU", &Create, &Compute, &free);
  TF_RegisterKernelBuilder("AbiWeightedSum", kernel, s);
  TF_DeleteStatus(s);
}
