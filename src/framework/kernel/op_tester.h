// For tests: runs one kernel outside a graph.
//
//   OpTester t("Softplus");
//   t.Attr("T", DT_FLOAT).Input(MakeTensor<float>({2}, {0, 1}));
//   ASSERT_EQ(t.Run(), OkStatus());
//   ExpectClose(t.Output(0), MakeTensor<float>({2}, {0.6931f, 1.3133f}));
//
// Attrs of type "type" are inferred from the inputs where they are not given.
//
// With tests/faults/failing_allocations.cc preloaded each op is also run with
// its allocations failing, one after the other.
#ifndef HEADRACE_FRAMEWORK_KERNEL_OP_TESTER_H_
#define HEADRACE_FRAMEWORK_KERNEL_OP_TESTER_H_

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/exceptions.h"
#include "base/memory_reserve.h"
#include "base/thread_pool.h"
#include "framework/kernel/host_device.h"
#include "framework/memory/failing_allocations.h"
#include "framework/tensor/variant.h"
#include "headrace/op.h"
#include "headrace/op_kernel.h"
#include "headrace/shape_inference.h"

namespace headrace {

// A CPU for tests.
class TestDevice : public HostDevice {
 public:
  explicit TestDevice(ThreadPool* pool = ThreadPool::Global())
      : HostDevice(LoneCpuAttributes("test"), pool) {}
};

template <typename T>
Tensor MakeTensor(const TensorShape& shape, const std::vector<T>& values) {
  Tensor t(DataTypeToEnum<T>::value, shape);
  EXPECT_EQ(static_cast<int64_t>(values.size()), t.NumElements());
  for (int64_t i = 0; i < t.NumElements(); ++i) t.data<T>()[i] = values[i];
  return t;
}
template <typename T>
Tensor MakeScalar(T v) {
  return Tensor::Scalar<T>(v);
}

class OpTester {
 public:
  explicit OpTester(std::string op, ThreadPool* pool = ThreadPool::Global())
      : device_(pool) {
    def_.name = "node";
    def_.op = std::move(op);
  }
  OpTester& Attr(const std::string& name, AttrValue v) {
    def_.attrs.Set(name, std::move(v));
    return *this;
  }
  OpTester& Input(Tensor t) {
    inputs_.push_back(std::move(t));
    return *this;
  }
  // An input that is the same in every call.
  OpTester& Constant(Tensor t) {
    constants_.push_back(inputs_.size());
    return Input(std::move(t));
  }
  void ClearInputs() {
    inputs_.clear();
    constants_.clear();
    refs_.clear();
  }
  // A variable for an input that the op takes by reference; what the op writes
  // shows in InputTensor(i) afterwards.
  OpTester& Ref(Tensor t) {
    refs_.push_back(inputs_.size());
    return Input(std::move(t));
  }
  const Tensor& InputTensor(int i) const { return inputs_.at(i); }
  Device* device() { return &device_; }

  // The shape function alone, with every input's value known.
  Status InferShapes(std::vector<PartialTensorShape>* outputs) {
    const OpDef* op = nullptr;
    HR_RETURN_IF_ERROR(Prepare(&op));
    std::vector<PartialTensorShape> shapes;
    std::vector<const Tensor*> values;
    for (const Tensor& t : inputs_) {
      shapes.push_back(t.shape());
      values.push_back(&t);
    }
    InferenceContext c(op, &def_.attrs, shapes, values);
    HR_RETURN_IF_ERROR(c.Run(op->shape_fn));
    for (int i = 0; i < c.num_outputs(); ++i) outputs->push_back(c.output(i));
    return OkStatus();
  }

  // Makes the kernel and computes; shape inference is run too, and what it
  // predicts must agree with the result.
  Status Run() {
    const OpDef* op = nullptr;
    HR_RETURN_IF_ERROR(Prepare(&op));
    // Kernels may write into inputs that nobody else has.
    std::vector<Tensor> kept;
    const bool fails = FailingAllocations::ArePreloaded() && refs_.empty();
    if (fails) {
      for (const Tensor& t : inputs_) {
        HR_RETURN_IF_ERROR(t.DeepCopyTo(&kept.emplace_back()));
      }
    }
    HR_RETURN_IF_ERROR(Compute(op, &inputs_, &outputs_));
    std::vector<PartialTensorShape> inferred;
    const Status s = InferShapes(&inferred);
    EXPECT_TRUE(s.ok()) << "the kernel ran but the shape function says " << s;
    for (size_t i = 0; s.ok() && i < inferred.size(); ++i) {
      EXPECT_TRUE(inferred[i].IsCompatibleWith(outputs_[i].shape()))
          << "output " << i << " is " << outputs_[i].shape().DebugString()
          << ", the shape function said " << inferred[i].DebugString();
    }
    if (fails) ComputeWithoutMemory(op, kept);
    return OkStatus();
  }
  const Tensor& Output(int i) const { return outputs_.at(i); }
  // What the kernel reported through set_algorithm.
  const std::string& algorithm() const { return algorithm_; }

