/* Feeds two strings, a short and a long one, and reads the results of Identity
   and of a constant: with the strings of libtensorflow.so.1 or .so.2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

static TF_Status* status;

static void Check(int ok, const char* what) {
  if (ok && TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s: %s\n", what, TF_Message(status));
  exit(1);
}

#ifdef STRINGS_OF_TENSORFLOW_1

static void Free(void* data, size_t length, void* arg) { free(data); }

static TF_Tensor* Make(const char* const* strings, const int64_t* dims,
                       int num_dims, int n) {
  size_t size = n * sizeof(uint64_t), at = 0;
  for (int i = 0; i < n; ++i) size += TF_StringEncodedSize(strlen(strings[i]));
  char* bytes = malloc(size);
  char* characters = bytes + n * sizeof(uint64_t);
  for (int i = 0; i < n; ++i) {
    const uint64_t offset = at;
    memcpy(bytes + i * sizeof(offset), &offset, sizeof(offset));
    at += TF_StringEncode(strings[i], strlen(strings[i]), characters + at,
                          size - n * sizeof(offset) - at, status);
    Check(1, "TF_StringEncode");
  }
  return TF_NewTensor(TF_STRING, dims, num_dims, bytes, size, &Free, NULL);
}

static void Expect(const TF_Tensor* t, const char* const* strings, int n) {
  const char* bytes = TF_TensorData(t);
  const char* end = bytes + TF_TensorByteSize(t);
  for (int i = 0; i < n; ++i) {
    uint64_t offset;
    memcpy(&offset, bytes + i * sizeof(offset), sizeof(offset));
    const char* at = bytes + n * sizeof(offset) + offset;
    const char* got = NULL;
    size_t length = 0;
    TF_StringDecode(at, end - at, &got, &length, status);
    Check(length == strlen(strings[i]) && memcmp(got, strings[i], length) == 0,
          strings[i]);
  }
}

#else

static TF_Tensor* Make(const char* const* strings, const int64_t* dims,
                       int num_dims, int n) {
  TF_Tensor* t =
      TF_AllocateTensor(TF_STRING, dims, num_dims, n * sizeof(TF_TString));
  TF_TString* elements = TF_TensorData(t);
  for (int i = 0; i < n; ++i) {
    TF_StringInit(&elements[i]);
    TF_StringCopy(&elements[i], strings[i], strlen(strings[i]));
  }
  return t;
}

static void Expect(const TF_Tensor* t, const char* const* strings, int n) {
  const TF_TString* elements = TF_TensorData(t);
  for (int i = 0; i < n; ++i) {
    const size_t length = TF_StringGetSize(&elements[i]);
    Check(length == strlen(strings[i]) &&
              memcmp(TF_StringGetDataPointer(&elements[i]), strings[i],
                     length) == 0,
          strings[i]);
  }
}

#endif

int main(void) {
  char longer[301];
  memset(longer, 'x', 300);
  longer[300] = '\0';
  const char* const fed[] = {"short", longer};
  const char* const constant[] = {""};
  const int64_t dims[] = {2};

  status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_OperationDescription* d = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(d, "dtype", TF_STRING);
  TF_Operation* x = TF_FinishOperation(d, status);
  Check(x != NULL, "Placeholder");
  d = TF_NewOperation(graph, "Identity", "y");
  TF_AddInput(d, (TF_Output){x, 0});
  TF_Operation* y = TF_FinishOperation(d, status);
  Check(y != NULL, "Identity");
  d = TF_NewOperation(graph, "Const", "c");
  TF_Tensor* value = Make(constant, NULL, 0, 1);
  TF_SetAttrType(d, "dtype", TF_STRING);
  TF_SetAttrTensor(d, "value", value, status);
  Check(1, "TF_SetAttrTensor");
  TF_DeleteTensor(value);
  TF_Operation* c = TF_FinishOperation(d, status);
  Check(c != NULL, "Const");

  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  Check(session != NULL, "TF_NewSession");
  const TF_Output in[] = {{x, 0}}, out[] = {{y, 0}, {c, 0}};
  TF_Tensor* feed[] = {Make(fed, dims, 1, 2)};
  TF_Tensor* results[2] = {NULL, NULL};
  TF_SessionRun(session, NULL, in, feed, 1, out, results, 2, NULL, 0, NULL,
                status);
  Check(results[0] != NULL && results[1] != NULL, "TF_SessionRun");
  Expect(results[0], fed, 2);
  Expect(results[1], constant, 1);
  Check(TF_Dim(results[0], 0) == 2 && TF_NumDims(results[1]) == 0, "shapes");

#ifdef STRINGS_OF_TENSORFLOW_1
  /* Two elements that no tensor has are refused. */
  static const struct {
    const char* what;
    const char* bytes;
    size_t length;
  } kBad[] = {
      {"no offsets", "\0\0\0\0\0\0\0\0", 8},
      {"no bytes", "", 0},
      {"an offset beyond the end", "\x63\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17},
      {"the greatest offset",
       "\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0", 17},
      {"a length beyond the end",
       "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05"
       "abcd",
       21},
      {"a length that does not end", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff",
       18},
      {"a length of 2^64 - 1",
       "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
       "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
       26},
      {"a length of eleven bytes",
       "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
       "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
       27},
  };
  TF_DeleteTensor(results[0]);
  for (size_t i = 0; i < sizeof(kBad) / sizeof(kBad[0]); ++i) {
    TF_DeleteTensor(feed[0]);
    feed[0] = TF_AllocateTensor(TF_STRING, dims, 1, kBad[i].length);
    memcpy(TF_TensorData(feed[0]), kBad[i].bytes, kBad[i].length);
    TF_SessionRun(session, NULL, in, feed, 1, out, results, 1, NULL, 0, NULL,
                  status);
    if (TF_GetCode(status) != TF_INVALID_ARGUMENT || results[0] != NULL) {
      fprintf(stderr, "%s: %s\n", kBad[i].what, TF_Message(status));
      return 1;
    }
  }
  char room[5];
  if (TF_StringEncode("12345", 5, room, sizeof(room), status) != 0 ||
      TF_GetCode(status) != TF_INVALID_ARGUMENT) {
    fprintf(stderr, "too little room: %s\n", TF_Message(status));
    return 1;
  }
#endif

  TF_DeleteTensor(feed[0]);
  TF_DeleteTensor(results[0]);
  TF_DeleteTensor(results[1]);
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
