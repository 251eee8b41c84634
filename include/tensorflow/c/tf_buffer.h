/* TF_Buffer: bytes and who frees them, mostly a serialized protocol buffer.

   One TF_Buffer may be used by one thread at a time, or be read by several. */
#ifndef TENSORFLOW_C_TF_BUFFER_H_
#define TENSORFLOW_C_TF_BUFFER_H_

#include <stddef.h>

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Buffer {
  const void* data;
  size_t length;
  /* Called once by TF_DeleteBuffer unless NULL. */
  void (*data_deallocator)(void* data, size_t length);
} TF_Buffer;

/* A copy of `proto_len` bytes. The caller deletes it. NULL if there is no
   memory. */
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBufferFromString(const void* proto,
                                                        size_t proto_len);

/* An empty buffer, to be filled by a call or by hand. The caller deletes it. */
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBuffer(void);
TF_CAPI_EXPORT extern void TF_DeleteBuffer(TF_Buffer*);

/* The struct itself; the bytes still belong to `buffer`. */
TF_CAPI_EXPORT extern TF_Buffer TF_GetBuffer(TF_Buffer* buffer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSORFLOW_C_TF_BUFFER_H_ */
