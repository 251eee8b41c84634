// Eager execution with what lasts: variables, queues, lists of tensors,
// functions, datasets.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "c_api/eager_test_util.h"
#include "headrace/graph.pb.h"

namespace eager_test {
namespace {

namespace pb = headrace::pb;

// A FunctionDef of int32 values. Inputs of nodes are in the words of function
// bodies. Every node but a call of Twice has an attr T.
class Function {
 public:
  Function(const std::string& name, std::vector<std::string> args,
           std::vector<std::pair<std::string, std::string>> rets) {
    pb::OpDef* sig = def_.mutable_signature();
    sig->set_name(name);
    for (const std::string& a : args) {
      auto* arg = sig->add_input_arg();
      arg->set_name(a);
      arg->set_type(pb::DT_INT32);
    }
    for (const auto& [ret, value] : rets) {
      auto* arg = sig->add_output_arg();
      arg->set_name(ret);
      arg->set_type(pb::DT_INT32);
      (*def_.mutable_ret())[ret] = value;
    }
  }
  Function& Node(const std::string& name, const std::string& op,
                 std::vector<std::string> inputs) {
    pb::NodeDef* n = def_.add_node_def();
    n->set_name(name);
    n->set_op(op);
    for (const std::string& i : inputs) n->add_input(i);
    if (op != "Twice") (*n->mutable_attr())["T"].set_type(pb::DT_INT32);
    return *this;
  }
  Function& Const(const std::string& name, int32_t value) {
    pb::NodeDef* n = def_.add_node_def();
    n->set_name(name);
    n->set_op("Const");
    (*n->mutable_attr())["dtype"].set_type(pb::DT_INT32);
    auto* t = (*n->mutable_attr())["value"].mutable_tensor();
    t->set_dtype(pb::DT_INT32);
    t->mutable_tensor_shape();
    t->add_int_val(value);
    return *this;
  }
  Function& RetType(int i, pb::DataType type) {
    def_.mutable_signature()->mutable_output_arg(i)->set_type(type);
    return *this;
  }
  std::string bytes() const { return def_.SerializeAsString(); }

 private:
  pb::FunctionDef def_;
};

class EagerStateTest : public EagerTest {
 protected:
  void Add(const Function& f) {
    const std::string bytes = f.bytes();
    TFE_ContextAddFunctionDef(ctx(), bytes.data(), bytes.size(), s());
    EXPECT_EQ(code(), TF_OK) << message();
  }
  Handle Variable(const char* name) {
    return Get("VarHandleOp", {}, [&](TFE_Op* op) {
      TFE_OpSetAttrType(op, "dtype", TF_INT32);
      TFE_OpSetAttrShape(op, "shape", nullptr, 0, s());
      TFE_OpSetAttrString(op, "shared_name", name, std::strlen(name));
    });
  }
  Handles ReadVariable(const Handle& h) {
    return Run("ReadVariableOp", {h.get()},
               [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_INT32); });
  }
  static void SetFunction(TFE_Op* op, const char* attr, const char* name) {
    TFE_OpSetAttrFunctionName(op, attr, name, std::strlen(name));
  }
};

TEST_F(EagerStateTest, Variables) {
  const Handle v = Variable("v"), w = Variable("w");
  ReadVariable(v);
  EXPECT_EQ(code(), TF_FAILED_PRECONDITION) << message();
  const Handle five = Scalar<int32_t>(5);
  Run("AssignVariableOp", {v.get(), five.get()});
  EXPECT_EQ(code(), TF_OK) << message();
  Run("AssignAddVariableOp", {v.get(), five.get()});
  EXPECT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(ReadScalar<int32_t>(ReadVariable(v)[0]), 10);
  // Another handle of the same name is the same variable.
  EXPECT_EQ(ReadScalar<int32_t>(ReadVariable(Variable("v"))[0]), 10);
  // What was read stays as it was.
  const Handle before = std::move(ReadVariable(v)[0]);
  Run("AssignAddVariableOp", {v.get(), five.get()});
  EXPECT_EQ(ReadScalar<int32_t>(before), 10);
  EXPECT_EQ(ReadScalar<int32_t>(ReadVariable(v)[0]), 15);
  ReadVariable(w);
  EXPECT_EQ(code(), TF_FAILED_PRECONDITION);
  const Handle f = Scalar(1.0f);
  Run("AssignVariableOp", {v.get(), f.get()});
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT) << message();
  // A handle becomes bytes for the client and a handle again.
  Tensor bytes(TFE_TensorHandleResolve(v.get(), s()));
  ASSERT_EQ(TF_TensorType(bytes.get()), TF_RESOURCE) << message();
  const Handle back(TFE_NewTensorHandle(bytes.get(), s()));
  ASSERT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(ReadScalar<int32_t>(ReadVariable(back)[0]), 15);
  Run("DestroyResourceOp", {v.get()});
  EXPECT_EQ(code(), TF_OK) << message();
  ReadVariable(v);
  EXPECT_NE(code(), TF_OK);
  // Another context has variables of its own.
  Run("AssignVariableOp", {w.get(), five.get()});
  context_ = NewContext();
  ReadVariable(Variable("w"));
  EXPECT_EQ(code(), TF_FAILED_PRECONDITION);
}

