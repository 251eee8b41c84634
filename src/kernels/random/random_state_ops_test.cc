// Generators whose state is a variable; TensorFlow 2.21's numbers.
#include "framework/kernel/op_tester.h"
#include "framework/kernel/resource_var.h"

namespace headrace {
namespace {

constexpr auto kInvalidInput = absl::StatusCode::kInvalidArgument;

Tensor Shape(std::vector<int64_t> dims) {
  const auto n = static_cast<int64_t>(dims.size());
  return MakeTensor<int64_t>({n}, dims);
}

// An op on a state; input 0 is the variable's handle.
class StateTester : public OpTester {
 public:
  StateTester(const std::string& op, Tensor state) : OpTester(op) {
    ResourceMgr* mgr = device()->resource_manager();
    auto made = [&state](RefPtr<Var>* out) {
      *out = RefPtr<Var>(new Var(state.dtype()));
      return OkStatus();
    };
    EXPECT_EQ(mgr->LookupOrCreate<Var>("c", "v", &var_, made), OkStatus());
    {
      MutexLock lock(var_->mu());
      *var_->tensor() = state;
    }
    Tensor handle(DT_RESOURCE, TensorShape());
    handle.scalar<ResourceHandle>() =
        mgr->MakeHandle<Var>(device()->name(), "c", "v");
    Input(handle);
  }
  StateTester(const std::string& op, std::vector<int64_t> state)
      : StateTester(op, Shape(state)) {}
  std::vector<int64_t> State() {
    MutexLock lock(var_->mu());
    const int64_t* s = var_->tensor()->data<int64_t>();
    return {s, s + var_->tensor()->NumElements()};
  }

 private:
  RefPtr<Var> var_;
};

using Words = std::vector<int64_t>;

TEST(StatefulRandomTest, TheStateMovesOn) {
  StateTester t("StatefulUniform", {1, 2, 3});
  t.Input(MakeScalar<int64_t>(1)).Input(Shape({5}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0),
              MakeTensor<float>({5}, {.45901167f, .53342485f, .9627732f,
                                      .7121686f, .08489156f}));
  EXPECT_EQ(t.State(), (Words{1281, 2, 3}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0),
              MakeTensor<float>({5}, {.7652527f, .63538945f, .89801574f,
                                      .990808f, .94784045f}));
  EXPECT_EQ(t.State(), (Words{2561, 2, 3}));
}

TEST(StatefulRandomTest, TheCounterCarries) {
  StateTester t("StatefulUniform", {-1, -1, 9});
  t.Attr("dtype", DT_DOUBLE);
  t.Input(MakeScalar<int64_t>(3)).Input(Shape({3}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0),
              MakeTensor<double>({3}, {0.4227915504742663, 0.7055068395869024,
                                       0.6410374967816521}),
              1e-15);
  EXPECT_EQ(t.State(), (Words{767, 0, 9}));
}

TEST(StatefulRandomTest, EachDistribution) {
  const struct {
    const char* op;
    DataType dtype;
    Tensor first, second;
  } cases[] = {
      {"StatefulUniformFullInt", DT_UINT64,
       MakeTensor<uint64_t>({3}, {17457156414005493989u, 13176169492553350183u,
                                  2353900733613137338u}),
       MakeTensor<uint64_t>({3}, {5322352679441329230u, 2081660734798582037u,
                                  12932943016269621097u})},
      {"StatefulUniformFullInt", DT_INT32,
       MakeTensor<int32_t>({3}, {1027260645, -230406332, -671400921}),
       MakeTensor<int32_t>({3}, {460516430, 1239206800, -1064546027})},
      {"StatefulStandardNormalV2", DT_FLOAT,
       MakeTensor<float>({3}, {-.26016375f, -1.220522f, -.26770854f}),
       MakeTensor<float>({3}, {-.45852414f, -.07273473f, -2.1311555f})},
      {"StatefulTruncatedNormal", DT_FLOAT,
       MakeTensor<float>({3}, {-.26016375f, -1.220522f, -.26770854f}),
       MakeTensor<float>({3}, {-.45852414f, -.07273473f, .37459412f})}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    StateTester t(c.op, {1, 2, 3});
    t.Attr("dtype", c.dtype);
    t.Input(MakeScalar<int64_t>(1)).Input(Shape({3}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), c.first);
    EXPECT_EQ(t.State(), (Words{769, 2, 3}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), c.second);
  }
}

TEST(StatefulRandomTest, BoundedIntegers) {
  StateTester t("StatefulUniformInt", {1, 2, 3});
  t.Input(MakeScalar<int64_t>(1)).Input(Shape({5}));
  t.Input(MakeScalar<int64_t>(0)).Input(MakeScalar<int64_t>(10));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Shape({9, 3, 8, 7, 3}));
  EXPECT_EQ(t.State(), (Words{1281, 2, 3}));

  StateTester narrow("StatefulUniformInt", {1, 2, 3});
  narrow.Attr("dtype", DT_INT32);
  narrow.Input(MakeScalar<int64_t>(1)).Input(Shape({5}));
  narrow.Input(MakeScalar<int32_t>(0)).Input(MakeScalar<int32_t>(10));
  ASSERT_EQ(narrow.Run(), OkStatus());
  ExpectEqual(narrow.Output(0), MakeTensor<int32_t>({5}, {5, 4, 5, 3, 6}));

