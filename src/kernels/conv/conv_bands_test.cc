// Convolutions band by band give the bits of the same ones one after the other,
// whatever the number of threads; _FusedConvChain refuses what it must.
#include "kernels/conv/conv_bands.h"

#include <cmath>

#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"
#include "kernels/conv/conv_lists.h"

namespace headrace {
namespace {

struct BandsCase {
  const char* name;
  int64_t batch, rows, columns, in, wide, out, stride;
  Padding padding;
  bool expands;
};

constexpr BandsCase kCases[] = {
    {"widened", 1, 64, 60, 16, 48, 24, 1, Padding::kSame, true},
    {"widened_stride2", 2, 61, 57, 17, 64, 16, 2, Padding::kSame, true},
    {"widened_valid", 1, 63, 64, 8, 40, 31, 1, Padding::kValid, true},
    {"separable", 1, 80, 41, 48, 48, 72, 1, Padding::kSame, false},
    {"separable_stride2", 3, 75, 99, 50, 50, 16, 2, Padding::kValid, false},
    {"padded", 1, 64, 65, 16, 64, 16, 2, Padding::kExplicit, true},
    {"separable_padded", 2, 80, 41, 48, 48, 72, 1, Padding::kExplicit, false}};

Tensor Values(int64_t n, double step) {
  Tensor t(DT_FLOAT, TensorShape({n}));
  for (int64_t i = 0; i < n; ++i) {
    t.data<float>()[i] = static_cast<float>(std::sin(step * (i + 1)));
  }
  return t;
}

ConvParams Params(const TensorShape& in, const TensorShape& filter,
                  int64_t stride, Padding padding, bool depthwise) {
  ConvAttrs attrs;
  attrs.strides = {1, stride, stride, 1};
  attrs.dilations = {1, 1, 1, 1};
  attrs.padding = padding;
  if (padding == Padding::kExplicit) {
    attrs.explicit_paddings = {0, 0, 0, 1, 3, 2, 0, 0};
  }
  ConvParams p;
  const Status s = ConvSizesOf(attrs, in, filter, depthwise, &p);
  EXPECT_TRUE(s.ok()) << s;
  return p;
}

TEST(ConvBands, HaveTheBitsOfOneAfterTheOther) {
  ThreadPool one(1), four(4);
  for (const BandsCase& c : kCases) {
    SCOPED_TRACE(c.name);
    std::vector<ConvParams> params;
    TensorShape image({c.batch, c.rows, c.columns, c.in});
    if (c.expands) {
      params.push_back(Params(image, TensorShape({1, 1, c.in, c.wide}), 1,
                              Padding::kSame, false));
      image.set_dim(3, c.wide);
    }
    params.push_back(Params(image, TensorShape({3, 3, c.wide, 1}), c.stride,
                            c.padding, true));
    image = TensorShape(
        {c.batch, params.back().out[1], params.back().out[2], c.wide});
    params.push_back(Params(image, TensorShape({1, 1, c.wide, c.out}), 1,
                            Padding::kValid, false));

    std::vector<BandStage> stages(params.size());
    std::vector<Tensor> kept;
    const auto keep = [&](Tensor t) {
      kept.push_back(t);
      return kept.back().raw_data();
    };
    kept.reserve(64);
    const Tensor in = Values(params[0].in_elements(), 0.7);
    Tensor want = in;
    for (size_t i = 0; i < params.size(); ++i) {
      const ConvParams& p = params[i];
      const bool last = i + 1 == params.size();
      const ConvImplementation* impl =
          p.groups > 1 ? conv::Depthwise3x3() : conv::Pointwise();
      ASSERT_TRUE(impl->Accepts(p, HostCpu()));
      ConvArgs args;
      args.pool = &four;
      args.params = &p;
      args.input = want.raw_data();
      args.filter = keep(Values(p.filter_elements(), 1.3));
      args.workspace = keep(
          Tensor(DT_UINT8, TensorShape({64 + impl->WorkspaceBytes(p, 4)})));
      const auto keep_tensor = [&](Tensor t) {
        keep(std::move(t));
        return &kept.back();
      };
      args.epilogue.scale = keep_tensor(Values(p.out_channels + 64, 0.2));
      args.epilogue.bias = keep_tensor(Values(p.out_channels + 65, 0.9));
      if (last) {
        args.epilogue.addend = keep_tensor(Values(p.out_elements(), 0.4));
      }
      args.epilogue.activation = last ? Activation::kRelu : Activation::kRelu6;
      if (impl->PreparedFilterBytes(p) > 0) {
        void* form =
            keep(Tensor(DT_UINT8, TensorShape({impl->PreparedFilterBytes(p)})));
        impl->PrepareFilter(&four, p, args.filter, form);
        args.prepared_filter = form;
      }
      Tensor result(DT_FLOAT, TensorShape({p.out_elements()}));
      args.result = result.raw_data();
      impl->Run(args);
      want = result;
      stages[i] = {
          &p,
          args.prepared_filter != nullptr ? args.prepared_filter : args.filter,
          args.epilogue};
    }

    for (ThreadPool* pool : {&one, &four}) {
      const ConvBands bands(params, pool->NumThreads());
      ASSERT_TRUE(bands.fits());
      Tensor workspace(DT_UINT8, TensorShape({bands.WorkspaceBytes()}));
      std::memset(workspace.raw_data(), 0x55, workspace.TotalBytes());
      Tensor got(DT_FLOAT, want.shape());
      bands.Run(pool, stages, in.data<float>(), got.data<float>(),
                workspace.raw_data());
      ExpectEqual(got, want);
    }
  }
}

TEST(ConvBands, DoNotFitWhatTheyCannotRun) {
  const TensorShape image({1, 64, 64, 64});
  const ConvParams depthwise =
      Params(image, TensorShape({3, 3, 64, 1}), 1, Padding::kSame, true);
  const ConvParams pointwise =
      Params(image, TensorShape({1, 1, 64, 64}), 1, Padding::kSame, false);
  const ConvParams strided =
      Params(image, TensorShape({1, 1, 64, 64}), 2, Padding::kSame, false);
  const ConvParams wide =
      Params(image, TensorShape({5, 5, 64, 1}), 1, Padding::kSame, true);
  const ConvParams small =
      Params(TensorShape({1, 8, 8, 64}), TensorShape({3, 3, 64, 1}), 1,
             Padding::kSame, true);
  EXPECT_TRUE(ConvBands({depthwise, pointwise}, 2).fits());
  EXPECT_FALSE(ConvBands({depthwise, strided}, 2).fits());
  EXPECT_FALSE(ConvBands({wide, pointwise}, 2).fits());
  EXPECT_FALSE(ConvBands({small, pointwise}, 2).fits());
  EXPECT_FALSE(ConvBands({pointwise, depthwise}, 2).fits());
  EXPECT_FALSE(ConvBands({depthwise}, 2).fits());
}

class ChainTester {
 public:
  explicit ChainTester(std::vector<std::string> fused_ops, int64_t args = 0) {
    t_.Attr("num_convs", int64_t{2})
        .Attr("num_args", args)
        .Attr("depthwise", std::vector<bool>{true, false})
        .Attr("strides", std::vector<int64_t>{1, 1})
        .Attr("paddings", std::vector<std::string>{"SAME", "SAME"})
        .Attr("fused_ops", std::move(fused_ops))
        .Input(Tensor(DT_FLOAT, TensorShape({1, 4, 4, 2})))
        .Input(Tensor(DT_FLOAT, TensorShape({3, 3, 2, 1})))
        .Input(Tensor(DT_FLOAT, TensorShape({1, 1, 2, 3})));
  }
  ChainTester& Arg(const TensorShape& shape) {
    t_.Input(Tensor(DT_FLOAT, shape));
    return *this;
  }
  ChainTester& Padded(std::vector<int64_t> explicit_paddings) {
    t_.Attr("paddings", std::vector<std::string>{"EXPLICIT", "SAME"})
        .Attr("explicit_paddings", std::move(explicit_paddings));
    return *this;
  }
  std::string Run() { return std::string(t_.Run().message()); }