TEST_F(EagerStateTest, VariablesWithoutANameAreDistinct) {
  const char* const anonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";
  const Handle v = Variable(anonymous), w = Variable(anonymous);
  const Handle five = Scalar<int32_t>(5), six = Scalar<int32_t>(6);
  Run("AssignVariableOp", {v.get(), five.get()});
  Run("AssignVariableOp", {w.get(), six.get()});
  EXPECT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(ReadScalar<int32_t>(ReadVariable(v)[0]), 5);
  EXPECT_EQ(ReadScalar<int32_t>(ReadVariable(w)[0]), 6);
}

// Of a Switch the output that was not taken has no value: it is an empty tensor
// of its type.
TEST_F(EagerStateTest, SwitchAndMerge) {
  const Handle x = Scalar<int32_t>(5), yes = Scalar(true);
  const Handles out = Run("Switch", {x.get(), yes.get()});
  ASSERT_EQ(out.size(), 2u) << message();
  EXPECT_EQ(ReadScalar<int32_t>(out[1]), 5);
  EXPECT_EQ(TFE_TensorHandleNumElements(out[0].get(), s()), 0);
  EXPECT_EQ(TFE_TensorHandleDataType(out[0].get()), TF_INT32);
}

// A variable of a graph's kind gives its value, not a reference.
TEST_F(EagerStateTest, ReferencesAreRead) {
  Run("VariableV2", {}, [&](TFE_Op* op) {
    TFE_OpSetAttrType(op, "dtype", TF_INT32);
    TFE_OpSetAttrShape(op, "shape", nullptr, 0, s());
  });
  EXPECT_EQ(code(), TF_FAILED_PRECONDITION) << message();
}

TEST_F(EagerStateTest, ListsOfTensors) {
  const Handle no_shape = Values<int32_t>({}, {0}), size = Scalar<int32_t>(-1);
  const Handle list =
      Get("EmptyTensorList", {no_shape.get(), size.get()},
          [](TFE_Op* op) { TFE_OpSetAttrType(op, "element_dtype", TF_INT32); });
  EXPECT_EQ(TFE_TensorHandleDataType(list.get()), TF_VARIANT);
  const Handle five = Scalar<int32_t>(5);
  const Handle pushed = Get("TensorListPushBack", {list.get(), five.get()});
  const Handles popped =
      Run("TensorListPopBack", {pushed.get(), no_shape.get()},
          [](TFE_Op* op) { TFE_OpSetAttrType(op, "element_dtype", TF_INT32); });
  ASSERT_EQ(popped.size(), 2u) << message();
  EXPECT_EQ(ReadScalar<int32_t>(popped[1]), 5);
  EXPECT_EQ(ReadScalar<int32_t>(Get("TensorListLength", {pushed.get()})), 1);
  // A variant passes through the client's hands.
  const Tensor resolved(TFE_TensorHandleResolve(pushed.get(), s()));
  ASSERT_NE(resolved, nullptr) << message();
  const Handle again(TFE_NewTensorHandle(resolved.get(), s()));
  ASSERT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(ReadScalar<int32_t>(Get("TensorListLength", {again.get()})), 1);
}

