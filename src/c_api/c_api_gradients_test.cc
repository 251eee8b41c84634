// TF_AddGradients as a client of C sees it.
#include <vector>

#include "c_api/c_api_test_util.h"

namespace c_api_test {
namespace {

class GradientsCApiTest : public CApiTest {
 protected:
  TF_Operation* Unary(const char* op, const char* name, TF_Operation* x) {
    TF_OperationDescription* d = TF_NewOperation(g(), op, name);
    TF_AddInput(d, {x, 0});
    return Finish(d);
  }
  // The names of the gradients, or "" for none.
  std::vector<std::string> Gradients(std::vector<TF_Output> ys,
                                     std::vector<TF_Output> xs,
                                     const char* prefix = nullptr,
                                     TF_Output* dx = nullptr) {
    std::vector<TF_Output> dy(xs.size());
    TF_AddGradientsWithPrefix(g(), prefix, ys.data(),
                              static_cast<int>(ys.size()), xs.data(),
                              static_cast<int>(xs.size()), dx, s(), dy.data());
    std::vector<std::string> names;
    for (const TF_Output& d : dy) {
      names.push_back(d.oper == nullptr ? "" : TF_OperationName(d.oper));
    }
    return names;
  }
  using Names = std::vector<std::string>;
};

TEST_F(GradientsCApiTest, EachCallHasAScopeOfItsOwn) {
  TF_Operation* const x = Placeholder("x", TF_FLOAT);
  TF_Operation* const y = Unary("Tanh", "y", x);
  EXPECT_EQ(Gradients({{y, 0}}, {{x, 0}}), Names{"gradients/y_grad/TanhGrad"});
  EXPECT_EQ(Gradients({{y, 0}}, {{x, 0}}),
            Names{"gradients_1/y_grad/TanhGrad"});
  EXPECT_EQ(Gradients({{y, 0}}, {{x, 0}}, "p"), Names{"p/y_grad/TanhGrad"});
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_Output dx = {x, 0};
  EXPECT_EQ(Gradients({{y, 0}}, {{x, 0}}, "q", &dx),
            Names{"q/y_grad/TanhGrad"});
  EXPECT_EQ(TF_GraphOperationByName(g(), "q/Fill"), nullptr) << "dx was given";
}

TEST_F(GradientsCApiTest, RefusalsAreThoseOfTensorFlow) {
  TF_Operation* const x = Placeholder("x", TF_FLOAT);
  TF_Operation* const z = Placeholder("z", TF_FLOAT);
  TF_Operation* const y = Unary("Tanh", "y", x);
  TF_Operation* const lu = Unary("Lu", "lu", x);
  TF_Operation* const strings = Placeholder("strings", TF_STRING);
  const struct {
    TF_Operation *y, *x;
    const char* prefix;
    TF_Code code;
    const char* says;
  } cases[] = {
      {y, z, nullptr, TF_INVALID_ARGUMENT,
       "Cannot compute the partial derivative for node 'z' as it's unreachable "
       "from the output node(s)."},
      {y, x, "y", TF_INVALID_ARGUMENT,
       "prefix [y] conflicts with existing node in the graph named [y]"},
      {lu, x, nullptr, TF_NOT_FOUND,
       "No gradient defined for operation 'lu' (op type: Lu)"},
      // No gradient in TensorFlow's Python, an error in its C++.
      {Unary("HSVToRGB", "hsv", x), x, nullptr, TF_NOT_FOUND,
       "No gradient defined for operation 'hsv' (op type: HSVToRGB)"},
      {Unary("Square", "on", Unary("Rint", "rint", x)), x, nullptr,
       TF_NOT_FOUND, "No gradient defined for operation 'rint'"},
      {Unary("AsString", "text", x), x, nullptr, TF_NOT_FOUND,
       "No gradient defined for operation 'text'"},
      {Unary("StringToNumber", "number", strings), strings, nullptr,
       TF_NOT_FOUND, "No gradient defined for operation 'number'"},
      {y, x, "", TF_INVALID_ARGUMENT, "prefix [] is no name scope"},
      {y, x, "a b!/", TF_INVALID_ARGUMENT, "prefix [a b!/] is no name scope"},
      {y, x, "x:0", TF_INVALID_ARGUMENT, "prefix [x:0] is no name scope"},
      {y, x, "_x", TF_INVALID_ARGUMENT, "prefix [_x] is no name scope"},
      {nullptr, x, nullptr, TF_INVALID_ARGUMENT, "y"},
      {y, nullptr, nullptr, TF_INVALID_ARGUMENT, "x"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Gradients({{c.y, 0}}, {{c.x, 0}}, c.prefix), Names{""});
    EXPECT_EQ(TF_GetCode(s()), c.code) << message();
    EXPECT_NE(message().find(c.says), std::string::npos) << message();
  }
  TF_AddGradients(nullptr, nullptr, 0, nullptr, 0, nullptr, s(), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
}

TEST_F(GradientsCApiTest, NoGradientGoesThroughWhatTensorFlowSays) {
  TF_Operation* const x = Placeholder("x", TF_FLOAT);
  TF_Operation* const i = Placeholder("i", TF_INT32);
  const struct {
    TF_Operation *y, *x;
  } cases[] = {{Unary("Floor", "floor", x), x},
               {Unary("Shape", "shape", x), x},
               {Unary("Square", "on", Unary("StopGradient", "stop", x)), x},
               {Unary("Square", "of_integers", i), i}};
  for (const auto& c : cases) {
    EXPECT_EQ(Gradients({{c.y, 0}}, {{c.x, 0}}), Names{""});
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  }
}

TEST_F(GradientsCApiTest, GradientsOfYHaveItsType) {
  TF_Operation* const x = Placeholder("x", TF_FLOAT);
  for (const char* op : {"Tanh", "Identity"}) {
    TF_Operation* const y = Unary(op, op, x);
    for (const TF_DataType type :
         {TF_DOUBLE, TF_HALF, TF_INT32, TF_STRING, TF_COMPLEX64}) {
      static int n = 0;
      TF_Output dx = {Placeholder(("dx" + std::to_string(n++)).c_str(), type),
                      0};
      EXPECT_EQ(Gradients({{y, 0}}, {{x, 0}}, nullptr, &dx), Names{""});
      EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
      EXPECT_NE(message().find("must have its type float"), message().npos)
          << message();
    }
  }
}

}  // namespace
}  // namespace c_api_test
