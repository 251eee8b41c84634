// Helpers for tests that see the C API as a client does: only its headers.
#ifndef HEADRACE_C_API_C_API_TEST_UTIL_H_
#define HEADRACE_C_API_C_API_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "headrace/c_api.h"

namespace c_api_test {

struct Deleter {
  void operator()(TF_Status* s) const { TF_DeleteStatus(s); }
  void operator()(TF_Graph* g) const { TF_DeleteGraph(g); }
  void operator()(TF_Tensor* t) const { TF_DeleteTensor(t); }
  void operator()(TF_Buffer* b) const { TF_DeleteBuffer(b); }
  void operator()(TF_DeviceList* l) const { TF_DeleteDeviceList(l); }
  void operator()(TF_Function* f) const { TF_DeleteFunction(f); }
  void operator()(HR_CancellationManager* m) const {
    HR_DeleteCancellationManager(m);
  }
};
using Tensor = std::unique_ptr<TF_Tensor, Deleter>;
using Buffer = std::unique_ptr<TF_Buffer, Deleter>;

inline Tensor Scalar(int32_t v) {
  Tensor t(TF_AllocateTensor(TF_INT32, nullptr, 0, sizeof(v)));
  std::memcpy(TF_TensorData(t.get()), &v, sizeof(v));
  return t;
}
inline int32_t Value(TF_Tensor* t) {
  int32_t v = -1;
  if (t != nullptr) std::memcpy(&v, TF_TensorData(t), sizeof(v));
  return v;
}
inline std::string Bytes(const TF_Buffer* b) {
  return std::string(static_cast<const char*>(b->data), b->length);
}

class CApiTest : public testing::Test {
 protected:
  TF_Status* s() { return status_.get(); }
  TF_Graph* g() { return graph_.get(); }
  std::string message() { return TF_Message(s()); }

  TF_Operation* Finish(TF_OperationDescription* d) {
    TF_Operation* op = TF_FinishOperation(d, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    return op;
  }
  TF_Operation* Placeholder(const char* name, TF_DataType t = TF_INT32) {
    TF_OperationDescription* d = TF_NewOperation(g(), "Placeholder", name);
    TF_SetAttrType(d, "dtype", t);
    return Finish(d);
  }
  TF_Operation* Const(const char* name, int32_t v) {
    TF_OperationDescription* d = TF_NewOperation(g(), "Const", name);
    TF_SetAttrType(d, "dtype", TF_INT32);
    TF_SetAttrTensor(d, "value", Scalar(v).get(), s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    return Finish(d);
  }
  TF_Operation* Add(const char* name, TF_Operation* a, TF_Operation* b) {
    TF_OperationDescription* d = TF_NewOperation(g(), "Add", name);
    TF_AddInput(d, {a, 0});
    TF_AddInput(d, {b, 0});
    return Finish(d);
  }
  TF_Session* NewSession() {
    TF_Session* session = TF_NewSession(g(), nullptr, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    return session;
  }
  // Runs with one feed and one fetch.
  Tensor Run(TF_Session* session, TF_Operation* feed, TF_Tensor* value,
             TF_Operation* fetch) {
    const TF_Output in = {feed, 0}, out = {fetch, 0};
    TF_Tensor* result = nullptr;
    TF_SessionRun(session, nullptr, &in, &value, feed ? 1 : 0, &out, &result, 1,
                  nullptr, 0, nullptr, s());
    return Tensor(result);
  }

 private:
  std::unique_ptr<TF_Status, Deleter> status_{TF_NewStatus()};
  std::unique_ptr<TF_Graph, Deleter> graph_{TF_NewGraph()};
};

}  // namespace c_api_test

#endif  // HEADRACE_C_API_C_API_TEST_UTIL_H_
