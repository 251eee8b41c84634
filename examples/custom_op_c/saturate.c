/* An op with its kernel, in C: y = min(max(x, low), high). It uses the C API
   alone, so the library works with any compiler and any later version.

     cc -shared -fPIC saturate.c -o saturate.so -ltensorflow
     python -c 'import headrace as tf
     ops = tf.load_op_library("./saturate.so")
     print(tf.Session().run(ops.saturate([-1., 0.5, 7.], low=0, high=1)))' */
#include <stdlib.h>
#include <tensorflow/c/kernels.h>
#include <tensorflow/c/ops.h>

/* What a kernel keeps of its node. */
typedef struct {
  float low, high;
} Limits;

static void* Create(TF_OpKernelConstruction* ctx) {
  TF_Status* s = TF_NewStatus();
  Limits* limits = calloc(1, sizeof(Limits));
  TF_OpKernelConstruction_GetAttrFloat(ctx, "low", &limits->low, s);
  TF_OpKernelConstruction_GetAttrFloat(ctx, "high", &limits->high, s);
  if (!(limits->low <= limits->high)) {
    TF_SetStatus(s, TF_INVALID_ARGUMENT, "Saturate: low must not exceed high");
  }
  if (TF_GetCode(s) != TF_OK) TF_OpKernelConstruction_Failure(ctx, s);
  TF_DeleteStatus(s);
  return limits;
}

static void Compute(void* state, TF_OpKernelContext* ctx) {
  const Limits* limits = state;
  TF_Status* s = TF_NewStatus();
  TF_Tensor *x = NULL, *y = NULL;
  TF_GetInput(ctx, 0, &x, s);
  if (TF_GetCode(s) == TF_OK) {
    int64_t dims[254]; /* no tensor has more */
    const int candidate = 0, rank = TF_NumDims(x);
    for (int i = 0; i < rank; ++i) dims[i] = TF_Dim(x, i);
    y = TF_ForwardInputOrAllocateOutput(ctx, &candidate, 1, 0, dims, rank, NULL,
                                        s);
  }
  if (TF_GetCode(s) == TF_OK) {
    const float* from = TF_TensorData(x);
    float* to = TF_TensorData(y);
    for (int64_t i = 0; i < TF_TensorElementCount(x); ++i) {
      to[i] = from[i] < limits->low    ? limits->low
              : from[i] > limits->high ? limits->high
                                       : from[i];
    }
  } else {
    TF_OpKernelContext_Failure(ctx, s);
  }
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(s);
}

/* The output has the shape of the input. */
static void Shape(TF_ShapeInferenceContext* ctx, TF_Status* s) {
  TF_ShapeHandle* x = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, x, s);
  if (TF_GetCode(s) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, x, s);
  TF_DeleteShapeHandle(x);
}

/* TF_LoadLibrary and tf.load_op_library call this, and report what fails. */
void TF_InitKernel(void) {
  TF_Status* s = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Saturate");
  TF_OpDefinitionBuilderAddInput(op, "x: T");
  TF_OpDefinitionBuilderAddOutput(op, "y: T");
  TF_OpDefinitionBuilderAddAttr(op, "T: {float}");
  TF_OpDefinitionBuilderAddAttr(op, "low: float = 0.0");
  TF_OpDefinitionBuilderAddAttr(op, "high: float = 1.0");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, &Shape);
  TF_RegisterOpDefinition(op, s);

  TF_KernelBuilder* kernel =
      TF_NewKernelBuilder("Saturate", "CPU", &Create, &Compute, &free);
  TF_KernelBuilder_TypeConstraint(kernel, "T", TF_FLOAT, s);
  TF_RegisterKernelBuilder("SaturateFloat", kernel, s);
  TF_DeleteStatus(s);
}
