// Helpers for tests of eager execution that see the C API as a client does:
// handles that delete themselves, and ops in a line.
#ifndef HEADRACE_C_API_EAGER_TEST_UTIL_H_
#define HEADRACE_C_API_EAGER_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace eager_test {

struct Deleter {
  void operator()(TF_Status* s) const { TF_DeleteStatus(s); }
  void operator()(TF_Tensor* t) const { TF_DeleteTensor(t); }
  void operator()(TF_Buffer* b) const { TF_DeleteBuffer(b); }
  void operator()(TF_DeviceList* l) const { TF_DeleteDeviceList(l); }
  void operator()(TF_Function* f) const { TF_DeleteFunction(f); }
  void operator()(TFE_ContextOptions* o) const { TFE_DeleteContextOptions(o); }
  void operator()(TFE_Context* c) const { TFE_DeleteContext(c); }
  void operator()(TFE_TensorHandle* h) const { TFE_DeleteTensorHandle(h); }
  void operator()(TFE_Op* o) const { TFE_DeleteOp(o); }
  void operator()(TFE_Executor* e) const { TFE_DeleteExecutor(e); }
  void operator()(TFE_TensorDebugInfo* i) const {
    TFE_DeleteTensorDebugInfo(i);
  }
  void operator()(TFE_CancellationManager* m) const {
    TFE_DeleteCancellationManager(m);
  }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;
using Status = Owned<TF_Status>;
using Tensor = Owned<TF_Tensor>;
using Handle = Owned<TFE_TensorHandle>;
using Handles = std::vector<Handle>;
using Op = Owned<TFE_Op>;
using Context = Owned<TFE_Context>;

inline Context NewContext(const std::string& config = "") {
  Status s(TF_NewStatus());
  Owned<TFE_ContextOptions> options(TFE_NewContextOptions());
  TFE_ContextOptionsSetConfig(options.get(), config.data(), config.size(),
                              s.get());
  EXPECT_EQ(TF_GetCode(s.get()), TF_OK) << TF_Message(s.get());
  Context context(TFE_NewContext(options.get(), s.get()));
  EXPECT_EQ(TF_GetCode(s.get()), TF_OK) << TF_Message(s.get());
  return context;
}

template <typename T>
constexpr TF_DataType TypeOf() {
  if constexpr (std::is_same_v<T, float>) return TF_FLOAT;
  if constexpr (std::is_same_v<T, int32_t>) return TF_INT32;
  if constexpr (std::is_same_v<T, int64_t>) return TF_INT64;
  return TF_BOOL;
}

// A vector, or with dims any shape.
template <typename T>
Handle Values(const std::vector<T>& values, std::vector<int64_t> dims) {
  const size_t bytes = values.size() * sizeof(T);
  Tensor t(TF_AllocateTensor(TypeOf<T>(), dims.data(),
                             static_cast<int>(dims.size()), bytes));
  if (bytes > 0) std::memcpy(TF_TensorData(t.get()), values.data(), bytes);
  Status s(TF_NewStatus());
  Handle h(TFE_NewTensorHandle(t.get(), s.get()));
  EXPECT_EQ(TF_GetCode(s.get()), TF_OK) << TF_Message(s.get());
  return h;
}
template <typename T>
Handle Scalar(T value) {
  Status s(TF_NewStatus());
  Handle h(TFE_NewTensorHandleFromScalar(TypeOf<T>(), &value, sizeof(value),
                                         s.get()));
  EXPECT_EQ(TF_GetCode(s.get()), TF_OK) << TF_Message(s.get());
  return h;
}
template <typename T>
std::vector<T> Read(TFE_TensorHandle* h) {
  Status s(TF_NewStatus());
  Tensor t(TFE_TensorHandleResolve(h, s.get()));
  EXPECT_EQ(TF_GetCode(s.get()), TF_OK) << TF_Message(s.get());
  if (t == nullptr || TF_TensorType(t.get()) != TypeOf<T>()) {
    ADD_FAILURE() << "no tensor of the type";
    return {};
  }
  const T* const data = static_cast<const T*>(TF_TensorData(t.get()));
  return std::vector<T>(data, data + TF_TensorElementCount(t.get()));
}
template <typename T>
T ReadScalar(const Handle& h) {
  const std::vector<T> values = Read<T>(h.get());
  return values.size() == 1 ? values[0] : T(-12345);
}

class EagerTest : public testing::Test {
 protected:
  TF_Status* s() { return status_.get(); }
  TFE_Context* ctx() { return context_.get(); }
  std::string message() { return TF_Message(s()); }
  TF_Code code() { return TF_GetCode(s()); }

  Op NewOp(const char* name, std::vector<TFE_TensorHandle*> inputs = {}) {
    Op op(TFE_NewOp(ctx(), name, s()));
    EXPECT_EQ(code(), TF_OK) << message();
    for (TFE_TensorHandle* h : inputs) {
      TFE_OpAddInput(op.get(), h, s());
      EXPECT_EQ(code(), TF_OK) << message();
    }
    return op;
  }
  // No handles on errors; the status is s().
  Handles Execute(TFE_Op* op, int room = 8) {
    std::vector<TFE_TensorHandle*> out(room + 1, nullptr);
    int n = room;
    TFE_Execute(op, out.data(), &n, s());
    Handles results;
    if (code() != TF_OK) return results;
    for (int i = 0; i < n; ++i) results.emplace_back(out[i]);
    return results;
  }
  Handles Run(const char* name, std::vector<TFE_TensorHandle*> inputs = {},
              const std::function<void(TFE_Op*)>& set_attrs = nullptr) {
    Op op = NewOp(name, inputs);
    if (set_attrs != nullptr) set_attrs(op.get());
    return Execute(op.get());
  }
  // The same, which is expected to succeed with one result.
  Handle Get(const char* name, std::vector<TFE_TensorHandle*> inputs = {},
             const std::function<void(TFE_Op*)>& set_attrs = nullptr) {
    Handles results = Run(name, std::move(inputs), set_attrs);
    EXPECT_EQ(code(), TF_OK) << name << ": " << message();
    EXPECT_EQ(results.size(), 1u);
    return results.empty() ? nullptr : std::move(results[0]);
  }

  Context context_ = NewContext();

 private:
  Status status_{TF_NewStatus()};
};

}  // namespace eager_test

#endif  // HEADRACE_C_API_EAGER_TEST_UTIL_H_
