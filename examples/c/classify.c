/* Classifies one picture with a frozen graph through the TF C API.

     classify MODEL.pb PIXELS.npy EXPECTED.npy

   PIXELS.npy holds float32 [1,32,32,3]; EXPECTED.npy the ten probabilities that
   somebody else computed. Prints ours and the largest difference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tensorflow/c/c_api.h>

/* The last `size` bytes of a file, or all of it for 0; sets *size. */
static void* read_file(const char* path, size_t* size) {
  FILE* f = fopen(path, "rb");
  if (f == NULL) perror(path), exit(1);
  fseek(f, 0, SEEK_END);
  if (*size == 0) *size = (size_t)ftell(f);
  fseek(f, -(long)*size, SEEK_END);
  void* data = malloc(*size);
  if (data == NULL || fread(data, 1, *size, f) != *size) perror(path), exit(1);
  fclose(f);
  return data;
}

static void check(TF_Status* status) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s\n", TF_Message(status));
  exit(1);
}

static void free_data(void* data, size_t size, void* arg) {
  (void)size, (void)arg;
  free(data);
}

int main(int argc, char** argv) {
  if (argc != 4)
    return fprintf(stderr, "usage: classify MODEL PIXELS EXPECTED\n"), 2;
  const int64_t dims[4] = {1, 32, 32, 3};
  size_t model_size = 0, pixel_size = sizeof(float) * 32 * 32 * 3,
         probability_size = sizeof(float) * 10;
  void* model = read_file(argv[1], &model_size);
  void* pixels = read_file(argv[2], &pixel_size);
  float* expected = read_file(argv[3], &probability_size);

  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Buffer* buffer = TF_NewBufferFromString(model, model_size);
  TF_ImportGraphDefOptions* import = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(graph, buffer, import, status), check(status);
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  check(status);
  TF_Output in = {TF_GraphOperationByName(graph, "input_1"), 0},
            out = {TF_GraphOperationByName(graph, "output_0"), 0};
  TF_Tensor *x = TF_NewTensor(TF_FLOAT, dims, 4, pixels, pixel_size, free_data,
                              NULL),
            *y = NULL;
  TF_SessionRun(session, NULL, &in, &x, 1, &out, &y, 1, NULL, 0, NULL, status),
      check(status);

  const float* p = TF_TensorData(y);
  float difference = 0;
  for (int i = 0; i < 10; i++) {
    printf("  class %d  %9.6f\n", i, p[i]);
    difference = fmaxf(difference, fabsf(p[i] - expected[i]));
  }
  printf("TF C API of version %s; largest difference to %s: %g\n", TF_Version(),
         argv[3], difference);

  TF_DeleteTensor(x), TF_DeleteTensor(y);
  TF_CloseSession(session, status), TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options), TF_DeleteImportGraphDefOptions(import),
      TF_DeleteBuffer(buffer);
  TF_DeleteGraph(graph), TF_DeleteStatus(status);
  free(model), free(expected);
  return difference > 1e-5f;
}
