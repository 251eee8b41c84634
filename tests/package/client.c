// y = a + a through the C API: prints 42. Compiled with -DLOAD it takes the
// functions from the library that it is given, else it is linked with one.
#include <stdio.h>

#include "tensorflow/c/c_api.h"

#ifdef LOAD
#include <dlfcn.h>
static void* library;
#define CALL(name) ((__typeof__(name)*)dlsym(library, #name))
#else
#define CALL(name) name
#endif

static int Failed(TF_Status* status) {
  if (CALL(TF_GetCode)(status) == TF_OK) return 0;
  fprintf(stderr, "%s\n", CALL(TF_Message)(status));
  return 1;
}

int main(int argc, char** argv) {
#ifdef LOAD
  library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "which library?");
    return 1;
  }
#endif
  (void)argc, (void)argv;
  TF_Status* status = CALL(TF_NewStatus)();
  TF_Graph* graph = CALL(TF_NewGraph)();
  TF_OperationDescription* op =
      CALL(TF_NewOperation)(graph, "Placeholder", "a");
  CALL(TF_SetAttrType)(op, "dtype", TF_INT32);
  const TF_Output a = {CALL(TF_FinishOperation)(op, status), 0};
  if (Failed(status)) return 1;
  op = CALL(TF_NewOperation)(graph, "Add", "y");
  CALL(TF_AddInput)(op, a);
  CALL(TF_AddInput)(op, a);
  const TF_Output y = {CALL(TF_FinishOperation)(op, status), 0};
  if (Failed(status)) return 1;

  TF_SessionOptions* options = CALL(TF_NewSessionOptions)();
  TF_Session* session = CALL(TF_NewSession)(graph, options, status);
  CALL(TF_DeleteSessionOptions)(options);
  if (Failed(status)) return 1;
  TF_Tensor* in = CALL(TF_AllocateTensor)(TF_INT32, NULL, 0, sizeof(int));
  *(int*)CALL(TF_TensorData)(in) = 21;
  TF_Tensor* out = NULL;
  CALL(TF_SessionRun)
  (session, NULL, &a, &in, 1, &y, &out, 1, NULL, 0, NULL, status);
  if (Failed(status)) return 1;
  printf("%d\n", *(int*)CALL(TF_TensorData)(out));
  CALL(TF_DeleteTensor)(in);
  CALL(TF_DeleteTensor)(out);
  CALL(TF_DeleteSession)(session, status);
  CALL(TF_DeleteGraph)(graph);
  CALL(TF_DeleteStatus)(status);
  return 0;
}
