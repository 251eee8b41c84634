// A library of kernels in C that was built with the headers of an earlier
// version (tests/abi) loads and runs. The headers are kept instead of a binary:
// what a compiler makes of them is what an old library contains, for any
// processor, and what they say can be read.
#include <gtest/gtest.h>

#include "c_api/c_api_test_util.h"
#include "tensorflow/c/tf_tstring.h"

namespace c_api_test {
namespace {

class AbiTest : public CApiTest {
 protected:
  void SetUp() override {
    TF_Library* const library =
        TF_LoadLibrary(HEADRACE_TEST_FOLDER "/libtest_weighted_sum.so", s());
    ASSERT_NE(library, nullptr) << message();
    TF_DeleteLibraryHandle(library);
  }
  TF_Operation* WeightedSum(const char* name, std::vector<TF_Operation*> x,
                            std::vector<int64_t> factors) {
    TF_OperationDescription* const d =
        TF_NewOperation(g(), "AbiWeightedSum", name);
    std::vector<TF_Output> inputs;
    for (TF_Operation* input : x) inputs.push_back({input, 0});
    TF_AddInputList(d, inputs.data(), inputs.size());
    TF_SetAttrIntList(d, "factors", factors.data(), factors.size());
    return Finish(d);
  }
  Tensor Floats(std::vector<float> values) {
    const int64_t n = values.size();
    Tensor t(TF_AllocateTensor(TF_FLOAT, &n, 1, n * sizeof(float)));
    std::copy(values.begin(), values.end(),
              static_cast<float*>(TF_TensorData(t.get())));
    return t;
  }
};

TEST_F(AbiTest, AKernelOfTheFirstVersionRuns) {
  TF_Operation* const a = Placeholder("a", TF_FLOAT);
  TF_Operation* const b = Placeholder("b", TF_FLOAT);
  TF_Operation* const sum = WeightedSum("sum", {a, b}, {2, -1});
  ASSERT_NE(sum, nullptr) << message();
  EXPECT_EQ(TF_GraphGetTensorNumDims(g(), {sum, 0}, s()), 1);
  EXPECT_EQ(TF_GraphGetTensorNumDims(g(), {sum, 1}, s()), 0);
  TF_Session* const session = NewSession();
  const TF_Output feeds[] = {{a, 0}, {b, 0}}, fetches[] = {{sum, 0}, {sum, 1}};
  const Tensor x = Floats({1, 2, 3}), z = Floats({10, 20, 30}),
               shorter = Floats({1});
  TF_Tensor* in[] = {x.get(), z.get()};
  TF_Tensor* out[] = {nullptr, nullptr};
  TF_SessionRun(session, nullptr, feeds, in, 2, fetches, out, 2, nullptr, 0,
                nullptr, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  const Tensor y(out[0]), note(out[1]);
  const float* const got = static_cast<float*>(TF_TensorData(y.get()));
  EXPECT_EQ(std::vector<float>(got, got + 3),
            (std::vector<float>{-8, -16, -24}));
  const auto* text = static_cast<TF_TString*>(TF_TensorData(note.get()));
  EXPECT_EQ(std::string(TF_StringGetDataPointer(text), TF_StringGetSize(text)),
            "sum");

  in[1] = shorter.get();
  TF_SessionRun(session, nullptr, feeds, in, 2, fetches, out, 2, nullptr, 0,
                nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("sizes differ"), message().npos) << message();
  TF_DeleteSession(session, s());
}

TEST_F(AbiTest, ItsRefusalsAreReported) {
  TF_Operation* const a = Placeholder("a", TF_FLOAT);
  TF_Session* const session = NewSession();
  const Tensor x = Floats({1});
  for (const auto& [factors, error] :
       std::vector<std::pair<std::vector<int64_t>, std::string>>{
           {{1, 2, 3, 4, 5}, "more than 4 factors"},
           {{1, 2}, "as many factors as inputs"}}) {
    TF_Operation* const y =
        WeightedSum(error.substr(0, 2).c_str(), {a}, factors);
    ASSERT_NE(y, nullptr) << message();
    EXPECT_EQ(Run(session, a, x.get(), y), nullptr);
    EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
    EXPECT_NE(message().find(error), message().npos) << message();
  }
  TF_DeleteSession(session, s());
}

}  // namespace
}  // namespace c_api_test