// A resource handle keeps its TensorArray, in a step, after it and without one.
TEST_F(EagerStateTest, TensorArraysAndSteps) {
  const Handle two = Scalar<int32_t>(2), zero = Scalar<int32_t>(0),
               one = Scalar<int32_t>(1);
  const auto make = [&] {
    return Run("TensorArrayV3", {two.get()},
               [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_INT32); });
  };
  const auto write = [&](const Handles& array, const Handle& at) {
    Run("TensorArrayWriteV3",
        {array[0].get(), at.get(), two.get(), array[1].get()});
    return code();
  };
  const Handles lasting = make();
  ASSERT_EQ(lasting.size(), 2u) << message();
  EXPECT_EQ(write(lasting, zero), TF_OK) << message();
  TFE_ContextStartStep(ctx());
  TFE_ContextStartStep(ctx());
  const Handles array = make();
  EXPECT_EQ(write(array, zero), TF_OK) << message();
  TFE_ContextEndStep(ctx());
  EXPECT_EQ(write(array, one), TF_OK) << message();
  TFE_ContextEndStep(ctx());
  TFE_ContextEndStep(ctx());  // one too many
  EXPECT_EQ(write(array, one), TF_INVALID_ARGUMENT) << message();  // again
  EXPECT_EQ(write(lasting, one), TF_OK) << message();
}

TEST_F(EagerStateTest, AWaitingOpIsServedByAnotherThreadOrCancelled) {
  const Handle queue = Get("FIFOQueueV2", {}, [](TFE_Op* op) {
    const TF_DataType types[] = {TF_INT32};
    TFE_OpSetAttrTypeList(op, "component_types", types, 1);
  });
  const auto dequeue = [&] {
    Op op = NewOp("QueueDequeueV2", {queue.get()});
    const TF_DataType types[] = {TF_INT32};
    TFE_OpSetAttrTypeList(op.get(), "component_types", types, 1);
    return op;
  };
  std::thread other([&] {
    Status own(TF_NewStatus());
    Op op(TFE_NewOp(ctx(), "QueueEnqueueV2", own.get()));
    TFE_OpAddInput(op.get(), queue.get(), own.get());
    const Handle seven = Scalar<int32_t>(7);
    TFE_TensorHandle* element = seven.get();
    TFE_OpAddInputList(op.get(), &element, 1, own.get());
    int n = 0;
    TFE_Execute(op.get(), nullptr, &n, own.get());
    EXPECT_EQ(TF_GetCode(own.get()), TF_OK) << TF_Message(own.get());
  });
  const Handles got = Execute(dequeue().get());
  other.join();
  ASSERT_EQ(got.size(), 1u) << message();
  EXPECT_EQ(ReadScalar<int32_t>(got[0]), 7);

  const Owned<TFE_CancellationManager> cancel(TFE_NewCancellationManager());
  Op waiting = dequeue();
  TFE_OpSetCancellationManager(waiting.get(), cancel.get(), s());
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    TFE_CancellationManagerStartCancel(cancel.get());
  });
  Execute(waiting.get());
  canceller.join();
  EXPECT_EQ(code(), TF_CANCELLED) << message();
  EXPECT_TRUE(TFE_CancellationManagerIsCancelled(cancel.get()));
  Execute(waiting.get());  // and at once
  EXPECT_EQ(code(), TF_CANCELLED) << message();
}

TEST_F(EagerStateTest, FunctionsAreOps) {
  Add(Function("Twice", {"x"}, {{"y", "sum:z:0"}})
          .Node("sum", "AddV2", {"x", "x"}));
  EXPECT_EQ(TFE_ContextHasFunction(ctx(), "Twice"), 1);
  const Handle three = Scalar<int32_t>(3);
  EXPECT_EQ(ReadScalar<int32_t>(Get("Twice", {three.get()})), 6);
  EXPECT_EQ(ReadScalar<int32_t>(Get("PartitionedCall", {},
                                    [&](TFE_Op* op) {
                                      TFE_TensorHandle* in[] = {three.get()};
                                      TFE_OpAddInputList(op, in, 1, s());
                                      const TF_DataType types[] = {TF_INT32};
                                      TFE_OpSetAttrTypeList(op, "Tout", types,
                                                            1);
                                      SetFunction(op, "f", "Twice");
                                    })),
            6);
  // Functions call functions.
  Add(Function("Fourfold", {"x"}, {{"y", "b:y:0"}})
          .Node("a", "Twice", {"x"})
          .Node("b", "Twice", {"a:y:0"}));
  EXPECT_EQ(ReadScalar<int32_t>(Get("Fourfold", {three.get()})), 12);
  // The signature is checked.
  const Handle f = Scalar(1.0f);
  Run("Twice", {f.get()});
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT) << message();
  Run("Twice", {three.get(), three.get()});
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT) << message();
  Run("Twice", {});
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT) << message();
  // A failure inside names the function.
  Add(Function("Bad", {"x"}, {{"y", "d:z:0"}})
          .Const("zero", 0)
          .Node("d", "FloorDiv", {"x", "zero:output:0"}));
  Run("Bad", {three.get()});
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("Bad"), std::string::npos) << message();

  Owned<TF_Buffer> buffer(TF_NewBuffer());
  TFE_ContextGetFunctionDef(ctx(), "Twice", buffer.get(), s());
  pb::FunctionDef def;
  ASSERT_TRUE(def.ParseFromArray(buffer->data, buffer->length));
  EXPECT_EQ(def.signature().name(), "Twice");
  TFE_ContextGetFunctionDef(ctx(), "Zz", buffer.get(), s());
  EXPECT_EQ(code(), TF_NOT_FOUND);
  const Owned<TF_Function> function(TFE_ContextGetFunction(ctx(), "Bad", s()));
  EXPECT_STREQ(TF_FunctionName(function.get()), "Bad");
}

