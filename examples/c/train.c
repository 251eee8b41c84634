/* Fits a line to points through the TF C API: TF_AddGradients makes the
   gradients, ApplyGradientDescent the steps. Prints slope and offset. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tensorflow/c/c_api.h>

enum { kPoints = 8, kSteps = 300 };

static TF_Graph* graph;
static TF_Status* status;

static void check(void) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s\n", TF_Message(status));
  exit(1);
}

static TF_Tensor* tensor(const float* values, int64_t n, int rank) {
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, &n, rank, n * sizeof(float));
  memcpy(TF_TensorData(t), values, n * sizeof(float));
  return t;
}

static TF_Output constant(const char* name, TF_DataType type, const void* value,
                          size_t size) {
  TF_Tensor* t = TF_AllocateTensor(type, NULL, 0, size);
  memcpy(TF_TensorData(t), value, size);
  TF_OperationDescription* d = TF_NewOperation(graph, "Const", name);
  TF_SetAttrTensor(d, "value", t, status), check();
  TF_SetAttrType(d, "dtype", type);
  TF_Output out = {TF_FinishOperation(d, status), 0};
  check(), TF_DeleteTensor(t);
  return out;
}

static TF_Output op(const char* type, const char* name, const TF_Output* inputs,
                    int n) {
  TF_OperationDescription* d = TF_NewOperation(graph, type, name);
  for (int i = 0; i < n; i++) TF_AddInput(d, inputs[i]);
  if (n == 0) TF_SetAttrType(d, "dtype", TF_FLOAT);
  if (strcmp(type, "VariableV2") == 0) TF_SetAttrShape(d, "shape", NULL, 0);
  TF_Output out = {TF_FinishOperation(d, status), 0};
  return check(), out;
}

static TF_Output binary(const char* type, const char* name, TF_Output a,
                        TF_Output b) {
  const TF_Output inputs[] = {a, b};
  return op(type, name, inputs, 2);
}

int main(void) {
  graph = TF_NewGraph(), status = TF_NewStatus();
  const float zero = 0, rate = 0.05f;
  const int32_t axis = 0;
  const TF_Output x = op("Placeholder", "x", NULL, 0),
                  y = op("Placeholder", "y", NULL, 0),
                  initial = constant("initial", TF_FLOAT, &zero, sizeof(zero)),
                  step = constant("rate", TF_FLOAT, &rate, sizeof(rate)),
                  all = constant("axis", TF_INT32, &axis, sizeof(axis));
  const TF_Output w[2] = {op("VariableV2", "slope", NULL, 0),
                          op("VariableV2", "offset", NULL, 0)};
  const TF_Output line =
      binary("AddV2", "line", binary("Mul", "scaled", x, w[0]), w[1]);
  const TF_Output error = binary("SquaredDifference", "difference", line, y);
  TF_Output loss = binary("Mean", "loss", error, all), gradients[2];
  TF_AddGradients(graph, &loss, 1, (TF_Output*)w, 2, NULL, status, gradients);
  check();
  const TF_Operation *assign[2], *apply[2];
  for (int i = 0; i < 2; i++) {
    const char* names[] = {"a0", "a1", "g0", "g1"};
    const TF_Output update[] = {w[i], step, gradients[i]};
    assign[i] = binary("Assign", names[i], w[i], initial).oper;
    apply[i] = op("ApplyGradientDescent", names[2 + i], update, 3).oper;
  }

  float xs[kPoints], ys[kPoints];
  for (int i = 0; i < kPoints; i++) {
    xs[i] = (float)i / 2 - 1.5f, ys[i] = 3 * xs[i] + 2;
  }
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  check();
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, assign, 2, NULL,
                status);
  check();
  const TF_Output feeds[] = {x, y};
  TF_Tensor* values[] = {tensor(xs, kPoints, 1), tensor(ys, kPoints, 1)};
  for (int i = 0; i < kSteps; i++) {
    TF_SessionRun(session, NULL, feeds, values, 2, NULL, NULL, 0, apply, 2,
                  NULL, status);
    check();
  }
  TF_Tensor* learned[2];
  TF_SessionRun(session, NULL, NULL, NULL, 0, w, learned, 2, NULL, 0, NULL,
                status);
  check();
  printf("y = %.3f x + %.3f\n", *(float*)TF_TensorData(learned[0]),
         *(float*)TF_TensorData(learned[1]));
  for (int i = 0; i < 2; i++)
    TF_DeleteTensor(values[i]), TF_DeleteTensor(learned[i]);
  TF_DeleteSession(session, status), TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph), TF_DeleteStatus(status);
  return 0;
}
