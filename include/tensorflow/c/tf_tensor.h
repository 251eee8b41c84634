/* TF_Tensor: a handle on a typed, shaped, row-major array. Handles may share
   the array: a session keeps what it needs of a tensor that was fed, and a
   deallocator runs when the last of them goes.

   Distinct handles may be used from distinct threads; one handle by one thread
   at a time, or read by several. */
#ifndef TENSORFLOW_C_TF_TENSOR_H_
#define TENSORFLOW_C_TF_TENSOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Tensor TF_Tensor;

/* Where TF_AllocateTemp (kernels.h) takes memory from. struct_size is
   TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE. */
typedef struct TF_AllocatorAttributes {
  size_t struct_size;
  TF_Bool on_host; /* in the host's memory, whatever the device */
} TF_AllocatorAttributes;
#define TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE \
  TF_OFFSET_OF_END(TF_AllocatorAttributes, on_host)

/* A tensor over `len` bytes at `data`, which the library never writes. They are
   used in place if they are aligned for their type, else copied.

   `deallocator` (may be NULL) is called exactly once, from any thread: when the
   last user of the bytes is done with them, at once if they were copied, and
   also if this returns NULL. NULL is returned for dims that are negative or
   overflow, for too small a `len`, and for TF_RESOURCE and TF_VARIANT, whose
   elements cannot be made outside of a session. The elements of a TF_STRING
   tensor are TF_TString structs that stay the caller's to free. */
TF_CAPI_EXPORT extern TF_Tensor* TF_NewTensor(
    TF_DataType, const int64_t* dims, int num_dims, void* data, size_t len,
    void (*deallocator)(void* data, size_t len, void* arg),
    void* deallocator_arg);

/* The alignment in bytes of what TF_AllocateTensor allocates, except tensors
   of a few bytes, which live inside the handle. */
TF_CAPI_EXPORT extern size_t TF_TensorDefaultAlignment(void);

/* A tensor with memory of the library's own. Plain data is not initialised;
   strings are empty, and what they own when the tensor goes is freed with it.
   `len` may be more than dims need. NULL if it is less, if the dims are invalid
   or if there is no memory. The caller deletes it. */
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTensor(TF_DataType,
                                                   const int64_t* dims,
                                                   int num_dims, size_t len);

/* If nobody else uses the memory and it is the library's own: deletes `tensor`
   and returns another handle on the same content. Else NULL, and `tensor` stays
   as it is. */
TF_CAPI_EXPORT extern TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor);

/* Deletes the handle; NULL is fine. */
TF_CAPI_EXPORT extern void TF_DeleteTensor(TF_Tensor*);

TF_CAPI_EXPORT extern TF_DataType TF_TensorType(const TF_Tensor*);
/* No effect unless the new shape has as many elements as the old one. */
TF_CAPI_EXPORT extern void TF_SetShape(TF_Tensor* tensor, const int64_t* dims,
                                       int num_dims);
TF_CAPI_EXPORT extern int TF_NumDims(const TF_Tensor*);
/* -1 if there is no such dimension. */
TF_CAPI_EXPORT extern int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);
/* Bytes of all elements; 24 an element for strings. */
TF_CAPI_EXPORT extern size_t TF_TensorByteSize(const TF_Tensor*);
/* Valid as long as the handle. Do not write to what a session returned: a
   constant or a variable may share it. */
TF_CAPI_EXPORT extern void* TF_TensorData(const TF_Tensor*);
TF_CAPI_EXPORT extern int64_t TF_TensorElementCount(const TF_Tensor* tensor);

/* Makes `to` a tensor of the given type and shape over the bytes of `from`,
   which both share then (a tensor of a few bytes is copied). INVALID_ARGUMENT
   if the bytes do not fit or a type is not plain data; `to` stays as it was. */
TF_CAPI_EXPORT extern void TF_TensorBitcastFrom(const TF_Tensor* from,
                                                TF_DataType type, TF_Tensor* to,
                                                const int64_t* new_dims,
                                                int num_new_dims,
                                                TF_Status* status);

/* True if the data are aligned as TF_AllocateTensor aligns them. */
TF_CAPI_EXPORT extern bool TF_TensorIsAligned(const TF_Tensor*);

/* Strings as libtensorflow.so.1 has them, the library for programs built for
   TensorFlow 1: a TF_STRING tensor is one 8-byte offset for each element, then,
   at these offsets from the end of the offsets, each string as its length (a
   varint) and its characters. Only libtensorflow.so.1 exports these functions;
   libtensorflow.so.2 has TF_TString elements instead (tf_tstring.h).

   TF_StringEncode writes to `dst` and returns the bytes written,
   TF_StringEncodedSize(src_len). TF_StringDecode points `*dst` into `src` and
   returns the bytes read. INVALID_ARGUMENT, and 0, if there is too little room
   or the bytes are no string. */
TF_CAPI_EXPORT extern size_t TF_StringEncode(const char* src, size_t src_len,
                                             char* dst, size_t dst_len,
                                             TF_Status* status);
TF_CAPI_EXPORT extern size_t TF_StringDecode(const char* src, size_t src_len,
                                             const char** dst, size_t* dst_len,
                                             TF_Status* status);
TF_CAPI_EXPORT extern size_t TF_StringEncodedSize(size_t len);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSORFLOW_C_TF_TENSOR_H_ */
