/* Computes a * a + 1 op by op, without a graph, through the TF C API. */
#include <stdio.h>
#include <stdlib.h>
#include <tensorflow/c/eager/c_api.h>

/* The result of an op with two inputs. */
static TFE_TensorHandle* run(TFE_Context* context, const char* name,
                             TFE_TensorHandle* x, TFE_TensorHandle* y) {
  TF_Status* status = TF_NewStatus();
  TFE_TensorHandle* result = NULL;
  int results = 1;
  TFE_Op* op = TFE_NewOp(context, name, status);
  if (op != NULL) TFE_OpAddInput(op, x, status);
  if (TF_GetCode(status) == TF_OK) TFE_OpAddInput(op, y, status);
  if (TF_GetCode(status) == TF_OK) TFE_Execute(op, &result, &results, status);
  if (TF_GetCode(status) != TF_OK) puts(TF_Message(status)), exit(1);
  TFE_DeleteOp(op);
  TF_DeleteStatus(status);
  return result;
}

static TFE_TensorHandle* vector(float a, float b) {
  const int64_t dims[1] = {2};
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, dims, 1, 2 * sizeof(float));
  ((float*)TF_TensorData(t))[0] = a;
  ((float*)TF_TensorData(t))[1] = b;
  TFE_TensorHandle* h = TFE_NewTensorHandle(t, NULL);
  TF_DeleteTensor(t);
  return h;
}

int main(void) {
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_Context* context = TFE_NewContext(options, NULL);
  TFE_TensorHandle *a = vector(2, 3), *one = vector(1, 1);
  TFE_TensorHandle* square = run(context, "Mul", a, a);
  TFE_TensorHandle* y = run(context, "AddV2", square, one);
  TF_Tensor* value = TFE_TensorHandleResolve(y, NULL);
  const float* data = TF_TensorData(value);
  printf("%g %g\n", data[0], data[1]);
  TF_DeleteTensor(value);
  TFE_DeleteTensorHandle(a), TFE_DeleteTensorHandle(one);
  TFE_DeleteTensorHandle(square), TFE_DeleteTensorHandle(y);
  TFE_DeleteContext(context);
  TFE_DeleteContextOptions(options);
  return 0;
}
