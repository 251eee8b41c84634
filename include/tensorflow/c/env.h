/* Files, threads, time and shared libraries: the system as a library of kernels
   needs it. Errors have the codes of errno: NOT_FOUND for a file that does not
   exist, and so on, and name the path. */
#ifndef TENSORFLOW_C_ENV_H_
#define TENSORFLOW_C_ENV_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_file_statistics.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files ----------------------------------------------------------------
 */

typedef struct TF_WritableFileHandle TF_WritableFileHandle;
typedef struct TF_StringStream TF_StringStream;

/* ALREADY_EXISTS if the path exists. */
TF_CAPI_EXPORT extern void TF_CreateDir(const char* dirname, TF_Status* status);
/* FAILED_PRECONDITION if the folder is not empty. */
TF_CAPI_EXPORT extern void TF_DeleteDir(const char* dirname, TF_Status* status);
/* Deletes a folder and everything below it, as far as possible, and counts what
   is left. A folder that does not exist counts as one. */
TF_CAPI_EXPORT extern void TF_DeleteRecursively(const char* dirname,
                                                int64_t* undeleted_file_count,
                                                int64_t* undeleted_dir_count,
                                                TF_Status* status);
TF_CAPI_EXPORT extern void TF_FileStat(const char* filename,
                                       TF_FileStatistics* stats,
                                       TF_Status* status);
/* An empty file of that name, for appending. On error `*handle` is NULL. */
TF_CAPI_EXPORT extern void TF_NewWritableFile(const char* filename,
                                              TF_WritableFileHandle** handle,
                                              TF_Status* status);
/* Also deletes the handle, whatever the outcome. */
TF_CAPI_EXPORT extern void TF_CloseWritableFile(TF_WritableFileHandle* handle,
                                                TF_Status* status);
/* Flushes and waits until the bytes are on the device. */
TF_CAPI_EXPORT extern void TF_SyncWritableFile(TF_WritableFileHandle* handle,
                                               TF_Status* status);
/* Passes buffered bytes to the system. */
TF_CAPI_EXPORT extern void TF_FlushWritableFile(TF_WritableFileHandle* handle,
                                                TF_Status* status);
TF_CAPI_EXPORT extern void TF_AppendWritableFile(TF_WritableFileHandle* handle,
                                                 const char* data,
                                                 size_t length,
                                                 TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteFile(const char* filename,
                                         TF_Status* status);

/* False, and `*result` NULL, at the end. The strings live until
   TF_StringStreamDone, which deletes the stream. */
TF_CAPI_EXPORT extern bool TF_StringStreamNext(TF_StringStream* list,
                                               const char** result);
TF_CAPI_EXPORT extern void TF_StringStreamDone(TF_StringStream* list);
/* The names in a folder. NULL on error. */
TF_CAPI_EXPORT extern TF_StringStream* TF_GetChildren(const char* filename,
                                                      TF_Status* status);
/* Folders for temporary files, with a slash at the end. */
TF_CAPI_EXPORT extern TF_StringStream* TF_GetLocalTempDirectories(void);
/* The path of a new, empty temporary file with that extension; for the caller
   to free(). NULL if none could be made. */
TF_CAPI_EXPORT extern char* TF_GetTempFileName(const char* extension);

/* ---- Time: since 1970 -----------------------------------------------------
 */

TF_CAPI_EXPORT extern uint64_t TF_NowNanos(void);
TF_CAPI_EXPORT extern uint64_t TF_NowMicros(void);
TF_CAPI_EXPORT extern uint64_t TF_NowSeconds(void);

/* ---- Threads --------------------------------------------------------------
 */

typedef struct TF_Thread TF_Thread;

typedef struct TF_ThreadOptions {
  size_t stack_size; /* bytes; 0: the system's default */
  size_t guard_size; /* bytes; 0: the system's default */
  int numa_node;     /* -1: any. Others have no effect. */
} TF_ThreadOptions;

TF_CAPI_EXPORT extern void TF_DefaultThreadOptions(TF_ThreadOptions* options);
/* A thread that runs work_func(param). `options` and `thread_name` may be NULL.
   NULL if the thread cannot be started. TF_JoinThread waits for its end and
   deletes it. */
TF_CAPI_EXPORT extern TF_Thread* TF_StartThread(const TF_ThreadOptions* options,
                                                const char* thread_name,
                                                void (*work_func)(void*),
                                                void* param);
TF_CAPI_EXPORT extern void TF_JoinThread(TF_Thread* thread);

/* ---- Shared libraries -----------------------------------------------------
 */

/* NOT_FOUND, with the loader's words, and NULL on error. */
TF_CAPI_EXPORT extern void* TF_LoadSharedLibrary(const char* library_filename,
                                                 TF_Status* status);
TF_CAPI_EXPORT extern void* TF_GetSymbolFromLibrary(void* handle,
                                                    const char* symbol_name,
                                                    TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSORFLOW_C_ENV_H_ */
