// The algorithms of kernels/conv agree with the reference loop, whatever the
// number of threads; the kernels refuse what they must.
#include <gtest/gtest-spi.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_join.h"
#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"
#include "kernels/conv/byte_levels.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/conv_plan.h"
#include "kernels/conv/prepared_filter.h"
#include "kernels/lib/narrow_float.h"

namespace headrace {
namespace {

struct ConvCase {
  const char* name;
  std::vector<int64_t> in, filter;  // NHWC or NDHWC
  std::vector<int64_t> stride = {1, 1};
  Padding padding = Padding::kSame;
  std::vector<int64_t> dilation = {1, 1};
  std::vector<int64_t> pads = {};  // of kExplicit: before, after per dim
};

constexpr Padding kSame = Padding::kSame, kValid = Padding::kValid;

const std::vector<ConvCase>& Cases() {
  static const std::vector<ConvCase> cases = {
      // SAME pads asymmetrically where the size is even or strides skip.
      {"same_odd", {1, 5, 7, 3}, {3, 3, 3, 8}},
      {"same_even_filter", {2, 6, 6, 4}, {2, 4, 4, 5}},
      {"same_stride2_odd", {1, 5, 7, 3}, {3, 3, 3, 8}, {2, 2}},
      {"same_stride2_even", {1, 8, 8, 16}, {3, 3, 16, 16}, {2, 2}},
      {"stride_beyond_filter", {1, 7, 9, 3}, {2, 2, 3, 4}, {4, 4}},
      {"unequal_strides", {1, 9, 10, 2}, {3, 2, 2, 3}, {1, 3}},
      {"valid", {2, 9, 8, 5}, {3, 4, 5, 7}, {1, 1}, kValid},
      {"dilated", {1, 11, 12, 4}, {3, 3, 4, 6}, {1, 1}, kSame, {2, 3}},
      {"dilated_valid", {1, 11, 12, 4}, {3, 3, 4, 6}, {2, 1}, kValid, {2, 3}},
      {"window_dwarfs_image", {1, 2, 3, 2}, {5, 7, 2, 3}},
      {"two_tiles_and_a_bit", {1, 9, 10, 17}, {3, 3, 17, 33}},
      {"one_pixel", {3, 1, 1, 20}, {3, 3, 20, 40}},
      {"one_row", {1, 1, 30, 16}, {3, 3, 16, 65}},
      {"valid_3x3", {2, 13, 11, 32}, {3, 3, 32, 64}, {1, 1}, kValid},
      {"uneven_pads",
       {1, 10, 7, 8},
       {3, 3, 8, 24},
       {1, 1},
       Padding::kExplicit,
       {1, 1},
       {0, 2, 3, 1}},
      {"beyond_the_padding",
       {1, 3, 3, 5},
       {3, 3, 5, 6},
       {1, 1},
       Padding::kExplicit,
       {1, 1},
       {7, 8, 9, 7}},
      {"few_tiles_many_channels", {2, 7, 7, 272}, {3, 3, 272, 160}},
      {"volume_of_images",
       {2, 3, 6, 7, 8},
       {1, 3, 3, 8, 9},
       {1, 1, 1},
       kSame,
       {1, 1, 1}},
      {"pointwise", {2, 5, 6, 33}, {1, 1, 33, 70}},
      {"pointwise_last_panel", {2, 9, 7, 20}, {1, 1, 20, 138}},
      {"pointwise_three_vectors", {1, 4, 5, 16}, {1, 1, 16, 48}},
      {"pointwise_few_channels", {1, 4, 5, 16}, {1, 1, 16, 24}},
      {"pointwise_many_panels", {1, 9, 21, 600}, {1, 1, 600, 330}},
      {"pointwise_strided_rows", {2, 15, 29, 40}, {1, 1, 40, 72}, {2, 2}},
      {"pointwise_deep", {1, 3, 5, 1030}, {1, 1, 1030, 8}},
      {"pointwise_strided", {1, 9, 9, 8}, {1, 1, 8, 8}, {2, 2}},
      {"pointwise_strides_differ", {2, 7, 11, 20}, {1, 1, 20, 18}, {3, 2}},
      {"pointwise_rest_unseen", {2, 6, 8, 5}, {1, 1, 5, 7}, {4, 3}, kValid},
      {"5x5_odd", {2, 9, 7, 17}, {5, 5, 17, 33}},
      {"5x5_valid", {1, 13, 10, 32}, {5, 5, 32, 16}, {1, 1}, kValid},
      {"5x5_smaller_image", {3, 2, 3, 16}, {5, 5, 16, 20}},
      {"line_1x7", {2, 17, 17, 32}, {1, 7, 32, 80}},
      {"line_7x1", {2, 17, 18, 33}, {7, 1, 33, 65}},
      {"line_1x5_valid", {1, 3, 14, 16}, {1, 5, 16, 24}, {1, 1}, kValid},
      {"line_5x1", {1, 9, 2, 20}, {5, 1, 20, 16}},
      {"line_1x3", {3, 2, 9, 7}, {1, 3, 7, 130}},
      {"line_3x1_valid", {2, 8, 5, 48}, {3, 1, 48, 16}, {1, 1}, kValid},
      {"line_beyond_image", {1, 2, 3, 16}, {1, 7, 16, 16}},
      {"line_1x7_one_row", {1, 1, 60, 16}, {1, 7, 16, 20}},
      {"line_beyond_the_padding",
       {1, 3, 9, 16},
       {1, 5, 16, 20},
       {1, 1},
       Padding::kExplicit,
       {1, 1},
       {0, 0, 7, 8}},
      {"filter_as_wide_as_image",
       {2, 14, 16, 3},
       {4, 16, 3, 20},
       {1, 1},
       kValid},
      {"filter_as_wide_as_image_strided",
       {2, 17, 9, 1},
       {3, 9, 1, 33},
       {2, 3},
       kValid,
       {2, 1}},
      {"patches", {2, 12, 8, 5}, {4, 2, 5, 18}, {4, 2}, kValid},
      {"patches_of_rows", {1, 6, 20, 3}, {3, 5, 3, 8}, {2, 5}, kValid},
      {"column_of_pixels", {2, 19, 1, 16}, {5, 1, 16, 24}},
      {"filter_is_input", {3, 4, 5, 6}, {4, 5, 6, 9}, {1, 1}, kValid},
      {"filter_is_input_same", {1, 3, 3, 4}, {3, 3, 4, 5}},
      {"wide_channels", {1, 6, 14, 70}, {3, 3, 70, 130}},
      {"deep", {1, 4, 4, 300}, {3, 3, 300, 20}},
      {"wide_row", {1, 1, 800, 3}, {1, 5, 3, 16}},
      {"few_channels_stride2", {2, 33, 31, 3}, {3, 3, 3, 32}, {2, 2}},
      {"few_channels_7x7", {1, 30, 62, 3}, {7, 7, 3, 64}, {2, 2}, kValid},
      {"few_channels_four_channels", {1, 9, 37, 4}, {3, 5, 4, 50}, {1, 2}},
      {"few_channels_few_outputs", {1, 9, 31, 3}, {3, 3, 3, 7}},
      {"few_channels_half_a_vector", {1, 5, 17, 1}, {3, 3, 1, 8}},
      {"few_channels_one_vector", {2, 7, 40, 2}, {5, 3, 2, 16}, {2, 2}},
      {"few_channels_rows_dilated",
       {1, 12, 20, 2},
       {3, 3, 2, 17},
       {1, 1},
       kSame,
       {2, 1}},
      {"few_outputs_5x5", {2, 9, 28, 64}, {5, 5, 64, 1}},
      {"few_outputs_valid", {1, 7, 30, 32}, {3, 3, 32, 3}, {1, 1}, kValid},
      {"few_outputs_pointwise", {2, 3, 29, 48}, {1, 1, 48, 4}},
      {"few_outputs_odd_channels", {2, 5, 13, 21}, {3, 4, 21, 2}},
      {"few_outputs_thin_image", {2, 9, 3, 24}, {3, 3, 24, 4}},
      {"few_outputs_strided", {1, 13, 31, 16}, {4, 4, 16, 3}, {3, 2}},
      {"few_outputs_dilated",
       {1, 12, 20, 18},
       {3, 3, 18, 1},
       {1, 1},
       kSame,
       {2, 3}},
      {"few_outputs_many_rows", {1, 45, 40, 96}, {3, 3, 96, 1}},
      {"few_outputs_beyond_the_padding",
       {1, 3, 15, 16},
       {3, 5, 16, 2},
       {1, 1},
       Padding::kExplicit,
       {1, 1},
       {1, 2, 7, 8}},
      {"few_outputs_volume",
       {2, 3, 5, 14, 16},
       {2, 3, 3, 16, 3},
       {1, 2, 1},
       kSame,
       {1, 1, 1}},
      {"few_inputs_backward", {2, 14, 15, 3}, {5, 5, 3, 64}},
      {"few_inputs_backward_valid",
       {1, 9, 16, 1},
       {3, 3, 1, 32},
       {1, 1},
       kValid},
      {"phases_5x5", {2, 28, 27, 3}, {5, 5, 3, 64}, {2, 2}},
      {"phases_4x4_valid", {1, 14, 16, 1}, {4, 4, 1, 32}, {2, 2}, kValid},
      {"phases_without_taps", {2, 13, 30, 2}, {2, 1, 2, 17}, {3, 2}},
      {"phases_without_pixels", {1, 1, 26, 4}, {3, 3, 4, 16}, {2, 2}},
      {"phases_of_many_channels", {2, 13, 14, 20}, {5, 4, 20, 33}, {2, 3}},
      {"phases_rest_unseen", {1, 9, 31, 3}, {2, 2, 3, 16}, {4, 2}, kValid},
      {"phases_beyond_the_padding",
       {1, 5, 25, 3},
       {3, 5, 3, 16},
       {2, 2},
       Padding::kExplicit,
       {1, 1},
       {3, 4, 7, 8}},
      {"phases_volume",
       {2, 3, 6, 14, 2},
       {2, 3, 3, 2, 16},
       {2, 2, 1},
       kSame,
       {1, 1, 1}},
      {"groups", {2, 6, 7, 6}, {3, 3, 2, 9}},
      {"groups_strided_dilated",
       {1, 9, 9, 8},
       {3, 3, 4, 6},
       {2, 2},
       kSame,
       {2, 2}},
      {"grouped_2", {2, 5, 16, 32}, {3, 3, 2, 32}},
      {"grouped_4", {2, 9, 15, 64}, {3, 3, 4, 64}},
      {"grouped_4_last_panel", {1, 5, 8, 40}, {3, 3, 4, 40}},
      {"grouped_8_strided", {2, 13, 29, 48}, {3, 3, 8, 48}, {2, 2}},
      {"grouped_8_5x5", {1, 9, 14, 32}, {5, 5, 8, 32}},
      {"grouped_8_valid", {1, 9, 17, 24}, {3, 3, 8, 24}, {1, 1}, kValid},
      {"grouped_4_dilated",
       {1, 9, 17, 32},
       {3, 3, 4, 32},
       {1, 1},
       kSame,
       {2, 2}},
      {"grouped_16", {2, 7, 7, 64}, {3, 3, 16, 64}},
      {"grouped_16_expands", {1, 5, 16, 20}, {3, 3, 5, 64}},
      {"grouped_20", {1, 5, 15, 60}, {3, 3, 20, 60}},
      {"grouped_pointwise", {2, 4, 15, 60}, {1, 1, 20, 96}},
      {"depthwise_multiplier_2", {2, 5, 17, 24}, {3, 3, 1, 48}},
      {"depthwise_multiplier_4_strided", {1, 9, 31, 8}, {3, 3, 1, 32}, {2, 2}},
      {"depthwise_multiplier_8", {1, 7, 20, 5}, {5, 5, 1, 40}},
      {"depthwise_multiplier_16", {1, 5, 9, 6}, {3, 3, 1, 96}},
      {"grouped_beyond_the_padding",
       {1, 3, 15, 16},
       {3, 5, 4, 16},
       {1, 1},
       Padding::kExplicit,
       {1, 1},
       {1, 2, 7, 8}},
      {"grouped_volume",
       {2, 3, 5, 14, 16},
       {2, 3, 3, 4, 16},
       {1, 2, 1},
       kSame,
       {1, 1, 1}},
      {"depthwise", {2, 7, 8, 37}, {3, 3, 1, 37}},
      {"depthwise_few_channels", {2, 3, 9, 6}, {3, 3, 1, 6}},
      {"depthwise_thin_image", {1, 9, 3, 40}, {3, 3, 1, 40}, {2, 2}},
      {"depthwise_odd_rows", {1, 9, 20, 40}, {3, 3, 1, 40}},
      {"depthwise_17_columns", {2, 8, 33, 18}, {3, 3, 1, 18}, {2, 2}},
      {"depthwise_valid", {2, 9, 12, 48}, {3, 3, 1, 48}, {2, 2}, kValid},
      {"depthwise_5x5", {1, 9, 14, 24}, {5, 5, 1, 24}},
      {"depthwise_5x5_strided", {2, 11, 17, 18}, {5, 5, 1, 18}, {2, 2}},
      {"depthwise_5x5_valid", {1, 8, 12, 5}, {5, 5, 1, 5}, {1, 1}, kValid},
      {"depthwise_7x7", {2, 6, 8, 37}, {7, 7, 1, 37}},
      {"depthwise_7x7_strided", {1, 15, 19, 40}, {7, 7, 1, 40}, {2, 2}},
      {"depthwise_7x7_uneven_pads",
       {1, 8, 7, 20},
       {7, 7, 1, 20},
       {1, 1},
       Padding::kExplicit,
       {1, 1},
       {5, 1, 2, 6}},
      {"depthwise_uneven_pads",
       {1, 8, 7, 20},
       {3, 3, 1, 20},
       {1, 1},
       Padding::kExplicit,
       {1, 1},
       {0, 2, 3, 1}},
      {"depthwise_stride2", {1, 9, 9, 16}, {3, 3, 1, 16}, {2, 2}},
      {"depthwise_stride_beyond_filter", {1, 9, 11, 20}, {2, 2, 1, 20}, {4, 3}},
      {"depthwise_dilated",
       {1, 12, 13, 19},
       {3, 3, 1, 19},
       {2, 1},
       kSame,
       {2, 3}},
      {"depthwise_volume",
       {2, 4, 5, 6, 17},
       {2, 3, 3, 1, 17},
       {1, 2, 2},
       kSame,
       {1, 1, 1}},
      {"depthwise_multiplier", {1, 6, 5, 3}, {3, 2, 1, 12}, {1, 1}, kValid},
      {"one_channel", {2, 8, 8, 1}, {5, 5, 1, 20}},
      {"depthwise_many_taps", {1, 12, 12, 4}, {9, 9, 1, 4}},
      {"explicit",
       {1, 6, 6, 3},
       {3, 3, 3, 4},
       {2, 2},
       Padding::kExplicit,
       {1, 1},
       {0, 2, 3, 1}},
      {"explicit_all_padding",
       {1, 2, 2, 3},
       {2, 2, 3, 4},
       {1, 1},
       Padding::kExplicit,
       {1, 1},
       {3, 3, 3, 3}},
      {"volume", {2, 4, 5, 6, 3}, {3, 2, 3, 3, 4}, {1, 1, 1}, kSame, {1, 1, 1}},
      {"volume_strided",
       {1, 5, 6, 7, 2},
       {3, 3, 2, 2, 5},
       {2, 1, 3},
       kSame,
       {1, 2, 1}},
      {"volume_valid",
       {1, 4, 4, 4, 3},
       {2, 2, 2, 3, 4},
       {2, 2, 2},
       kValid,
       {1, 1, 1}},
      // Large enough to be cut into several tiles and slices.
      {"tiles", {2, 24, 24, 32}, {3, 3, 32, 72}},
      {"tiles_strided", {1, 40, 40, 64}, {3, 3, 64, 72}, {2, 2}},
  };
  return cases;
}

ConvParams Params(const ConvCase& c) {
  ConvAttrs attrs;
  attrs.spatial = static_cast<int>(c.in.size()) - 2;
  attrs.padding = c.padding;
  attrs.strides = {1};
  attrs.dilations = {1};
  attrs.explicit_paddings = {0, 0};
  for (int i = 0; i < attrs.spatial; ++i) {
    attrs.strides.push_back(c.stride[i]);
    attrs.dilations.push_back(c.dilation[i]);
    for (int k = 0; k < 2; ++k) {
      attrs.explicit_paddings.push_back(c.pads.empty() ? 0 : c.pads[2 * i + k]);
    }
  }
  attrs.strides.push_back(1);
  attrs.dilations.push_back(1);
  attrs.explicit_paddings.insert(attrs.explicit_paddings.end(), 2, 0);
  ConvParams p;
  const Status s =
      ConvSizesOf(attrs, TensorShape(c.in), TensorShape(c.filter), false, &p);
  EXPECT_TRUE(s.ok()) << c.name << ": " << s;
  return p;
}

Tensor Random(DataType dtype, int64_t n) {
  std::mt19937 random(n);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor t(dtype, TensorShape({n}));
  for (int64_t i = 0; i < n; ++i) {
    const float v = uniform(random);
    switch (dtype) {
      case DT_FLOAT:
        t.data<float>()[i] = v;
        break;
      case DT_DOUBLE:
        t.data<double>()[i] = v;
        break;
      default:
        t.data<int32_t>()[i] = static_cast<int32_t>(v * 2e9f);
    }
  }
  return t;
}

void RoundToBfloat16(Tensor* t) {
  const int64_t n = t->NumElements();
  Tensor narrow(DT_BFLOAT16, TensorShape({n}));
  Narrow(t->data<float>(), narrow.data<bfloat16>(), n);
  Widen(narrow.data<bfloat16>(), t->data<float>(), n);
}

// What image and filter are changed to.
using Change = absl::FunctionRef<void(Tensor*, Tensor*)>;
void Unchanged(Tensor*, Tensor*) {}

// The result of one implementation.
Tensor RunOne(const ConvImplementation* impl, ConvDirection d,
              const ConvParams& p, ThreadPool* pool,
              const Epilogue& epilogue = {}, bool aligned_filter = true,
              Change change = Unchanged) {
  Tensor in = Random(p.dtype, p.in_elements());
  Tensor w = Random(p.dtype, p.filter_elements());
  change(&in, &w);
  const Tensor dy = Random(p.dtype, p.out_elements());
  const int64_t n = d == ConvDirection::kForward         ? p.out_elements()
                    : d == ConvDirection::kBackwardInput ? p.in_elements()
                                                         : p.filter_elements();
  Tensor result(p.dtype, TensorShape({n}));
  std::memset(result.raw_data(), 0x55, result.TotalBytes());
  Tensor workspace(
      DT_UINT8,
      TensorShape({std::max<int64_t>(64, impl->WorkspaceBytes(p, 4))}));
  std::memset(workspace.raw_data(), 0x55, workspace.TotalBytes());
  ConvArgs args;
  args.pool = pool;
  args.params = &p;
  args.epilogue = epilogue;
  if (d != ConvDirection::kBackwardInput) args.input = in.raw_data();
  if (d != ConvDirection::kBackwardFilter) args.filter = w.raw_data();
  std::vector<char> unaligned(w.TotalBytes() + 1);
  if (!aligned_filter) {
    std::memcpy(unaligned.data() + 1, w.raw_data(), w.TotalBytes());
    args.filter = unaligned.data() + 1;
  }
  if (d != ConvDirection::kForward) args.out_backprop = dy.raw_data();
  args.result = result.raw_data();
  args.workspace = workspace.raw_data();
  Tensor prepared(
      DT_UINT8,
      TensorShape({std::max<int64_t>(64, impl->PreparedFilterBytes(p))}));
  if (impl->PreparedFilterBytes(p) > 0) {
    std::memset(prepared.raw_data(), 0x55, prepared.TotalBytes());
    impl->PrepareFilter(pool, p, args.filter, prepared.raw_data());
    args.prepared_filter = prepared.raw_data();
    args.filter = nullptr;
  }
  impl->Run(args);
  return result;
}

// The largest error that is taken for rounding, for values in [-1, 1]. Those of
// Winograd's transforms are what winograd.cc promises.
double Tolerance(const ConvImplementation* impl, ConvDirection d,
                 const ConvParams& p) {
  const std::string name = impl->Name();
  const double unit = name == "winograd_f4"             ? 8e-6
                      : name == "winograd_f2_5"         ? 1.6e-5
                      : name == "winograd_line7"        ? 1.4e-5
                      : name.find("winograd_line") == 0 ? 6e-6
                      : p.dtype == DT_FLOAT             ? 1e-6
                                                        : 1e-14;
  const double terms =
      d == ConvDirection::kBackwardFilter ? 1.0 * p.batch * p.out_pixels()
      : d == ConvDirection::kForward      ? 1.0 * p.taps() * p.group_in()
                                          : 1.0 * p.taps() * p.group_out();
  return unit * std::sqrt(std::max(terms, 16.0));
}

TEST(ConvImplementations, AgreeWithTheReferenceLoop) {
  ThreadPool one(1), four(4);
  for (const ConvDirection d :
       {ConvDirection::kForward, ConvDirection::kBackwardInput,
        ConvDirection::kBackwardFilter}) {
    const auto all = ConvImplementations(d);
    for (const ConvCase& c : Cases()) {
      for (const DataType dtype : {DT_FLOAT, DT_DOUBLE, DT_INT32}) {
        ConvParams p = Params(c);
        p.dtype = dtype;
        Tensor want = RunOne(all.back(), d, p, &four);
        int accepted = 0;
        for (const ConvImplementation* impl : all) {
          if (!impl->Accepts(p, HostCpu())) continue;
          ++accepted;
          SCOPED_TRACE(StrCat(c.name, " ", impl->Name(), " direction ",
                              static_cast<int>(d), " ", DataTypeString(dtype)));
          const Tensor got = RunOne(impl, d, p, &four);
          ExpectClose(got, want, 1e-5, Tolerance(impl, d, p));
          ExpectEqual(RunOne(impl, d, p, &one), got);
          if (d != ConvDirection::kBackwardFilter &&
              impl->TakesUnalignedFilter(p)) {
            ExpectEqual(RunOne(impl, d, p, &four, {}, false), got);
          }
        }
        EXPECT_GE(accepted, 1) << c.name;
        const ConvImplementation* chosen = ChooseConv(d, p);
        ASSERT_NE(chosen, nullptr);
        EXPECT_TRUE(dtype == DT_INT32 || chosen != all.back())
            << c.name << ": the reference was chosen";
      }
    }
  }
}

// The same bytes read as other sizes give the same sums.
TEST(ConvImplementations, SizesOfAPlanComputeTheSame) {
  ThreadPool four(4);
  std::vector<std::string> others;
  for (const ConvCase& c : Cases()) {
    const ConvParams p = Params(c), planned = ConvPlan::ArithmeticOf(p);
    if (planned == p) continue;
    others.push_back(c.name);
    for (const ConvDirection d :
         {ConvDirection::kForward, ConvDirection::kBackwardInput,
          ConvDirection::kBackwardFilter}) {
      SCOPED_TRACE(StrCat(c.name, " direction ", static_cast<int>(d)));
      const ConvImplementation* const reference = conv::Reference(d);
      ExpectClose(RunOne(reference, d, planned, &four),
                  RunOne(reference, d, p, &four), 1e-5, 1e-5);
    }
  }
  for (const char* name :
       {"filter_as_wide_as_image", "filter_as_wide_as_image_strided",
        "column_of_pixels", "patches", "patches_of_rows"}) {
    EXPECT_EQ(absl::c_count(others, name), 1) << name;
  }
  EXPECT_EQ(absl::c_count(others, "filter_is_input"), 0);
}

// On one thread, of a filter that lies anywhere, and before an epilogue,
// forward gives the same bits as `got`.
void ExpectTheSameOtherwise(const ConvImplementation* impl, const ConvParams& p,
                            Change change, const Tensor& got) {
  ThreadPool one(1), four(4);
  constexpr auto kForward = ConvDirection::kForward;
  ExpectEqual(RunOne(impl, kForward, p, &one, {}, true, change), got);
  ExpectEqual(RunOne(impl, kForward, p, &four, {}, false, change), got);
  const Tensor bias = Random(DT_FLOAT, p.out_channels);
  const Epilogue e = {.bias = &bias, .activation = Activation::kRelu};
  Tensor want = got;
  ASSERT_EQ(got.DeepCopyTo(&want), OkStatus());
  ApplyEpilogue(&one, DT_FLOAT, e, p.batch * p.out_pixels(), p.out_channels,
                want.raw_data());
  ExpectEqual(RunOne(impl, kForward, p, &four, e, true, change), want);
}

TEST(ConvImplementations, Bfloat16IsTheSumOfRoundedFactors) {
  ThreadPool one(1), four(4);
  constexpr auto kForward = ConvDirection::kForward;
  const ConvImplementation* const reference =
      ConvImplementations(kForward).back();
  const ConvImplementation* const impl = conv::Bfloat16Products();
  int accepted = 0;
  for (const ConvCase& c : Cases()) {
    ConvParams p = Params(c);
    p.dtype = DT_FLOAT;
    EXPECT_FALSE(impl->Accepts(p, HostCpu())) << "unasked";
    EXPECT_NE(ChooseConv(kForward, p), impl);
    p.bfloat16_products = true;
    if (p.groups != 1) {
      EXPECT_FALSE(impl->Accepts(p, HostCpu())) << c.name;
      continue;
    }
    SCOPED_TRACE(c.name);
    const bool accepts = impl->Accepts(p, HostCpu());
    accepted += accepts;
    EXPECT_EQ(ChooseConv(kForward, p) == impl, accepts);
    EXPECT_NE(ChooseConv(ConvDirection::kBackwardInput, p), impl);
    const Tensor got = RunOne(impl, kForward, p, &four);
    const auto round = [](Tensor* in, Tensor* w) {
      RoundToBfloat16(in);
      RoundToBfloat16(w);
    };
    ExpectClose(got, RunOne(reference, kForward, p, &four, {}, true, round),
                1e-5, Tolerance(impl, kForward, p));
    ExpectTheSameOtherwise(impl, p, Unchanged, got);
  }
  EXPECT_GE(accepted, 5);
  // Winograd's algorithm takes fewer products.
  ConvParams p = Params({"", {1, 28, 28, 256}, {3, 3, 256, 256}});
  p.bfloat16_products = true;
  EXPECT_NE(ChooseConv(kForward, p), impl);
  p = Params({"", {1, 28, 28, 256}, {1, 1, 256, 256}});
  p.bfloat16_products = true;
  EXPECT_EQ(ChooseConv(kForward, p), impl);
}

// Each number becomes the step that is nearest; `channels`: of the last dim.
void ToSteps(Tensor* t, int64_t channels,
             absl::FunctionRef<FakeQuantRange(int64_t)> range) {
  float* const x = t->data<float>();
  for (int64_t i = 0; i < t->NumElements(); ++i) {
    const FakeQuantRange r = range(i % channels);
    x[i] = FakeQuantCode(x[i], r.min, r.max, r.inverse) * r.scale + r.min;
  }
}

TEST(ConvImplementations, BytesAreTheSumOfProductsOfSteps) {
  ThreadPool one(1), four(4);
  constexpr auto kForward = ConvDirection::kForward;
  const ConvImplementation* const reference =
      ConvImplementations(kForward).back();
  const ConvImplementation* const impl = conv::Bytes();
  int accepted = 0;
  for (const ConvCase& c : Cases()) {
    ConvParams p = Params(c);
    p.dtype = DT_FLOAT;
    EXPECT_FALSE(impl->Accepts(p, HostCpu())) << "unmarked";
    std::vector<float> of_channels = {0, 255, -1, 0.7f, 0, 255};
    for (int64_t i = 0; i < p.out_channels; ++i) {
      of_channels.push_back(-0.01f * static_cast<float>(i % 50));
      of_channels.push_back(0.02f * static_cast<float>(1 + i % 40));
    }
    for (const std::vector<float>& attr :
         {std::vector<float>{0, 255, 0, 0.8f, 1, 255, -0.7f, 0.7f},
          std::vector<float>{1, 255, -0.3f, 0.9f, 0, 255, -0.4f, 0.9f},
          std::vector<float>{0, 15, -1, 1, 0, 7, 0, 1},
          std::vector<float>{0, 255, -1, 0, 0, 255, -1, 0}, of_channels}) {
      const std::optional<ByteLevels> levels = ByteLevels::Of(attr);
      ASSERT_TRUE(levels);
      p.byte_levels = &*levels;
      if (p.groups != 1) {
        EXPECT_FALSE(impl->Accepts(p, HostCpu())) << c.name;
        continue;
      }
      SCOPED_TRACE(StrCat(c.name, " ", absl::StrJoin(attr, ",")));
      ASSERT_TRUE(impl->Accepts(p, HostCpu()));
      ++accepted;
      const auto change = [&](Tensor* in, Tensor* w) {
        ToSteps(in, 1, [&](int64_t) { return levels->image().range; });
        ToSteps(w, p.out_channels,
                [&](int64_t i) { return levels->filter(i).range; });
      };
      const Tensor got = RunOne(impl, kForward, p, &four, {}, true, change);
      ExpectClose(got, RunOne(reference, kForward, p, &four, {}, true, change),
                  1e-5, Tolerance(impl, kForward, p));
      ExpectTheSameOtherwise(impl, p, change, got);
    }
  }
  EXPECT_GE(accepted, 100);
}

TEST(ConvImplementations, BytesKeepNans) {
  ThreadPool pool(2);
  const std::vector<float> attr = {0, 255, -1, 1, 0, 255, -1, 1};
  const std::optional<ByteLevels> levels = ByteLevels::Of(attr);
  ASSERT_TRUE(levels);
  ConvParams p = Params({"", {1, 6, 5, 3}, {3, 3, 3, 4}});
  p.byte_levels = &*levels;
  const auto change = [&](Tensor* in, Tensor* w) {
    for (Tensor* t : {in, w}) {
      ToSteps(t, 1, [&](int64_t) { return levels->image().range; });
    }
    in->data<float>()[(2 * 5 + 1) * 3 + 2] = NAN;  // row 2, column 1
  };
  const Tensor got = RunOne(conv::Bytes(), ConvDirection::kForward, p, &pool,
                            {}, true, change);
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 5; ++x) {
      for (int c = 0; c < 4; ++c) {
        EXPECT_EQ(std::isnan(got.data<float>()[(y * 5 + x) * 4 + c]),
                  std::abs(y - 2) <= 1 && std::abs(x - 1) <= 1)
            << y << " " << x << " " << c;
      }
    }
  }
}

