// The recurrent cells: one worked example, gradients against differences of
// the forward op, and refusals.
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr int64_t kTime = 3, kBatch = 2, kInput = 3, kCell = 2;

std::vector<float> Values(int64_t n, uint32_t seed) {
  std::vector<float> v(n);
  for (float& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return v;
}
Tensor Random(const TensorShape& s, uint32_t seed) {
  return MakeTensor<float>(s, Values(s.num_elements(), seed));
}

// x, cs_prev, h_prev, w, wci, wcf, wco, b of a block LSTM.
std::vector<Tensor> LstmInputs() {
  return {Random({kTime, kBatch, kInput}, 1),
          Random({kBatch, kCell}, 2),
          Random({kBatch, kCell}, 3),
          Random({kInput + kCell, 4 * kCell}, 4),
          Random({kCell}, 5),
          Random({kCell}, 6),
          Random({kCell}, 7),
          Random({4 * kCell}, 8)};
}

std::vector<Tensor> RunLstm(const char* op, const std::vector<Tensor>& in,
                            int64_t steps, bool peephole) {
  OpTester t(op);
  t.Attr("use_peephole", peephole).Attr("cell_clip", 0.0f);
  t.Input(MakeScalar(steps));
  for (const Tensor& x : in) t.Input(x);
  EXPECT_EQ(t.Run(), OkStatus());
  std::vector<Tensor> out;
  for (int i = 0; i < 7; ++i) out.push_back(t.Output(i));
  return out;
}

TEST(LstmTest, GateOrderIsIcfo) {
  // No input reaches the gates: they are the bias alone.
  OpTester t("LSTMBlockCell");
  t.Attr("cell_clip", 0.5f).Attr("forget_bias", 2.0f);
  t.Input(MakeTensor<float>({1, 1}, {0}));
  t.Input(MakeTensor<float>({1, 1}, {1})).Input(MakeTensor<float>({1, 1}, {0}));
  t.Input(MakeTensor<float>({2, 4}, std::vector<float>(8, 1)));
  for (int i = 0; i < 3; ++i) t.Input(MakeTensor<float>({1}, {0}));
  t.Input(MakeTensor<float>({4}, {0.1f, 0.2f, 0.3f, 0.4f}));
  ASSERT_EQ(t.Run(), OkStatus());
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double want[] = {sigmoid(0.1),
                         0.5,
                         sigmoid(2.3),
                         sigmoid(0.4),
                         std::tanh(0.2),
                         std::tanh(0.5),
                         std::tanh(0.5) * sigmoid(0.4)};
  for (int i = 0; i < 7; ++i) {
    EXPECT_NEAR(t.Output(i).data<float>()[0], want[i], 1e-6) << "output " << i;
  }
}

TEST(LstmTest, StepsBeyondTheLengthAreZeros) {
  const auto out = RunLstm("BlockLSTM", LstmInputs(), 2, false);
  for (const Tensor& t : out) {
    const float* last = t.data<float>() + 2 * kBatch * kCell;
    for (int i = 0; i < kBatch * kCell; ++i) EXPECT_EQ(last[i], 0);
    EXPECT_NE(t.data<float>()[kBatch * kCell], 0);
  }
}

// sum(h * h_grad) + sum(cs * cs_grad), whose gradient BlockLSTMGrad gives.
TEST(LstmTest, GradientIsTheDerivative) {
  const char* const kOps[][2] = {{"BlockLSTM", "BlockLSTMGrad"},
                                 {"BlockLSTMV2", "BlockLSTMGradV2"}};
  for (const auto& op : kOps) {
    for (bool peephole : {false, true}) {
      std::vector<Tensor> in = LstmInputs();
      const TensorShape sequence({kTime, kBatch, kCell});
      const Tensor cs_grad = Random(sequence, 9), h_grad = Random(sequence, 10);
      auto loss = [&] {
        const auto out = RunLstm(op[0], in, kTime, peephole);
        double sum = 0;
        for (int64_t i = 0; i < sequence.num_elements(); ++i) {
          sum += out[1].data<float>()[i] * cs_grad.data<float>()[i] +
                 out[6].data<float>()[i] * h_grad.data<float>()[i];
        }
        return sum;
      };
      OpTester t(op[1]);
      t.Attr("use_peephole", peephole).Input(MakeScalar(kTime));
      for (const Tensor& x : in) t.Input(x);
      for (const Tensor& y : RunLstm(op[0], in, kTime, peephole)) t.Input(y);
      t.Input(cs_grad).Input(h_grad);
      ASSERT_EQ(t.Run(), OkStatus());
      for (size_t k = 0; k < in.size(); ++k) {
        Tensor exact = in[k];
        for (int64_t i = 0; i < in[k].NumElements(); ++i) {
          auto at = [&](float delta) {
            EXPECT_EQ(exact.DeepCopyTo(&in[k]), OkStatus());
            in[k].data<float>()[i] += delta;
            return loss();
          };
          const double want = (at(1e-2f) - at(-1e-2f)) / 2e-2;
          EXPECT_NEAR(t.Output(static_cast<int>(k)).data<float>()[i], want,
                      3e-3)
              << op[1] << " peephole " << peephole << " input " << k << " at "
              << i;
        }
        in[k] = exact;
      }
    }
  }
}

TEST(LstmTest, Refusals) {
  auto run = [](int replaced, Tensor with, int64_t steps) {
    std::vector<Tensor> in = LstmInputs();
    if (replaced >= 0) in[replaced] = std::move(with);
    OpTester t("BlockLSTM");
    t.Attr("use_peephole", true).Input(MakeScalar(steps));
    for (const Tensor& x : in) t.Input(x);
    return t.Run();
  };
  using absl::StatusCode;
  ExpectError(run(-1, Tensor(), 4), StatusCode::kInvalidArgument,
              "seq_len_max 4 exceeds");
  ExpectError(run(0, Random({2, 2}, 1), 1), StatusCode::kInvalidArgument, "3D");
  ExpectError(run(2, Random({2, 3}, 1), 1), StatusCode::kInvalidArgument,
              "h_prev must have shape");
  ExpectError(run(3, Random({4, 8}, 1), 1), StatusCode::kInvalidArgument,
              "w must have shape");
  ExpectError(run(5, Random({3}, 1), 1), StatusCode::kInvalidArgument,
              "wcf must have shape");
}

std::vector<Tensor> GruInputs() {
  return {Random({kBatch, kInput}, 1),
          Random({kBatch, kCell}, 2),
          Random({kInput + kCell, 2 * kCell}, 3),
          Random({kInput + kCell, kCell}, 4),
          Random({2 * kCell}, 5),
          Random({kCell}, 6)};
}

TEST(GruTest, GradientIsTheDerivative) {
  std::vector<Tensor> in = GruInputs();
  const Tensor d_h = Random({kBatch, kCell}, 7);
  auto forward = [&] {
    OpTester t("GRUBlockCell");
    for (const Tensor& x : in) t.Input(x);
    EXPECT_EQ(t.Run(), OkStatus());
    std::vector<Tensor> out;
    for (int i = 0; i < 4; ++i) out.push_back(t.Output(i));
    return out;
  };
  auto loss = [&] {
    const Tensor h = forward()[3];
    double sum = 0;
    for (int64_t i = 0; i < h.NumElements(); ++i) {
      sum += h.data<float>()[i] * d_h.data<float>()[i];
    }
    return sum;
  };
  OpTester t("GRUBlockCellGrad");
  for (const Tensor& x : in) t.Input(x);
  const auto out = forward();
  t.Input(out[0]).Input(out[1]).Input(out[2]).Input(d_h);
  ASSERT_EQ(t.Run(), OkStatus());
  // d_x and d_h_prev directly; the bars by way of the biases, summed over rows.
  for (int k : {0, 1, 4, 5}) {
    const Tensor exact = in[k];
    for (int64_t i = 0; i < in[k].NumElements(); ++i) {
      auto at = [&](float delta) {
        EXPECT_EQ(exact.DeepCopyTo(&in[k]), OkStatus());
        in[k].data<float>()[i] += delta;
        return loss();
      };
      const double want = (at(1e-2f) - at(-1e-2f)) / 2e-2;
      const Tensor& got = t.Output(k == 5 ? 2 : k == 4 ? 3 : k);
      double value = got.data<float>()[i];
      if (k >= 4) value += got.data<float>()[in[k].NumElements() + i];
      EXPECT_NEAR(value, want, 2e-3) << "input " << k << " at " << i;
    }
    in[k] = exact;
  }
}

TEST(GruTest, Refusals) {
  std::vector<Tensor> in = GruInputs();
  in[3] = Random({kInput, kCell}, 1);
  OpTester t("GRUBlockCell");
  for (const Tensor& x : in) t.Input(x);
  ExpectError(t.Run(), absl::StatusCode::kInvalidArgument,
              "w_c must have shape");
}

}  // namespace
}  // namespace headrace
