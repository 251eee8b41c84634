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

}  // namespace
}  // namespace c_api_test
