// One node of some op with some attrs and some small inputs, fed or constant,
// built into a graph and run.
#include "headrace/op.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/exceptions.h"
#include "framework/memory/failing_allocations.h"
#include "framework/tensor/variant.h"
#include "fuzz_target.h"
#include "headrace/resource_handle.h"
#include "headrace/session.h"

namespace headrace {
namespace {

using fuzz::Choices;

// Ops that leave the process, write files or the terminal.
bool IsDenied(absl::string_view op) {
  for (absl::string_view part :
       {"Abort", "Print", "WriteFile", "Save", "MergeV2", "PyFunc", "Summary",
        "Snapshot", "TFRecord", "Test", "Cache"}) {
    if (absl::StrContains(op, part)) return true;
  }
  return false;
}

const std::vector<const OpDef*>& Ops() {
  static const auto* const ops = [] {
    auto* all = new std::vector<const OpDef*>;
    for (const OpDef* op : OpRegistry::Global()->All()) {
      if (!IsDenied(op->name)) all->push_back(op);
    }
    return all;
  }();
  return *ops;
}

// Small, or far beyond what can be allocated; in between lies what would
// merely take long.
int64_t Integer(Choices* in) {
  constexpr int64_t kValues[] = {0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 -1,
                                 -2,
                                 8,
                                 std::numeric_limits<int32_t>::min(),
                                 int64_t{1} << 50,
                                 std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int64_t>::min()};
  return kValues[in->Below(in->OneIn(8) ? 12 : 8)];
}

DataType Type(Choices* in) {
  constexpr DataType kTypes[] = {
      DT_FLOAT, DT_INT32,  DT_INT64,   DT_STRING,  DT_BOOL,      DT_DOUBLE,
      DT_HALF,  DT_UINT8,  DT_INT8,    DT_INT16,   DT_COMPLEX64, DT_BFLOAT16,
      DT_QINT8, DT_UINT64, DT_VARIANT, DT_RESOURCE};
  return kTypes[in->Below(in->OneIn(4) ? 16 : 6)];
}

std::string Text(Choices* in) {
  constexpr const char* kTexts[] = {"",   "a",  "SAME",    "VALID", "NHWC", "1",
                                    "%s", "{}", "a,b->ab", "GZIP",  "utf-8"};
  if (in->OneIn(4)) return std::string(in->Text(in->Byte() % 16));
  return kTexts[in->Below(11)];
}

PartialTensorShape Shape(Choices* in, bool partial) {
  if (partial && in->OneIn(4)) return PartialTensorShape::UnknownRank();
  DimVector dims(in->OneIn(8) ? in->Below(10) : in->Below(5));
  for (int64_t& d : dims) {
    d = static_cast<int64_t>(in->Below(dims.size() > 5 ? 2 : 4));
    if (partial && in->OneIn(4)) d = -1;
  }
  return PartialTensorShape(dims);
}

Tensor Value(DataType dtype, Choices* in) {
  TensorShape shape;
  Shape(in, false).AsTensorShape(&shape);
  Tensor t(BaseType(dtype), shape);
  if (!t.IsInitialized()) return Tensor(DT_FLOAT, shape);
  if (t.dtype() == DT_STRING) {
    for (int64_t i = 0; i < t.NumElements(); ++i) {
      t.data<tstring>()[i] = Text(in);
    }
  } else if (DataTypeCanUseMemcpy(t.dtype())) {
    const int size = DataTypeSize(t.dtype());
    auto* to = static_cast<char*>(t.raw_data());
    for (int64_t i = 0; i < t.NumElements(); ++i, to += size) {
      const int64_t v = Integer(in);
      if (t.dtype() == DT_FLOAT || t.dtype() == DT_DOUBLE) {
        constexpr double kRare[] = {0.5, 1e30, -1e-40,
                                    std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
        const double f =
            in->OneIn(4) ? kRare[in->Below(5)] : static_cast<double>(v);
        if (t.dtype() == DT_FLOAT) {
          t.data<float>()[i] = static_cast<float>(f);
        } else {
          t.data<double>()[i] = f;
        }
      } else if (t.dtype() == DT_BOOL) {
        *to = v & 1;
      } else {
        std::memcpy(to, &v, std::min<size_t>(size, sizeof(v)));
        if (size > 8) std::memset(to + 8, 0, size - 8);
      }
    }
  }
  return t;
}

template <typename F>
auto List(Choices* in, const F& make) {
  std::vector<decltype(make())> v;
  for (uint32_t n = in->Below(5); n > 0; --n) v.push_back(make());
  return v;
}

AttrValue Attr(const OpDef::Attr& attr, Choices* in) {
  if (attr.default_value.has_value() && !in->OneIn(3)) {
    return *attr.default_value;
  }
  auto type = [&] {
    if (attr.allowed_types.empty()) return Type(in);
    return attr.allowed_types[in->Below(attr.allowed_types.size())];
  };
  auto text = [&] {
    if (attr.allowed_strings.empty()) return Text(in);
    return attr.allowed_strings[in->Below(attr.allowed_strings.size())];
  };
  auto integer = [&] {
    const int64_t v = Integer(in);
    return attr.has_minimum ? std::max(v, attr.minimum) : v;
  };
  auto real = [&] { return static_cast<float>(Integer(in)) / 2; };
  switch (attr.type) {
    case AttrType::kString:
      return text();
    case AttrType::kInt:
      return integer();
    case AttrType::kFloat:
      return real();
    case AttrType::kBool:
      return in->OneIn(2);
    case AttrType::kType:
      return type();
    case AttrType::kShape:
      return Shape(in, true);
    case AttrType::kTensor:
      return Value(Type(in), in);
    case AttrType::kListString:
      return List(in, text);
    case AttrType::kListInt:
      return List(in, [&] { return Integer(in); });
    case AttrType::kListFloat:
      return List(in, real);
    case AttrType::kListBool:
      return List(in, [&] { return in->OneIn(2); });
    case AttrType::kListType:
      return List(in, type);
    case AttrType::kListShape:
      return List(in, [&] { return Shape(in, true); });
    case AttrType::kFunc:
      return NameAttrList{Text(in), nullptr};
    default:
      return AttrValue::EmptyList();
  }
}

// A node with one output of this value: a constant, or a placeholder to feed.
StatusOr<Endpoint> Source(Graph* graph, int i, const Tensor& value, Choices* in,
                          std::vector<Session::Feed>* feeds) {
  NodeDef def;
  def.name = "in" + std::to_string(i);
  def.attrs.Set("dtype", value.dtype());
  const bool can_be_constant =
      value.dtype() == DT_STRING || DataTypeCanUseMemcpy(value.dtype());
  const bool constant = can_be_constant && in->OneIn(2);
  def.op = constant ? "Const" : "Placeholder";
  if (constant) {
    def.attrs.Set("value", value);
  } else {
    def.attrs.Set("shape", PartialTensorShape::UnknownRank());
  }
  HR_ASSIGN_OR_RETURN(Node * node, graph->AddNode(std::move(def), {}));
  if (!constant) feeds->push_back({Endpoint{node, 0}, value});
  return Endpoint{node, 0};
}

Status BuildAndRun(Choices* in) {
  const OpDef& op = *Ops()[in->Below(Ops().size())];
  NodeDef def;
  def.name = "node";
  def.op = op.name;
  for (const OpDef::Attr& attr : op.attrs) {
    AttrValue v = Attr(attr, in);
    // How many inputs or outputs there are.
    if (attr.type == AttrType::kInt && v.Get<int64_t>() != nullptr) {
      for (const auto* args : {&op.inputs, &op.outputs}) {
        for (const OpDef::Arg& a : *args) {
          if (a.number_attr >= 0 && op.attrs[a.number_attr].name == attr.name) {
            v = static_cast<int64_t>(1 + in->Below(3));
          }
        }
      }
    }
    def.attrs.Set(attr.name, std::move(v));
  }
  DataTypeVector inputs, outputs;
  HR_RETURN_IF_ERROR(InOutTypes(op, def.attrs, &inputs, &outputs));
  auto graph = std::make_shared<Graph>();
  std::vector<Session::Feed> feeds;
  std::vector<Endpoint> sources;
  for (DataType type : inputs) {
    if (IsRefType(type)) return OkStatus();
    HR_ASSIGN_OR_RETURN(Endpoint e,
                        Source(graph.get(), static_cast<int>(sources.size()),
                               Value(type, in), in, &feeds));
    sources.push_back(e);
  }
  HR_ASSIGN_OR_RETURN(Node * node, graph->AddNode(std::move(def), sources));
  std::unique_ptr<Session> session;
  HR_RETURN_IF_ERROR(MoveTo(NewSession({}, "", graph), &session));
  pb::RunOptions options;
  options.set_timeout_in_ms(50);  // of what waits: queues, barriers
  std::vector<Endpoint> fetches;
  for (size_t i = 0; i < outputs.size(); ++i) {
    fetches.push_back(Endpoint{node, static_cast<int>(i)});
  }
  std::vector<Node*> targets = {node};
  std::vector<Tensor> results;
  return session->Run(options, feeds, fetches, targets, &results);
}

}  // namespace

FUZZ_TARGET(op) {
  Choices in(bytes);
  (void)BuildAndRun(&in);
  // With tests/faults/failing_allocations.cc preloaded: the same, with an
  // allocation failing.
  if (!FailingAllocations::ArePreloaded()) return;
  for (int64_t n = 1, seen = n; n <= seen; n += 1 + n / 2) {
    Choices again(bytes);
    const FailingAllocations failing(n, 1, 0);
    (void)CatchExceptions([&again] { return BuildAndRun(&again); });
    seen = FailingAllocations::Seen();
  }
}

}  // namespace headrace