TEST(ByteLevels, WhatIsNoByteIsRefused) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& attr :
       {std::vector<float>{}, std::vector<float>{0, 255, 0, 6},  // no filter
        std::vector<float>{0, 255, 0, 6, 1, 255},           // no range of it
        std::vector<float>{0, 255, 0, 6, 1, 255, -1},       // half of one
        std::vector<float>{0, 256, 0, 6, 1, 255, -1, 1},    // 9 bits
        std::vector<float>{0, 255, 0, 6, 0, 65535, -1, 1},  // 16 bits
        std::vector<float>{7, 7, 0, 6, 1, 255, -1, 1},      // one level
        std::vector<float>{0, NAN, 0, 6, 1, 255, -1, 1},
        std::vector<float>{0, 255, 0, 0, 1, 255, -1, 1},  // all zero
        std::vector<float>{0, 255, 6, 0, 1, 255, -1, 1},
        std::vector<float>{0, 255, NAN, 6, 1, 255, -1, 1},
        std::vector<float>{0, 255, 0, inf, 1, 255, -1, 1},
        std::vector<float>{0, 255, 0, 1e-44f, 1, 255, -1, 1},
        std::vector<float>{0, 255, 0, 6, 1, 255, -1, 1, 0, 0}}) {
    EXPECT_FALSE(ByteLevels::Of(attr)) << absl::StrJoin(attr, ",");
  }
  const std::optional<ByteLevels> levels =
      ByteLevels::Of(std::vector<float>{0, 255, 0, 6, 1, 255, -1, 1, -1, 2});
  ASSERT_TRUE(levels);
  EXPECT_TRUE(levels->Fits(2));
  EXPECT_FALSE(levels->Fits(3));
  EXPECT_EQ(levels->image().zero, 0);
  EXPECT_EQ(levels->filter(0).zero, 127);
  EXPECT_EQ(levels->filter(1).zero, 85);
}

