#include <cmath>
#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename From, typename To>
void Check(const std::vector<From>& x, const std::vector<To>& y,
           bool truncate = false) {
  OpTester t("Cast");
  t.Attr("DstT", DataTypeToEnum<To>::value).Attr("Truncate", truncate);
  t.Input(MakeTensor<From>({static_cast<int64_t>(x.size())}, x));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<To>({static_cast<int64_t>(y.size())}, y));
}

TEST(CastTest, FloatToInteger) {
  Check<float, int32_t>({1.9f, -1.9f, kNan, kInf, -kInf, 3e9f},
                        {1, -1, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN});
  Check<double, int32_t>({-2147483648.5, 2147483647.9, 2147483648.0},
                         {INT32_MIN, INT32_MAX, INT32_MIN});
  Check<float, int64_t>({1e10f, kNan, 1e19f},
                        {10000000000, INT64_MIN, INT64_MIN});
  Check<float, uint8_t>({300, -1.7f, kNan, 3e9f}, {44, 255, 0, 0});
  Check<float, int8_t>({128, -129}, {-128, 127});
  Check<float, uint32_t>({-1, 4294967040.0f}, {4294967295u, 4294967040u});
  Check<double, uint64_t>({-1, 1e19}, {UINT64_MAX, 10000000000000000000ull});
}

TEST(CastTest, OtherPairs) {
  Check<int32_t, uint8_t>({256, -1, 7}, {0, 255, 7});
  Check<int64_t, float>({-3, int64_t{1} << 40}, {-3, 1099511627776.0f});
  Check<float, bool>({0, -0.0f, 0.5f, kNan}, {false, false, true, true});
  Check<bool, double>({true, false}, {1, 0});
  Check<complex64, float>({{2, 3}}, {2});
  Check<complex64, bool>({{0, 1}, {1, 0}}, {false, true});
  Check<float, complex128>({2}, {{2, 0}});
  Check<complex64, complex128>({{2, 3}}, {{2, 3}});
  Check<complex128, complex64>({{2, 3}}, {{2, 3}});
  Check<half, int32_t>({half(3.5f)}, {3});
  Check<bfloat16, half>({bfloat16(1.5f)}, {half(1.5f)});
  Check<int32_t, int32_t>({5}, {5});
}

TEST(CastTest, NarrowFloats) {
  Check<float, half>({65519, 65520, 1.00048828125f, 5.9604645e-8f, 1e-9f},
                     {half(65504.0f), half(kInf), half(1.0f),
                      half(5.9604645e-8f), half(0.0f)});
  Check<float, half>({65520, -1e9f, 1.0009f, kInf},
                     {half(65504.0f), half(-65504.0f), half(1.0f), half(kInf)},
                     true);
  Check<float, bfloat16>({1.0039063f, 1.01171875f},
                         {bfloat16(1.0f), bfloat16(1.015625f)});
  Check<float, bfloat16>({1.01171875f}, {bfloat16(1.0078125f)}, true);
  // Every half survives the way to float and back.
  std::vector<half> all;
  std::vector<float> wide;
  for (int i = 0; i < 65536; ++i) {
    const half h = Eigen::numext::bit_cast<half>(static_cast<uint16_t>(i));
    const float f = static_cast<float>(h);
    if (f != f) continue;
    all.push_back(h);
    wide.push_back(f);
  }
  Check<half, float>(all, wide);
  Check<float, half>(wide, all);
}

TEST(CastTest, RefusesStrings) {
  OpTester t("Cast");
  t.Attr("DstT", DT_INT32).Input(MakeScalar<tstring>("1"));
  ExpectError(t.Run(), absl::StatusCode::kUnimplemented,
              "Cast string to int32 is not supported");
}

}  // namespace
}  // namespace headrace
