#include "framework/shape_fns/symbolic_shape_fns.h"

#include <algorithm>
#include <string>
#include <utility>

namespace headrace {
namespace {

using Dims = SymbolicShapeContext::Dims;

// Elements of a small integer constant.
bool Integers(const Tensor* t, std::vector<int64_t>* out) {
  if (t == nullptr || (t->dtype() != DT_INT32 && t->dtype() != DT_INT64)) {
    return false;
  }
  for (int64_t i = 0; i < t->NumElements(); ++i) {
    out->push_back(t->dtype() == DT_INT32 ? t->data<int32_t>()[i]
                                          : t->data<int64_t>()[i]);
  }
  return true;
}

}  // namespace

bool KeepSymbolicShape(SymbolicShapeContext* c) {
  const Dims* const x = c->input(0);
  if (x == nullptr) return false;
  c->output = *x;
  return true;
}

bool BroadcastSymbolicShape(SymbolicShapeContext* c) {
  const Dims* const x = c->input(0);
  const Dims* const y = c->input(1);
  if (x == nullptr || y == nullptr) return false;
  const Dims& longer = x->size() >= y->size() ? *x : *y;
  const Dims& shorter = x->size() >= y->size() ? *y : *x;
  c->output = longer;
  const size_t skip = longer.size() - shorter.size();
  for (size_t d = 0; d < shorter.size(); ++d) {
    const int64_t a = std::min(longer[skip + d], shorter[d]);
    const int64_t b = std::max(longer[skip + d], shorter[d]);
    int64_t& size = c->output[skip + d];
    if (a == b || b == 1) {
      size = a;
    } else if (a == 1 || b > 1) {
      size = b;  // the other one can only be 1 or equal
    } else {
      size = c->NameOf("broadcast", {a, b});
    }
  }
  return true;
}

bool WindowSymbolicShape(SymbolicShapeContext* c) {
  const Dims* const x = c->input(0);
  const AttrMap& attrs = c->attrs();
  std::string padding, format;
  std::vector<int64_t> strides, ksize, dilations{1, 1, 1, 1}, explicit_paddings;
  if (x == nullptr || x->size() != 4 || !attrs.Get("padding", &padding).ok() ||
      !attrs.Get("data_format", &format).ok() ||
      (format != "NHWC" && format != "NCHW") ||
      !attrs.Get("strides", &strides).ok() || strides.size() != 4) {
    return false;
  }
  const bool pool = attrs.Get("ksize", &ksize).ok();
  if (pool && (ksize.size() != 4 || ksize[0] != 1)) return false;
  if (attrs.Find("dilations") != nullptr &&
      (!attrs.Get("dilations", &dilations).ok() || dilations.size() != 4)) {
    return false;
  }
  if (padding == "EXPLICIT" &&
      (!attrs.Get("explicit_paddings", &explicit_paddings).ok() ||
       explicit_paddings.size() != 8)) {
    return false;
  }
  const Dims* const filter = pool ? nullptr : c->input(1);
  if (!pool && (filter == nullptr || filter->size() != 4)) return false;
  const int channel = format == "NCHW" ? 1 : 3;
  Dims* const out = &c->output;
  out->assign(4, 0);
  (*out)[0] = (*x)[0];
  for (int i = 0; i < 2; ++i) {
    const int d = format == "NCHW" ? 2 + i : 1 + i;
    const int64_t k = pool ? ksize[d] : (*filter)[i];
    const int64_t stride = strides[d];
    if (k < 1 || k > (1 << 20) || stride < 1 || dilations[d] < 1 ||
        dilations[d] > (1 << 20)) {
      return false;
    }
    // (x - reach) / stride + 1. `reach` is what padding leaves of the window;
    // with SAME it leaves 1.
    int64_t reach = padding == "SAME" ? 1 : (k - 1) * dilations[d] + 1;
    if (padding == "EXPLICIT") {
      reach -= explicit_paddings[2 * d] + explicit_paddings[2 * d + 1];
    }
    (*out)[d] = reach == 1 && stride == 1
                    ? (*x)[d]
                    : c->NameOf("window", {(*x)[d], reach, stride});
  }
  if (pool && ksize[channel] == 1 && strides[channel] == 1) {
    (*out)[channel] = (*x)[channel];
  } else {
    // Of a convolution the static shape tells it.
    (*out)[channel] = c->NewName();
  }
  return true;
}

bool PadSymbolicShape(SymbolicShapeContext* c) {
  const Dims* const x = c->input(0);
  std::vector<int64_t> paddings;
  if (x == nullptr || !Integers(c->constant_input(1), &paddings) ||
      paddings.size() != 2 * x->size()) {
    return false;
  }
  c->output = *x;
  for (size_t d = 0; d < x->size(); ++d) {
    const int64_t before = paddings[2 * d], after = paddings[2 * d + 1];
    if (before < 0 || after < 0) return false;
    if (before > 0 || after > 0) {
      c->output[d] = c->NameOf("sum", {(*x)[d], before, after});
    }
  }
  return true;
}

bool TransposeSymbolicShape(SymbolicShapeContext* c) {
  const Dims* const x = c->input(0);
  std::vector<int64_t> order;
  if (x == nullptr || !Integers(c->constant_input(1), &order) ||
      order.size() != x->size()) {
    return false;
  }
  c->output.clear();
  for (const int64_t d : order) {
    if (d < 0 || d >= static_cast<int64_t>(order.size())) return false;
    c->output.push_back((*x)[d]);
  }
  return true;
}

bool ConcatSymbolicShape(SymbolicShapeContext* c) {
  const Dims* const x = c->input(0);
  std::vector<int64_t> axis;
  if (x == nullptr ||
      !Integers(c->constant_input(c->num_inputs() - 1), &axis) ||
      axis.size() != 1) {
    return false;
  }
  const int64_t rank = static_cast<int64_t>(x->size());
  const int64_t at = axis[0] < 0 ? axis[0] + rank : axis[0];
  if (at < 0 || at >= rank) return false;
  c->output = *x;
  c->output[at] = c->NewName();
  return true;
}

}  // namespace headrace
