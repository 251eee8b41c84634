// For tests: runs one kernel on the CPU and on a GPU of the host platform, and
// compares what they give.
//
//   OnBoth call("Softmax");
//   call.Input(Numbers(DT_FLOAT, {3, 5}, 1));
//   call.ExpectEqual();
#ifndef HEADRACE_KERNELS_GPU_GPU_OP_TESTER_H_
#define HEADRACE_KERNELS_GPU_GPU_OP_TESTER_H_

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "framework/kernel/op_tester.h"
#include "framework/kernel/resource_var.h"
#include "headrace/device_factory.h"

namespace headrace::gpu {

// The first GPU of the platform that the environment asks for, the host's if it
// says nothing.
inline Device* TestGpu() {
  static Device* const device = [] {
    setenv("HEADRACE_GPU_PLATFORM", "host", /*overwrite=*/0);
    DeviceOptions options;
    options.counts = {{DEVICE_CPU, 0}, {DEVICE_GPU, 1}};
    options.name_prefix = "/job:localhost/replica:0/task:0";
    options.pool = ThreadPool::Global();
    static std::vector<std::unique_ptr<Device>> devices;
    EXPECT_EQ(DeviceFactories::CreateDevices(options, &devices), OkStatus());
    for (const auto& d : devices) {
      if (d->device_type() == DEVICE_GPU) return d.get();
    }
    return static_cast<Device*>(nullptr);
  }();
  return device;
}

// Numbers of any type in [low, high), of which few are equal.
inline Tensor Numbers(DataType dtype, const TensorShape& shape, int seed,
                      double low = -2, double high = 2) {
  Tensor t(dtype, shape);
  uint64_t state = 0x9e3779b97f4a7c15u * (seed + 1);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double v =
        low + (high - low) * static_cast<double>(state >> 40) / (1 << 24);
    switch (dtype) {
      case DT_FLOAT:
        t.data<float>()[i] = static_cast<float>(v);
        break;
      case DT_DOUBLE:
        t.data<double>()[i] = v;
        break;
      case DT_HALF:
        t.data<half>()[i] = static_cast<half>(static_cast<float>(v));
        break;
      case DT_BFLOAT16:
        t.data<bfloat16>()[i] = static_cast<bfloat16>(static_cast<float>(v));
        break;
      case DT_INT32:
        t.data<int32_t>()[i] = static_cast<int32_t>(v);
        break;
      case DT_INT64:
        t.data<int64_t>()[i] = static_cast<int64_t>(v);
        break;
      case DT_UINT8:
        t.data<uint8_t>()[i] = static_cast<uint8_t>(v < 0 ? -v : v);
        break;
      case DT_BOOL:
        t.data<bool>()[i] = v > (low + high) / 2;
        break;
      default:
        ADD_FAILURE() << "no numbers of type " << DataTypeString(dtype);
    }
  }
  return t;
}
template <typename T>
Tensor Ints(const std::vector<T>& v) {
  return MakeTensor<T>(TensorShape({static_cast<int64_t>(v.size())}), v);
}

class OnBoth {
 public:
  explicit OnBoth(std::string op) {
    def_.name = "node";
    def_.op = std::move(op);
  }
  OnBoth& Attr(const std::string& name, AttrValue v) {
    def_.attrs.Set(name, std::move(v));
    return *this;
  }
  OnBoth& Input(Tensor t) {
    inputs_.push_back({std::move(t), false});
    return *this;
  }
  // A resource variable with this value.
  OnBoth& Variable(Tensor t) {
    inputs_.push_back({std::move(t), true});
    return *this;
  }

