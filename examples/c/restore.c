/* Classifies pictures with a SavedModel, then with the values of a checkpoint,
   through the TF C API.

     restore MODEL CHECKPOINT PIXELS CLASSES

   MODEL is the folder of a SavedModel with the nodes "pictures" and "classes"
   and those of a Saver, "save/Const" and "save/restore_all"; PIXELS holds
   float32 [n,28,28,1], CLASSES the n int64 that somebody else found, both
   without a header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tensorflow/c/c_api.h>

enum { kPixels = 28 * 28 };

static TF_Status* status;

static void check(void) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s\n", TF_Message(status));
  exit(1);
}

static void* read_file(const char* path, size_t* size) {
  FILE* f = fopen(path, "rb");
  if (f == NULL) perror(path), exit(1);
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  void* data = malloc(*size + 1);
  if (data == NULL || fread(data, 1, *size, f) != *size) perror(path), exit(1);
  fclose(f);
  return data;
}

static TF_Output node(TF_Graph* graph, const char* name) {
  TF_Output out = {TF_GraphOperationByName(graph, name), 0};
  if (out.oper == NULL) fprintf(stderr, "no node %s\n", name), exit(1);
  return out;
}

/* How many of the n classes are the same. */
static int64_t agreeing(TF_Graph* graph, TF_Session* session, TF_Tensor* x,
                        const int64_t* expected, int64_t n) {
  const TF_Output in = node(graph, "pictures"), out = node(graph, "classes");
  TF_Tensor* y = NULL;
  TF_SessionRun(session, NULL, &in, &x, 1, &out, &y, 1, NULL, 0, NULL, status);
  check();
  int64_t same = 0;
  for (int64_t i = 0; i < n; i++)
    same += ((const int64_t*)TF_TensorData(y))[i] == expected[i];
  TF_DeleteTensor(y);
  return same;
}

int main(int argc, char** argv) {
  if (argc != 5)
    return fprintf(stderr, "usage: restore MODEL CHECKPOINT PIXELS CLASSES\n"),
           2;
  size_t pixel_size, class_size;
  float* pixels = read_file(argv[3], &pixel_size);
  int64_t* classes = read_file(argv[4], &class_size);
  const int64_t n = (int64_t)(class_size / sizeof(int64_t));
  const int64_t dims[4] = {n, 28, 28, 1};
  if (pixel_size != (size_t)n * kPixels * sizeof(float))
    return fprintf(stderr, "%s does not have %lld pictures\n", argv[3],
                   (long long)n),
           1;
  status = TF_NewStatus();
  TF_Tensor* x = TF_AllocateTensor(TF_FLOAT, dims, 4, pixel_size);
  memcpy(TF_TensorData(x), pixels, pixel_size);

  TF_Graph* graph = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  const char* tags[] = {"serve"};
  TF_Session* session = TF_LoadSessionFromSavedModel(
      options, NULL, argv[1], tags, 1, graph, NULL, status);
  check();
  int64_t same = agreeing(graph, session, x, classes, n);
  printf("SavedModel: %lld of %lld pictures have the same class\n",
         (long long)same, (long long)n);
  TF_DeleteSession(session, status);

  session = TF_NewSession(graph, options, status), check();
  TF_TString path;
  TF_StringInit(&path);
  TF_StringCopy(&path, argv[2], strlen(argv[2]));
  TF_Tensor* file = TF_AllocateTensor(TF_STRING, NULL, 0, sizeof(path));
  memcpy(TF_TensorData(file), &path, sizeof(path));
  const TF_Output in = node(graph, "save/Const");
  const TF_Operation* restore = node(graph, "save/restore_all").oper;
  TF_SessionRun(session, NULL, &in, &file, 1, NULL, NULL, 0, &restore, 1, NULL,
                status);
  check();
  const int64_t again = agreeing(graph, session, x, classes, n);
  printf("checkpoint: %lld of %lld pictures have the same class\n",
         (long long)again, (long long)n);

  TF_DeleteTensor(x), TF_DeleteTensor(file);
  TF_DeleteSession(session, status), TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph), TF_DeleteStatus(status);
  free(pixels), free(classes);
  return same != n || again != n;
}
