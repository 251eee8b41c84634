#include "runtime/passes/symbolic_shape.h"

#include <algorithm>
#include <string>

#include "framework/shape_fns/common_shape_fns.h"
#include "graph/algorithm.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

// First elements of keys: what is computed.
enum KeyKind : int64_t { kWindow, kSum, kBroadcast };

bool KeepsShape(const Node& n) {
  const ShapeFn fn = n.op_def().shape_fn;
  const std::string& op = n.type_string();
  return fn == shape_inference::UnchangedShape ||
         fn == shape_inference::BiasAddShape ||
         fn == shape_inference::FusedBatchNormShape || op == "Cast" ||
         op == "Identity";
}

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

Status SymbolicShapes::Make(const Graph& graph, SymbolicShapes* out) {
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(graph, &order));
  *out = SymbolicShapes();
  out->shapes_.resize(graph.num_node_ids());
  for (const Node* n : order) out->Infer(*n);
  return OkStatus();
}

bool SymbolicShapes::SurelyEqual(const Endpoint& a, const Endpoint& b) const {
  const Shape* const x = ShapeOf(a);
  const Shape* const y = ShapeOf(b);
  return x != nullptr && y != nullptr && x->known_rank && y->known_rank &&
         x->dims == y->dims;
}

void SymbolicShapes::SetEqual(int id, int like) {
  if (static_cast<size_t>(like) >= shapes_.size()) return;
  std::vector<Shape> copy = shapes_[like];
  if (static_cast<size_t>(id) >= shapes_.size()) shapes_.resize(id + 1);
  shapes_[id] = std::move(copy);
}

const SymbolicShapes::Shape* SymbolicShapes::ShapeOf(const Endpoint& e) const {
  const size_t id = e.node->id();
  if (id >= shapes_.size()) return nullptr;
  const size_t output = e.index;
  return output < shapes_[id].size() ? &shapes_[id][output] : nullptr;
}

const SymbolicShapes::Shape* SymbolicShapes::InputShape(const Node& n,
                                                        int i) const {
  if (i >= n.num_inputs() || n.input_edge(i) == nullptr) return nullptr;
  const Edge& e = *n.input_edge(i);
  const Shape* s = ShapeOf({e.src(), e.src_output()});
  return s != nullptr && s->known_rank ? s : nullptr;
}

int64_t SymbolicShapes::Named(std::vector<int64_t> key) {
  const auto [it, added] = named_.try_emplace(std::move(key), next_);
  if (added) --next_;
  return it->second;
}

void SymbolicShapes::Infer(const Node& n) {
  std::vector<Shape>& out = shapes_[n.id()];
  out.resize(n.num_outputs());
  Dims found;
  const bool told = n.num_outputs() > 0 && InferOp(n, &found);
  for (int i = 0; i < n.num_outputs(); ++i) {
    const PartialTensorShape& shape = n.output_shape(i);
    Shape& s = out[i];
    const bool use = i == 0 && told &&
                     (shape.unknown_rank() ||
                      shape.dims() == static_cast<int>(found.size()));
    if (use) {
      s.dims = found;
    } else if (!shape.unknown_rank()) {
      for (int d = 0; d < shape.dims(); ++d) s.dims.push_back(Fresh());
    }
    s.known_rank = use || !shape.unknown_rank();
    for (int d = 0; d < shape.dims(); ++d) {
      if (shape.dim_size(d) >= 0) s.dims[d] = shape.dim_size(d);
    }
  }
}

bool SymbolicShapes::InferOp(const Node& n, Dims* out) {
  // Values that come around a loop are others in the next iteration.
  if (n.IsControlFlow()) return false;
  const std::string& op = n.type_string();
  if (KeepsShape(n)) {
    const Shape* x = InputShape(n, 0);
    if (x == nullptr) return false;
    *out = x->dims;
    return true;
  }
  if (n.op_def().shape_fn == shape_inference::BroadcastBinaryOp) {
    return InferBroadcast(n, out);
  }
  if (op == "Conv2D" || op == "DepthwiseConv2dNative" || op == "MaxPool" ||
      op == "AvgPool") {
    return InferWindow(n, out);
  }
  if (op == "Pad" || op == "PadV2" || op == "MirrorPad") {
    return InferPad(n, out);
  }
  if (op == "Transpose") return InferTranspose(n, out);
  if (op == "ConcatV2") return InferConcat(n, out);
  return false;
}

