// The structs behind the handles of eager execution. A TFE_TensorHandle is a
// headrace::TensorHandle, of which the client holds a reference.
#ifndef HEADRACE_C_API_EAGER_H_
#define HEADRACE_C_API_EAGER_H_

#include <memory>

#include "c_api/internal.h"
#include "eager/op.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_experimental.h"

struct TFE_ContextOptions {
  headrace::EagerContext::Options options;
};

// One reference of the client, and one of each of its ops.
struct TFE_Context : headrace::RefCounted {
  std::shared_ptr<headrace::EagerContext> context;
  uint64_t id = 0;
};

struct TFE_Op {
  headrace::RefPtr<TFE_Context> context;
  headrace::EagerOp op;
};

struct TFE_Executor {
  bool is_async = false;
};

// Shared: the client may delete the handle before the ops that use it.
struct TFE_CancellationManager {
  const std::shared_ptr<headrace::CancellationManager> manager =
      std::make_shared<headrace::CancellationManager>();
};

struct TFE_TensorDebugInfo {
  headrace::TensorShape shape;
};

namespace headrace::c_api {

inline TensorHandle* ToHandle(TFE_TensorHandle* h) {
  return reinterpret_cast<TensorHandle*>(h);
}
// Hands the reference to the client.
inline TFE_TensorHandle* GiveHandle(RefPtr<TensorHandle> h) {
  return reinterpret_cast<TFE_TensorHandle*>(h.release());
}

// "TFE_NewOp: the context is NULL".
inline Status IsNull(absl::string_view function, absl::string_view what) {
  return errors::InvalidArgument(function, ": the ", what, " is NULL");
}

}  // namespace headrace::c_api

#endif  // HEADRACE_C_API_EAGER_H_