// An implementation that says so applies bias, addend and activation once per
// element.
TEST(ConvImplementations, ApplyTheEpilogue) {
  ThreadPool one(1), four(4);
  constexpr auto kForward = ConvDirection::kForward;
  for (const ConvCase& c : Cases()) {
    for (const DataType dtype : {DT_FLOAT, DT_DOUBLE}) {
      ConvParams p = Params(c);
      p.dtype = dtype;
      const Tensor bias = Random(dtype, p.out_channels);
      const Tensor scale = Random(dtype, p.out_channels + 1);
      const Tensor addend = Random(dtype, p.out_elements() + 2);
      for (const ConvImplementation* impl : ConvImplementations(kForward)) {
        if (!impl->Accepts(p, HostCpu()) || !impl->AppliesEpilogue()) continue;
        const Tensor plain = RunOne(impl, kForward, p, &four);
        for (const bool with_bias : {true, false}) {
          for (const char* name : {"", "Relu", "Relu6", "LeakyRelu", "Tanh"}) {
            Activation a = Activation::kNone;
            if (*name != 0) {
              ASSERT_EQ(FindActivation(name, &a), OkStatus());
            }
            const Epilogue e = {with_bias ? &scale : nullptr,
                                with_bias ? &bias : nullptr,
                                with_bias ? nullptr : &addend, a};
            SCOPED_TRACE(StrCat(c.name, " ", impl->Name(), " ",
                                DataTypeString(dtype), " activation ", name,
                                " bias ", with_bias));
            Tensor want = plain;
            ASSERT_EQ(plain.DeepCopyTo(&want), OkStatus());
            ApplyEpilogue(&four, dtype, e, p.batch * p.out_pixels(),
                          p.out_channels, want.raw_data());
            const Tensor got = RunOne(impl, kForward, p, &four, e);
            ExpectClose(got, want, 1e-6, 1e-6);
            ExpectEqual(RunOne(impl, kForward, p, &one, e), got);
          }
        }
      }
    }
  }
}