  StateTester bad("StatefulUniformInt", {1, 2, 3});
  bad.Input(MakeScalar<int64_t>(1)).Input(Shape({5}));
  bad.Input(MakeScalar<int64_t>(10)).Input(MakeScalar<int64_t>(10));
  ExpectError(bad.Run(), kInvalidInput, "Need minval < maxval, got 10 >= 10");
  EXPECT_EQ(bad.State(), (Words{1, 2, 3}));
}

TEST(StatefulRandomTest, Binomial) {
  StateTester t("StatefulRandomBinomial", {1, 2, 3});
  t.Input(MakeScalar<int64_t>(1)).Input(Shape({5, 2}));
  t.Input(MakeTensor<double>({2}, {10, 100})).Input(MakeScalar<double>(.3));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0),
              MakeTensor<int64_t>({5, 2}, {6, 25, 2, 20, 4, 40, 1, 27, 4, 27}));
  EXPECT_EQ(t.State(), (Words{204801, 2, 3}));
}

// The algorithm is the state's first element.
TEST(StatefulRandomTest, FirstNormalOp) {
  StateTester t("StatefulStandardNormal", {1, 1, 2, 3});
  t.Input(Shape({3}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0),
              MakeTensor<float>({3}, {-.26016375f, -1.220522f, -.26770854f}));
  EXPECT_EQ(t.State(), (Words{1, 769, 2, 3}));
  StateTester unknown("StatefulStandardNormal", {7, 1, 2, 3});
  ExpectError(unknown.Input(Shape({3})).Run(), kInvalidInput,
              "Unsupported algorithm id: 7");
  StateTester small("StatefulStandardNormal", {1, 2, 3});
  ExpectError(small.Input(Shape({3})).Run(), kInvalidInput,
              "at least 4; got 3");
}

TEST(RngSkipTest, BothWays) {
  StateTester skip("RngSkip", {1, 2, 3});
  skip.Input(MakeScalar<int64_t>(1)).Input(MakeScalar<int64_t>(5));
  ASSERT_EQ(skip.Run(), OkStatus());
  EXPECT_EQ(skip.State(), (Words{1281, 2, 3}));
  StateTester back("RngSkip", {1, 2, 3});
  back.Input(MakeScalar<int64_t>(1)).Input(MakeScalar<int64_t>(-5));
  ASSERT_EQ(back.Run(), OkStatus());
  EXPECT_EQ(back.State(), (Words{-1279, 2, 3}));
  StateTester read("RngReadAndSkip", {1, 2, 3, 4});
  read.Input(MakeScalar<int32_t>(1)).Input(MakeScalar<uint64_t>(5));
  ASSERT_EQ(read.Run(), OkStatus());
  ExpectEqual(read.Output(0), Shape({1, 2, 3}));
  EXPECT_EQ(read.State(), (Words{1281, 2, 3, 4}));
}

TEST(StatefulRandomTest, Refusals) {
  struct {
    Tensor state, algorithm, shape;
    absl::StatusCode code;
    const char* message;
  } cases[] = {
      {Shape({1, 2}), MakeScalar<int64_t>(1), Shape({5}), kInvalidInput,
       "size of state must be at least 3; got 2"},
      {MakeTensor<int64_t>({1, 3}, {1, 2, 3}), MakeScalar<int64_t>(1),
       Shape({5}), kInvalidInput, "one and only one dimension"},
      {MakeTensor<int32_t>({3}, {1, 2, 3}), MakeScalar<int64_t>(1), Shape({5}),
       kInvalidInput, "of type int32, wanted int64"},
      {Shape({1, 2, 3}), MakeScalar<int64_t>(9), Shape({5}), kInvalidInput,
       "Unsupported algorithm id: 9"},
      {Shape({1, 2, 3}), MakeScalar<int64_t>(2), Shape({5}),
       absl::StatusCode::kUnimplemented, "ThreeFry"},
      {Shape({1, 2, 3}), Shape({1}), Shape({5}), kInvalidInput,
       "alg must be a scalar"},
      {Shape({1, 2, 3}), MakeScalar<int64_t>(1), Shape({-5}), kInvalidInput,
       "Dimension -5 must be >= 0"},
      {Shape({1, 2, 3}), MakeScalar<int64_t>(1),
       Shape({int64_t{1} << 40, int64_t{1} << 40}), kInvalidInput,
       "more elements than fit"},
      {Shape({1, 2, 3}), MakeScalar<int64_t>(1), MakeScalar<int64_t>(5),
       kInvalidInput, "shape must be a vector"}};
  for (const auto& c : cases) {
    StateTester t("StatefulUniform", c.state);
    t.Input(c.algorithm).Input(c.shape);
    ExpectError(t.Run(), c.code, c.message);
  }
  StateTester types("StatefulUniform", {1, 2, 3});
  types.Attr("dtype", DT_INT32);
  types.Input(MakeScalar<int64_t>(1)).Input(Shape({5}));
  EXPECT_FALSE(types.Run().ok());
}

TEST(NonDeterministicIntsTest, DiffersFromRunToRun) {
  OpTester t("NonDeterministicInts");
  t.Input(Shape({4}));
  ASSERT_EQ(t.Run(), OkStatus());
  const Tensor first = t.Output(0);
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_NE(first.tensor_data(), t.Output(0).tensor_data());
}

}  // namespace
}  // namespace headrace
