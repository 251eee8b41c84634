#include "runtime/memory_types.h"

#include <memory>

#include "framework/kernel/function_runtime.h"
#include "graph/function_body.h"

namespace headrace {

MemoryTypesOfNodes::MemoryTypesOfNodes(const std::vector<Device*>& devices) {
  for (const Device* d : devices) {
    if (!d->IsHostMemory()) own_memory_[d->name()] = d->device_type();
  }
}

MemoryType MemoryTypesOfNodes::Of(const Node& n, const std::string& device,
                                  bool is_output, int index) {
  const auto type = own_memory_.find(device);
  if (type == own_memory_.end()) return DEVICE_MEMORY;
  Known& known = known_[&n];
  if (known.device != device) {
    known = {device, {}, {}};
    if (IsFunctionCall(n)) {  // its kernel is that of a call
      const auto memory_of = [](DataType t) {
        return StaysOnHostInCalls(BaseType(t)) ? HOST_MEMORY : DEVICE_MEMORY;
      };
      for (DataType t : n.input_types()) known.inputs.push_back(memory_of(t));
      for (DataType t : n.output_types()) known.outputs.push_back(memory_of(t));
      return Pick(known, is_output, index);
    }
    const KernelEntry* const entry =
        KernelRegistry::Global()->Find(type->second, n.def());
    if (entry == nullptr ||
        !KernelRegistry::MemoryTypes(*entry, n.op_def(), n.def(), &known.inputs,
                                     &known.outputs)
             .ok()) {
      // Whoever makes the kernel says what is wrong.
      known.inputs.clear();
      known.outputs.clear();
    }
  }
  return Pick(known, is_output, index);
}

MemoryType MemoryTypesOfNodes::Pick(const Known& known, bool is_output,
                                    int index) {
  const Types& types = is_output ? known.outputs : known.inputs;
  return static_cast<size_t>(index) < types.size() ? types[index]
                                                   : DEVICE_MEMORY;
}

std::function<MemoryType(const Node& n, const std::string& device,
                         bool is_output, int index)>
MemoryOfNodes(const std::vector<Device*>& devices) {
  auto types = std::make_shared<MemoryTypesOfNodes>(devices);
  if (!types->are_needed()) return nullptr;
  return [types](const Node& n, const std::string& device, bool is_output,
                 int index) { return types->Of(n, device, is_output, index); };
}

}  // namespace headrace
