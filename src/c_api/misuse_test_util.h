// Calls any function of the C API with NULL and 0 for all arguments.
#ifndef HEADRACE_C_API_MISUSE_TEST_UTIL_H_
#define HEADRACE_C_API_MISUSE_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tensorflow/c/env.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

namespace c_api_test {

// Deletes what a function returned.
template <typename T>
void Drop(const T&) {}
inline void Drop(TF_Status* p) { TF_DeleteStatus(p); }
inline void Drop(TF_Buffer* p) { TF_DeleteBuffer(p); }
inline void Drop(TF_Tensor* p) { TF_DeleteTensor(p); }
inline void Drop(TF_Graph* p) { TF_DeleteGraph(p); }
inline void Drop(TF_SessionOptions* p) { TF_DeleteSessionOptions(p); }
inline void Drop(TF_OperationDescription* p) { TF_FinishOperation(p, nullptr); }
inline void Drop(TF_ImportGraphDefOptions* p) {
  TF_DeleteImportGraphDefOptions(p);
}
inline void Drop(TF_DeviceList* p) { TF_DeleteDeviceList(p); }
inline void Drop(TF_KernelBuilder* p) { TF_DeleteKernelBuilder(p); }
inline void Drop(TF_OpDefinitionBuilder* p) { TF_DeleteOpDefinitionBuilder(p); }
inline void Drop(TF_ShapeHandle* p) { TF_DeleteShapeHandle(p); }
inline void Drop(TF_DimensionHandle* p) { TF_DeleteDimensionHandle(p); }
inline void Drop(TF_AttrBuilder* p) { TF_DeleteAttrBuilder(p); }
inline void Drop(TF_ShapeAndTypeList* p) { TF_DeleteShapeAndTypeList(p); }
inline void Drop(TF_StringStream* p) { TF_StringStreamDone(p); }
inline void Drop(TF_DeprecatedSession* p) {
  TF_DeleteDeprecatedSession(p, nullptr);
}
inline void Drop(TF_Function* p) { TF_DeleteFunction(p); }
inline void Drop(TFE_ContextOptions* p) { TFE_DeleteContextOptions(p); }
inline void Drop(TFE_Context* p) { TFE_DeleteContext(p); }
inline void Drop(TFE_TensorHandle* p) { TFE_DeleteTensorHandle(p); }
inline void Drop(TFE_TensorDebugInfo* p) { TFE_DeleteTensorDebugInfo(p); }
inline void Drop(TFE_Op* p) { TFE_DeleteOp(p); }
inline void Drop(TFE_Executor* p) { TFE_DeleteExecutor(p); }
inline void Drop(TFE_CancellationManager* p) {
  TFE_DeleteCancellationManager(p);
}
inline void Drop(char* p) { std::free(p); }

// Zero, or the status: not where it is the first argument, the object itself.
template <typename T>
T Argument(TF_Status* status, bool first) {
  if constexpr (std::is_same_v<T, TF_Status*>) {
    return first ? nullptr : status;
  } else {
    return T();
  }
}

template <typename R, typename First, typename... Rest>
void CallWithNulls(R (*f)(First, Rest...), TF_Status* status) {
  if constexpr (std::is_void_v<R>) {
    f(Argument<First>(status, true), Argument<Rest>(status, false)...);
  } else {
    Drop(f(Argument<First>(status, true), Argument<Rest>(status, false)...));
  }
}
template <typename R>
void CallWithNulls(R (*f)(), TF_Status*) {
  Drop(f());
}

template <typename R, typename... A>
constexpr bool HasStatus(R (*)(A...)) {
  return (std::is_same_v<A, TF_Status*> || ...);
}
template <typename R, typename... A>
constexpr bool StatusComesFirst(R (*)(TF_Status*, A...)) {
  return true;
}
template <typename R, typename... A>
constexpr bool StatusComesFirst(R (*)(A...)) {
  return false;
}

struct Function {
  const char* name;
  bool has_status;
  std::function<void(TF_Status*)> call;
};
#define CALL(f)                                     \
  {                                                 \
#f, HasStatus(&f) && !StatusComesFirst(&f),     \
        [](TF_Status * s) { CallWithNulls(&f, s); } \
  }

// Calls each function, with a status and without one. A refusal has words;
// nothing is refused by the functions of `fine`.
inline void CallAllWithNulls(const std::vector<Function>& functions,
                             const std::set<std::string>& fine) {
  for (const Function& f : functions) {
    SCOPED_TRACE(f.name);
    TF_Status* const status = TF_NewStatus();
    f.call(status);
    if (f.has_status) {
      EXPECT_EQ(TF_GetCode(status) == TF_OK, fine.count(f.name) == 1)
          << TF_Message(status);
      if (TF_GetCode(status) != TF_OK) {
        EXPECT_STRNE(TF_Message(status), "");
      }
    }
    TF_DeleteStatus(status);
    f.call(nullptr);
  }
}

// Expects that `functions` has all of tests/c_api/symbols.txt that begin with
// `prefix`, but for those of `left_out`.
inline void ExpectComplete(const std::vector<Function>& functions,
                           const std::string& prefix,
                           const std::set<std::string>& left_out) {
  std::set<std::string> called(left_out);
  for (const Function& f : functions) called.insert(f.name);
  std::ifstream file("tests/c_api/symbols.txt");
  int lines = 0;
  for (std::string name; std::getline(file, name); ++lines) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    EXPECT_EQ(called.count(name), 1u) << name << " is not in the table";
  }
  EXPECT_GT(lines, 100);
}

}  // namespace c_api_test

#endif  // HEADRACE_C_API_MISUSE_TEST_UTIL_H_