// And rounds to steps: a sum that lies between two of them may be rounded
// either way.
TEST(ConvImplementations, RoundToSteps) {
  ThreadPool four(4);
  constexpr auto kForward = ConvDirection::kForward;
  const FakeQuantRange range(-1, 2, {0, 255});
  int64_t elements = 0, different = 0;
  for (const ConvCase& c : Cases()) {
    const ConvParams p = Params(c);
    const Tensor bias = Random(DT_FLOAT, p.out_channels);
    for (const ConvImplementation* impl : ConvImplementations(kForward)) {
      if (!impl->Accepts(p, HostCpu()) || !impl->AppliesEpilogue()) continue;
      const Tensor plain = RunOne(impl, kForward, p, &four);
      for (const char* name : {"", "Relu6", "Tanh"}) {
        Activation a = Activation::kNone;
        if (*name != 0) {
          ASSERT_EQ(FindActivation(name, &a), OkStatus());
        }
        Epilogue e = {.bias = &bias, .activation = a};
        Tensor want;
        ASSERT_EQ(plain.DeepCopyTo(&want), OkStatus());
        ApplyEpilogue(&four, DT_FLOAT, e, p.batch * p.out_pixels(),
                      p.out_channels, want.raw_data());
        e.steps = &range;
        const Tensor got = RunOne(impl, kForward, p, &four, e);
        for (int64_t i = 0; i < got.NumElements(); ++i) {
          const float code = FakeQuantCode(want.data<float>()[i], range.min,
                                           range.max, range.inverse);
          const float steps =
              (got.data<float>()[i] - range.min) * range.inverse;
          ++elements;
          different += std::abs(steps - code) > 1e-3f ? 1 : 0;
          ASSERT_LE(std::abs(steps - code), 1.001f)
              << c.name << " " << impl->Name() << " " << name << " " << i;
        }
      }
    }
  }
  EXPECT_GT(elements, 100000);
  EXPECT_LE(different, elements / 1000);
}

