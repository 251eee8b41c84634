// Random graphs of control flow, built and run: loops that are well formed and
// loops that are not, references, branches, functions that call each other,
// tensor arrays, stacks, sends and receives; with random feeds, fetches and
// targets, on one or two devices, twice in one session. Every run has a short
// deadline.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "fuzz_target.h"
#include "headrace/importer.h"
#include "headrace/op_kernel.h"
#include "headrace/session.h"

namespace headrace {
namespace {

using fuzz::Choices;

// Represents all computing nodes. Expensive, so that steps use several threads.
class TestFuzzAddOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    for (int i = 0; i < 2; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).NumElements() > 0,
                  errors::InvalidArgument("input ", i, " is empty"));
    }
    const uint32_t sum =
        static_cast<uint32_t>(ctx->input(0).data<int32_t>()[0]) +
        static_cast<uint32_t>(ctx->input(1).data<int32_t>()[0]);
    ctx->set_output(0, Tensor::Scalar(static_cast<int32_t>(sum)));
  }
};
REGISTER_OP("TestFuzzAdd")
    .Input("x: int32")
    .Input("y: int32")
    .Output("z: int32");
REGISTER_KERNEL_BUILDER(Name("TestFuzzAdd").Device(DEVICE_CPU), TestFuzzAddOp);

class TestFuzzLessOp : public OpKernel {
 public:
  explicit TestFuzzLessOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    for (int i = 0; i < 2; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).NumElements() > 0,
                  errors::InvalidArgument("input ", i, " is empty"));
    }
    ctx->set_output(0, Tensor::Scalar(ctx->input(0).data<int32_t>()[0] <
                                      ctx->input(1).data<int32_t>()[0]));
  }
};
REGISTER_OP("TestFuzzLess")
    .Input("x: int32")
    .Input("y: int32")
    .Output("z: bool");
REGISTER_KERNEL_BUILDER(Name("TestFuzzLess").Device(DEVICE_CPU),
                        TestFuzzLessOp);

enum class Kind { kInt, kBool, kRef, kArray, kStack, kFlow };

struct Value {
  std::string name;  // as an input names it
  std::string node;
  Kind kind;
  int frame;
};

// Functions: F0 to F2 take two integers and give two, C0 gives a truth value.
constexpr int kFunctions = 3;

// The nodes of a graph, or of a function's body. Mostly what a node takes is of
// the right kind and frame; sometimes it is not.
class Body {
 public:
  Body(Choices* in, google::protobuf::RepeatedPtrField<pb::NodeDef>* nodes,
       bool in_function)
      : in_(*in), nodes_(nodes), in_function_(in_function) {}

  void AddArg(const std::string& name) {
    values_.push_back({name, name, Kind::kInt, 0});
  }

  void Fill(int count) {
    Const(Kind::kInt, 0);
    Const(Kind::kBool, 0);
    for (int i = 0; i < count && nodes_->size() < kMaxNodes; ++i) AddOne();
    // Back edges that nothing came for.
    for (auto& [node, input] : open_) Connect(node, input, "");
    open_.clear();
  }

  // One of this kind: in `frame`, or in any for -1. Made if there is none.
  Value Pick(Kind kind, int frame) {
    if (in_.OneIn(48)) frame = -1;
    if (in_.OneIn(64)) kind = static_cast<Kind>(in_.Below(6));
    std::vector<const Value*> fit;
    for (const Value& v : values_) {
      if (v.kind == kind && (frame < 0 || v.frame == frame)) fit.push_back(&v);
    }
    if (!fit.empty()) return *fit[in_.Below(fit.size())];
    return Make(kind, frame < 0 ? 0 : frame);
  }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<std::string>& placeholders() const { return feeds_; }

 private:
  static constexpr int kMaxNodes = 120;
  struct Frame {
    std::string name;
    int parent;
    int parallel;
  };

