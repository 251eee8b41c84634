// What gradient functions add nodes with.
#include <algorithm>
#include <numeric>

#include "gradients/loop.h"
#include "graph/constant_eval.h"
#include "headrace/gradients.h"

namespace headrace {
namespace {

const PartialTensorShape& UnknownShape() {
  static const auto* const shape = new PartialTensorShape();
  return *shape;
}

template <typename To>
Tensor ScalarTensor(double value) {
  return Tensor::Scalar<To>(static_cast<To>(value));
}

// True for an attr that the inputs of a node determine.
bool FollowsFromInputs(const OpDef& def, int attr) {
  return std::any_of(
      def.inputs.begin(), def.inputs.end(), [attr](const OpDef::Arg& arg) {
        return arg.type_attr == attr || arg.number_attr == attr ||
               arg.type_list_attr == attr;
      });
}

// The axes along which the sum of a gradient of shape `out` has shape `in`,
// where `in` was broadcast. False if they are not known.
bool ReductionAxes(const PartialTensorShape& in, const PartialTensorShape& out,
                   std::vector<int32_t>* axes) {
  if (in.unknown_rank() || out.unknown_rank() || in.dims() > out.dims()) {
    return false;
  }
  const int missing = out.dims() - in.dims();
  for (int i = 0; i < out.dims(); ++i) {
    if (i < missing) {
      axes->push_back(i);
      continue;
    }
    const int64_t n = in.dim_size(i - missing);
    if (n < 0) return false;
    if (n != 1) continue;
    if (out.dim_size(i) < 0) return false;
    if (out.dim_size(i) != 1) axes->push_back(i);
  }
  return true;
}

}  // namespace

bool IsTrainable(DataType dtype) {
  const DataType base = BaseType(dtype);
  return DataTypeIsFloating(base) || DataTypeIsComplex(base) ||
         base == DT_RESOURCE || base == DT_VARIANT;
}

DataType Expr::dtype() const {
  return e_.node == nullptr ? DT_INVALID
                            : BaseType(e_.node->output_type(e_.index));
}

const PartialTensorShape& Expr::shape() const {
  return e_.node == nullptr ? UnknownShape() : e_.node->output_shape(e_.index);
}

Expr Expr::out(int index) const {
  return e_.node == nullptr ? *this : Expr(context_, {e_.node, index});
}

namespace {
Expr Binary(const char* op, const char* name, const Expr& a, const Expr& b) {
  if (!a || !b) return {a.context() ? a.context() : b.context(), {}};
  return a.context()->Op(op, {a, b}, {}, name);
}
Expr Constant(const Expr& like, double value) {
  if (!like) return like;
  return like.context()->Scalar(like.dtype(), value);
}
}  // namespace

Expr operator+(const Expr& a, const Expr& b) {
  return Binary("AddV2", "add", a, b);
}
Expr operator-(const Expr& a, const Expr& b) {
  return Binary("Sub", "sub", a, b);
}
Expr operator*(const Expr& a, const Expr& b) {
  return Binary("Mul", "Mul", a, b);
}
Expr operator/(const Expr& a, const Expr& b) {
  return Binary("RealDiv", "truediv", a, b);
}
Expr operator-(const Expr& a) { return a ? a.context()->Op("Neg", {a}) : a; }
Expr operator+(const Expr& a, double b) { return a + Constant(a, b); }
Expr operator-(const Expr& a, double b) { return a - Constant(a, b); }
Expr operator*(const Expr& a, double b) { return a * Constant(a, b); }
Expr operator/(const Expr& a, double b) { return a / Constant(a, b); }
Expr operator-(double a, const Expr& b) { return Constant(b, a) - b; }
Expr operator/(double a, const Expr& b) { return Constant(b, a) / b; }

Expr GradientContext::y(int i) {
  if (i < num_outputs()) return {this, {node_, i}};
  Fail(NotThere("output", i));
  return {this, {}};
}

Status GradientContext::NotThere(const char* what, int i) const {
  return errors::InvalidArgument("the gradient function needs ", what, " ", i,
                                 ", which op ", node_->type_string(),
                                 " does not have");
}

const Gradient& GradientContext::raw_dy(int i) const {
  static const Gradient* const none = new Gradient();
  return i < num_outputs() ? dys_[i] : *none;
}

void GradientContext::SetDx(int i, Gradient dx) {
  if (i < num_inputs()) {
    (*dxs_)[i] = dx;
  } else {
    Fail(NotThere("input", i));
  }
}

Expr GradientContext::x(int i) {
  if (i >= num_inputs()) {
    Fail(NotThere("input", i));
    return {this, {}};
  }
  const Edge* const e = node_->input_edge(i);
  return {this, {e->src(), e->src_output()}};
}

std::vector<Expr> GradientContext::Inputs(int begin, int end) {
  std::vector<Expr> inputs;
  for (int i = begin; i < end; ++i) inputs.push_back(x(i));
  return inputs;
}

Expr GradientContext::dy(int i) {
  if (i >= num_outputs()) {
    Fail(NotThere("output", i));
    return {this, {}};
  }
  if (dense_dys_[i]) return dense_dys_[i];
  const Gradient& dy = dys_[i];
  if (dy.IsSparse()) {
    dense_dys_[i] = Densify(dy);
  } else if (!dy.IsNone()) {
    dense_dys_[i] = {this, dy.dense};
  } else {
    const DataType dtype = BaseType(node_->output_type(i));
    if (DataTypeIsFloating(dtype) || DataTypeIsComplex(dtype) ||
        dtype == DT_VARIANT) {
      dense_dys_[i] = Op("ZerosLike", {y(i)}, {}, "zeros_like");
    }
  }
  return dense_dys_[i];
}

void GradientContext::SetDx(int i, const Expr& dx) {
  SetDx(i, Gradient{.dense = dx.endpoint()});
}

void GradientContext::SetSlices(int i, const Expr& values, const Expr& indices,
                                const Expr& dense_shape) {
  SetDx(i, Gradient{.values = values.endpoint(),
                    .indices = indices.endpoint(),
                    .dense_shape = dense_shape.endpoint()});
}

void GradientContext::SetBroadcast(int i, const Expr& da, int j,
                                   const Expr& db) {
  if (num_outputs() == 0) return Fail(NotThere("output", 0));
  const PartialTensorShape& out = node_->output_shape(0);
  Expr axes_of_both;
  const auto set = [&](int at, const Expr& d) {
    if (!d || !Needs(at)) return;
    std::vector<int32_t> axes;
    const bool known = ReductionAxes(x(at).shape(), out, &axes);
    if (known && axes.empty()) return SetDx(at, d);
    Expr reduce;
    if (known) {
      reduce = Ints(axes);
    } else {
      if (!axes_of_both) {
        axes_of_both = Op("BroadcastGradientArgs", {Shape(x(i)), Shape(x(j))});
      }
      reduce = axes_of_both.out(at == i ? 0 : 1);
    }
    SetDx(at, Reshape(Sum(d, reduce), Shape(x(at))));
  };
  set(i, da);
  set(j, db);
}

StatusOr<Node*> GradientContext::Add(NodeDef def,
                                     absl::Span<const Endpoint> inputs,
                                     absl::Span<Node* const> control) {
  if (loop_ == nullptr) return AddAsIs(std::move(def), inputs, control, {});
  absl::InlinedVector<Endpoint, 6> mapped;
  std::vector<Node*> wait(control.begin(), control.end());
  HR_RETURN_IF_ERROR(loop_->Prepare(inputs, &mapped, &wait));
  HR_ASSIGN_OR_RETURN(Node* const n,
                      AddAsIs(std::move(def), mapped, wait, {.in_loop = true}));
  loop_->Adopt(n);
  return n;
}

Status GradientContext::IntoLoop(absl::Span<const Endpoint> inputs,
                                 std::vector<Endpoint>* mapped,
                                 std::vector<Node*>* control) {
  if (loop_ == nullptr) {
    mapped->assign(inputs.begin(), inputs.end());
    return OkStatus();
  }
  absl::InlinedVector<Endpoint, 6> in_loop;
  HR_RETURN_IF_ERROR(loop_->Prepare(inputs, &in_loop, control));
  mapped->assign(in_loop.begin(), in_loop.end());
  return OkStatus();
}

void GradientContext::Adopt(const Node* n) {
  if (loop_ != nullptr) loop_->Adopt(n);
}

StatusOr<Node*> GradientContext::AddAsIs(NodeDef def,
                                         absl::Span<const Endpoint> inputs,
                                         absl::Span<Node* const> control,
                                         const GradientPlace& place) {
  if (options_->add_node) {
    return options_->add_node(std::move(def), inputs, control, node_, place);
  }
  def.name = graph_->UniqueName(def.name);
  if (options_->colocate && node_ != nullptr) {
    def.device = node_->requested_device();
    const AttrValue* const groups = node_->attrs().Find("_class");
    def.attrs.Set("_class", groups != nullptr
                                ? *groups
                                : AttrValue(std::vector<std::string>{
                                      StrCat("loc:@", node_->name())}));
  }
  return graph_->AddNode(std::move(def), inputs, control);
}

template <typename List>
Expr GradientContext::AddOp(const char* op, const List& inputs, AttrMap attrs,
                            const char* name) {
  if (!status_.ok()) return {this, {}};
  absl::InlinedVector<Endpoint, 6> endpoints;
  for (const Expr& e : inputs) {
    if (!e) {
      Fail(errors::Internal("the gradient of ", node_->type_string(),
                            " computes with a gradient that does not exist ",
                            NodeErrorSuffix(node_->def())));
      return {this, {}};
    }
    endpoints.push_back(e.endpoint());
  }
  NodeDef def;
  def.name = StrCat(scope_, name == nullptr ? op : name);
  def.op = op;
  def.attrs = std::move(attrs);
  StatusOr<Node*> added = Add(std::move(def), endpoints);
  if (!added.ok()) {
    Fail(added.status());
    return {this, {}};
  }
  return {this, {*added, 0}};
}

Expr GradientContext::Op(const char* op, std::initializer_list<Expr> inputs,
                         AttrMap attrs, const char* name) {
  return AddOp(op, inputs, std::move(attrs), name);
}
Expr GradientContext::Op(const char* op, const std::vector<Expr>& inputs,
                         AttrMap attrs, const char* name) {
  return AddOp(op, inputs, std::move(attrs), name);
}

void GradientContext::CopyAttrs(const char* op, AttrMap* attrs) {
  const OpDef* def;
  if (Status s = OpRegistry::Global()->LookUp(op, &def); !s.ok()) {
    return Fail(s);
  }
  for (size_t i = 0; i < def->attrs.size(); ++i) {
    const std::string& name = def->attrs[i].name;
    const AttrValue* const value = node_->attrs().Find(name);
    if (value != nullptr && attrs->Find(name) == nullptr &&
        !FollowsFromInputs(*def, static_cast<int>(i))) {
      attrs->Set(name, *value);
    }
  }
}

Expr GradientContext::Like(const char* op, std::initializer_list<Expr> inputs,
                           AttrMap attrs) {
  CopyAttrs(op, &attrs);
  return AddOp(op, inputs, std::move(attrs), nullptr);
}
Expr GradientContext::Like(const char* op, const std::vector<Expr>& inputs,
                           AttrMap attrs) {
  CopyAttrs(op, &attrs);
  return AddOp(op, inputs, std::move(attrs), nullptr);
}

Expr GradientContext::Const(Tensor value, const char* name) {
  const DataType dtype = value.dtype();
  return Op("Const", std::initializer_list<Expr>{},
            {{"dtype", dtype}, {"value", std::move(value)}}, name);
}

Expr GradientContext::Int(int32_t value) {
  return Const(Tensor::Scalar<int32_t>(value));
}

Expr GradientContext::Ints(absl::Span<const int32_t> values) {
  return Const(Tensor::Vector<int32_t>(values));
}

Expr GradientContext::Scalar(DataType dtype, double value, const char* name) {
  switch (dtype) {
#define HR_SCALAR(T)             \
  case DataTypeToEnum<T>::value: \
    return Const(ScalarTensor<T>(value), name);
    HR_SCALAR(float)
    HR_SCALAR(double)
    HR_SCALAR(int32_t)
    HR_SCALAR(int64_t)
    HR_SCALAR(complex64)
    HR_SCALAR(complex128)
#undef HR_SCALAR
    default:
      return Cast(Const(ScalarTensor<float>(value)), dtype);
  }
}

Expr GradientContext::Shape(const Expr& t, DataType out_type) {
  if (!t) return {this, {}};
  if (t.dtype() == DT_RESOURCE) {
    return Op("VariableShape", {t}, {{"out_type", out_type}}, "Shape");
  }
  const PartialTensorShape& shape = t.shape();
  if (!shape.IsFullyDefined()) {
    return Op("Shape", {t}, {{"out_type", out_type}});
  }
  if (out_type == DT_INT64) {
    return Const(Tensor::Vector<int64_t>(shape.dim_sizes()), "Shape");
  }
  std::vector<int32_t> dims;
  for (const int64_t d : shape.dim_sizes()) {
    if (d > std::numeric_limits<int32_t>::max()) {
      return Op("Shape", {t}, {{"out_type", out_type}});  // which refuses it
    }
    dims.push_back(static_cast<int32_t>(d));
  }
  return Const(Tensor::Vector<int32_t>(dims), "Shape");
}

Expr GradientContext::Size(const Expr& t) {
  const int64_t n = t.shape().IsFullyDefined() ? t.shape().num_elements() : -1;
  if (n >= 0 && n <= std::numeric_limits<int32_t>::max()) {
    return Const(Tensor::Scalar<int32_t>(static_cast<int32_t>(n)), "Size");
  }
  return Op("Size", {t});
}

Expr GradientContext::Rank(const Expr& t) {
  if (t && t.rank() >= 0) {
    return Const(Tensor::Scalar<int32_t>(t.rank()), "Rank");
  }
  return Op("Rank", {t});
}

Expr GradientContext::Sum(const Expr& t, const Expr& axes, bool keep_dims) {
  return Op("Sum", {t, axes}, {{"keep_dims", keep_dims}});
}

Expr GradientContext::Cast(const Expr& t, DataType dtype) {
  if (!t || t.dtype() == dtype) return t;
  return Op("Cast", {t}, {{"DstT", dtype}});
}

Expr GradientContext::Adjoint(const Expr& t) {
  if (!t) return {this, {}};
  Expr permutation;
  if (const int rank = t.rank(); rank >= 2) {
    std::vector<int32_t> p(rank);
    std::iota(p.begin(), p.end(), 0);
    std::swap(p[rank - 1], p[rank - 2]);
    permutation = Ints(p);
  } else {
    const Expr rank_of = Rank(t);
    permutation = Concat({Op("Range", {Int(0), rank_of - 2, Int(1)}),
                          Reshape(rank_of - 1, Ints({1})),
                          Reshape(rank_of - 2, Ints({1}))});
  }
  return DataTypeIsComplex(t.dtype())
             ? Op("ConjugateTranspose", {t, permutation})
             : Transpose(t, permutation);
}

Expr GradientContext::MatMul(const Expr& a, const Expr& b, bool adjoint_a,
                             bool adjoint_b) {
  if (!a || !b) return {this, {}};
  if (a.rank() == 2 && b.rank() == 2 && !DataTypeIsComplex(a.dtype())) {
    return Op("MatMul", {a, b},
              {{"transpose_a", adjoint_a}, {"transpose_b", adjoint_b}});
  }
  return Op("BatchMatMulV2", {a, b},
            {{"adj_x", adjoint_a}, {"adj_y", adjoint_b}}, "MatMul");
}

Expr GradientContext::Conj(const Expr& t) {
  return t && DataTypeIsComplex(t.dtype()) ? Op("Conj", {t}) : t;
}

Expr GradientContext::Concat(const std::vector<Expr>& parts, int axis) {
  if (parts.size() == 1) return parts[0];
  std::vector<Expr> inputs = parts;
  inputs.push_back(Int(axis));
  return Op("ConcatV2", inputs, {{"N", static_cast<int64_t>(parts.size())}},
            "concat");
}

Expr GradientContext::After(const Expr& t, const Expr& first,
                            const char* name) {
  if (!status_.ok() || !t || !first) return {this, {}};
  NodeDef def;
  def.name = StrCat(scope_, name);
  def.op = "Identity";
  StatusOr<Node*> added =
      Add(std::move(def), {t.endpoint()}, {first.endpoint().node});
  if (!added.ok()) {
    Fail(added.status());
    return {this, {}};
  }
  return {this, {*added, 0}};
}

bool GradientContext::ConstantInput(int i, Tensor* value) {
  if (i >= num_inputs()) return false;
  const Edge* const e = node_->input_edge(i);
  return EvaluateConstant({e->src(), e->src_output()}, value);
}

Expr GradientContext::Densify(const Gradient& slices) {
  const Expr rows =
      Op("StridedSlice",
         {Expr(this, slices.dense_shape), Ints({0}), Ints({1}), Ints({1})},
         {{"shrink_axis_mask", 1}}, "strided_slice");
  return Op("UnsortedSegmentSum",
            {Expr(this, slices.values), Expr(this, slices.indices), rows});
}

}  // namespace headrace
