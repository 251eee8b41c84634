#include "runtime/passes/quantization.h"

#include <string>

#include "runtime/passes/rewrite.h"

namespace headrace {

bool ReadFloats(const Node& n, int i, std::vector<float>* out) {
  const Tensor* const t = ConstantInput(n, i);
  if (t == nullptr || t->dtype() != DT_FLOAT) return false;
  out->assign(t->data<float>(), t->data<float>() + t->NumElements());
  return true;
}

bool ReadQuantization(const Node& n, Quantization* out) {
  const std::string& op = n.type_string();
  if (op == "FakeQuantWithMinMaxArgs") {
    out->low.resize(1);
    out->high.resize(1);
    if (!n.attrs().Get("min", &out->low[0]).ok() ||
        !n.attrs().Get("max", &out->high[0]).ok()) {
      return false;
    }
  } else if (op != "FakeQuantWithMinMaxVars" &&
             op != "FakeQuantWithMinMaxVarsPerChannel") {
    return false;
  } else if (!ReadFloats(n, 1, &out->low) || !ReadFloats(n, 2, &out->high)) {
    return false;
  }
  bool narrow = false;
  if (!n.attrs().Get("num_bits", &out->bits).ok() ||
      !n.attrs().Get("narrow_range", &narrow).ok() || out->bits < 2 ||
      out->bits > 16 || out->low.empty() ||
      out->low.size() != out->high.size()) {
    return false;
  }
  out->low_level = narrow ? 1 : 0;
  out->high_level = static_cast<float>((1 << out->bits) - 1);
  return true;
}

}  // namespace headrace