 private:
  Status Compute(const OpDef* op, std::vector<Tensor>* inputs,
                 std::vector<Tensor>* outputs) {
    HR_RETURN_IF_ERROR(CreateOpKernel(&device_, std::make_shared<NodeDef>(def_),
                                      op, &kernel_));
    for (size_t i : constants_) {
      kernel_->SetConstantInput(static_cast<int>(i), (*inputs)[i]);
    }
    std::vector<TensorValue> values;
    for (Tensor& t : *inputs) values.push_back({&t, nullptr});
    std::vector<std::unique_ptr<Mutex>> mutexes;
    for (size_t i : refs_) {
      mutexes.push_back(std::make_unique<Mutex>());
      values[i].ref_mutex = mutexes.back().get();
    }
    ResourceMgr step("step");
    KernelTrace trace;
    OpKernelContext::Params params;
    params.kernel = kernel_.get();
    params.device = &device_;
    params.inputs = values;
    params.step_resources = &step;
    params.trace = &trace;
    OpKernelContext ctx(&params);
    device_.Compute(kernel_.get(), &ctx);
    algorithm_ = trace.algorithm;
    HR_RETURN_IF_ERROR(ctx.status());
    outputs->clear();
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      OutputSlot& slot = ctx.output_slot(i);
      outputs->push_back(slot.ref != nullptr ? *slot.ref : slot.value);
    }
    return OkStatus();
  }

  // The n-th allocation fails, and all large ones from the n-th on, for n = 1,
  // 2, ...: an error that says so, or the right result. For the first runs of
  // each op, and ops without state: tests go on with that. At last the kernel
  // runs with memory again, and its results stay.
  void ComputeWithoutMemory(const OpDef* op, const std::vector<Tensor>& kept) {
    constexpr int kRuns = 2;
    static auto* const runs = new std::map<std::string, int>;
    if (op->is_stateful || ++(*runs)[op->name] > kRuns) return;
    for (const Tensor& t : kept) {
      if (!DataTypeCanUseMemcpy(t.dtype()) && t.dtype() != DT_STRING) return;
    }
    const std::vector<Tensor> want = std::move(outputs_);
    const std::string algorithm = algorithm_;
    for (const bool large : {false, true}) {
      int64_t total = 0;
      for (int64_t n = 0; n <= total; n += 1 + n / 30) {
        std::vector<Tensor> inputs, outputs;
        CopyTo(kept, &inputs);
        Status s;
        {
          const FailingAllocations failing(
              n == 0 ? FailingAllocations::kAll : n,
              large ? FailingAllocations::kAll : 1,
              large ? kSmallPiece + 1 : 0);
          s = CatchExceptions([&] { return Compute(op, &inputs, &outputs); });
        }
        if (n == 0) {
          ASSERT_EQ(s, OkStatus());
          total = std::min<int64_t>(FailingAllocations::Seen(), 1000);
        } else if (!s.ok()) {
          RefillMemoryReserve();
          EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted)
              << op->name << " without allocation " << n << ": " << s;
        } else {
          ExpectSame(outputs, want,
                     algorithm_ == algorithm && !MayRoundOtherwise());
        }
      }
    }
    std::vector<Tensor> inputs;
    CopyTo(kept, &inputs);
    ASSERT_EQ(Compute(op, &inputs, &outputs_), OkStatus());
    EXPECT_EQ(algorithm_, algorithm);
    ExpectSame(outputs_, want, /*exactly=*/true);
  }
  static void CopyTo(const std::vector<Tensor>& from, std::vector<Tensor>* to) {
    for (const Tensor& t : from) {
      ASSERT_EQ(t.DeepCopyTo(&to->emplace_back()), OkStatus());
    }
  }
  void ExpectSame(const std::vector<Tensor>& got,
                  const std::vector<Tensor>& want, bool exactly) const;
  // Whether the kernel sums in another order where it finds no scratch memory,
  // as Gemm does. Others that take another algorithm then announce it.
  bool MayRoundOtherwise() const {
    return def_.op.find("MatMul") != std::string::npos;
  }
  // Whether no seed determines the values.
  bool HasUnseededNoise() const {
    std::string noise;  // of ExtractGlimpse
    return def_.attrs.Get("noise", &noise).ok() && noise != "zero";
  }

  Status Prepare(const OpDef** op) {
    HR_RETURN_IF_ERROR(OpRegistry::Global()->LookUp(def_.op, op));
    // Infer type, number and type-list attrs from the inputs, in order.
    size_t at = 0;
    for (size_t i = 0; i < (*op)->inputs.size(); ++i) {
      const OpDef::Arg& arg = (*op)->inputs[i];
      size_t n = 1;
      auto attr_name = [&](int a) { return (*op)->attrs[a].name; };
      const size_t rest = inputs_.size() - at;
      const size_t after = (*op)->inputs.size() - i - 1;
      if (arg.number_attr >= 0) {
        const std::string name = attr_name(arg.number_attr);
        int64_t given = 0;
        if (def_.attrs.Get(name, &given).ok()) {
          n = given;
        } else {
          n = rest - after;
          def_.attrs.Set(name, static_cast<int64_t>(n));
        }
      }
      if (arg.type_list_attr >= 0) {
        const std::string name = attr_name(arg.type_list_attr);
        std::vector<DataType> types;
        if (def_.attrs.Get(name, &types).ok()) {
          n = types.size();
        } else {
          n = rest - after;
          for (size_t k = 0; k < n; ++k)
            types.push_back(inputs_[at + k].dtype());
          def_.attrs.Set(name, types);
        }
      }
      if (arg.type_attr >= 0 && n > 0 && at < inputs_.size() &&
          def_.attrs.Find(attr_name(arg.type_attr)) == nullptr) {
        def_.attrs.Set(attr_name(arg.type_attr), inputs_[at].dtype());
      }
      at += n;
    }
    AddDefaultAttrs(**op, &def_.attrs);
    return ValidateAttrs(**op, def_.attrs);
  }

  TestDevice device_;
  NodeDef def_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<size_t> refs_, constants_;
  std::unique_ptr<OpKernel> kernel_;
  std::string algorithm_;
};