// What winograd*.cc say of their accuracy, for deep sums.
TEST(Winograd, ErrorsAreAsStated) {
  ThreadPool* pool = ThreadPool::Global();
  struct {
    int64_t channels, height, width;
  } const cases[] = {{16, 3, 3}, {512, 3, 3}, {16, 1, 3},  {512, 3, 1},
                     {16, 5, 5}, {512, 5, 5}, {512, 1, 5}, {512, 5, 1},
                     {16, 7, 1}, {512, 1, 7}};
  for (const ConvDirection d :
       {ConvDirection::kForward, ConvDirection::kBackwardInput,
        ConvDirection::kBackwardFilter}) {
    const auto all = ConvImplementations(d);
    for (const auto& c : cases) {
      const int64_t in = d == ConvDirection::kBackwardInput ? 32 : c.channels;
      const int64_t out = d == ConvDirection::kBackwardInput ? c.channels : 32;
      const bool sums_pixels = d == ConvDirection::kBackwardFilter;
      const int64_t size = sums_pixels ? 60 : 14;
      const ConvParams p =
          Params({"", {1, size, size, in}, {c.height, c.width, in, out}});
      const double terms =
          sums_pixels ? 1.0 * p.out_pixels() : 1.0 * p.taps() * c.channels;
      const Tensor want = RunOne(all.back(), d, p, pool);
      for (const ConvImplementation* impl : all) {
        const std::string name = impl->Name();
        if (name.find("winograd") != 0 || !impl->Accepts(p, HostCpu())) {
          continue;
        }
        const Tensor got = RunOne(impl, d, p, pool);
        double largest = 0;
        for (int64_t i = 0; i < got.NumElements(); ++i) {
          largest = std::max<double>(
              largest, std::abs(got.data<float>()[i] - want.data<float>()[i]));
        }
        const double stated =
            (name == "winograd_f4"      ? 8e-6
             : name == "winograd_f2_5"  ? sums_pixels ? 1.6e-5 : 8e-6
             : name == "winograd_f2"    ? sums_pixels ? 3e-6 : 2e-6
             : name == "winograd_line7" ? 1.4e-5
                                        : 6e-6) *
            std::sqrt(terms);
        EXPECT_LT(largest, stated)
            << name << ", " << c.channels << " channels, direction "
            << static_cast<int>(d);
        RecordProperty(StrCat(name, "_", c.channels, "_", static_cast<int>(d)),
                       StrCat(largest / stated));
      }
    }
  }
}

