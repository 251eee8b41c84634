/* Macros that every header of this API uses. */
#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

#if defined(__GNUC__) || defined(__clang__)
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#else
#define TF_CAPI_EXPORT
#endif

/* A truth value in structs and arguments: 0 is false. */
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

#endif /* TENSORFLOW_C_C_API_MACROS_H_ */
