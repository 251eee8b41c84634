// Gradients of ops on images.
#include "headrace/gradients.h"

namespace headrace {
namespace {

using G = GradientContext;

Expr Part(const Expr& vector, int from, int to) {
  G& g = *vector.context();
  return g.Op("StridedSlice",
              {vector, g.Ints({from}), g.Ints({to}), g.Ints({1})});
}

REGISTER_GRADIENT("ResizeNearestNeighbor", [](G& g) {
  g.SetDx(0, g.Like("ResizeNearestNeighborGrad",
                    {g.dy(), Part(g.Shape(g.x(0)), 1, 3)}));
});
REGISTER_GRADIENT("ResizeBilinear", [](G& g) {
  g.SetDx(0, g.Like("ResizeBilinearGrad", {g.dy(), g.x(0)}));
});
REGISTER_GRADIENT("ResizeBicubic", [](G& g) {
  g.SetDx(0, g.Like("ResizeBicubicGrad", {g.dy(), g.x(0)}));
});
REGISTER_GRADIENT("ScaleAndTranslate", [](G& g) {
  g.SetDx(0, g.Like("ScaleAndTranslateGrad", {g.dy(), g.x(0), g.x(2), g.x(3)}));
});
// Inputs: image, boxes, box_ind, crop_size.
REGISTER_GRADIENT("CropAndResize", [](G& g) {
  const DataType type = g.x(0).dtype();
  if (g.Needs(0)) {
    g.SetDx(0, g.Op("CropAndResizeGradImage",
                    {g.dy(), g.x(1), g.x(2), g.Shape(g.x(0))},
                    {{"T", type}, {"method", g.Attr<std::string>("method")}}));
  }
  if (g.Needs(1)) {
    g.SetDx(1,
            g.Op("CropAndResizeGradBoxes", {g.dy(), g.x(0), g.x(1), g.x(2)}));
  }
});

// As in TensorFlow: dy, transformed by the inverses of the matrices
// [[a0, a1, a2], [b0, b1, b2], [c0, c1, 1]]. That is the derivative where a
// transform moves the pixels without scaling them.
REGISTER_GRADIENT("ImageProjectiveTransformV2", [](G& g) {
  if (const auto mode = g.Attr<std::string>("fill_mode"); mode != "CONSTANT") {
    return g.Fail(errors::Unimplemented(
        "ImageProjectiveTransformV2 has a gradient with fill_mode CONSTANT, "
        "got ",
        mode));
  }
  const Expr rows = g.Reshape(g.x(1), g.Ints({-1, 8}));
  const Expr one =
      g.Op("OnesLike", {g.Slice(rows, g.Ints({0, 0}), g.Ints({-1, 1}))});
  const Expr inverse =
      g.Op("MatrixInverse",
           {g.Reshape(g.Concat({rows, one}, 1), g.Ints({-1, 3, 3}))});
  const Expr flat = g.Reshape(inverse, g.Ints({-1, 9}));
  const Expr transforms = g.Slice(flat, g.Ints({0, 0}), g.Ints({-1, 8})) /
                          g.Slice(flat, g.Ints({0, 8}), g.Ints({-1, 1}));
  g.SetDx(0, g.Like("ImageProjectiveTransformV2",
                    {g.dy(), transforms, Part(g.Shape(g.x(0)), 1, 3)}));
});

// Patches: the same op, applied to the numbers of the pixels, says which pixel
// each element comes from; 0 is the padding. `dims` is the number of
// dimensions that patches have.
void PatchesGradient(G& g, int dims) {
  const Expr x = g.x(0), shape = g.Shape(x);
  const auto element = [&](int i) {
    return g.Reshape(Part(shape, i, i + 1), g.Ints({}));
  };
  const Expr pixel_dims = Part(shape, 1, 1 + dims);
  const Expr pixels = g.Op("Prod", {pixel_dims, g.Int(0)});
  const Expr numbers =
      g.Reshape(g.Op("Range", {g.Int(1), pixels + 1, g.Int(1)}),
                g.Concat({g.Ints({1}), pixel_dims, g.Ints({1})}));
  // The patch ops take no int32 on every device, but double holds all numbers.
  const Expr sources = g.Cast(
      g.Like(g.node().type_string().c_str(), {g.Cast(numbers, DT_DOUBLE)}),
      DT_INT32);  // [1, out..., patch]
  const Expr depth = element(1 + dims), batch = element(0);
  const Expr flat = g.Reshape(sources, g.Ints({-1}));
  // dy as [batch, out and patch, depth], with the batch behind.
  const Expr dy =
      g.Reshape(g.dy(), g.Op("Pack", {batch, g.Int(-1), depth}, {{"axis", 0}}));
  const Expr sums =
      g.Op("UnsortedSegmentSum",
           {g.Transpose(dy, g.Ints({1, 0, 2})), flat, pixels + 1});
  const Expr inside =
      g.Op("StridedSlice", {sums, g.Ints({1}), g.Ints({0}), g.Ints({1})},
           {{"end_mask", 1}});
  g.SetDx(0, g.Reshape(g.Transpose(inside, g.Ints({1, 0, 2})), shape));
}
REGISTER_GRADIENT("ExtractImagePatches", [](G& g) { PatchesGradient(g, 2); });
REGISTER_GRADIENT("ExtractVolumePatches", [](G& g) { PatchesGradient(g, 3); });

// hue, saturation, value as functions of the largest and smallest colour.
REGISTER_GRADIENT("RGBToHSV", [](G& g) {
  const Expr x = g.x(0), dy = g.dy();
  const auto channel = [&](const Expr& t, int i) {
    return g.Op("GatherV2", {t, g.Int(i), g.Int(-1)});
  };
  const Expr r = channel(x, 0), green = channel(x, 1), b = channel(x, 2);
  const auto mask = [&](const char* op, const Expr& a, const Expr& c) {
    return g.Cast(g.Op(op, {a, c}), x.dtype());
  };
  const Expr value = channel(g.y(), 2);
  const Expr low = g.Op("Minimum", {g.Op("Minimum", {r, green}), b});
  const Expr range = value - low;
  // Which colour is the largest and the smallest: of equals the first.
  const Expr r_max = mask("GreaterEqual", r, value);
  const Expr g_max = mask("GreaterEqual", green, value) * (1 - r_max);
  const Expr b_max = 1 - r_max - g_max;
  const Expr r_min = mask("LessEqual", r, low);
  const Expr g_min = mask("LessEqual", green, low) * (1 - r_min);
  const Expr b_min = 1 - r_min - g_min;
  const auto over = [&](const Expr& a, const Expr& c) {
    return g.Op("DivNoNan", {a, c});
  };
  const Expr dh = channel(dy, 0), ds = channel(dy, 1), dv = channel(dy, 2);
  const Expr one = g.Op("OnesLike", {value});
  // saturation = (value - low) / value.
  const Expr s_by_max = over(low, value * value);
  const Expr s_by_min = -over(one, value);
  // hue = (difference of two colours / range + a constant) / 6.
  const Expr by_difference = over(one, range) / 6;
  const Expr difference =
      r_max * (green - b) + g_max * (b - r) + b_max * (r - green);
  const Expr by_range = -over(difference, range * range) / 6;
  const auto color = [&](const Expr& is_max, const Expr& is_min,
                         const Expr& sign) {
    return dv * is_max + ds * (s_by_max * is_max + s_by_min * is_min) +
           dh * (by_difference * sign + by_range * (is_max - is_min));
  };
  g.SetDx(0, g.Op("Pack",
                  {color(r_max, r_min, b_max - g_max),
                   color(g_max, g_min, r_max - b_max),
                   color(b_max, b_min, g_max - r_max)},
                  {{"axis", -1}}));
});

}  // namespace
}  // namespace headrace