  pb::NodeDef* Add(const std::string& op) {
    pb::NodeDef* const n = nodes_->Add();
    n->set_name(absl::StrCat("n", nodes_->size()));
    n->set_op(op);
    if (!in_function_ && in_.OneIn(12)) n->set_device("/cpu:1");
    return n;
  }
  // `output` of the node as `index` and, in functions, as an argument of name.
  std::string Output(const pb::NodeDef& n, int index, const char* argument,
                     int of_argument = 0) const {
    return in_function_
               ? absl::StrCat(n.name(), ":", argument, ":", of_argument)
               : absl::StrCat(n.name(), ":", index);
  }
  void Give(const pb::NodeDef& n, int index, const char* argument, Kind kind,
            int frame, int of_argument = 0) {
    values_.push_back(
        {Output(n, index, argument, of_argument), n.name(), kind, frame});
  }
  // At the end of a node: it may wait for another.
  void Wait(pb::NodeDef* n, int frame) {
    if (!in_.OneIn(8)) return;
    std::vector<const Value*> fit;
    for (const Value& v : values_) {
      if ((v.frame == frame || in_.OneIn(64)) && v.node != n->name()) {
        fit.push_back(&v);
      }
    }
    if (fit.empty()) return;
    n->add_input(absl::StrCat("^", fit[in_.Below(fit.size())]->node));
  }
  static void Set(pb::NodeDef* n, const char* attr, Kind kind) {
    (*n->mutable_attr())[attr].set_type(
        kind == Kind::kBool                        ? pb::DT_BOOL
        : kind == Kind::kFlow                      ? pb::DT_FLOAT
        : kind == Kind::kInt || kind == Kind::kRef ? pb::DT_INT32
                                                   : pb::DT_RESOURCE);
  }

  Value Const(Kind kind, int frame) {
    pb::NodeDef* const n = Add("Const");
    pb::TensorProto* const t = (*n->mutable_attr())["value"].mutable_tensor();
    t->mutable_tensor_shape();
    if (kind == Kind::kBool) {
      t->set_dtype(pb::DT_BOOL);
      t->add_bool_val(in_.OneIn(2));
    } else if (kind == Kind::kFlow) {
      t->set_dtype(pb::DT_FLOAT);
      t->add_float_val(0);
    } else {
      t->set_dtype(pb::DT_INT32);
      t->add_int_val(static_cast<int>(in_.Below(8)) - 1);
      if (in_.OneIn(16)) t->mutable_tensor_shape()->add_dim()->set_size(1);
    }
    (*n->mutable_attr())["dtype"].set_type(t->dtype());
    if (frame != 0) {
      for (const Value& v : values_) {
        if (v.frame != frame) continue;
        n->add_input(absl::StrCat("^", v.node));
        break;
      }
    }
    Give(*n, 0, "output", kind, frame);
    return values_.back();
  }

  Value Make(Kind kind, int frame) {
    if (frame != 0 &&
        (kind == Kind::kRef || kind == Kind::kArray || kind == Kind::kStack)) {
      return Enter(Pick(kind, frames_[frame].parent), frame);
    }
    if (kind == Kind::kRef) {
      pb::NodeDef* const n = Add("VariableV2");
      Set(n, "dtype", kind);
      (*n->mutable_attr())["shape"].mutable_shape();
      Give(*n, 0, "ref", kind, 0);
    } else if (kind == Kind::kArray) {
      pb::NodeDef* const n = Add("TensorArrayV3");
      n->add_input(Pick(Kind::kInt, 0).name);
      Set(n, "dtype", Kind::kInt);
      (*n->mutable_attr())["dynamic_size"].set_b(in_.OneIn(2));
      (*n->mutable_attr())["clear_after_read"].set_b(in_.OneIn(2));
      Give(*n, 1, "flow", Kind::kFlow, 0);
      Give(*n, 0, "handle", kind, 0);
    } else if (kind == Kind::kStack) {
      pb::NodeDef* const n = Add("StackV2");
      n->add_input(Pick(Kind::kInt, 0).name);
      Set(n, "elem_type", Kind::kInt);
      Give(*n, 0, "handle", kind, 0);
    } else if (!in_function_ && frame == 0 && kind != Kind::kFlow &&
               in_.OneIn(2)) {
      pb::NodeDef* const n = Add("Placeholder");
      Set(n, "dtype", kind);
      feeds_.push_back(n->name());
      Give(*n, 0, "output", kind, 0);
    } else {
      return Const(kind, frame);
    }
    return values_.back();
  }