TEST(PreparedFilters, AreSharedAndReleased) {
  ThreadPool* pool = ThreadPool::Global();
  ConvParams p = Params({"", {1, 8, 8, 32}, {3, 3, 32, 64}});
  const auto all = ConvImplementations(ConvDirection::kForward);
  const Tensor filter = Random(DT_FLOAT, p.filter_elements());
  const int64_t before = ConstantFormBytesInUse();
  for (const ConvImplementation* impl : all) {
    const int64_t bytes = impl->PreparedFilterBytes(p);
    if (!impl->Accepts(p, HostCpu()) || bytes == 0) continue;
    SCOPED_TRACE(impl->Name());
    {
      ConstantFilter a, b, none;
      a.Set(filter);
      b.Set(filter);
      const void* form = a.Get(pool, *impl, p);
      ASSERT_NE(form, nullptr);
      EXPECT_EQ(ConstantFormBytesInUse(), before + bytes);
      // Also for images of another size.
      p.in[2] = p.out[2] = 20;
      EXPECT_EQ(b.Get(pool, *impl, p), form);
      EXPECT_EQ(none.Get(pool, *impl, p), nullptr);
      std::vector<char> again(bytes);
      impl->PrepareFilter(pool, p, filter.raw_data(), again.data());
      EXPECT_EQ(std::memcmp(form, again.data(), bytes), 0);
      // Other bytes have a form of their own.
      ConstantFilter c;
      Tensor other;
      ASSERT_EQ(filter.DeepCopyTo(&other), OkStatus());
      c.Set(other);
      EXPECT_NE(c.Get(pool, *impl, p), form);
    }
    EXPECT_EQ(ConstantFormBytesInUse(), before);
  }
}

TEST(PreparedFilters, AreMadeOnceByManyThreads) {
  ThreadPool four(4);
  const ConvParams p = Params({"", {1, 8, 8, 64}, {3, 3, 64, 64}});
  const ConvImplementation* impl =
      ConvImplementations(ConvDirection::kForward).front();
  for (const ConvImplementation* i :
       ConvImplementations(ConvDirection::kForward)) {
    if (std::string(i->Name()) == "winograd_f4") impl = i;
  }
  const Tensor filter = Random(DT_FLOAT, p.filter_elements());
  const int64_t before = ConstantFormBytesInUse();
  std::vector<ConstantFilter> kernels(8);
  std::vector<const void*> forms(8);
  for (ConstantFilter& k : kernels) k.Set(filter);
  four.ParallelFor(8, 1, [&](int64_t i, int64_t) {
    forms[i] = kernels[i].Get(&four, *impl, p);
  });
  EXPECT_EQ(std::count(forms.begin(), forms.end(), forms[0]), 8);
  EXPECT_EQ(ConstantFormBytesInUse(), before + impl->PreparedFilterBytes(p));
}

TEST(ConvImplementations, ShortCutsAreTaken) {
  struct {
    const char* name;
    const char* algorithm;
  } const kWanted[] = {{"pointwise", "gemm_1x1"},
                       {"filter_is_input", "gemm_full"},
                       {"depthwise", "depthwise_3x3"},
                       {"depthwise_5x5", "depthwise_5x5"},
                       {"depthwise_7x7", "depthwise_7x7"},
                       {"depthwise_dilated", "depthwise"},
                       {"few_channels_7x7", "few_channels"},
                       {"few_outputs_5x5", "few_outputs"},
                       {"grouped_4", "grouped"},
                       {"tiles_strided", "direct"},
                       {"tiles", "winograd_f4"}};
  for (const auto& want : kWanted) {
    for (const ConvCase& c : Cases()) {
      if (std::string(c.name) != want.name) continue;
      EXPECT_STREQ(ChooseConv(ConvDirection::kForward, Params(c))->Name(),
                   want.algorithm)
          << c.name;
    }
  }
}