 private:
  OpTester t_{"_FusedConvChain"};
};

TEST(FusedConvChain, Refusals) {
  EXPECT_EQ(ChainTester({"", ""}).Run(), "");
  const auto refuses = [](const std::string& message, const char* what) {
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  refuses(ChainTester({"", "Tanh"}).Run(), "fused_ops[1]: got Tanh");
  refuses(ChainTester({"", "FakeQuantWithMinMaxArgs"}).Run(),
          "fused_ops[1]: got FakeQuantWithMinMaxArgs");
  refuses(ChainTester({"Add", ""}, 1).Arg({1, 4, 4, 2}).Run(),
          "fused_ops[0]: got Add");
  refuses(ChainTester({""}).Run(), "wanted num_convs = 2");
  refuses(ChainTester({"", ""}).Padded({0, 0, 1, 1}).Run(),
          "wanted eight elements for each of 1 EXPLICIT convolutions, got 4");
  refuses(ChainTester({"", ""}).Padded({0, 0, 0, 1, -1, 1, 0, 0}).Run(),
          "must be nonnegative, got -1");
  refuses(ChainTester({"BiasAdd", ""}).Run(), "take 1 arguments, got 0");
  refuses(ChainTester({"BiasAdd", ""}, 1).Arg({3}).Run(),
          "bias: got shape [3], wanted one element for each of 2");
  refuses(ChainTester({"", "Add"}, 1).Arg({1, 4, 4, 1}).Run(),
          "addend: got shape [1,4,4,1], wanted the output's, [1,4,4,3]");
}

}  // namespace
}  // namespace headrace
