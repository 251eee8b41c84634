// Loops that a client of C builds with TF_NewWhile, and gradients through them.
#include <vector>

#include "c_api/c_api_test_util.h"

namespace c_api_test {
namespace {

class WhileCApiTest : public CApiTest {
 protected:
  static TF_Output Binary(TF_Graph* g, const char* op, const char* name,
                          TF_Output a, TF_Output b, TF_Status* s) {
    TF_OperationDescription* const d = TF_NewOperation(g, op, name);
    TF_AddInput(d, a);
    TF_AddInput(d, b);
    TF_Operation* const made = TF_FinishOperation(d, s);
    EXPECT_EQ(TF_GetCode(s), TF_OK) << TF_Message(s);
    return {made, 0};
  }
  TF_Output Const(TF_Graph* g, const char* name, float v) {
    Tensor t(TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof(v)));
    std::memcpy(TF_TensorData(t.get()), &v, sizeof(v));
    TF_OperationDescription* const d = TF_NewOperation(g, "Const", name);
    TF_SetAttrType(d, "dtype", TF_FLOAT);
    TF_SetAttrTensor(d, "value", t.get(), s());
    return {TF_FinishOperation(d, s()), 0};
  }
  // a = x; while (a < limit) a = a * x + 1. Returns the outputs for a, x and
  // limit.
  std::vector<TF_Output> Loop(TF_Output x, TF_Output limit) {
    TF_Output inputs[] = {x, x, limit};
    TF_WhileParams p = TF_NewWhile(g(), inputs, 3, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    p.name = "loop";
    p.cond_output = Binary(p.cond_graph, "Less", "less", p.cond_inputs[0],
                           p.cond_inputs[2], s());
    const TF_Output product = Binary(p.body_graph, "Mul", "mul",
                                     p.body_inputs[0], p.body_inputs[1], s());
    p.body_outputs[0] = Binary(p.body_graph, "AddV2", "add", product,
                               Const(p.body_graph, "one", 1), s());
    p.body_outputs[1] = p.body_inputs[1];
    p.body_outputs[2] = p.body_inputs[2];
    std::vector<TF_Output> outputs(3);
    TF_FinishWhile(&p, s(), outputs.data());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    return outputs;
  }
  float Float(TF_Output fetch, std::vector<TF_Output> feeds,
              std::vector<float> values) {
    std::vector<TF_Tensor*> tensors;
    for (const float v : values) {
      tensors.push_back(TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof(v)));
      std::memcpy(TF_TensorData(tensors.back()), &v, sizeof(v));
    }
    TF_Session* const session = NewSession();
    TF_Tensor* result = nullptr;
    TF_SessionRun(session, nullptr, feeds.data(), tensors.data(),
                  static_cast<int>(feeds.size()), &fetch, &result, 1, nullptr,
                  0, nullptr, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    float v = -1;
    if (result != nullptr) std::memcpy(&v, TF_TensorData(result), sizeof(v));
    for (TF_Tensor* t : tensors) TF_DeleteTensor(t);
    TF_DeleteTensor(result);
    std::unique_ptr<TF_Status, Deleter> ignored(TF_NewStatus());
    TF_DeleteSession(session, ignored.get());
    return v;
  }
};

TEST_F(WhileCApiTest, LoopsRunAndHaveGradients) {
  const TF_Output x = {Placeholder("x", TF_FLOAT), 0};
  const TF_Output limit = {Placeholder("limit", TF_FLOAT), 0};
  const std::vector<TF_Output> out = Loop(x, limit);
  for (const char* name :
       {"loop/Enter", "loop/Enter_2", "loop/Merge", "loop/cond/less",
        "loop/LoopCond", "loop/Switch", "loop/body/mul", "loop/NextIteration",
        "loop/Exit"}) {
    EXPECT_NE(TF_GraphOperationByName(g(), name), nullptr) << name;
  }
  EXPECT_EQ(TF_GraphOperationByName(g(), "loop/cond/cond_input0"), nullptr);
  // 2, 5, 11, 23.
  EXPECT_EQ(Float(out[0], {x, limit}, {2, 20}), 23);
  EXPECT_EQ(Float(out[0], {x, limit}, {2, 1}), 2) << "no iteration";
  TF_Output y = out[0], by = x, dx;
  TF_AddGradients(g(), &y, 1, &by, 1, nullptr, s(), &dx);
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  // x^4 + x^2 + x + 1 at 2.
  EXPECT_EQ(Float(dx, {x, limit}, {2, 20}), 4 * 8 + 2 * 2 + 1);
  EXPECT_EQ(Float(dx, {x, limit}, {2, 1}), 1);
  const std::vector<TF_Output> second = Loop(out[0], limit);
  EXPECT_STREQ(TF_OperationName(second[0].oper), "loop_1/Exit");
}

TEST_F(WhileCApiTest, RefusalsFreeWhatTheyWereGiven) {
  const TF_Output x = {Placeholder("x", TF_FLOAT), 0};
  const struct {
    const char* name;
    bool set_cond, set_body, bool_cond, float_body;
    const char* says;
  } cases[] = {
      {"loop", false, true, true, true, "`cond_output` field isn't set"},
      {"loop", true, false, true, true, "`body_outputs[0]` field isn't set"},
      {nullptr, true, true, true, true, "`name` field is null"},
      {"loop", true, true, false, true, "has type float, wanted bool"},
      {"loop", true, true, true, false, "has type bool, wanted that"},
  };
  for (const auto& c : cases) {
    TF_Output in = x, out = {nullptr, 7};
    TF_WhileParams p = TF_NewWhile(g(), &in, 1, s());
    ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
    p.name = c.name;
    if (c.set_cond) {
      p.cond_output = Binary(p.cond_graph, c.bool_cond ? "Less" : "Mul", "c",
                             p.cond_inputs[0], p.cond_inputs[0], s());
    }
    if (c.set_body) {
      p.body_outputs[0] = Binary(p.body_graph, c.float_body ? "Mul" : "Less",
                                 "b", p.body_inputs[0], p.body_inputs[0], s());
    }
    TF_FinishWhile(&p, s(), &out);
    EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
    EXPECT_NE(message().find(c.says), std::string::npos) << message();
    EXPECT_EQ(out.index, 7);
  }
  size_t pos = 0;
  int nodes = 0;
  while (TF_GraphNextOperation(g(), &pos) != nullptr) ++nodes;
  EXPECT_EQ(nodes, 1) << "what failed left nodes";
}

TEST_F(WhileCApiTest, BadArguments) {
  TF_Output in = {Placeholder("x", TF_FLOAT), 0}, bad = {in.oper, 3};
  TF_Output none = {nullptr, 0};
  EXPECT_EQ(TF_NewWhile(nullptr, &in, 1, s()).ninputs, 0);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_NewWhile(g(), &in, 0, s()).ninputs, 0);
  EXPECT_EQ(message(), "TF_NewWhile() must be passed at least one input");
  for (TF_Output* const input :
       {&bad, &none, static_cast<TF_Output*>(nullptr)}) {
    EXPECT_EQ(TF_NewWhile(g(), input, 1, s()).cond_graph, nullptr);
    EXPECT_NE(TF_GetCode(s()), TF_OK);
  }
  TF_WhileParams empty = TF_NewWhile(g(), &in, -1, s());
  TF_FinishWhile(&empty, s(), &in);
  EXPECT_EQ(message(),
            "TF_WhileParams must be created by successful TF_NewWhile() call");
  TF_FinishWhile(nullptr, s(), &in);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_AbortWhile(nullptr);
  TF_AbortWhile(&empty);
  const TF_WhileParams p = TF_NewWhile(g(), &in, 1, s());
  TF_AbortWhile(&p);
}

}  // namespace
}  // namespace c_api_test
