// A header-only C++ client of eager execution, as programs have one: values
// with operators, ops as functions, exceptions for errors, one context for the
// process that is deleted when it exits. It includes the C headers alone.
#ifndef HEADRACE_TESTS_CLIENTS_EAGER_CLIENT_H_
#define HEADRACE_TESTS_CLIENTS_EAGER_CLIENT_H_

#include <tensorflow/c/c_api.h>
#include <tensorflow/c/eager/c_api.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace eager_client {

class Session {
 public:
  static TFE_Context* context() { return Get().context_; }

  // Throws unless the status is OK.
  struct Check {
    ~Check() noexcept(false) {
      const std::string words = TF_Message(status);
      const bool ok = TF_GetCode(status) == TF_OK;
      TF_DeleteStatus(status);
      if (!ok) throw std::runtime_error(words);
    }
    operator TF_Status*() const { return status; }
    TF_Status* status = TF_NewStatus();
  };

 private:
  Session() : options_(TFE_NewContextOptions()) {
    context_ = TFE_NewContext(options_, Check());
  }
  ~Session() {
    TFE_DeleteContextOptions(options_);
    TFE_DeleteContext(context_);
  }
  static Session& Get() {
    static Session session;
    return session;
  }

  TFE_ContextOptions* const options_;
  TFE_Context* context_ = nullptr;
};

template <typename T>
TF_DataType TypeOf() {
  if constexpr (std::is_same_v<T, float>) return TF_FLOAT;
  if constexpr (std::is_same_v<T, double>) return TF_DOUBLE;
  if constexpr (std::is_same_v<T, int32_t>) return TF_INT32;
  if constexpr (std::is_same_v<T, int64_t>) return TF_INT64;
  if constexpr (std::is_same_v<T, bool>) return TF_BOOL;
  return static_cast<TF_DataType>(0);
}

class Value {
 public:
  explicit Value(TFE_TensorHandle* h) : handle_(h, TFE_DeleteTensorHandle) {}
  template <typename T>
  Value(const std::vector<T>& values, const std::vector<int64_t>& shape) {
    const size_t bytes = values.size() * sizeof(T);
    TF_Tensor* t = TF_AllocateTensor(TypeOf<T>(), shape.data(),
                                     static_cast<int>(shape.size()), bytes);
    if (t == nullptr) throw std::runtime_error("no such tensor");
    std::memcpy(TF_TensorData(t), values.data(), bytes);
    Set(t);
  }
  template <typename T>
  requires std::is_arithmetic_v<T> Value(T v)  // NOLINT: 1.0f is a value
      : Value(std::vector<T>{v}, {}) {}
  Value(const std::string& text) {  // NOLINT: so is a string
    TF_Tensor* t = TF_AllocateTensor(TF_STRING, nullptr, 0, sizeof(TF_TString));
    TF_StringCopy(static_cast<TF_TString*>(TF_TensorData(t)), text.data(),
                  text.size());
    Set(t);
  }

  template <typename T>
  std::vector<T> data() const {
    const auto t = Resolve();
    if (TF_TensorType(t.get()) != TypeOf<T>()) {
      throw std::runtime_error("another type");
    }
    const T* const at = static_cast<const T*>(TF_TensorData(t.get()));
    return std::vector<T>(at, at + TF_TensorElementCount(t.get()));
  }
  std::string text() const {
    const auto t = Resolve();
    const auto* s = static_cast<const TF_TString*>(TF_TensorData(t.get()));
    return std::string(TF_StringGetDataPointer(s), TF_StringGetSize(s));
  }
  std::vector<int64_t> shape() const {
    std::vector<int64_t> dims(
        TFE_TensorHandleNumDims(handle(), Session::Check()));
    for (size_t i = 0; i < dims.size(); ++i) {
      dims[i] =
          TFE_TensorHandleDim(handle(), static_cast<int>(i), Session::Check());
    }
    return dims;
  }
  TF_DataType dtype() const { return TFE_TensorHandleDataType(handle()); }
  std::string device() const {
    return TFE_TensorHandleDeviceName(handle(), Session::Check());
  }
  TFE_TensorHandle* handle() const { return handle_.get(); }