TEST(ConvImplementations, LargeFormsOfConstantFiltersMustPay) {
  CpuFeatures cpu;
  cpu.avx = cpu.fma = cpu.avx512f = true;
  cpu.vendor = "AuthenticAMD";
  cpu.family = 25;
  struct {
    int64_t size, channels;
    const char* algorithm;
  } const kWanted[] = {{28, 128, "winograd_f4"}, {14, 256, "winograd_f2"}};
  for (const auto& want : kWanted) {
    ConvParams p;
    p.batch = 1;
    p.in = p.out = {1, want.size, want.size};
    p.in_channels = p.out_channels = want.channels;
    p.filter = {1, 3, 3};
    p.pad_before = p.pad_after = {0, 1, 1};
    p.constant_filter = true;
    EXPECT_STREQ(ChooseConv(ConvDirection::kForward, p, cpu)->Name(),
                 want.algorithm);
  }
}

// The kernels.

using Ints = std::vector<int64_t>;

struct Node {
  std::string op = "Conv2D";
  Ints strides = {1, 1, 1, 1};
  std::string padding = "VALID";
  std::string format = "NHWC";
  Ints dilations = {1, 1, 1, 1};
  Ints explicit_paddings = {};
};

// A tester of such a node.
class NodeTester : public OpTester {
 public:
  explicit NodeTester(const Node& n) : OpTester(n.op) {
    Attr("strides", n.strides)
        .Attr("padding", n.padding)
        .Attr("data_format", n.format)
        .Attr("dilations", n.dilations);
    if (n.op.find("3D") == std::string::npos) {
      Attr("explicit_paddings", n.explicit_paddings);
    }
  }
};

Tensor Floats(const TensorShape& shape, std::vector<float> v = {}) {
  v.resize(shape.num_elements(), 1);
  return MakeTensor<float>(shape, v);
}
Tensor ToHalf(const Tensor& t) {
  Tensor out(DT_HALF, t.shape());
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    out.data<half>()[i] = static_cast<half>(t.data<float>()[i]);
  }
  return out;
}
Tensor Sizes(std::vector<int32_t> v) {
  const int64_t n = v.size();
  return MakeTensor<int32_t>({n}, v);
}

TEST(Conv2DOp, PaddingGoesToTheEndAndTheFilterIsNotFlipped) {
  NodeTester t(Node{.padding = "SAME"});
  t.Input(Floats({1, 1, 4, 1}, {0, 1, 2, 3}));
  t.Input(Floats({1, 2, 1, 1}, {1, 10}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Floats({1, 1, 4, 1}, {10, 21, 32, 3}));
}

TEST(Conv2DOp, Groups) {
  NodeTester t(Node{});
  t.Input(Floats({1, 1, 1, 4}, {1, 2, 3, 4}));
  t.Input(Floats({1, 1, 2, 2}, {1, 10, 100, 1000}));
  ASSERT_EQ(t.Run(), OkStatus());
  // Output 0 sees channels 0 and 1, output 1 channels 2 and 3.
  ExpectEqual(t.Output(0), Floats({1, 1, 1, 2}, {201, 4030}));
}

TEST(Conv2DOp, EmptyOutputs) {
  struct {
    TensorShape in, filter, out;
    // A filter that reaches beyond the image: only a kernel takes it.
    bool beyond = false;
  } const kCases[] = {{{0, 5, 5, 3}, {2, 2, 3, 4}, {0, 4, 4, 4}},
                      {{1, 5, 5, 3}, {2, 2, 3, 0}, {1, 4, 4, 0}},
                      {{1, 3, 3, 3}, {4, 4, 3, 2}, {1, 0, 0, 2}, true},
                      {{1, 0, 4, 3}, {1, 1, 3, 2}, {1, 0, 4, 2}, true}};
  for (const auto& c : kCases) {
    NodeTester t(Node{});
    t.Input(Floats(c.in)).Input(Floats(c.filter));
    Status s;
    if (c.beyond) {
      EXPECT_NONFATAL_FAILURE(s = t.Run(), "shape function says");
    } else {
      s = t.Run();
    }
    ASSERT_EQ(s, OkStatus()) << c.in.DebugString();
    EXPECT_EQ(t.Output(0).shape(), c.out);
  }
}

// NCHW and the narrow types give what NHWC in float gives.
TEST(Conv2DOp, FormatsAndTypesAgree) {
  const int64_t n = 2, h = 5, w = 6, c = 3, o = 4;
  const std::vector<float> x = [&] {
    std::vector<float> v(n * h * w * c);
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = static_cast<int>(i * 7 % 9) - 4;
    return v;
  }();
  std::vector<float> f(3 * 3 * c * o);
  for (size_t i = 0; i < f.size(); ++i) f[i] = static_cast<int>(i * 5 % 7) - 3;
  NodeTester nhwc(Node{.strides = {1, 2, 1, 1}, .padding = "SAME"});
  nhwc.Input(Floats({n, h, w, c}, x)).Input(Floats({3, 3, c, o}, f));
  ASSERT_EQ(nhwc.Run(), OkStatus());
  const Tensor& want = nhwc.Output(0);

  NodeTester nchw(
      Node{.strides = {1, 1, 2, 1}, .padding = "SAME", .format = "NCHW"});
  std::vector<float> xt(x.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t p = 0; p < h * w; ++p) {
      for (int64_t k = 0; k < c; ++k) {
        xt[(i * c + k) * h * w + p] = x[(i * h * w + p) * c + k];
      }
    }
  }
  nchw.Input(Floats({n, c, h, w}, xt)).Input(Floats({3, 3, c, o}, f));
  ASSERT_EQ(nchw.Run(), OkStatus());
  ASSERT_EQ(nchw.Output(0).shape(), TensorShape({n, o, 3, w}));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t p = 0; p < 3 * w; ++p) {
      for (int64_t k = 0; k < o; ++k) {
        EXPECT_EQ(nchw.Output(0).data<float>()[(i * o + k) * 3 * w + p],
                  want.data<float>()[(i * 3 * w + p) * o + k]);
      }
    }
  }

  const auto narrow = [&](auto type) {
    using T = decltype(type);
    const auto convert = [](const TensorShape& s, const std::vector<float>& v) {
      Tensor t(DataTypeToEnum<T>::value, s);
      for (size_t i = 0; i < v.size(); ++i)
        t.data<T>()[i] = static_cast<T>(v[i]);
      return t;
    };
    NodeTester t(Node{.strides = {1, 2, 1, 1}, .padding = "SAME"});
    t.Input(convert({n, h, w, c}, x)).Input(convert({3, 3, c, o}, f));
    ASSERT_EQ(t.Run(), OkStatus());
    for (int64_t i = 0; i < want.NumElements(); ++i) {
      EXPECT_EQ(static_cast<float>(t.Output(0).data<T>()[i]),
                static_cast<float>(static_cast<T>(want.data<float>()[i])));
    }
  };
  narrow(half());
  narrow(bfloat16());
  narrow(double());
  narrow(int32_t());
}

