#include "kernels/lib/box_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

class BoxCopyTest : public ::testing::Test {
 protected:
  void SetUp() override {  // a context must have a kernel; any will do
    auto def = std::make_shared<NodeDef>();
    def->name = "node";
    def->op = "NoOp";
    const OpDef* op = OpRegistry::Global()->Find("NoOp");
    ASSERT_TRUE(CreateOpKernel(&device_, def, op, &kernel_).ok());
    params_.device = &device_;
    params_.kernel = kernel_.get();
    ctx_ = std::make_unique<OpKernelContext>(&params_);
  }
  template <typename T>
  static Tensor Iota(int64_t n) {
    Tensor t(DataTypeToEnum<T>::value, TensorShape({n}));
    for (int64_t i = 0; i < n; ++i) t.data<T>()[i] = static_cast<T>(i % 251);
    return t;
  }
  // Transposes a tensor by BoxCopy and element by element.
  template <typename T>
  void CheckTranspose(const DimVector& dims, const DimVector& perm) {
    const TensorShape in_shape(dims);
    DimVector out_dims;
    for (int64_t p : perm) out_dims.push_back(dims[p]);
    const DimVector from = RowMajorStrides(dims),
                    to = RowMajorStrides(out_dims);
    const Tensor src = Iota<T>(in_shape.num_elements());
    Tensor dst(src.dtype(), src.shape());
    BoxCopy copy;
    for (size_t i = 0; i < perm.size(); ++i) {
      copy.AddDim(out_dims[i], from[perm[i]], to[i]);
    }
    copy.Run(ctx_.get(), src, 0, &dst, 0);
    int64_t wrong = 0;
    for (int64_t o = 0; o < in_shape.num_elements(); ++o) {
      int64_t at = 0;
      for (size_t i = 0; i < perm.size(); ++i) {
        at += o / to[i] % out_dims[i] * from[perm[i]];
      }
      wrong += !(dst.data<T>()[o] == src.data<T>()[at]);
    }
    EXPECT_EQ(wrong, 0) << in_shape.DebugString();
  }

  TestDevice device_;
  std::unique_ptr<OpKernel> kernel_;
  OpKernelContext::Params params_;
  std::unique_ptr<OpKernelContext> ctx_;
};

// Sizes around the tile of 32 and the register block of 4, and long rows, which
// are cut into pieces.
TEST_F(BoxCopyTest, Transposes) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1},
                             {3, 5},
                             {4, 8},
                             {31, 33},
                             {64, 3},
                             {3, 64},
                             {130, 70},
                             {3, 200000},
                             {200000, 3}}) {
    CheckTranspose<float>({m, n}, {1, 0});
    CheckTranspose<uint8_t>({m, n}, {1, 0});
    CheckTranspose<double>({m, n}, {1, 0});
    CheckTranspose<complex128>({m, n}, {1, 0});
    CheckTranspose<float>({2, m, n}, {0, 2, 1});
    CheckTranspose<float>({2, m, n}, {2, 1, 0});
    CheckTranspose<int16_t>({2, m, n}, {2, 0, 1});
  }
  CheckTranspose<float>({2, 3, 4, 5, 6}, {4, 2, 0, 3, 1});
  CheckTranspose<float>({2, 1, 4, 1, 6}, {3, 4, 2, 1, 0});
}

// Of 4 MiB and more, written past the caches: columns that are no whole blocks,
// rows of the destination that begin on lines, and some that do not.
TEST_F(BoxCopyTest, LargeTransposes) {
  CheckTranspose<float>({1040, 1083}, {1, 0});
  CheckTranspose<float>({1041, 1083}, {1, 0});
  CheckTranspose<uint8_t>({2112, 2051}, {1, 0});
  CheckTranspose<int16_t>({1536, 1411}, {1, 0});
  CheckTranspose<double>({776, 701}, {1, 0});
  CheckTranspose<complex128>({516, 515}, {1, 0});
  CheckTranspose<float>({3, 4096, 90}, {0, 2, 1});
  CheckTranspose<float>({90, 4096, 3}, {2, 0, 1});
}

// Columns of a wider destination: nothing beside them is written, whether a row
// is made of lines or not.
TEST_F(BoxCopyTest, LargeRows) {
  for (const int64_t columns : {int64_t{64}, int64_t{1001}, int64_t{1024}}) {
    for (const int64_t first : {int64_t{0}, int64_t{3}}) {
      const int64_t rows = 20000, width = 1040;
      const Tensor src = Iota<float>(rows * columns);
      Tensor dst(DT_FLOAT, TensorShape({rows * width}));
      std::fill_n(dst.data<float>(), rows * width, -1.0f);
      BoxCopy copy;
      copy.AddDim(rows, columns, width);
      copy.AddDim(columns, 1, 1);
      copy.Run(ctx_.get(), src, 0, &dst, first);
      int64_t wrong = 0;
      for (int64_t i = 0; i < rows * width; ++i) {
        const int64_t c = i % width - first;
        const float want = c < 0 || c >= columns
                               ? -1.0f
                               : src.data<float>()[i / width * columns + c];
        wrong += dst.data<float>()[i] != want;
      }
      EXPECT_EQ(wrong, 0) << columns << " columns from " << first;
    }
  }
}

TEST_F(BoxCopyTest, RepeatsAndReverses) {
  const Tensor src = MakeTensor<int32_t>({3}, {1, 2, 3});
  Tensor dst(DT_INT32, TensorShape({9}));
  BoxCopy repeat;
  repeat.AddDim(3, 0, 3);
  repeat.AddDim(3, -1, 1);
  repeat.Run(ctx_.get(), src, 2, &dst, 0);
  ExpectEqual(dst, MakeTensor<int32_t>({9}, {3, 2, 1, 3, 2, 1, 3, 2, 1}));
}

TEST_F(BoxCopyTest, MovesStrings) {
  const Tensor src = MakeTensor<tstring>(
      {2, 2}, {"a", "b", "a string that is longer than its small form", "d"});
  Tensor dst(DT_STRING, TensorShape({4}));
  BoxCopy copy;
  copy.AddDim(2, 1, 2);
  copy.AddDim(2, 2, 1);
  copy.Run(ctx_.get(), src, 0, &dst, 0);
  EXPECT_EQ(dst.data<tstring>()[1],
            "a string that is longer than its small form");
  EXPECT_EQ(dst.data<tstring>()[2], "b");
}

TEST_F(BoxCopyTest, AnEmptyBoxCopiesNothing) {
  Tensor dst = Tensor::Scalar<float>(1);
  BoxCopy copy;
  copy.AddDim(0, 1, 1);
  copy.AddDim(5, 1, 1);
  copy.Run(ctx_.get(), Tensor(DT_FLOAT), 0, &dst, 0);
  EXPECT_EQ(dst.scalar<float>(), 1);
}

}  // namespace
}  // namespace headrace