TEST_F(EagerStateTest, AFunctionThatWasRemovedMayComeBackAnother) {
  const Function twice =
      Function("F", {"x"}, {{"y", "r:z:0"}}).Node("r", "AddV2", {"x", "x"});
  const Function square =
      Function("F", {"x"}, {{"y", "r:z:0"}}).Node("r", "Mul", {"x", "x"});
  const Handle five = Scalar<int32_t>(5);
  Add(twice);
  Add(twice);  // counted
  Op op = NewOp("F", {five.get()});
  EXPECT_EQ(ReadScalar<int32_t>(Execute(op.get())[0]), 10);
  const std::string bytes = square.bytes();
  TFE_ContextAddFunctionDef(ctx(), bytes.data(), bytes.size(), s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT) << message();
  TFE_ContextRemoveFunction(ctx(), "F", s());
  EXPECT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(TFE_ContextHasFunction(ctx(), "F"), 1);
  TFE_ContextRemoveFunction(ctx(), "F", s());
  EXPECT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(TFE_ContextHasFunction(ctx(), "F"), 0);
  TFE_ContextRemoveFunction(ctx(), "F", s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_NewOp(ctx(), "F", s()), nullptr);
  EXPECT_EQ(code(), TF_NOT_FOUND);
  Execute(op.get());  // described before the function went
  EXPECT_EQ(code(), TF_NOT_FOUND) << message();
  Add(square);
  EXPECT_EQ(ReadScalar<int32_t>(Get("F", {five.get()})), 25);
  // An op's name cannot be a function's.
  const std::string op_name = Function("Neg", {"x"}, {{"y", "x"}}).bytes();
  TFE_ContextAddFunctionDef(ctx(), op_name.data(), op_name.size(), s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
}

TEST_F(EagerStateTest, FunctionalIfAndWhile) {
  Add(Function("Twice", {"x"}, {{"y", "r:z:0"}})
          .Node("r", "AddV2", {"x", "x"}));
  Add(Function("Negative", {"x"}, {{"y", "r:y:0"}}).Node("r", "Neg", {"x"}));
  const Handle five = Scalar<int32_t>(5);
  const auto branch = [&](bool condition) {
    const Handle c = Scalar(condition);
    return ReadScalar<int32_t>(Get("If", {c.get()}, [&](TFE_Op* op) {
      TFE_TensorHandle* in[] = {five.get()};
      TFE_OpAddInputList(op, in, 1, s());
      const TF_DataType types[] = {TF_INT32};
      TFE_OpSetAttrTypeList(op, "Tout", types, 1);
      // One by name, one by an op.
      SetFunction(op, "then_branch", "Twice");
      const Op negative = NewOp("Negative");
      TFE_OpSetAttrFunction(op, "else_branch", negative.get());
    }));
  };
  EXPECT_EQ(branch(true), 10);
  EXPECT_EQ(branch(false), -5);

  Add(Function("Small", {"x"}, {{"y", "r:z:0"}})
          .RetType(0, pb::DT_BOOL)
          .Const("limit", 100)
          .Node("r", "Less", {"x", "limit:output:0"}));
  const auto loop = [&] {
    Op op = NewOp("While");
    TFE_TensorHandle* in[] = {five.get()};
    TFE_OpAddInputList(op.get(), in, 1, s());
    SetFunction(op.get(), "cond", "Small");
    SetFunction(op.get(), "body", "Twice");
    return Execute(op.get());
  };
  const Handles out = loop();
  ASSERT_EQ(out.size(), 1u) << message();
  EXPECT_EQ(ReadScalar<int32_t>(out[0]), 160);

  const Handle index = Scalar<int32_t>(1);
  const Handle chosen = Get("Case", {index.get()}, [&](TFE_Op* op) {
    TFE_TensorHandle* in[] = {five.get()};
    TFE_OpAddInputList(op, in, 1, s());
    const TF_DataType types[] = {TF_INT32};
    TFE_OpSetAttrTypeList(op, "Tout", types, 1);
    const Op a = NewOp("Twice"), b = NewOp("Negative");
    const TFE_Op* branches[] = {a.get(), b.get()};
    TFE_OpSetAttrFunctionList(op, "branches", branches, 2);
  });
  EXPECT_EQ(ReadScalar<int32_t>(chosen), -5);
}

TEST_F(EagerStateTest, DatasetsAndIterators) {
  // The argument of a dataset's function is the element: an int64.
  Function square("SquareOf", {"x"}, {{"y", "r:z:0"}});
  square.Node("r", "Mul", {"x", "x"});
  pb::FunctionDef def;
  ASSERT_TRUE(def.ParseFromString(square.bytes()));
  def.mutable_signature()->mutable_input_arg(0)->set_type(pb::DT_INT64);
  def.mutable_signature()->mutable_output_arg(0)->set_type(pb::DT_INT64);
  (*def.mutable_node_def(0)->mutable_attr())["T"].set_type(pb::DT_INT64);
  const std::string bytes = def.SerializeAsString();
  TFE_ContextAddFunctionDef(ctx(), bytes.data(), bytes.size(), s());
  ASSERT_EQ(code(), TF_OK) << message();

  const int64_t* shapes[] = {nullptr};
  const int ranks[] = {0};
  const TF_DataType types[] = {TF_INT64};
  const auto elements = [&](TFE_Op* op) {
    TFE_OpSetAttrTypeList(op, "output_types", types, 1);
    TFE_OpSetAttrShapeList(op, "output_shapes", shapes, ranks, 1, s());
    EXPECT_EQ(code(), TF_OK) << message();
  };
  const Handle zero = Scalar<int64_t>(0), four = Scalar<int64_t>(4),
               one = Scalar<int64_t>(1);
  const Handle range =
      Get("RangeDataset", {zero.get(), four.get(), one.get()}, elements);
  ASSERT_NE(range, nullptr);
  const Handle squares = Get("MapDataset", {range.get()}, [&](TFE_Op* op) {
    TFE_OpAddInputList(op, nullptr, 0, s());
    SetFunction(op, "f", "SquareOf");
    elements(op);
  });
  ASSERT_NE(squares, nullptr);
  const Handle iterator = Get("AnonymousIterator", {}, elements);
  ASSERT_NE(iterator, nullptr);
  Run("MakeIterator", {squares.get(), iterator.get()});
  ASSERT_EQ(code(), TF_OK) << message();
  std::vector<int64_t> values;
  for (;;) {
    const Handles next = Run("IteratorGetNext", {iterator.get()}, elements);
    if (code() != TF_OK) break;
    values.push_back(ReadScalar<int64_t>(next[0]));
  }
  EXPECT_EQ(code(), TF_OUT_OF_RANGE) << message();
  EXPECT_EQ(values, (std::vector<int64_t>{0, 1, 4, 9}));
}

// Functions that threads add, call and remove at once.
TEST_F(EagerStateTest, FunctionsFromManyThreads) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string name = "F" + std::to_string(t);
      const std::string bytes = Function(name, {"x"}, {{"y", "r:z:0"}})
                                    .Const("c", t)
                                    .Node("r", "AddV2", {"x", "c:output:0"})
                                    .bytes();
      Status own(TF_NewStatus());
      for (int k = 0; k < 20; ++k) {
        TFE_ContextAddFunctionDef(ctx(), bytes.data(), bytes.size(), own.get());
        const Handle x = Scalar<int32_t>(k);
        {
          Op op(TFE_NewOp(ctx(), name.c_str(), own.get()));
          TFE_OpAddInput(op.get(), x.get(), own.get());
          TFE_TensorHandle* out = nullptr;
          int n = 1;
          TFE_Execute(op.get(), &out, &n, own.get());
          const Handle h(out);
          if (h == nullptr || ReadScalar<int32_t>(h) != k + t) ++wrong;
        }
        TFE_ContextRemoveFunction(ctx(), name.c_str(), own.get());
        if (TF_GetCode(own.get()) != TF_OK) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace eager_test
