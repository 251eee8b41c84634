// A LeNet learns Fashion-MNIST, is saved as a checkpoint and as a SavedModel,
// restored from both, and classifies ten test pictures.
//
//   lenet FOLDER [STEPS] [DATA]
//
// FOLDER gets the files. DATA has the four files of the set, as Debian's
// package dataset-fashion-mnist installs them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "headrace/cc/optimizers.h"
#include "headrace/cc/saved_model.h"
#include "headrace/cc/standard_ops.h"
#include "headrace/cc/throwing.h"

using namespace headrace;

constexpr int64_t kBatch = 64, kTestBatch = 500;
const char* const kClasses[] = {"T-shirt", "trouser", "pullover", "dress",
                                "coat",    "sandal",  "shirt",    "sneaker",
                                "bag",     "boot"};

// Pictures [n, 28, 28, 1] of 0..1 and their classes [n], read by a graph from
// gzipped IDX files: a header, then bytes.
struct Pictures {
  Tensor pixels, labels;
  int64_t size() const { return labels.NumElements(); }
};

Pictures Load(const std::string& prefix) {
  const Scope root = Scope::NewRootScope();
  const auto read = [&](const char* file, int header) {
    const auto zipped = ops::ReadFile(root, prefix + file);
    const auto gzip = ops::DecodeCompressed::CompressionType("GZIP");
    const auto bytes = ops::DecodeRaw(
        root, ops::DecodeCompressed(root, zipped, gzip), DT_UINT8);
    return ops::Slice(root, bytes, {header}, {-1});
  };
  const auto pixels =
      ops::Reshape(root, read("-images-idx3-ubyte.gz", 16), {-1, 28, 28, 1});
  std::vector<Tensor> out;
  OrThrow(ClientSession(root).Run(
      {ops::Cast(root, pixels, DT_FLOAT) / 255,
       ops::Cast(root, read("-labels-idx1-ubyte.gz", 8), DT_INT64)},
      &out));
  return {out[0], out[1]};
}

// x * w + b, w by Glorot's rule; `shape` is that of w.
Output Layer(const Scope& s, const Output& x, const std::vector<int64_t>& shape,
             bool is_convolution) {
  const int64_t area = is_convolution ? shape[0] * shape[1] : 1;
  const int64_t in = shape[shape.size() - 2], units = shape.back();
  const double limit =
      std::sqrt(6.0 / static_cast<double>(area * (in + units)));
  const auto random = ops::RandomUniform(s, shape, DT_FLOAT,
                                         ops::RandomUniform::Seed(1).Seed2(2));
  const Variable w(s.WithOpName("w"), random * (2 * limit) - limit);
  const Variable b(s.WithOpName("b"), ops::Const(s, 0.f, TensorShape({units})));
  return is_convolution
             ? ops::BiasAdd(s, ops::Conv2D(s, x, w, {1, 1, 1, 1}, "SAME"), b)
             : ops::BiasAdd(s, ops::MatMul(s, x, w), b);
}

Output Convolution(const Scope& s, const Output& x, int64_t in, int64_t out) {
  const auto y = ops::Relu(s, Layer(s, x, {5, 5, in, out}, true));
  return ops::MaxPool(s, y, {1, 2, 2, 1}, {1, 2, 2, 1}, "SAME");
}

void Train(const std::string& folder, int steps, const std::string& data) {
  const Pictures training = Load(data + "/train"), test = Load(data + "/t10k");
  const Scope root = Scope::NewRootScope();
  const Output x = ops::Placeholder(root.WithOpName("pictures"), DT_FLOAT,
                                    ops::Placeholder::Shape({-1, 28, 28, 1}));
  const Output y = ops::Placeholder(root.WithOpName("labels"), DT_INT64,
                                    ops::Placeholder::Shape({-1}));
  Output net = Convolution(root.NewSubScope("conv1"), x, 1, 32);
  net = Convolution(root.NewSubScope("conv2"), net, 32, 64);
  net = ops::Reshape(root, net, {-1, 7 * 7 * 64});
  net = Layer(root.NewSubScope("dense1"), net, {7 * 7 * 64, 1024}, false);
  const Output logits = Layer(root.NewSubScope("dense2"), ops::Relu(root, net),
                              {1024, 10}, false);
  const auto losses = ops::SparseSoftmaxCrossEntropyWithLogits(root, logits, y);
  const Output loss = ops::Mean(root, losses.loss, 0);
  const Output found = ops::ArgMax(root.WithOpName("classes"), logits, 1);
  const Variable step = GetOrCreateGlobalStep(root);
  const Operation train = AdamOptimizer(2e-3).Minimize(root, loss, step);
  const Operation init = GlobalVariablesInitializer(root);
  Saver saver(root);

  ClientSession session(root);
  OrThrow(session.Run({init}));
  std::vector<Tensor> out;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t at = i * kBatch % (training.size() - kBatch + 1);
    OrThrow(session.Run({{x, training.pixels.Slice(at, at + kBatch)},
                         {y, training.labels.Slice(at, at + kBatch)}},
                        {loss}, {train}, &out));
    if (i % 20 == 0)
      std::printf("step %d  loss %.4f\n", int(i), out[0].scalar<float>());
  }
  int right = 0;
  for (int64_t at = 0; at < test.size(); at += kTestBatch) {
    const int64_t end = std::min(at + kTestBatch, test.size());
    OrThrow(session.Run({{x, test.pixels.Slice(at, end)}}, {found}, &out));
    for (int64_t i = at; i < end; ++i) {
      right += out[0].vec<int64_t>()[i - at] == test.labels.vec<int64_t>()[i];
    }
  }
  std::printf("%.2f %% of %d test pictures are right\n",
              100.0 * right / double(test.size()), int(test.size()));

  const std::string path =
      OrThrow(saver.Save(session, folder + "/lenet", steps));
  SavedModelBuilder builder(folder + "/model");
  OrThrow(
      builder.Add(session, {"serve"},
                  {{"serving_default",
                    MakeSignature({{"pictures", x}}, {{"classes", found}})}},
                  &saver));
  OrThrow(builder.Save());

  // The checkpoint, in a new session; and the model, in a new graph.
  const Tensor ten = test.pixels.Slice(0, 10);
  ClientSession restored(root);
  OrThrow(saver.Restore(restored, path));
  OrThrow(restored.Run({{x, ten}}, {found}, &out));
  const SavedModel model = OrThrow(SavedModel::Load(folder + "/model"));
  const Tensor same = OrThrow(model.Run({{"pictures", ten}})).at("classes");
  for (int i = 0; i < 10; ++i) {
    const int64_t is = out[0].vec<int64_t>()[i];
    std::printf("%-8s  %s%s\n", kClasses[test.labels.vec<int64_t>()[i]],
                kClasses[is],
                is == same.vec<int64_t>()[i] ? "" : "  (the model differs)");
  }
}

int main(int argc, char** argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: lenet FOLDER [STEPS] [DATA]\n"), 2;
  try {
    Train(argv[1], argc > 2 ? std::atoi(argv[2]) : 200,
          argc > 3 ? argv[3] : "/usr/share/datasets/fashion-mnist");
  } catch (const StatusError& error) {
    return std::fprintf(stderr, "lenet: %s\n", error.what()), 1;
  }
}
