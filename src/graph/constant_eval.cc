// Evaluating constants: collect what the wanted output depends on, in order and
// without recursion, then run kernels from the constants on. Everything is
// refused that would not give the same value at any time of any run.
#include "graph/constant_eval.h"

#include <algorithm>
#include <atomic>

#include "absl/container/flat_hash_map.h"
#include "base/flush_denormals.h"
#include "base/scratch_account.h"
#include "base/thread_pool.h"
#include "framework/kernel/host_device.h"
#include "graph/control_flow.h"
#include "graph/shape_value.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

// A device of our own: what evaluation does shows in no session's device.
Device* GetEvalDevice() {
  static HostDevice* const device = new HostDevice(
      LoneCpuAttributes("constant evaluation"), ThreadPool::Global());
  return device;
}

// The maximum bytes of one evaluation in addition to tensors: strings that
// grow, tables and so on. Allocations too small to be counted are limited by
// their number.
constexpr int64_t kMaxScratchBytes = int64_t{64} << 20;
constexpr int64_t kMaxStrings = 1024;

class ScratchLimit : public MemoryCounter {
 public:
  bool Reserve(int64_t bytes) override {
    if (taken_.fetch_add(bytes) + bytes <= kMaxScratchBytes) return true;
    taken_.fetch_sub(bytes);
    return false;
  }
  void Release(int64_t bytes) override { taken_.fetch_sub(bytes); }

 private:
  std::atomic<int64_t> taken_{0};
};

bool HasFunctionAttr(const AttrMap& attrs) {
  for (const auto& [name, value] : attrs) {
    if (value.Is<NameAttrList>() || value.Is<std::vector<NameAttrList>>()) {
      return true;
    }
  }
  return false;
}

bool IsPlain(DataType t) {
  return !IsRefType(t) && (DataTypeCanUseMemcpy(t) || t == DT_STRING);
}

bool WithinLimit(const PartialTensorShape& s, int64_t max_elements) {
  const int64_t n = s.num_elements();
  return n >= 0 && n <= max_elements;
}

}  // namespace

const Tensor* ConstantValue(const Node& n) {
  if (!n.IsConstant()) return nullptr;
  const AttrValue* v = n.attrs().Find("value");
  return v == nullptr ? nullptr : v->Get<Tensor>();
}

bool IsPure(const Node& n) {
  // The stateful mark says whether code may give different results. The effects
  // of a called function are not known here.
  if (n.op_def().is_stateful || HasAny(n.effects(), ~Effect::kRunsCode) ||
      n.IsControlFlow() || HasFunctionAttr(n.attrs())) {
    return false;
  }
  return n.num_outputs() > 0 &&
         std::all_of(n.input_types().begin(), n.input_types().end(), IsPlain) &&
         std::all_of(n.output_types().begin(), n.output_types().end(), IsPlain);
}

Endpoint SourceOfInvariant(Endpoint e) {
  while (IsConstantEnter(*e.node) && e.node->input_edge(0) != nullptr) {
    const Edge* const in = e.node->input_edge(0);
    e = {in->src(), in->src_output()};
  }
  return e;
}

