#include "kernels/conv/byte_levels.h"

#include <bit>
#include <cmath>

namespace headrace {
namespace {

// Null if the codes are no bytes.
std::optional<ByteLevels::Steps> StepsOf(float low_level, float high_level,
                                         float low, float high) {
  const FakeQuantLevels levels = {low_level, high_level};
  // Written so that a NaN is refused.
  if (!(levels.last() >= 1 && levels.last() <= 255) || !(low < high)) {
    return std::nullopt;
  }
  const FakeQuantRange range(low, high, levels);
  if (!std::isfinite(range.min) || !std::isfinite(range.max) ||
      !std::isfinite(range.inverse) || !(range.scale > 0)) {
    return std::nullopt;
  }
  const auto last = static_cast<int32_t>(levels.last());
  const auto zero = static_cast<int32_t>(std::lround(-range.min / range.scale));
  if (zero < 0 || zero > last) return std::nullopt;
  return ByteLevels::Steps{range, zero, last};
}

}  // namespace

std::optional<ByteLevels> ByteLevels::Of(const OpKernelConstruction& ctx) {
  std::vector<float> attr;
  if (!ctx.def().attrs.Get("_fake_quant", &attr).ok()) return std::nullopt;
  return Of(attr);
}

std::optional<ByteLevels> ByteLevels::Of(const std::vector<float>& attr) {
  constexpr size_t kBefore = 6;
  if (attr.size() < kBefore + 2 || attr.size() % 2 != 0) return std::nullopt;
  const auto image = StepsOf(attr[0], attr[1], attr[2], attr[3]);
  if (!image) return std::nullopt;
  ByteLevels levels(*image);
  for (size_t i = kBefore; i < attr.size(); i += 2) {
    const auto steps = StepsOf(attr[4], attr[5], attr[i], attr[i + 1]);
    if (!steps) return std::nullopt;
    levels.filter_.push_back(*steps);
  }
  return levels;
}

void ByteLevels::AppendFilterTo(std::vector<int64_t>* key) const {
  for (const Steps& s : filter_) {
    key->insert(key->end(), {std::bit_cast<int32_t>(s.range.min),
                             std::bit_cast<int32_t>(s.range.scale), s.last});
  }
}

}  // namespace headrace
