// Reads and checks the attrs and input shapes of a convolution, for its shape
// function, its kernel and the kernels of its gradients.
//
// strides, dilations and explicit_paddings are in the order of data_format.
// Filters are always [spatial dims, in depth, out depth].
#ifndef HEADRACE_FRAMEWORK_SHAPE_FNS_CONV_ATTRS_H_
#define HEADRACE_FRAMEWORK_SHAPE_FNS_CONV_ATTRS_H_

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/tensor_shape.h"

namespace headrace {

struct ConvAttrs {
  int spatial = 2;  // 2 or 3 spatial dims; ranks are spatial + 2
  std::vector<int64_t> strides, dilations, explicit_paddings;
  Padding padding = Padding::kValid;
  DataFormat format = DataFormat::kNHWC;

  int rank() const { return spatial + 2; }
  int64_t stride(int i) const { return strides[SpatialDim(format, i)]; }
  int64_t dilation(int i) const { return dilations[SpatialDim(format, i)]; }

  // From an OpKernelConstruction or an InferenceContext. Ops that lack
  // dilations, data_format or explicit_paddings have their defaults; a
  // padding_list stands above padding. Checks lengths (InvalidArgument).
  template <typename Context>
  static Status Read(const Context& c, int spatial, ConvAttrs* out) {
    out->spatial = spatial;
    std::string padding, format = "NHWC";
    HR_RETURN_IF_ERROR(c.GetAttr("strides", &out->strides));
    HR_RETURN_IF_ERROR(c.GetAttr("padding", &padding));
    (void)c.GetAttr("data_format", &format).ok();
    if (!c.GetAttr("dilations", &out->dilations).ok()) out->dilations.clear();
    if (!c.GetAttr("explicit_paddings", &out->explicit_paddings).ok()) {
      out->explicit_paddings.clear();
    }
    std::vector<int64_t> padding_list;  // of quantised ops
    if (c.GetAttr("padding_list", &padding_list).ok() &&
        !padding_list.empty()) {
      padding = "EXPLICIT";
      out->explicit_paddings = std::move(padding_list);
    }
    return out->Check(padding, format);
  }

  // Strides and dilations are positive (InvalidArgument) and 1 in the batch
  // and the depth (Unimplemented).
  Status CheckValues() const;

 private:
  friend struct ConvChainAttrs;
  Status Check(const std::string& padding, const std::string& format);
};

// The convolutions of a _FusedConvChain: NHWC, without dilations.
struct ConvChainAttrs {
  std::vector<ConvAttrs> convs;
  std::vector<bool> depthwise;

  // From an OpKernelConstruction or an InferenceContext. Checks lengths and
  // values (InvalidArgument).
  template <typename Context>
  static Status Read(const Context& c, ConvChainAttrs* out) {
    int64_t count = 0;
    std::vector<int64_t> strides, explicit_paddings;
    std::vector<std::string> paddings;
    HR_RETURN_IF_ERROR(c.GetAttr("num_convs", &count));
    HR_RETURN_IF_ERROR(c.GetAttr("depthwise", &out->depthwise));
    HR_RETURN_IF_ERROR(c.GetAttr("strides", &strides));
    HR_RETURN_IF_ERROR(c.GetAttr("paddings", &paddings));
    HR_RETURN_IF_ERROR(c.GetAttr("explicit_paddings", &explicit_paddings));
    return out->Set(static_cast<size_t>(count), strides, paddings,
                    explicit_paddings);
  }

 private:
  Status Set(size_t count, const std::vector<int64_t>& strides,
             const std::vector<std::string>& paddings,
             const std::vector<int64_t>& explicit_paddings);
};

// A convolution with all sizes known. Two spatial dims are three of which the
// first has size 1.
struct ConvSizes {
  using Dims = std::array<int64_t, 3>;
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  Dims in = {1, 1, 1}, filter = {1, 1, 1}, out = {1, 1, 1};
  Dims stride = {1, 1, 1}, dilation = {1, 1, 1};
  Dims pad_before = {0, 0, 0}, pad_after = {0, 0, 0};

  int64_t group_in() const { return in_channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
  bool operator==(const ConvSizes&) const = default;
};

// Checks `input` against `filter` and computes the output's size. With
// `depthwise` the filter is [.., in depth, multiplier], which is a convolution
// of as many groups as channels with a filter [.., 1, in depth * multiplier],
// the same bytes.
Status ConvSizesOf(const ConvAttrs& attrs, const TensorShape& input,
                   const TensorShape& filter, bool depthwise, ConvSizes* out);
// The output's shape, in the attrs' format.
TensorShape ConvOutputShape(const ConvAttrs& attrs, const ConvSizes& sizes);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_SHAPE_FNS_CONV_ATTRS_H_