Status EvaluateNode(const Node& n, absl::Span<const Tensor> inputs,
                    std::vector<Tensor>* outputs) {
  Device* const device = GetEvalDevice();
  if (KernelRegistry::Global()->Find(DEVICE_CPU, n.def()) == nullptr) {
    return errors::NotFound("no CPU kernel for op ", n.type_string());
  }
  for (int i = 0; i < n.num_outputs(); ++i) {
    if (n.output_type(i) == DT_STRING &&
        !WithinLimit(n.output_shape(i), kMaxStrings)) {
      return errors::ResourceExhausted("op ", n.type_string(),
                                       " gives too many strings to look at");
    }
  }
  ScratchLimit limit;
  const ScratchAccount account(&limit);
  std::unique_ptr<OpKernel> kernel;
  HR_RETURN_IF_ERROR(
      CreateOpKernel(device, n.shared_def(), &n.op_def(), &kernel));
  if (kernel->AsAsync() != nullptr) {
    return errors::Unimplemented("op ", n.type_string(), " is asynchronous");
  }
  // A kernel may reuse the buffer of an input without other owners. These
  // copies keep a second reference for the duration of the call.
  std::vector<Tensor> held(inputs.begin(), inputs.end());
  std::vector<TensorValue> values;
  for (Tensor& t : held) values.push_back({&t, nullptr});
  ResourceMgr step("step");
  OpKernelContext::Params params;
  params.kernel = kernel.get();
  params.device = device;
  params.inputs = values;
  params.step_resources = &step;
  OpKernelContext ctx(&params);
  {
    const FlushDenormals flush;  // as in a step
    device->Compute(kernel.get(), &ctx);
  }
  HR_RETURN_IF_ERROR(ctx.status());
  outputs->clear();
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const OutputSlot& slot = ctx.output_slot(i);
    if (!slot.is_set || slot.ref != nullptr) {
      return errors::Internal("op ", n.type_string(), " left output ", i,
                              " without a value");
    }
    outputs->push_back(slot.value);
  }
  return OkStatus();
}

bool EvaluateConstant(const Endpoint& e, Tensor* out,
                      const ConstantEvalLimits& limits) {
  if (const Tensor* value = ConstantValue(*e.node)) {
    *out = *value;
    return true;
  }

  // The nodes that `e` depends on, each after its inputs. A node is on the
  // stack twice: first to visit its inputs, then to be appended.
  struct Visit {
    const Node* node;
    bool inputs_done;
  };
  std::vector<Visit> stack{{e.node, false}};
  std::vector<const Node*> order;
  absl::flat_hash_map<const Node*, std::vector<Tensor>> values;
  while (!stack.empty()) {
    const Visit v = stack.back();
    stack.pop_back();
    if (v.inputs_done) {
      order.push_back(v.node);
      continue;
    }
    if (values.contains(v.node)) continue;
    if (static_cast<int>(values.size()) >= limits.max_nodes) return false;
    std::vector<Tensor>& slots = values[v.node];
    if (const Tensor* value = ConstantValue(*v.node)) {
      if (value->NumElements() > limits.max_elements) return false;
      slots.push_back(*value);
      continue;
    }
    if (!IsPure(*v.node)) return false;
    // The shape of something may be known though its value is not.
    std::vector<Tensor> known(v.node->num_outputs());
    bool all_known = true;
    for (int i = 0; i < v.node->num_outputs() && all_known; ++i) {
      all_known = StaticShapeValue({const_cast<Node*>(v.node), i}, &known[i]);
    }
    if (all_known) {
      slots = std::move(known);
      continue;
    }
    for (int i = 0; i < v.node->num_outputs(); ++i) {
      if (!WithinLimit(v.node->output_shape(i), limits.max_elements)) {
        return false;
      }
    }
    stack.push_back({v.node, true});
    for (const Edge* in : v.node->data_inputs()) {
      if (in == nullptr) return false;
      stack.push_back({in->src(), false});
    }
  }

  std::vector<Tensor> inputs;
  for (const Node* n : order) {
    inputs.clear();
    for (const Edge* in : n->data_inputs()) {
      const std::vector<Tensor>& from = values[in->src()];
      // Only a cycle gets here before its inputs do.
      if (static_cast<size_t>(in->src_output()) >= from.size()) return false;
      inputs.push_back(from[in->src_output()]);
    }
    std::vector<Tensor> outputs;
    if (!EvaluateNode(*n, inputs, &outputs).ok()) return false;
    for (const Tensor& t : outputs) {
      if (t.NumElements() > limits.max_elements) return false;
    }
    values[n] = std::move(outputs);
  }
  const std::vector<Tensor>& result = values[e.node];
  if (static_cast<size_t>(e.index) >= result.size()) return false;
  *out = result[e.index];
  return true;
}

}  // namespace headrace
