/* TF_TString: an element of a TF_STRING tensor, 24 bytes of one of four kinds,
   told apart by the low two bits of the first byte. All-zero bytes are the
   empty string.

   Not thread-safe: like any struct, one writer or several readers. */
#ifndef TENSORFLOW_C_TF_TSTRING_H_
#define TENSORFLOW_C_TF_TSTRING_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TF_TString_Type {
  TF_TSTR_SMALL = 0x00,  /* characters inside, at most 22 */
  TF_TSTR_LARGE = 0x01,  /* characters from malloc, owned */
  TF_TSTR_OFFSET = 0x02, /* characters at an offset from the struct */
  TF_TSTR_VIEW = 0x03,   /* characters of somebody else */
  TF_TSTR_TYPE_MASK = 0x03
} TF_TString_Type;

/* Sizes in the first field are shifted left by two, the kind below them. */
typedef struct TF_TString_Small {
  uint8_t size;
  char str[23];
} TF_TString_Small;
typedef struct TF_TString_Large {
  size_t size;
  size_t cap;
  char* ptr;
} TF_TString_Large;
typedef struct TF_TString_Offset {
  uint32_t size;
  uint32_t offset;
  uint32_t count;
} TF_TString_Offset;
typedef struct TF_TString_View {
  size_t size;
  const char* ptr;
} TF_TString_View;
typedef struct TF_TString_Raw {
  uint8_t raw[24];
} TF_TString_Raw;

typedef struct TF_TString {
  union {
    TF_TString_Small smll;
    TF_TString_Large large;
    TF_TString_Offset offset;
    TF_TString_View view;
    TF_TString_Raw raw;
  } u;
} TF_TString;

/* Makes an empty string of uninitialised memory; frees nothing. */
TF_CAPI_EXPORT extern void TF_StringInit(TF_TString* t);
/* Copies `size` characters into `dst`, an initialised string. */
TF_CAPI_EXPORT extern void TF_StringCopy(TF_TString* dst, const char* src,
                                         size_t size);
/* Lets `dst` point at characters that must outlive it. */
TF_CAPI_EXPORT extern void TF_StringAssignView(TF_TString* dst, const char* src,
                                               size_t size);
/* Valid until the string is changed; NUL terminated only for small and large
   ones. */
TF_CAPI_EXPORT extern const char* TF_StringGetDataPointer(
    const TF_TString* tstr);
TF_CAPI_EXPORT extern TF_TString_Type TF_StringGetType(const TF_TString* str);
TF_CAPI_EXPORT extern size_t TF_StringGetSize(const TF_TString* tstr);
/* What fits without another allocation; 0 for offsets and views. */
TF_CAPI_EXPORT extern size_t TF_StringGetCapacity(const TF_TString* str);
/* Frees what the string owns and leaves it empty. */
TF_CAPI_EXPORT extern void TF_StringDealloc(TF_TString* tstr);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSORFLOW_C_TF_TSTRING_H_ */
