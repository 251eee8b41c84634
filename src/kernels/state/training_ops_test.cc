// One step of each rule against the formula written out for a single element,
// on references, on rows of references, and on handles.
#include "framework/kernel/op_tester.h"
#include "framework/kernel/resource_var.h"

namespace headrace {
namespace {

struct RuleCase {
  const char* rule;
  std::vector<double> vars;    // before
  std::vector<double> inputs;  // after the variables; the gradient is kG
  std::vector<double> want;    // after
  int before_grad;             // scalars before the gradient
  bool sparse = true;
};

constexpr double kG = 0.5;

std::vector<RuleCase> Cases() {
  const double g = kG;
  std::vector<RuleCase> c;
  c.push_back({"GradientDescent", {1}, {0.1}, {1 - 0.1 * g}, 1, false});
  c.push_back({"Momentum",
               {1, 2},
               {0.1, 0.9},
               {1 - 0.1 * (2 * 0.9 + g), 2 * 0.9 + g},
               1});
  c.push_back({"Adagrad",
               {1, 2},
               {0.1},
               {1 - 0.1 * g / std::sqrt(2 + g * g), 2 + g * g},
               1});
  {
    const double acc = 2 * 0.9 + 0.1 * g * g;
    const double u = std::sqrt(3 + 1e-2) / std::sqrt(acc + 1e-2) * g;
    c.push_back({"Adadelta",
                 {1, 2, 3},
                 {0.1, 0.9, 1e-2},
                 {1 - 0.1 * u, acc, 3 * 0.9 + 0.1 * u * u},
                 3});
  }
  {
    const double m = 2 + (g - 2) * 0.1, v = 3 + (g * g - 3) * 0.01;
    const double a = 0.1 * std::sqrt(1 - 0.9) / (1 - 0.8);
    c.push_back({"Adam",
                 {1, 2, 3},
                 {0.8, 0.9, 0.1, 0.9, 0.99, 1e-2},
                 {1 - a * m / (std::sqrt(v) + 1e-2), m, v},
                 6,
                 false});
  }
  {
    const double ms = 2 + (g * g - 2) * 0.1;
    const double mom = 3 * 0.7 + 0.1 * g / std::sqrt(ms + 1e-2);
    c.push_back(
        {"RMSProp", {1, 2, 3}, {0.1, 0.9, 0.7, 1e-2}, {1 - mom, ms, mom}, 4});
  }
  {
    const double mg = 1 + (g - 1) * 0.1, ms = 4 + (g * g - 4) * 0.1;
    const double mom = 3 * 0.7 + 0.1 * g / std::sqrt(ms - mg * mg + 1e-2);
    c.push_back({"CenteredRMSProp",
                 {1, 1, 4, 3},
                 {0.1, 0.9, 0.7, 1e-2},
                 {1 - mom, mg, ms, mom},
                 4});
  }
  {
    const double acc = 2 + g * g;
    const double linear = 3 + g - (std::sqrt(acc) - std::sqrt(2.0)) / 0.1 * 1;
    const double quadratic = std::sqrt(acc) / 0.1 + 2 * 0.02;
    c.push_back({"Ftrl",
                 {1, 2, 3},
                 {0.1, 0.01, 0.02, -0.5},
                 {(0.01 - linear) / quadratic, acc, linear},
                 0});
  }
  c.push_back({"ProximalGradientDescent",
               {1},
               {0.1, 0.2, 0.3},
               {(1 - 0.1 * g - 0.1 * 0.2) / (1 + 0.3 * 0.1)},
               3});
  return c;
}

void ExpectNear(const Tensor& got, double want) {
  for (int64_t i = 0; i < got.NumElements(); ++i) {
    EXPECT_NEAR(got.data<double>()[i], want, 1e-12);
  }
}
Tensor Filled(const TensorShape& shape, double v) {
  return MakeTensor<double>(shape,
                            std::vector<double>(shape.num_elements(), v));
}
// The scalars and the gradient in the op's order.
void AddRest(const RuleCase& c, const Tensor& grad, const Tensor* indices,
             OpTester* t) {
  for (size_t k = 0; k <= c.inputs.size(); ++k) {
    // Sparse Momentum has its last scalar behind the indices, as Ftrl has all.
    if (static_cast<int>(k) == c.before_grad) {
      t->Input(grad);
      if (indices != nullptr) t->Input(*indices);
    }
    if (k < c.inputs.size()) t->Input(MakeScalar<double>(c.inputs[k]));
  }
}

TEST(TrainingOpsTest, References) {
  for (const RuleCase& c : Cases()) {
    SCOPED_TRACE(c.rule);
    OpTester t(absl::StrCat("Apply", c.rule));
    for (double v : c.vars) t.Ref(Filled({3}, v));
    AddRest(c, Filled({3}, kG), nullptr, &t);
    ASSERT_EQ(t.Run(), OkStatus());
    for (size_t i = 0; i < c.vars.size(); ++i) {
      ExpectNear(t.InputTensor(static_cast<int>(i)), c.want[i]);
    }
  }
}

TEST(TrainingOpsTest, Rows) {
  const Tensor indices = MakeTensor<int32_t>({1}, {1});
  for (const RuleCase& c : Cases()) {
    if (!c.sparse) continue;
    SCOPED_TRACE(c.rule);
    OpTester t(absl::StrCat("SparseApply", c.rule));
    for (double v : c.vars) t.Ref(Filled({2, 2}, v));
    AddRest(c, Filled({1, 2}, kG), &indices, &t);
    ASSERT_EQ(t.Run(), OkStatus());
    for (size_t i = 0; i < c.vars.size(); ++i) {
      const Tensor& var = t.InputTensor(static_cast<int>(i));
      ExpectNear(var.SubSlice(0), c.vars[i]);
      ExpectNear(var.SubSlice(1), c.want[i]);
    }
  }
}

TEST(TrainingOpsTest, HandlesAndSnapshots) {
  for (const RuleCase& c : Cases()) {
    SCOPED_TRACE(c.rule);
    OpTester t(absl::StrCat("ResourceApply", c.rule));
    t.Attr("T", DT_DOUBLE);
    ResourceMgr* mgr = t.device()->resource_manager();
    std::vector<Tensor> before;
    for (size_t i = 0; i < c.vars.size(); ++i) {
      const std::string name = absl::StrCat("v", i);
      RefPtr<Var> var(new Var(DT_DOUBLE));
      *var->tensor() = Filled({9}, c.vars[i]);
      before.push_back(*var->tensor());
      ASSERT_EQ(mgr->Create<Var>("localhost", name, var), OkStatus());
      Tensor handle(DT_RESOURCE, TensorShape());
      handle.scalar<ResourceHandle>() =
          mgr->MakeHandle<Var>("", "localhost", name);
      t.Input(handle);
    }
    AddRest(c, Filled({9}, kG), nullptr, &t);
    ASSERT_EQ(t.Run(), OkStatus());
    for (size_t i = 0; i < c.vars.size(); ++i) {
      RefPtr<Var> var;
      ASSERT_EQ(mgr->Lookup<Var>("localhost", absl::StrCat("v", i), &var),
                OkStatus());
      ExpectNear(*var->tensor(), c.want[i]);
      ExpectNear(before[i], c.vars[i]);
    }
  }
}

TEST(TrainingOpsTest, Nesterov) {
  OpTester t("ApplyMomentum");
  t.Attr("use_nesterov", true);
  t.Ref(Filled({2}, 1)).Ref(Filled({2}, 2)).Input(MakeScalar(0.1));
  t.Input(Filled({2}, kG)).Input(MakeScalar(0.9));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectNear(t.Output(0), 1 - 0.1 * (kG + 0.9 * (2 * 0.9 + kG)));
}

TEST(TrainingOpsTest, Complex) {
  // The root of 3 + 4i is 2 + i; 5 / (2 + i) is 2 - i.
  OpTester t("ApplyAdagrad");
  t.Attr("update_slots", false).Ref(MakeTensor<complex128>({1}, {{1, 1}}));
  t.Ref(MakeTensor<complex128>({1}, {{3, 4}}));
  t.Input(MakeScalar<complex128>({1, 0}));
  t.Input(MakeTensor<complex128>({1}, {{5, 0}}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), MakeTensor<complex128>({1}, {{-1, 2}}));
  ExpectClose(t.InputTensor(1), MakeTensor<complex128>({1}, {{3, 4}}));
}

TEST(TrainingOpsTest, Refusals) {
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  OpTester grad("ApplyGradientDescent");
  grad.Ref(Filled({2}, 1)).Input(MakeScalar(0.1)).Input(Filled({3}, 1));
  ExpectError(grad.Run(), kInvalid,
              "var and grad do not have the same shape[2] [3]");
  OpTester rate("ApplyGradientDescent");
  rate.Ref(Filled({2}, 1)).Input(Filled({1}, 0.1)).Input(Filled({2}, 1));
  ExpectError(rate.Run(), kInvalid, "is not a scalar: [1]");
  OpTester slot("ApplyAdagrad");
  slot.Ref(Filled({2}, 1)).Ref(Filled({3}, 1)).Input(MakeScalar(0.1));
  slot.Input(Filled({2}, 1));
  ExpectError(slot.Run(), kInvalid, "do not have the same shape");
  OpTester index("SparseApplyAdagrad");
  index.Ref(Filled({2, 2}, 1)).Ref(Filled({2, 2}, 1)).Input(MakeScalar(0.1));
  index.Input(Filled({1, 2}, 1)).Input(MakeTensor<int64_t>({1}, {2}));
  ExpectError(index.Run(), kInvalid,
              "Index 2 at offset 0 in indices is out of range");
  OpTester empty("ApplyGradientDescent");
  empty.Attr("T", DT_DOUBLE).Ref(Tensor()).Input(MakeScalar(0.1));
  empty.Input(Filled({3}, 1));
  ExpectError(empty.Run(), absl::StatusCode::kFailedPrecondition,
              "uninitialized");
}

}  // namespace
}  // namespace headrace