  static std::string Ref(const char* op, Kind kind) {
    return absl::StrCat(kind == Kind::kRef ? "Ref" : "", op);
  }

  Value Enter(const Value& v, int frame) {
    pb::NodeDef* const n = Add(Ref("Enter", v.kind));
    n->add_input(v.name);
    Set(n, "T", v.kind);
    (*n->mutable_attr())["frame_name"].set_s(frames_[frame].name);
    (*n->mutable_attr())["is_constant"].set_b(in_.OneIn(3));
    (*n->mutable_attr())["parallel_iterations"].set_i(
        in_.OneIn(32) ? 2 : frames_[frame].parallel);
    Wait(n, v.frame);
    Give(*n, 0, "output", v.kind, frame);
    return values_.back();
  }

  int NewFrame(int parent) {
    const int name = in_.OneIn(24) && !frames_.empty()
                         ? static_cast<int>(in_.Below(frames_.size()))
                         : static_cast<int>(frames_.size());
    frames_.push_back(
        {absl::StrCat("f", name), parent, 1 + static_cast<int>(in_.Below(3))});
    return static_cast<int>(frames_.size()) - 1;
  }
  int AnyFrame() { return static_cast<int>(in_.Below(frames_.size())); }
  Kind AnyKind() {
    return in_.OneIn(4) ? Kind::kRef : in_.OneIn(4) ? Kind::kBool : Kind::kInt;
  }

  // Input `input` of `node` becomes `name`, or that of an integer.
  void Connect(int node, int input, const std::string& name) {
    pb::NodeDef* const n = nodes_->Mutable(node);
    *n->mutable_input(input) = name.empty() ? values_.front().name : name;
  }

  // Merge(Enter, NextIteration) -> Less -> LoopCond -> Switch -> body -> Exit,
  // mostly.
  void Loop() {
    const int outer = AnyFrame();
    const Kind kind = in_.OneIn(6) ? Kind::kRef : Kind::kInt;
    const int frame = NewFrame(outer);
    const Value start = Enter(Pick(kind, outer), frame);
    const Value limit = Enter(Pick(Kind::kInt, outer), frame);
    pb::NodeDef* merge = Add(Ref("Merge", kind));
    const int merge_at = nodes_->size() - 1;
    Set(merge, "T", kind);
    (*merge->mutable_attr())["N"].set_i(2);
    merge->add_input(start.name);
    merge->add_input(start.name);
    Give(*merge, 0, "output", kind, frame);
    const Value merged = values_.back();
    pb::NodeDef* const less = Add("TestFuzzLess");
    less->add_input(merged.name);
    less->add_input(limit.name);
    std::string cond = Output(*less, 0, "z");
    if (!in_.OneIn(8)) {
      pb::NodeDef* const n = Add("LoopCond");
      n->add_input(cond);
      cond = Output(*n, 0, "output");
    }
    values_.push_back({cond, less->name(), Kind::kBool, frame});
    pb::NodeDef* const branch = Add(Ref("Switch", kind));
    branch->add_input(merged.name);
    branch->add_input(cond);
    Set(branch, "T", kind);
    const std::string stays = Output(*branch, 1, "output_true");
    const std::string leaves = Output(*branch, 0, "output_false");
    Give(*branch, 1, "output_true", kind, frame);
    Value next = values_.back();
    for (uint32_t i = in_.Below(4); i > 0; --i) AddOne(frame);
    pb::NodeDef* const step =
        Add(kind == Kind::kRef ? "AssignAdd" : "TestFuzzAdd");
    if (kind == Kind::kRef) Set(step, "T", kind);
    step->add_input(next.name);
    step->add_input(Pick(Kind::kInt, frame).name);
    Wait(step, frame);
    Give(*step, 0, kind == Kind::kRef ? "output_ref" : "z", kind, frame);
    next = in_.OneIn(8) ? Pick(kind, frame) : values_.back();
    pb::NodeDef* const back = Add(Ref("NextIteration", kind));
    back->add_input(next.name);
    Set(back, "T", kind);
    Give(*back, 0, "output", kind, frame);
    Connect(merge_at, 1, values_.back().name);
    if (in_.OneIn(8)) return;
    pb::NodeDef* const exit = Add(Ref("Exit", kind));
    exit->add_input(in_.OneIn(16) ? stays : leaves);
    Set(exit, "T", kind);
    Give(*exit, 0, "output", kind, outer);
  }

