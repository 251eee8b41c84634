// What graph passes know of fake quantisation.
#ifndef HEADRACE_RUNTIME_PASSES_QUANTIZATION_H_
#define HEADRACE_RUNTIME_PASSES_QUANTIZATION_H_

#include <cstdint>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

// The levels and ranges of a fake quantisation. A plain value.
struct Quantization {
  int64_t bits = 0;  // 2 to 16
  float low_level = 0, high_level = 0;
  std::vector<float> low, high;  // one, or one for each channel
};

// What `n` quantises to; false if it does not, or to what is not known: its
// range has to be constant.
bool ReadQuantization(const Node& n, Quantization* out);

// The numbers of constant input `i`; false if it is none of floats.
bool ReadFloats(const Node& n, int i, std::vector<float>* out);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PASSES_QUANTIZATION_H_
