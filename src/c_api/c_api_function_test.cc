// Functions that a client of C makes of a graph.
#include <cstdlib>
#include <vector>

#include "c_api/c_api_test_util.h"
#include "headrace/graph.pb.h"
#include "tensorflow/c/c_api_experimental.h"

extern "C" void TF_GraphRemoveFunction(TF_Graph*, const char*, TF_Status*);

namespace c_api_test {
namespace {

class FunctionCApiTest : public CApiTest {
 protected:
  using Function = std::unique_ptr<TF_Function, Deleter>;
  Function Make(const char* name, int num_opers,
                std::vector<const TF_Operation*> opers,
                std::vector<TF_Output> inputs, std::vector<TF_Output> outputs,
                std::vector<const char*> names = {}, bool hash = false) {
    return Function(TF_GraphToFunction(
        g(), name, hash, num_opers, opers.data(),
        static_cast<int>(inputs.size()), inputs.data(),
        static_cast<int>(outputs.size()), outputs.data(),
        names.empty() ? nullptr : names.data(), nullptr, "descr", s()));
  }
  // "name(arguments) -> results; nodes: op(inputs); results: what they are".
  std::string Text(TF_Function* f) {
    Buffer b(TF_NewBuffer());
    TF_FunctionToFunctionDef(f, b.get(), s());
    headrace::pb::FunctionDef def;
    EXPECT_TRUE(def.ParseFromString(Bytes(b.get())));
    std::string text = def.signature().name() + "(";
    for (const auto& a : def.signature().input_arg()) text += a.name() + " ";
    text += ")";
    for (const auto& n : def.node_def()) {
      text += " " + n.name() + "=" + n.op() + "(";
      for (const auto& i : n.input()) text += i + " ";
      text += ")";
    }
    for (const auto& r : def.signature().output_arg()) {
      text += " -> " + r.name() + "=" + def.ret().at(r.name());
    }
    return text;
  }
};

TEST_F(FunctionCApiTest, NamesAreThoseOfTensorFlow) {
  TF_Operation* const a = Placeholder("Feed/1");
  TF_Operation* const b = Placeholder("b");
  TF_Operation* const y = Add("Y", a, b);
  TF_Operation* const z = Add("z", y, y);
  const auto text = [&](Function f) {
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    return f == nullptr ? "" : Text(f.get());
  };
  EXPECT_EQ(text(Make("all", -1, {}, {{a, 0}, {b, 0}}, {{z, 0}})),
            "all(feed_1 b ) Y=Add(feed_1 b ) z_0=Add(Y:z:0 Y:z:0 ) -> "
            "z=z_0:z:0");
  EXPECT_EQ(text(Make("named", -1, {}, {{a, 0}, {b, 0}}, {{z, 0}, {y, 0}},
                      {"o1", "o2"})),
            "named(feed_1 b ) Y=Add(feed_1 b ) z=Add(Y:z:0 Y:z:0 ) -> "
            "o1=z:z:0 -> o2=Y:z:0");
  EXPECT_EQ(text(Make("subset", 1, {z}, {{y, 0}}, {{z, 0}})),
            "subset(y ) z_0=Add(y y ) -> z=z_0:z:0");
  EXPECT_EQ(text(Make("same", 0, {}, {{a, 0}}, {{a, 0}})),
            "same(feed_1_0 ) -> feed_1=feed_1_0");
  Function hashed = Make("h", 1, {z}, {{y, 0}}, {{z, 0}}, {}, true);
  Function again = Make("h", 1, {z}, {{y, 0}}, {{z, 0}}, {}, true);
  Function other = Make("h", -1, {}, {{a, 0}, {b, 0}}, {{z, 0}}, {}, true);
  EXPECT_STREQ(TF_FunctionName(hashed.get()), TF_FunctionName(again.get()));
  EXPECT_STRNE(TF_FunctionName(hashed.get()), TF_FunctionName(other.get()));
}

TEST_F(FunctionCApiTest, Refusals) {
  TF_Operation* const a = Placeholder("a");
  TF_Operation* const b = Placeholder("b");
  TF_Operation* const y = Add("y", a, b);
  TF_Operation* const z = Add("z", y, y);
  struct Case {
    int num_opers;
    std::vector<const TF_Operation*> opers;
    std::vector<TF_Output> inputs, outputs;
    std::vector<const char*> names;
    TF_Code code;
    const char* says;
  };
  const Case cases[] = {
      {-1,
       {},
       {{a, 0}, {a, 0}},
       {{z, 0}},
       {},
       TF_INVALID_ARGUMENT,
       "TF_Output a:0 appears more than once in the input list"},
      {1,
       {z},
       {{a, 0}},
       {{z, 0}},
       {},
       TF_INVALID_ARGUMENT,
       "Input 0, 'y:0', of node 'z' in function 'f' is not available"},
      {1,
       {y},
       {{a, 0}, {b, 0}},
       {{z, 0}},
       {},
       TF_INVALID_ARGUMENT,
       "TF_Output z:0 is neither in the function body nor among"},
      {-1,
       {},
       {{a, 2}, {b, 0}},
       {{z, 0}},
       {},
       TF_OUT_OF_RANGE,
       "Node 'a' (type: 'Placeholder', num of outputs: 1) does not have "
       "output 2"},
      {-1,
       {},
       {{a, 0}, {b, 0}},
       {{z, 0}, {y, 0}},
       {"o", "o"},
       TF_INVALID_ARGUMENT,
       "Cannot have duplicate output names. Name 'o'"},
      {1, {nullptr}, {{a, 0}}, {{z, 0}}, {}, TF_INVALID_ARGUMENT, "NULL"},
      {-1, {}, {{nullptr, 0}}, {{z, 0}}, {}, TF_INVALID_ARGUMENT, "NULL"},
      {-3, {}, {{a, 0}}, {{z, 0}}, {}, TF_INVALID_ARGUMENT, "-3"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Make("f", c.num_opers, c.opers, c.inputs, c.outputs, c.names),
              nullptr);
    EXPECT_EQ(TF_GetCode(s()), c.code) << message();
    EXPECT_NE(message().find(c.says), std::string::npos) << message();
  }
  EXPECT_EQ(Make(nullptr, -1, {}, {}, {}), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
}

TEST_F(FunctionCApiTest, ANodeCallsTheFunctionUntilItIsRemoved) {
  TF_Operation* const a = Placeholder("a");
  TF_Operation* const b = Placeholder("b");
  TF_Operation* const y = Add("y", a, b);
  const TF_Operation* const control[] = {y};
  const TF_Output inputs[] = {{a, 0}, {b, 0}}, outputs[] = {{y, 0}};
  Function f(TF_GraphToFunctionWithControlOutputs(
      g(), "plus", 0, -1, nullptr, 2, inputs, 1, outputs, nullptr, 1, control,
      nullptr, nullptr, nullptr, s()));
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_GraphCopyFunction(g(), f.get(), nullptr, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_OperationDescription* const d = TF_NewOperation(g(), "plus", "call");
  TF_AddInput(d, {Const("two", 2), 0});
  TF_AddInput(d, {Const("three", 3), 0});
  TF_Operation* const call = Finish(d);
  TF_Session* const session = NewSession();
  EXPECT_EQ(Value(Run(session, nullptr, nullptr, call).get()), 5);
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_DeleteSession(session, s());
  TF_GraphRemoveFunction(g(), "plus", s());
  EXPECT_EQ(TF_GetCode(s()), TF_FAILED_PRECONDITION) << "a node calls it";
  TF_GraphRemoveFunction(g(), "minus", s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_GraphNumFunctions(g()), 1);
}

// a, then a separator, then b.
TF_Operation* Join(TF_Graph* g, const TF_Output (&parts)[2], const char* name,
                   const char* separator, TF_Status* s) {
  TF_OperationDescription* const d = TF_NewOperation(g, "StringJoin", name);
  TF_AddInputList(d, parts, 2);
  TF_SetAttrPlaceholder(d, "separator", separator);
  return TF_FinishOperation(d, s);
}

TEST_F(FunctionCApiTest, APlaceholderBecomesAnAttrOfTheFunction) {
  const TF_Output parts[2] = {{Placeholder("a", TF_STRING), 0},
                              {Placeholder("b", TF_STRING), 0}};
  TF_Operation* const once = Join(g(), parts, "once", "Sep", s());
  ASSERT_NE(once, nullptr) << message();
  TF_Operation* const twice =
      Join(g(), {parts[0], {once, 0}}, "twice", "Sep", s());
  const Function f = Make("joined", -1, {}, {parts[0], parts[1]}, {{twice, 0}});
  ASSERT_NE(f, nullptr) << message();
  Buffer b(TF_NewBuffer());
  TF_FunctionToFunctionDef(f.get(), b.get(), s());
  headrace::pb::FunctionDef def;
  ASSERT_TRUE(def.ParseFromString(Bytes(b.get())));
  size_t length = 0;
  const char* const debug = TF_FunctionDebugString(f.get(), &length);
  EXPECT_EQ(std::string(debug, length), def.DebugString());
  std::free(const_cast<char*>(debug));
  ASSERT_EQ(def.signature().attr_size(), 1);
  EXPECT_EQ(def.signature().attr(0).ShortDebugString(),
            "name: \"Sep\" type: \"string\"");

  TF_Graph* const caller = TF_NewGraph();
  TF_GraphCopyFunction(caller, f.get(), nullptr, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_Output text[2];
  for (int i = 0; i < 2; ++i) {
    TF_OperationDescription* const d =
        TF_NewOperation(caller, "Const", i == 0 ? "x" : "y");
    TF_SetAttrType(d, "dtype", TF_STRING);
    const Tensor t(TF_AllocateTensor(TF_STRING, nullptr, 0, 24));
    auto* const value = static_cast<TF_TString*>(TF_TensorData(t.get()));
    TF_StringInit(value);
    TF_StringCopy(value, i == 0 ? "x" : "y", 1);
    TF_SetAttrTensor(d, "value", t.get(), s());
    text[i] = {Finish(d), 0};
  }
  TF_OperationDescription* d = TF_NewOperation(caller, "joined", "none");
  for (const TF_Output& t : text) TF_AddInput(d, t);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr) << "the attr is missing";
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  d = TF_NewOperation(caller, "joined", "call");
  for (const TF_Output& t : text) TF_AddInput(d, t);
  TF_SetAttrString(d, "Sep", ", ", 2);
  TF_Operation* const call = Finish(d);
  TF_Session* const session = TF_NewSession(caller, nullptr, s());
  const Tensor result = Run(session, nullptr, nullptr, call);
  ASSERT_NE(result, nullptr) << message();
  const auto* const joined =
      static_cast<TF_TString*>(TF_TensorData(result.get()));
  EXPECT_EQ(
      std::string(TF_StringGetDataPointer(joined), TF_StringGetSize(joined)),
      "x, x, y");
  TF_DeleteSession(session, s());
  TF_DeleteGraph(caller);
}

TEST_F(FunctionCApiTest, APlaceholderHasTheTypeOfAnAttrOfTheOp) {
  const TF_Output parts[2] = {{Placeholder("a", TF_STRING), 0},
                              {Placeholder("b", TF_STRING), 0}};
  TF_Operation* const join = Join(g(), parts, "join", "A", s());
  TF_OperationDescription* d = TF_NewOperation(g(), "AsString", "as");
  TF_AddInput(d, {Const("c", 1), 0});
  TF_SetAttrPlaceholder(d, "width", "A");
  TF_Operation* const as = Finish(d);
  d = TF_NewOperation(g(), "Identity", "other");
  TF_AddInput(d, parts[0]);
  TF_SetAttrPlaceholder(d, "_unknown", "B");
  TF_Operation* const other = Finish(d);
  EXPECT_NE(Make("one", 1, {join}, {parts[0], parts[1]}, {{join, 0}}), nullptr);
  EXPECT_EQ(Make("both", 3, {join, as, TF_GraphOperationByName(g(), "c")},
                 {parts[0], parts[1]}, {{join, 0}, {as, 0}}),
            nullptr)
      << "a string and an int";
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  EXPECT_EQ(Make("none", 1, {other}, {parts[0]}, {{other, 0}}), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_UNIMPLEMENTED) << message();
}

}  // namespace
}  // namespace c_api_test