  // The outputs, and after them the variables.
  Status Run(Device* device, std::vector<Tensor>* results,
             std::string* algorithm = nullptr) {
    const OpDef* op = nullptr;
    HR_RETURN_IF_ERROR(OpRegistry::Global()->LookUp(def_.op, &op));
    NodeDef def = def_;
    HR_RETURN_IF_ERROR(Infer(*op, &def));
    std::unique_ptr<OpKernel> kernel;
    HR_RETURN_IF_ERROR(
        CreateOpKernel(device, std::make_shared<NodeDef>(def), op, &kernel));
    std::vector<Tensor> inputs;
    std::vector<RefPtr<Var>> vars;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Tensor t;
      HR_RETURN_IF_ERROR(inputs_[i].value.DeepCopyTo(&t, Tensor::kHeap));
      const bool moves =
          inputs_[i].is_variable ||
          kernel->input_memory_type(static_cast<int>(i)) == DEVICE_MEMORY;
      if (moves) HR_RETURN_IF_ERROR(Copy(device, /*to_device=*/true, &t));
      if (inputs_[i].is_variable) {
        HR_RETURN_IF_ERROR(MakeVariable(device, t, static_cast<int>(i), &t,
                                        &vars.emplace_back()));
      }
      inputs.push_back(std::move(t));
    }
    std::vector<TensorValue> values;
    for (Tensor& t : inputs) values.push_back({&t, nullptr});
    ResourceMgr step("step");
    KernelTrace trace;
    OpKernelContext::Params params;
    params.kernel = kernel.get();
    params.device = device;
    params.inputs = values;
    params.step_resources = &step;
    params.trace = &trace;
    OpKernelContext ctx(&params);
    device->Compute(kernel.get(), &ctx);
    HR_RETURN_IF_ERROR(ctx.status());
    HR_RETURN_IF_ERROR(device->Sync());
    if (algorithm != nullptr) *algorithm = trace.algorithm;
    results->clear();
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      Tensor t = ctx.output_slot(i).value;
      if (kernel->output_memory_type(i) == DEVICE_MEMORY) {
        HR_RETURN_IF_ERROR(Copy(device, /*to_device=*/false, &t));
      }
      results->push_back(std::move(t));
    }
    for (const RefPtr<Var>& var : vars) {
      Tensor t;
      {
        MutexLock lock(var->mu());
        t = *var->tensor();
      }
      HR_RETURN_IF_ERROR(Copy(device, /*to_device=*/false, &t));
      results->push_back(std::move(t));
    }
    return OkStatus();
  }

  // Both succeed with results that are equal up to rounding.
  void ExpectEqual(double float_tolerance = 2e-5) {
    std::vector<Tensor> want, got;
    TestDevice cpu;
    ASSERT_EQ(Run(&cpu, &want), OkStatus()) << def_.op << " on the CPU";
    ASSERT_NE(TestGpu(), nullptr);
    ASSERT_EQ(Run(TestGpu(), &got, &algorithm_), OkStatus()) << def_.op;
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      SCOPED_TRACE(testing::Message()
                   << def_.op << " of " << DataTypeString(want[i].dtype())
                   << ", output " << i);
      const double tolerance = want[i].dtype() == DT_HALF       ? 4e-3
                               : want[i].dtype() == DT_BFLOAT16 ? 3e-2
                               : want[i].dtype() == DT_DOUBLE   ? 1e-11
                                                              : float_tolerance;
      ExpectClose(got[i], want[i], tolerance, tolerance);
    }
  }
  // Both fail with the same code, and the GPU's message has `part`.
  void ExpectRefused(absl::StatusCode code, absl::string_view part) {
    std::vector<Tensor> results;
    TestDevice cpu;
    EXPECT_EQ(Run(&cpu, &results).code(), code) << def_.op << " on the CPU";
    ExpectError(Run(TestGpu(), &results), code, part);
  }
  const std::string& algorithm() const { return algorithm_; }

 private:
  struct In {
    Tensor value;
    bool is_variable;
  };

  static Status Copy(Device* device, bool to_device, Tensor* t) {
    if (device->IsHostMemory()) return OkStatus();
    Tensor made;
    Status status;
    absl::Notification done;
    const auto finish = [&](const Status& s) {
      status = s;
      done.Notify();
    };
    if (to_device) {
      device->CopyFromHost(*t, &made, finish);
    } else {
      device->CopyToHost(*t, &made, finish);
    }
    done.WaitForNotification();
    *t = std::move(made);
    return status;
  }

  Status MakeVariable(Device* device, const Tensor& value, int i,
                      Tensor* handle, RefPtr<Var>* var) {
    ResourceMgr* const mgr = device->resource_manager();
    static int counter = 0;
    const std::string name = absl::StrCat("v", ++counter, "_", i);
    HR_RETURN_IF_ERROR(mgr->LookupOrCreate<Var>(
        mgr->default_container(), name, var, [&](RefPtr<Var>* made) {
          *made = RefPtr<Var>(new Var(value.dtype()));
          return OkStatus();
        }));
    {
      MutexLock lock((*var)->mu());
      *(*var)->tensor() = value;
    }
    Tensor t(DT_RESOURCE, TensorShape());
    t.scalar<ResourceHandle>() =
        mgr->MakeHandle<Var>(device->name(), mgr->default_container(), name);
    *handle = std::move(t);
    return OkStatus();
  }

  // The attrs that follow from the inputs.
  Status Infer(const OpDef& op, NodeDef* def) const {
    size_t at = 0;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const OpDef::Arg& arg = op.inputs[i];
      const size_t rest = inputs_.size() - at;
      const size_t after = op.inputs.size() - i - 1;
      size_t n = 1;
      if (arg.number_attr >= 0) {
        const std::string& name = op.attrs[arg.number_attr].name;
        int64_t given = 0;
        if (def->attrs.Get(name, &given).ok()) {
          n = given;
        } else {
          n = rest - after;
          def->attrs.Set(name, static_cast<int64_t>(n));
        }
      }
      if (arg.type_list_attr >= 0) {
        const std::string& name = op.attrs[arg.type_list_attr].name;
        std::vector<DataType> types;
        if (def->attrs.Get(name, &types).ok()) {
          n = types.size();
        } else {
          int64_t hosts = 0;
          (void)def->attrs.Get("num_host_args", &hosts).ok();
          n = rest - hosts;
          for (size_t k = 0; k < n; ++k) {
            types.push_back(inputs_[at + k].value.dtype());
          }
          def->attrs.Set(name, types);
        }
      }
      if (arg.type_attr >= 0 && n > 0 && at < inputs_.size() &&
          def->attrs.Find(op.attrs[arg.type_attr].name) == nullptr) {
        def->attrs.Set(op.attrs[arg.type_attr].name, inputs_[at].value.dtype());
      }
      at += n;
    }
    AddDefaultAttrs(op, &def->attrs);
    return ValidateAttrs(op, def->attrs);
  }

  NodeDef def_;
  std::vector<In> inputs_;
  std::string algorithm_;
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_GPU_OP_TESTER_H_