  void AddMerge(int frame) {
    const Kind kind = AnyKind();
    std::vector<std::string> inputs;
    for (uint32_t k = 1 + in_.Below(3); k > 0; --k) {
      inputs.push_back(Pick(kind, frame).name);
    }
    pb::NodeDef* const n = Add(Ref("Merge", kind));
    Set(n, "T", kind);
    (*n->mutable_attr())["N"].set_i(static_cast<int>(inputs.size()));
    for (const std::string& i : inputs) n->add_input(i);
    const bool all = in_.OneIn(8);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (all || in_.OneIn(4)) {
        open_.push_back({nodes_->size() - 1, static_cast<int>(i)});
      }
    }
    Wait(n, frame);
    Give(*n, 1, "value_index", Kind::kInt, frame);
    Give(*n, 0, "output", kind, frame);
  }

  // Calls and functional control flow.
  void AddCall(int frame) {
    static constexpr const char* kOps[] = {"PartitionedCall",
                                           "StatefulPartitionedCall",
                                           "If",
                                           "StatelessIf",
                                           "Case",
                                           "StatelessCase",
                                           "While",
                                           "StatelessWhile",
                                           "For",
                                           "F0",
                                           "F1",
                                           "F2"};
    const std::string op = kOps[in_.Below(12)];
    std::vector<std::string> inputs;
    if (absl::EndsWith(op, "If")) inputs = {Pick(Kind::kBool, frame).name};
    if (absl::EndsWith(op, "Case")) inputs = {Pick(Kind::kInt, frame).name};
    if (op == "For") {
      for (int i = 0; i < 3; ++i)
        inputs.push_back(Pick(Kind::kInt, frame).name);
    }
    for (int i = 0; i < 2; ++i) inputs.push_back(Pick(Kind::kInt, frame).name);
    pb::NodeDef* const n = Add(op);
    for (const std::string& i : inputs) n->add_input(i);
    auto& attrs = *n->mutable_attr();
    const auto function = [&] {
      return absl::StrCat("F", in_.Below(kFunctions));
    };
    const auto call = [&](const char* attr, const std::string& f) {
      attrs[attr].mutable_func()->set_name(f);
    };
    const auto types = [&](const char* attr) {
      for (int i = 0; i < 2; ++i) {
        attrs[attr].mutable_list()->add_type(pb::DT_INT32);
      }
    };
    if (op[0] != 'F' && !absl::EndsWith(op, "While")) {
      types("Tin");
      types("Tout");
    }
    if (absl::EndsWith(op, "Call")) call("f", function());
    if (absl::EndsWith(op, "If")) {
      attrs["Tcond"].set_type(pb::DT_BOOL);
      call("then_branch", function());
      call("else_branch", function());
    }
    if (absl::EndsWith(op, "Case")) {
      for (uint32_t k = 1 + in_.Below(3); k > 0; --k) {
        attrs["branches"].mutable_list()->add_func()->set_name(function());
      }
    }
    if (absl::EndsWith(op, "While")) {
      types("T");
      call("cond", "C0");
      call("body", function());
    }
    if (op == "For") {
      types("T");
      call("body", function());  // of one argument too few: refused
    }
    if (in_.OneIn(4)) attrs["_noinline"].set_b(true);
    Wait(n, frame);
    const bool named = op[0] == 'F' && op != "For";
    Give(*n, 0, named ? "x" : "output", Kind::kInt, frame);
    Give(*n, 1, named ? "y" : "output", Kind::kInt, frame, named ? 0 : 1);
  }

  void AddArrayOp(int frame) {
    const std::string array = Pick(Kind::kArray, frame).name;
    const std::string flow = Pick(Kind::kFlow, frame).name;
    const std::string index = Pick(Kind::kInt, frame).name;
    switch (in_.Below(4)) {
      case 0: {
        const std::string value = Pick(Kind::kInt, frame).name;
        pb::NodeDef* const n = Add("TensorArrayWriteV3");
        for (const auto& i : {array, index, value, flow}) n->add_input(i);
        Set(n, "T", Kind::kInt);
        Wait(n, frame);
        return Give(*n, 0, "flow_out", Kind::kFlow, frame);
      }
      case 1: {
        pb::NodeDef* const n = Add("TensorArraySizeV3");
        for (const auto& i : {array, flow}) n->add_input(i);
        return Give(*n, 0, "size", Kind::kInt, frame);
      }
      case 2: {
        pb::NodeDef* const n = Add("TensorArrayGradV3");
        for (const auto& i : {array, flow}) n->add_input(i);
        (*n->mutable_attr())["source"].set_s("g");
        Give(*n, 1, "flow_out", Kind::kFlow, frame);
        return Give(*n, 0, "grad_handle", Kind::kArray, frame);
      }
      default: {
        pb::NodeDef* const n = Add("TensorArrayReadV3");
        for (const auto& i : {array, index, flow}) n->add_input(i);
        Set(n, "dtype", Kind::kInt);
        Wait(n, frame);
        return Give(*n, 0, "value", Kind::kInt, frame);
      }
    }
  }

  void AddStackOp(int frame) {
    const std::string stack = Pick(Kind::kStack, frame).name;
    const std::string value = Pick(Kind::kInt, frame).name;
    const bool push = in_.OneIn(2);
    pb::NodeDef* const n = Add(push ? "StackPushV2" : "StackPopV2");
    n->add_input(stack);
    if (push) n->add_input(value);
    Set(n, push ? "T" : "elem_type", Kind::kInt);
    Wait(n, frame);
    Give(*n, 0, push ? "output" : "elem", Kind::kInt, frame);
  }

  void AddTransfer(int frame) {
    const bool send = in_.OneIn(2);
    const std::string value = Pick(Kind::kInt, frame).name;
    pb::NodeDef* const n = Add(send ? "_Send" : "_Recv");
    auto& attrs = *n->mutable_attr();
    if (send) n->add_input(value);
    Set(n, send ? "T" : "tensor_type", Kind::kInt);
    attrs["tensor_name"].set_s(absl::StrCat("t", in_.Below(2)));
    for (const char* device : {"send_device", "recv_device"}) {
      attrs[device].set_s("/job:localhost/replica:0/task:0/device:CPU:0");
    }
    attrs["send_device_incarnation"].set_i(1);
    Wait(n, frame);
    if (!send) Give(*n, 0, "tensor", Kind::kInt, frame);
  }

  void AddOne() { AddOne(AnyFrame()); }
  void AddOne(int frame) {
    if (nodes_->size() >= kMaxNodes) return;
    const Kind kind = AnyKind();
    const auto one = [&](const std::string& op, const Value& v, Kind to,
                         int to_frame) {
      pb::NodeDef* const n = Add(op);
      n->add_input(v.name);
      if (op != "LoopCond") Set(n, "T", v.kind);
      Wait(n, v.frame);
      Give(*n, 0, "output", to, to_frame);
    };
    switch (in_.Below(20)) {
      case 0:
      case 1:
        return Loop();
      case 2: {
        Enter(Pick(kind, frame), in_.OneIn(2) ? AnyFrame() : NewFrame(frame));
        return;
      }
      case 3:
        return one(Ref("Exit", kind), Pick(kind, frame), kind,
                   std::max(0, frames_[frame].parent));
      case 4: {
        const Value v = Pick(kind, frame);
        one(Ref("NextIteration", v.kind), v, v.kind, frame);
        if (!open_.empty() && in_.OneIn(2)) {
          const auto [node, input] = open_.back();
          open_.pop_back();
          Connect(node, input, values_.back().name);
        }
        return;
      }
      case 5:
      case 6: {
        const Value v = Pick(kind, frame);
        const Value pred = Pick(Kind::kBool, frame);
        pb::NodeDef* const n = Add(Ref("Switch", v.kind));
        n->add_input(v.name);
        n->add_input(pred.name);
        Set(n, "T", v.kind);
        Wait(n, frame);
        Give(*n, 0, "output_false", v.kind, frame);
        return Give(*n, 1, "output_true", v.kind, frame);
      }
      case 7:
      case 8:
        return AddMerge(frame);
      case 9:
        return one("LoopCond", Pick(Kind::kBool, frame), Kind::kBool, frame);
      case 10: {
        pb::NodeDef* const n = Add(in_.OneIn(2) ? "ControlTrigger" : "NoOp");
        n->add_input(absl::StrCat("^", Pick(kind, frame).node));
        n->add_input(absl::StrCat("^", Pick(Kind::kInt, frame).node));
        controls_.push_back(n->name());
        return;
      }
      case 11:
        return one(Ref("Identity", kind), Pick(kind, frame), kind, frame);
      case 12: {
        const std::string ref = Pick(Kind::kRef, frame).name;
        const std::string value = Pick(Kind::kInt, frame).name;
        pb::NodeDef* const n = Add(in_.OneIn(2) ? "Assign" : "AssignAdd");
        n->add_input(ref);
        n->add_input(value);
        Set(n, "T", Kind::kInt);
        Wait(n, frame);
        return Give(*n, 0, "output_ref", Kind::kRef, frame);
      }
      case 13:
      case 14:
        return AddCall(frame);
      case 15:
        return AddArrayOp(frame);
      case 16:
        return AddStackOp(frame);
      case 17:
        if (in_.OneIn(4)) return AddTransfer(frame);
        [[fallthrough]];
      default: {
        const std::string x = Pick(Kind::kInt, frame).name;
        const std::string y = Pick(Kind::kInt, frame).name;
        const bool less = in_.OneIn(3);
        pb::NodeDef* const n = Add(less ? "TestFuzzLess" : "TestFuzzAdd");
        n->add_input(x);
        n->add_input(y);
        Wait(n, frame);
        Give(*n, 0, "z", less ? Kind::kBool : Kind::kInt, frame);
      }
    }
  }

  Choices& in_;
  google::protobuf::RepeatedPtrField<pb::NodeDef>* const nodes_;
  const bool in_function_;
  std::vector<Value> values_;
  std::vector<Frame> frames_ = {{"", -1, 1}};
  std::vector<std::pair<int, int>> open_;  // inputs that want a back edge
  std::vector<std::string> feeds_, controls_;
};

