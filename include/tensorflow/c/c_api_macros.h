/* Macros that every header of this API uses. */
#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

#if defined(TF_CAPI_WEAK)
/* A program that may run without the library: its functions may be NULL. */
#define TF_CAPI_EXPORT \
  __attribute__((visibility("default"))) __attribute((weak))
#elif defined(__GNUC__) || defined(__clang__)
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#else
#define TF_CAPI_EXPORT
#endif

/* A truth value in structs and arguments: 0 is false. */
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

/* The bytes of a struct up to the end of a member. A struct with a struct_size
   can grow: each side knows by it which members the other side has. */
#ifndef TF_OFFSET_OF_END
#define TF_OFFSET_OF_END(TYPE, MEMBER) \
  (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))
#endif

#endif /* TENSORFLOW_C_C_API_MACROS_H_ */