bool SymbolicShapes::InferWindow(const Node& n, Dims* out) {
  const Shape* const x = InputShape(n, 0);
  std::string padding, format;
  std::vector<int64_t> strides, ksize, dilations{1, 1, 1, 1}, explicit_paddings;
  if (x == nullptr || x->dims.size() != 4 ||
      !n.attrs().Get("padding", &padding).ok() ||
      !n.attrs().Get("data_format", &format).ok() ||
      (format != "NHWC" && format != "NCHW") ||
      !n.attrs().Get("strides", &strides).ok() || strides.size() != 4) {
    return false;
  }
  const bool pool = n.attrs().Get("ksize", &ksize).ok();
  if (pool && (ksize.size() != 4 || ksize[0] != 1)) return false;
  if (n.attrs().Find("dilations") != nullptr &&
      (!n.attrs().Get("dilations", &dilations).ok() || dilations.size() != 4)) {
    return false;
  }
  if (padding == "EXPLICIT" &&
      (!n.attrs().Get("explicit_paddings", &explicit_paddings).ok() ||
       explicit_paddings.size() != 8)) {
    return false;
  }
  const Shape* const filter = pool ? nullptr : InputShape(n, 1);
  if (!pool && (filter == nullptr || filter->dims.size() != 4)) return false;
  const int channel = format == "NCHW" ? 1 : 3;
  out->assign(4, 0);
  (*out)[0] = x->dims[0];
  for (int i = 0; i < 2; ++i) {
    const int d = format == "NCHW" ? 2 + i : 1 + i;
    const int64_t k = pool ? ksize[d] : filter->dims[i];
    const int64_t stride = strides[d];
    if (k < 1 || k > (1 << 20) || stride < 1 || dilations[d] < 1 ||
        dilations[d] > (1 << 20)) {
      return false;
    }
    // (x - reach) / stride + 1, reach being what padding leaves of the window;
    // SAME is a window of 1.
    int64_t reach = padding == "SAME" ? 1 : (k - 1) * dilations[d] + 1;
    if (padding == "EXPLICIT") {
      reach -= explicit_paddings[2 * d] + explicit_paddings[2 * d + 1];
    }
    (*out)[d] = reach == 1 && stride == 1
                    ? x->dims[d]
                    : Named({kWindow, x->dims[d], reach, stride});
  }
  if (pool && ksize[channel] == 1 && strides[channel] == 1) {
    (*out)[channel] = x->dims[channel];
  } else {
    // Of a convolution the static shape tells it.
    (*out)[channel] = Fresh();
  }
  return true;
}

bool SymbolicShapes::InferPad(const Node& n, Dims* out) {
  const Shape* const x = InputShape(n, 0);
  std::vector<int64_t> paddings;
  if (x == nullptr || !Integers(ConstantInput(n, 1), &paddings) ||
      paddings.size() != 2 * x->dims.size()) {
    return false;
  }
  *out = x->dims;
  for (size_t d = 0; d < out->size(); ++d) {
    const int64_t before = paddings[2 * d], after = paddings[2 * d + 1];
    if (before < 0 || after < 0) return false;
    if (before > 0 || after > 0) {
      (*out)[d] = Named({kSum, x->dims[d], before, after});
    }
  }
  return true;
}

bool SymbolicShapes::InferBroadcast(const Node& n, Dims* out) {
  const Shape* const x = InputShape(n, 0);
  const Shape* const y = InputShape(n, 1);
  if (x == nullptr || y == nullptr) return false;
  const Dims& longer = x->dims.size() >= y->dims.size() ? x->dims : y->dims;
  const Dims& shorter = x->dims.size() >= y->dims.size() ? y->dims : x->dims;
  *out = longer;
  const size_t skip = longer.size() - shorter.size();
  for (size_t d = 0; d < shorter.size(); ++d) {
    const int64_t a = std::min(longer[skip + d], shorter[d]);
    const int64_t b = std::max(longer[skip + d], shorter[d]);
    int64_t& size = (*out)[skip + d];
    if (a == b || b == 1) {
      size = a;
    } else if (a == 1 || b > 1) {
      size = b;  // the other one can only be 1 or equal
    } else {
      size = Named({kBroadcast, a, b});
    }
  }
  return true;
}

bool SymbolicShapes::InferTranspose(const Node& n, Dims* out) {
  const Shape* const x = InputShape(n, 0);
  std::vector<int64_t> order;
  if (x == nullptr || !Integers(ConstantInput(n, 1), &order) ||
      order.size() != x->dims.size()) {
    return false;
  }
  for (const int64_t d : order) {
    if (d < 0 || d >= static_cast<int64_t>(order.size())) return false;
    out->push_back(x->dims[d]);
  }
  return true;
}

bool SymbolicShapes::InferConcat(const Node& n, Dims* out) {
  const Shape* const x = InputShape(n, 0);
  std::vector<int64_t> axis;
  if (x == nullptr || !Integers(ConstantInput(n, n.num_inputs() - 1), &axis) ||
      axis.size() != 1) {
    return false;
  }
  const int64_t rank = static_cast<int64_t>(x->dims.size());
  const int64_t at = axis[0] < 0 ? axis[0] + rank : axis[0];
  if (at < 0 || at >= rank) return false;
  *out = x->dims;
  (*out)[at] = Fresh();
  return true;
}

}  // namespace headrace