void AddFunction(const std::string& name, Choices* in, pb::GraphDef* def) {
  pb::FunctionDef* const f = def->mutable_library()->add_function();
  f->mutable_signature()->set_name(name);
  Body body(in, f->mutable_node_def(), /*in_function=*/true);
  for (const char* arg : {"a", "b"}) {
    auto* const a = f->mutable_signature()->add_input_arg();
    a->set_name(arg);
    a->set_type(pb::DT_INT32);
    body.AddArg(arg);
  }
  body.Fill(static_cast<int>(in->Below(8)));
  const bool is_cond = name[0] == 'C';
  for (const char* ret : {"x", "y"}) {
    auto* const r = f->mutable_signature()->add_output_arg();
    r->set_name(ret);
    r->set_type(is_cond ? pb::DT_BOOL : pb::DT_INT32);
    (*f->mutable_ret())[ret] =
        body.Pick(is_cond ? Kind::kBool : Kind::kInt, 0).name;
    if (is_cond) break;
  }
}

Status BuildAndRun(Choices* in) {
  pb::GraphDef def;
  def.mutable_versions()->set_producer(21);
  // First what a long graph would leave nothing for.
  const uint32_t options = in->Byte();
  Choices runs(in->Text(16));
  const size_t of_functions = in->Below(48);
  for (int i = 0; i <= kFunctions; ++i) {
    Choices choices(in->Text(of_functions));
    AddFunction(i == kFunctions ? "C0" : absl::StrCat("F", i), &choices, &def);
  }
  Body body(in, def.mutable_node(), /*in_function=*/false);
  body.Fill(2 + static_cast<int>(in->Below(24)));

  auto graph = std::make_shared<Graph>();
  {
    MutexLock lock(&graph->mu());
    HR_RETURN_IF_ERROR(ImportGraphDef({}, def, graph.get()));
  }
  pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 1 + (options & 1);
  config.set_allow_soft_placement(true);
  if (options & 2) {
    config.mutable_graph_options()->mutable_optimizer_options()->set_opt_level(
        pb::OptimizerOptions::L0);
  }
  std::unique_ptr<Session> session;
  HR_RETURN_IF_ERROR(MoveTo(NewSession(config, "", graph), &session));
  // Mostly of the last nodes, which need the most of what is there.
  const auto value = [&]() -> const Value& {
    const size_t n = body.values().size();
    return body.values()[n - 1 - runs.Below(std::min<size_t>(n, 24))];
  };
  for (int run = 0; run < 2; ++run) {
    std::vector<std::pair<std::string, Tensor>> feeds;
    for (const std::string& name : body.placeholders()) {
      const bool is_bool = graph->FindNode(name)->output_type(0) == DT_BOOL;
      const auto v = static_cast<int32_t>(runs.Below(8)) - 1;
      feeds.emplace_back(name,
                         is_bool ? Tensor::Scalar(v > 2) : Tensor::Scalar(v));
    }
    // Something in the middle, as a loop's own value.
    if (runs.OneIn(8)) {
      const Value& v = value();
      if (v.kind == Kind::kInt) feeds.emplace_back(v.name, Tensor::Scalar(1));
    }
    std::vector<std::string> fetches, targets;
    for (uint32_t k = runs.Below(3); k > 0; --k) {
      const Value& v = value();
      if (v.kind != Kind::kArray && v.kind != Kind::kStack) {
        fetches.push_back(v.name);
      }
    }
    for (uint32_t k = 1 + runs.Below(4); k > 0; --k) {
      targets.push_back(value().node);
    }
    pb::RunOptions run_options;
    run_options.set_timeout_in_ms(10);
    if (options & 4) run_options.set_trace_level(pb::RunOptions::FULL_TRACE);
    pb::RunMetadata metadata;
    std::vector<Tensor> results;
    (void)session->Run(run_options, feeds, fetches, targets, &results,
                       options & 4 ? &metadata : nullptr);
  }
  return OkStatus();
}

}  // namespace

FUZZ_TARGET(control_flow) {
  Choices in(bytes);
  (void)BuildAndRun(&in);
}

}  // namespace headrace