TEST(DepthwiseConv2dNativeOp, OutputChannelsAreChannelMajor) {
  NodeTester t(Node{.op = "DepthwiseConv2dNative"});
  t.Input(Floats({1, 1, 1, 2}, {1, 2}));
  t.Input(Floats({1, 1, 2, 2}, {1, 10, 100, 1000}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Floats({1, 1, 1, 4}, {1, 10, 200, 2000}));
}

TEST(ConvGradOps, SizesMayBeHeightAndWidthAlone) {
  NodeTester t(Node{.op = "Conv2DBackpropInput"});
  t.Input(Sizes({2, 3}))
      .Input(Floats({2, 2, 3, 4}))
      .Input(Floats({1, 1, 2, 4}));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(t.Output(0).shape(), TensorShape({1, 2, 3, 3}));
  EXPECT_EQ(t.Output(0).data<float>()[3], 8);  // the middle column: two windows
}

// Transposed convolutions of inference; the filters of two kernels are one.
TEST(ConvGradOps, ConstantFiltersGiveTheSame) {
  const Tensor filter = Random(DT_FLOAT, 5 * 5 * 3 * 16);
  Tensor shaped;
  ASSERT_TRUE(shaped.CopyFrom(filter, TensorShape({5, 5, 3, 16})));
  for (const int64_t stride : {1, 2}) {
    for (const DataType dtype : {DT_FLOAT, DT_HALF}) {
      SCOPED_TRACE(StrCat("stride ", stride, ", ", DataTypeString(dtype)));
      const TensorShape dy({2, 14 / stride, 26 / stride, 16});
      Tensor w = shaped, y;
      ASSERT_TRUE(y.CopyFrom(Random(DT_FLOAT, dy.num_elements()), dy));
      if (dtype == DT_HALF) {
        w = ToHalf(w);
        y = ToHalf(y);
      }
      const Node n = {.op = "Conv2DBackpropInput",
                      .strides = {1, stride, stride, 1},
                      .padding = "SAME"};
      NodeTester fed(n), constant(n);
      fed.Input(Sizes({2, 14, 26, 3})).Input(w).Input(y);
      constant.Input(Sizes({2, 14, 26, 3})).Constant(w).Input(y);
      ASSERT_EQ(fed.Run(), OkStatus());
      ASSERT_EQ(constant.Run(), OkStatus());
      ExpectClose(constant.Output(0), fed.Output(0), 1e-3);
    }
  }
}
TEST(ConvGradOps, EmptyBatchGivesZeros) {
  NodeTester t(Node{.op = "Conv2DBackpropFilter"});
  t.Input(Floats({0, 5, 5, 3}))
      .Input(Sizes({2, 2, 3, 2}))
      .Input(Floats({0, 4, 4, 2}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0),
              Floats({2, 2, 3, 2}, std::vector<float>(2 * 2 * 3 * 2, 0)));
}

struct Refusal {
  Node node;
  std::vector<Tensor> inputs;
  absl::StatusCode code;
  const char* message;
};

TEST(ConvOps, Refusals) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  const Tensor x = Floats({1, 4, 4, 4}), f = Floats({2, 2, 4, 2});
  const Tensor dy = Floats({1, 3, 3, 2});
  const Refusal cases[] = {
      {{}, {Floats({4, 4, 4}), f}, kInvalid, "input must be 4-dimensional"},
      {{}, {x, Floats({2, 4, 2})}, kInvalid, "filter must be 4-dimensional"},
      {{.strides = {1, 1, 1}}, {x, f}, kInvalid, "must specify 4 dimensions"},
      {{.strides = {2, 1, 1, 1}}, {x, f}, kUnimplemented, "batch and depth"},
      {{.strides = {1, 0, 1, 1}}, {x, f}, kInvalid, "larger than 0"},
      {{.strides = {1, int64_t{1} << 40, 1, 1}}, {x, f}, kInvalid, "int32"},
      {{.dilations = {1, 1, 1, 2}}, {x, f}, kUnimplemented, "batch and depth"},
      {{.dilations = {1, 1, -1, 1}}, {x, f}, kInvalid, "larger than 0"},
      {{}, {x, Floats({2, 2, 3, 2})}, kInvalid, "evenly divisible"},
      {{}, {x, Floats({2, 2, 2, 3})}, kInvalid, "number of groups"},
      {{}, {x, Floats({2, 2, 0, 2})}, kInvalid, "larger than 0"},
      {{}, {x, Floats({0, 2, 4, 2})}, kInvalid, "zero spatial"},
      {{}, {x, Floats({6, 2, 4, 2})}, kInvalid, "would be negative"},
      {{.padding = "EXPLICIT"}, {x, f}, kInvalid, "must have 8 entries"},
      {{.padding = "EXPLICIT", .explicit_paddings = {0, 0, 0, 0, 0, 0, 1, 0}},
       {x, f},
       kInvalid,
       "batch and depth"},
      {{.padding = "EXPLICIT", .explicit_paddings = {0, 0, -1, 0, 0, 0, 0, 0}},
       {x, f},
       kInvalid,
       "nonnegative"},
      {{.padding = "SAME", .explicit_paddings = {0, 0, 0, 0, 0, 0, 0, 0}},
       {x, f},
       kInvalid,
       "must be empty"},
      {{.op = "DepthwiseConv2dNative", .strides = {1, 1, 2, 1}},
       {x, f},
       kInvalid,
       "must be equal"},
      {{.op = "DepthwiseConv2dNative"},
       {x, Floats({2, 2, 3, 1})},
       kInvalid,
       "same depth"},
      {{.op = "Conv2DBackpropInput"},
       {Sizes({1, 4, 4}), f, dy},
       kInvalid,
       "4-dimensional"},
      {{.op = "Conv2DBackpropInput"},
       {Sizes({1, 4, -4, 4}), f, dy},
       kInvalid,
       "must not be negative"},
      {{.op = "Conv2DBackpropInput"},
       {MakeTensor<int32_t>({1, 4}, {1, 4, 4, 4}), f, dy},
       kInvalid,
       "1-dimensional"},
      {{.op = "Conv2DBackpropInput"},
       {Sizes({1, 5, 4, 4}), f, dy},
       kInvalid,
       "Size of out_backprop doesn't match"},
      {{.op = "Conv2DBackpropFilter"},
       {x, Sizes({3, 2, 4, 2}), dy},
       kInvalid,
       "Size of out_backprop doesn't match"},
      {{.op = "Conv2DBackpropFilter"},
       {x, Sizes({2, 2, 4, 2}), f},
       kInvalid,
       "out_backprop"},
      {{.op = "Conv3D",
        .strides = {1, 1, 1, 1, 1},
        .format = "NDHWC",
        .dilations = {1, 1, 1, 1, 1}},
       {x, f},
       kInvalid,
       "5-dimensional"},
  };
  for (const Refusal& c : cases) {
    NodeTester t(c.node);
    for (const Tensor& in : c.inputs) t.Input(in);
    SCOPED_TRACE(StrCat(c.node.op, ": ", c.message));
    ExpectError(t.Run(), c.code, c.message);
  }
}

}  // namespace
}  // namespace headrace
