/* Dispatch through the C API of any library that exports it.

     floor LIBRARY

   Prints, in microseconds or milliseconds, "name value" lines: building 10,000
   nodes, and the shortest of many runs of one scalar add, of chains, and of
   1,000 adds side by side. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <tensorflow/c/c_api.h>
#include <time.h>
#include <unistd.h>

#define USE(name) static __typeof__(name)* name##_
USE(TF_NewStatus);
USE(TF_GetCode);
USE(TF_Message);
USE(TF_NewGraph);
USE(TF_NewOperation);
USE(TF_SetAttrType);
USE(TF_SetAttrShape);
USE(TF_AddInput);
USE(TF_AddInputList);
USE(TF_FinishOperation);
USE(TF_NewSessionOptions);
USE(TF_NewSession);
USE(TF_NewTensor);
USE(TF_DeleteTensor);
USE(TF_SessionRun);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(TF_Status* s) {
  if (TF_GetCode_(s) == TF_OK) return;
  fprintf(stderr, "%s\n", TF_Message_(s));
  exit(1);
}

static void keep(void* data, size_t size, void* arg) {
  (void)data, (void)size, (void)arg;
}

int main(int argc, char** argv) {
  void* lib = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (lib == NULL)
    return fprintf(stderr, "usage: floor LIBRARY (%s)\n",
                   argc == 2 ? dlerror() : "one argument"),
           2;
#define LOAD(name) name##_ = (__typeof__(name)*)dlsym(lib, #name)
  LOAD(TF_NewStatus), LOAD(TF_GetCode), LOAD(TF_Message), LOAD(TF_NewGraph),
      LOAD(TF_NewOperation), LOAD(TF_SetAttrType);
  LOAD(TF_SetAttrShape), LOAD(TF_AddInput), LOAD(TF_AddInputList);
  LOAD(TF_FinishOperation), LOAD(TF_NewSessionOptions), LOAD(TF_NewSession);
  LOAD(TF_NewTensor), LOAD(TF_DeleteTensor), LOAD(TF_SessionRun);

  enum { kNodes = 10000, kWide = 1000 };
  TF_Status* s = TF_NewStatus_();
  TF_Graph* g = TF_NewGraph_();
  TF_OperationDescription* d = TF_NewOperation_(g, "Placeholder", "x");
  TF_SetAttrType_(d, "dtype", TF_FLOAT);
  TF_SetAttrShape_(d, "shape", NULL, 0);
  TF_Output x = {TF_FinishOperation_(d, s), 0}, last = x;
  check(s);
  TF_Operation* nodes[kNodes + 1];
  double begin = now();
  for (int i = 1; i <= kNodes; i++) {
    char name[16];
    snprintf(name, sizeof name, "a%d", i);
    d = TF_NewOperation_(g, "AddV2", name);
    TF_AddInput_(d, last), TF_AddInput_(d, x);
    last.oper = nodes[i] = TF_FinishOperation_(d, s);
    check(s);
  }
  printf("build_10000_ms %.2f\n", (now() - begin) * 1e3);

  TF_Output wide[kWide];
  for (int i = 0; i < kWide; i++) {
    char name[16];
    snprintf(name, sizeof name, "w%d", i);
    d = TF_NewOperation_(g, "AddV2", name);
    TF_AddInput_(d, x), TF_AddInput_(d, x);
    wide[i] = (TF_Output){TF_FinishOperation_(d, s), 0};
    check(s);
  }
  d = TF_NewOperation_(g, "AddN", "sum");
  TF_AddInputList_(d, wide, kWide);
  TF_Operation* sum = TF_FinishOperation_(d, s);
  check(s);

  TF_SessionOptions* options = TF_NewSessionOptions_();
  TF_Session* session = TF_NewSession_(g, options, s);
  check(s);
  float value = 1;
  TF_Tensor *in = TF_NewTensor_(TF_FLOAT, NULL, 0, &value, sizeof value, keep,
                                NULL),
            *out = NULL;
  const struct {
    const char* name;
    TF_Operation* node;
    int runs;
  } cases[] = {{"add_us", nodes[1], 5000},
               {"chain_1000_us", nodes[1000], 300},
               {"chain_10000_us", nodes[10000], 30},
               {"wide_1000_us", sum, 300}};
  for (int c = 0; c < 4; c++) {
    TF_Output fetch = {cases[c].node, 0};
    begin = now();
    TF_SessionRun_(session, NULL, &x, &in, 1, &fetch, &out, 1, NULL, 0, NULL,
                   s),
        check(s);
    if (c == 2) printf("first_run_10000_ms %.2f\n", (now() - begin) * 1e3);
    TF_DeleteTensor_(out);
    double best = 1e9;
    for (int round = 0; round < 10; round++) {
      begin = now();
      for (int i = 0; i < cases[c].runs; i++) {
        out = NULL;
        TF_SessionRun_(session, NULL, &x, &in, 1, &fetch, &out, 1, NULL, 0,
                       NULL, s);
        TF_DeleteTensor_(out);
      }
      double us = (now() - begin) / cases[c].runs * 1e6;
      if (us < best) best = us;
    }
    check(s);
    printf("%s %.3f\n", cases[c].name, best);
  }
  fflush(stdout);
  _exit(0);
}
