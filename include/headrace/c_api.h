/* What the C API has beyond TensorFlow's. These names begin with HR_, since a
   TF_ name of ours may one day be TensorFlow's. The conventions are those of
   tensorflow/c/c_api.h. */
#ifndef HEADRACE_C_API_H_
#define HEADRACE_C_API_H_

#include "tensorflow/c/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A token by which any thread stops runs. Thread-safe; it may be deleted while
   runs have it, which then go on. */
typedef struct HR_CancellationManager HR_CancellationManager;

TF_CAPI_EXPORT extern HR_CancellationManager* HR_NewCancellationManager(void);
TF_CAPI_EXPORT extern void HR_DeleteCancellationManager(
    HR_CancellationManager*);
/* Ends the runs that have the token with CANCELLED, and later ones at once. A
   run returns within milliseconds, even from a kernel that nothing can
   interrupt: unless that changes state, it is left to itself, and the message
   says so. */
TF_CAPI_EXPORT extern void HR_CancellationManagerStartCancel(
    HR_CancellationManager*);
TF_CAPI_EXPORT extern TF_Bool HR_CancellationManagerIsCancelled(
    HR_CancellationManager*);

/* TF_SessionRun with a token, which may be NULL. */
TF_CAPI_EXPORT extern void HR_SessionRunCancellable(
    TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs,
    TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs,
    TF_Tensor** output_values, int noutputs,
    const TF_Operation* const* target_opers, int ntargets,
    TF_Buffer* run_metadata, HR_CancellationManager* cancellation, TF_Status*);

/* TF_SessionPRun with a serialized RunOptions, of which the deadline counts,
   and a token; both may be NULL. The deadline's expiry and the token end the
   whole partial run. */
TF_CAPI_EXPORT extern void HR_SessionPRunCancellable(
    TF_Session*, const char* handle, const TF_Buffer* run_options,
    const TF_Output* inputs, TF_Tensor* const* input_values, int ninputs,
    const TF_Output* outputs, TF_Tensor** output_values, int noutputs,
    HR_CancellationManager* cancellation, TF_Status*);

/* Imports whose constants take more than so many bytes of memory fail with
   RESOURCE_EXHAUSTED. By default (0) that is what the machine, or the process's
   cgroup, has free. A few values that stand for many take little, however many
   they stand for. */
TF_CAPI_EXPORT extern void HR_ImportGraphDefOptionsSetMaxConstantBytes(
    TF_ImportGraphDefOptions* opts, int64_t max_bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HEADRACE_C_API_H_ */