 private:
  void Set(TF_Tensor* t) {
    const std::unique_ptr<TF_Tensor, void (*)(TF_Tensor*)> owned(
        t, TF_DeleteTensor);
    handle_.reset(TFE_NewTensorHandle(t, Session::Check()),
                  TFE_DeleteTensorHandle);
  }
  std::unique_ptr<TF_Tensor, void (*)(TF_Tensor*)> Resolve() const {
    return {TFE_TensorHandleResolve(handle(), Session::Check()),
            TF_DeleteTensor};
  }

  std::shared_ptr<TFE_TensorHandle> handle_;
};

using Attr = std::variant<bool, int64_t, float, TF_DataType, std::string,
                          std::vector<int64_t>>;
using Attrs = std::initializer_list<std::pair<const char*, Attr>>;

// An argument: one value, or a list of them.
struct Argument {
  Argument(const Value& v) : values{v} {}  // NOLINT: so that one will do
  Argument(std::vector<Value> v)           // NOLINT
      : values(std::move(v)), is_list(true) {}
  std::vector<Value> values;
  bool is_list = false;
};

inline std::vector<Value> Run(const char* name,
                              std::initializer_list<Argument> arguments,
                              Attrs attrs = {}, int room = 8) {
  const std::unique_ptr<TFE_Op, void (*)(TFE_Op*)> op(
      TFE_NewOp(Session::context(), name, Session::Check()), TFE_DeleteOp);
  for (const Argument& a : arguments) {
    std::vector<TFE_TensorHandle*> handles;
    for (const Value& v : a.values) handles.push_back(v.handle());
    if (a.is_list) {
      TFE_OpAddInputList(op.get(), handles.data(),
                         static_cast<int>(handles.size()), Session::Check());
    } else {
      TFE_OpAddInput(op.get(), handles[0], Session::Check());
    }
  }
  for (const auto& [attr, value] : attrs) {
    std::visit(
        [&, attr = attr](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, bool>) {
            TFE_OpSetAttrBool(op.get(), attr, v);
          } else if constexpr (std::is_same_v<T, int64_t>) {
            TFE_OpSetAttrInt(op.get(), attr, v);
          } else if constexpr (std::is_same_v<T, float>) {
            TFE_OpSetAttrFloat(op.get(), attr, v);
          } else if constexpr (std::is_same_v<T, TF_DataType>) {
            TFE_OpSetAttrType(op.get(), attr, v);
          } else if constexpr (std::is_same_v<T, std::string>) {
            TFE_OpSetAttrString(op.get(), attr, v.data(), v.size());
          } else {
            TFE_OpSetAttrIntList(op.get(), attr, v.data(),
                                 static_cast<int>(v.size()));
          }
        },
        value);
  }
  std::vector<TFE_TensorHandle*> out(room, nullptr);
  TFE_Execute(op.get(), out.data(), &room, Session::Check());
  std::vector<Value> results;
  for (int i = 0; i < room; ++i) results.emplace_back(out[i]);
  return results;
}
inline Value Op(const char* name, std::initializer_list<Argument> arguments,
                Attrs attrs = {}) {
  return Run(name, arguments, attrs, 1).at(0);
}

inline Value operator+(const Value& a, const Value& b) {
  return Op("AddV2", {a, b});
}
inline Value operator-(const Value& a, const Value& b) {
  return Op("Sub", {a, b});
}
inline Value operator*(const Value& a, const Value& b) {
  return Op("Mul", {a, b});
}

}  // namespace eager_client

#endif  // HEADRACE_TESTS_CLIENTS_EAGER_CLIENT_H_
