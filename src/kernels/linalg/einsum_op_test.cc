#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

template <typename T>
Tensor Iota(const TensorShape& shape, int from = 1) {
  Tensor t(DataTypeToEnum<T>::value, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<T>()[i] = static_cast<T>(static_cast<float>(from + i));
  }
  return t;
}

// The definition: a loop over the values of all labels.
struct Naive {
  std::vector<std::string> inputs;
  std::string output;
  std::vector<std::vector<int64_t>> dims;  // of each input
  int64_t SizeOf(char label) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const size_t at = inputs[i].find(label);
      if (at != std::string::npos) return dims[i][at];
    }
    return 0;
  }
  Tensor Run(const std::vector<Tensor>& values) const {
    std::string labels;
    for (const std::string& in : inputs) {
      for (char c : in) {
        if (labels.find(c) == std::string::npos) labels += c;
      }
    }
    std::vector<int64_t> out_dims;
    for (char c : output) out_dims.push_back(SizeOf(c));
    Tensor out(DT_FLOAT, TensorShape(absl::MakeConstSpan(out_dims)));
    std::fill_n(out.data<float>(), out.NumElements(), 0.f);
    std::vector<int64_t> at(labels.size(), 0);
    const auto offset = [&](const std::string& of) {
      int64_t o = 0;
      for (char c : of) o = o * SizeOf(c) + at[labels.find(c)];
      return o;
    };
    while (true) {
      float product = 1;
      for (size_t i = 0; i < inputs.size(); ++i) {
        product *= values[i].data<float>()[offset(inputs[i])];
      }
      out.data<float>()[offset(output)] += product;
      int d = static_cast<int>(labels.size()) - 1;
      while (d >= 0 && ++at[d] == SizeOf(labels[d])) at[d--] = 0;
      if (d < 0) return out;
    }
  }
};

Tensor RunEinsum(const std::string& equation, std::vector<Tensor> in) {
  OpTester t("Einsum");
  t.Attr("equation", equation);
  for (Tensor& x : in) t.Input(std::move(x));
  const Status s = t.Run();
  EXPECT_EQ(s, OkStatus()) << equation;
  return s.ok() ? t.Output(0) : Tensor(DT_FLOAT);
}

TEST(EinsumTest, AgreesWithLoopsOverAllLabels) {
  const struct {
    const char *a, *b, *out;
    std::vector<int64_t> a_dims, b_dims;
  } cases[] = {
      {"ij", "jk", "ik", {2, 3}, {3, 4}},
      {"ij", "jk", "ki", {2, 3}, {3, 4}},
      {"ji", "kj", "ik", {3, 2}, {4, 3}},
      {"bij", "bjk", "bik", {2, 3, 4}, {2, 4, 5}},
      {"ibj", "kjb", "bki", {3, 2, 4}, {5, 4, 2}},
      {"ij", "ij", "ij", {3, 4}, {3, 4}},
      {"ij", "ij", "", {3, 4}, {3, 4}},
      {"i", "j", "ij", {3}, {4}},
      {"i", "j", "ji", {3}, {4}},
      {"", "ij", "ji", {}, {3, 4}},
      {"ii", "ij", "j", {3, 3}, {3, 4}},
      {"iij", "jk", "ik", {3, 3, 2}, {2, 4}},
      {"ijx", "jky", "ik", {2, 3, 5}, {3, 4, 6}},  // x and y are summed alone
      {"ab", "bc", "abca", {2, 3}, {3, 4}},
      {"abcd", "dcef", "befa", {2, 3, 2, 4}, {4, 2, 3, 2}},
      {"aijk", "ajki", "a", {2, 2, 3, 2}, {2, 3, 2, 2}},
  };
  for (const auto& c : cases) {
    const std::string equation = absl::StrCat(c.a, ",", c.b, "->", c.out);
    SCOPED_TRACE(equation);
    const Tensor a = Iota<float>(TensorShape(absl::MakeConstSpan(c.a_dims)));
    const Tensor b = Iota<float>(TensorShape(absl::MakeConstSpan(c.b_dims)), 2);
    const Naive naive{{c.a, c.b}, c.out, {c.a_dims, c.b_dims}};
    // A diagonal output is zero elsewhere, as the loops leave it.
    ExpectClose(RunEinsum(equation, {a, b}), naive.Run({a, b}));
  }
  const struct {
    const char *in, *out;
    std::vector<int64_t> dims;
  } unary[] = {{"ij", "ji", {2, 3}},        {"ii", "", {3, 3}},
               {"ii", "i", {3, 3}},         {"i", "ii", {3}},
               {"ijk", "j", {2, 3, 4}},     {"iji", "jij", {2, 3, 2}},
               {"ij", "ijj", {2, 3}},       {"", "", {}},
               {"abcb", "ca", {2, 3, 4, 3}}};
  for (const auto& c : unary) {
    const std::string equation = absl::StrCat(c.in, "->", c.out);
    SCOPED_TRACE(equation);
    const Tensor x = Iota<float>(TensorShape(absl::MakeConstSpan(c.dims)));
    ExpectClose(RunEinsum(equation, {x}),
                Naive{{c.in}, c.out, {c.dims}}.Run({x}));
  }
}

