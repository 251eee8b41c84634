/* Additions to TensorFlow's C API. Their names begin with HR_, because
   TensorFlow may one day use any TF_ name. The conventions on ownership,
   errors and threads are those of tensorflow/c/c_api.h. */
#ifndef HEADRACE_C_API_H_
#define HEADRACE_C_API_H_

#include "tensorflow/c/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A token that cancels runs. Thread-safe. It may be deleted while runs use it;
   these runs then continue. */
typedef struct HR_CancellationManager HR_CancellationManager;

TF_CAPI_EXPORT extern HR_CancellationManager* HR_NewCancellationManager(void);
TF_CAPI_EXPORT extern void HR_DeleteCancellationManager(
    HR_CancellationManager*);
/* Ends all runs that use the token with CANCELLED. A later run with the token
   ends at once. A run returns within milliseconds, even if a kernel cannot be
   interrupted: the kernel then finishes in the background, and the message
   says so. The run waits only for a kernel that changes state. */
TF_CAPI_EXPORT extern void HR_CancellationManagerStartCancel(
    HR_CancellationManager*);
TF_CAPI_EXPORT extern TF_Bool HR_CancellationManagerIsCancelled(
    HR_CancellationManager*);

/* TF_SessionRun with a token. `cancellation` may be NULL. */
TF_CAPI_EXPORT extern void HR_SessionRunCancellable(
    TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs,
    TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs,
    TF_Tensor** output_values, int noutputs,
    const TF_Operation* const* target_opers, int ntargets,
    TF_Buffer* run_metadata, HR_CancellationManager* cancellation, TF_Status*);

/* TF_SessionPRun with a serialized RunOptions and a token. Both may be NULL.
   Of the options only timeout_in_ms is used. The timeout and the token end the
   whole partial run. */
TF_CAPI_EXPORT extern void HR_SessionPRunCancellable(
    TF_Session*, const char* handle, const TF_Buffer* run_options,
    const TF_Output* inputs, TF_Tensor* const* input_values, int ninputs,
    const TF_Output* outputs, TF_Tensor** output_values, int noutputs,
    HR_CancellationManager* cancellation, TF_Status*);

/* Limits the memory of imported constants to `max_bytes` bytes. An import that
   needs more fails with RESOURCE_EXHAUSTED. 0 (the default): the limit is the
   free memory of the machine or of the process's cgroup. A constant that
   repeats a value takes little memory, whatever its shape. */
TF_CAPI_EXPORT extern void HR_ImportGraphDefOptionsSetMaxConstantBytes(
    TF_ImportGraphDefOptions* opts, int64_t max_bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HEADRACE_C_API_H_ */