// Expects the same type, shape and elements.
inline void ExpectEqual(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(DataTypeString(got.dtype()), DataTypeString(want.dtype()));
  ASSERT_EQ(got.shape().DebugString(), want.shape().DebugString());
  if (DataTypeCanUseMemcpy(got.dtype())) {
    EXPECT_TRUE(got.tensor_data() == want.tensor_data())
        << "got " << got.DebugString(32) << "\nwant " << want.DebugString(32);
  } else {
    EXPECT_EQ(got.DebugString(1000), want.DebugString(1000));
  }
}

namespace testing_internal {
template <typename T>
void CloseAs(const Tensor& got, const Tensor& want, double rtol, double atol) {
  int shown = 0;
  for (int64_t i = 0; i < got.NumElements() && shown < 5; ++i) {
    const double g = static_cast<double>(got.data<T>()[i]);
    const double w = static_cast<double>(want.data<T>()[i]);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    if (!(std::abs(g - w) <= atol + rtol * std::abs(w))) {
      ADD_FAILURE() << "element " << i << ": got " << g << ", want " << w;
      ++shown;
    }
  }
}
}  // namespace testing_internal

// Expects the same type and shape and |got - want| <= atol + rtol * |want|.
inline void ExpectClose(const Tensor& got, const Tensor& want,
                        double rtol = 1e-5, double atol = 1e-6) {
  ASSERT_EQ(DataTypeString(got.dtype()), DataTypeString(want.dtype()));
  ASSERT_EQ(got.shape().DebugString(), want.shape().DebugString());
  switch (got.dtype()) {
    case DT_FLOAT:
      return testing_internal::CloseAs<float>(got, want, rtol, atol);
    case DT_DOUBLE:
      return testing_internal::CloseAs<double>(got, want, rtol, atol);
    case DT_HALF:
      return testing_internal::CloseAs<half>(got, want, rtol, atol);
    case DT_BFLOAT16:
      return testing_internal::CloseAs<bfloat16>(got, want, rtol, atol);
    case DT_COMPLEX64:
    case DT_COMPLEX128: {
      for (int64_t i = 0; i < got.NumElements(); ++i) {
        const complex128 g = got.dtype() == DT_COMPLEX64
                                 ? complex128(got.data<complex64>()[i])
                                 : got.data<complex128>()[i];
        const complex128 w = got.dtype() == DT_COMPLEX64
                                 ? complex128(want.data<complex64>()[i])
                                 : want.data<complex128>()[i];
        EXPECT_LE(std::abs(g - w), atol + rtol * std::abs(w))
            << "element " << i;
      }
      return;
    }
    default:
      return ExpectEqual(got, want);
  }
}

inline void OpTester::ExpectSame(const std::vector<Tensor>& got,
                                 const std::vector<Tensor>& want,
                                 bool exactly) const {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(testing::Message() << def_.op << ", output " << i);
    if (HasUnseededNoise()) {
      EXPECT_EQ(got[i].dtype(), want[i].dtype());
      EXPECT_EQ(got[i].shape().DebugString(), want[i].shape().DebugString());
    } else if (exactly) {
      EXPECT_EQ(got[i].DebugString(1000), want[i].DebugString(1000));
    } else {
      ExpectClose(got[i], want[i], /*rtol=*/1e-3, /*atol=*/1e-3);
    }
  }
}

// Expects a failure with this code whose message contains `part`.
inline void ExpectError(const Status& s, absl::StatusCode code,
                        absl::string_view part) {
  EXPECT_EQ(s.code(), code) << s;
  EXPECT_NE(s.message().find(part), absl::string_view::npos)
      << "message: " << s.message() << "\nwanted in it: " << part;
}

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_OP_TESTER_H_