TEST(EinsumTest, EllipsisBroadcastsFromTheRight) {
  const Tensor a = Iota<float>({5, 1, 2, 3}), b = Iota<float>({4, 3, 2});
  const Tensor got = RunEinsum("...ij,...jk->...ik", {a, b});
  ASSERT_EQ(got.shape(), TensorShape({5, 4, 2, 2}));
  for (int x = 0; x < 5; ++x) {
    for (int y = 0; y < 4; ++y) {
      const Tensor want =
          RunEinsum("ij,jk->ik", {a.SubSlice(x).SubSlice(0), b.SubSlice(y)});
      ExpectClose(got.SubSlice(x).SubSlice(y), want);
    }
  }
  ExpectEqual(RunEinsum("i...->...i", {Iota<float>({2, 3})}),
              RunEinsum("ij->ji", {Iota<float>({2, 3})}));
  // An ellipsis may stand for nothing, and for a size that broadcasts to 0.
  ExpectEqual(RunEinsum("ij->...ij", {Iota<float>({2, 3})}),
              Iota<float>({2, 3}));
  EXPECT_EQ(
      RunEinsum("...,...->...", {Iota<float>({1, 3}), Iota<float>({0, 3})})
          .shape(),
      TensorShape({0, 3}));
}

TEST(EinsumTest, TypesAndEmptySums) {
  ExpectEqual(
      RunEinsum("ij,jk->ik", {Iota<int32_t>({2, 2}), Iota<int32_t>({2, 2})}),
      MakeTensor<int32_t>({2, 2}, {7, 10, 15, 22}));
  ExpectClose(RunEinsum("i,i->", {Iota<half>({3}), Iota<half>({3})}),
              MakeScalar<half>(half(14)));
  ExpectClose(RunEinsum("i,i->i", {Iota<bfloat16>({2}), Iota<bfloat16>({2})}),
              MakeTensor<bfloat16>({2}, {bfloat16(1), bfloat16(4)}));
  // Nothing is conjugated.
  const Tensor z = MakeTensor<complex64>({2}, {{0, 1}, {2, 0}});
  ExpectClose(RunEinsum("i,i->", {z, z}), MakeScalar<complex64>({3, 0}));
  ExpectEqual(
      RunEinsum("ij,jk->ik", {Iota<float>({2, 0}), Iota<float>({0, 1})}),
      MakeTensor<float>({2, 1}, {0, 0}));
  ExpectEqual(RunEinsum("ij->i", {Iota<float>({2, 0})}),
              MakeTensor<float>({2}, {0, 0}));
}

TEST(EinsumTest, Refusals) {
  const Tensor m = Iota<float>({2, 3});
  const struct {
    const char* equation;
    std::vector<Tensor> in;
    const char* message;
  } cases[] = {{"ij", {m}, "expected one '->'"},
               {"ij->jk->i", {m}, "expected one '->'"},
               {"ij,jk,kl->il", {m, m, m}, "at most 2 inputs"},
               {"ij->ik", {m}, "a label that no input has"},
               {".ij->ij", {m}, "one ellipsis"},
               {"...i...->i", {m}, "one ellipsis"},
               {"ijk->i", {m}, "has rank 2, the equation wants 3"},
               {"...ijk->...", {m}, "at least 3"},
               {"ij,jk->ik", {m, m}, "should be 3"},
               {"ii->i", {m}, "should be 2"},
               {"i...->i", {m}, "the output needs an ellipsis"},
               {"...,...->...", {m, Iota<float>({2, 2})}, "broadcast"},
               {"ij->i", {m, m}, "has 1 inputs, the node has 2"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.equation);
    OpTester t("Einsum");
    t.Attr("equation", c.equation);
    for (const Tensor& x : c.in) t.Input(x);
    ExpectError(t.Run(), absl::StatusCode::kInvalidArgument, c.message);
  }
  // The output of 2^60 elements is refused, not computed.
  OpTester t("Einsum");
  t.Attr("equation", "i->iiiiii").Input(Iota<float>({1 << 10}));
  ExpectError(t.Run(), absl::StatusCode::kResourceExhausted, "OOM");
}

}  // namespace
}  // namespace headrace
