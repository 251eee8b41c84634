#include "framework/shape_fns/window_shape.h"

namespace headrace {

Status CheckWindowFits(int64_t in, int64_t filter, int64_t dilation,
                       Padding padding, int64_t pad_before, int64_t pad_after) {
  if (padding == Padding::kSame || filter < 1) return OkStatus();
  if (padding == Padding::kValid) pad_before = pad_after = 0;
  int64_t effective, padded;
  if (__builtin_mul_overflow(filter - 1, dilation, &effective) ||
      __builtin_add_overflow(effective, int64_t{1}, &effective) ||
      __builtin_add_overflow(in, pad_before, &padded) ||
      __builtin_add_overflow(padded, pad_after, &padded)) {
    return errors::InvalidArgument("window of filter ", filter,
                                   " and dilation ", dilation,
                                   " over an input of size ", in, " overflows");
  }
  if (effective <= padded) return OkStatus();
  return errors::InvalidArgument(
      "Negative dimension size caused by subtracting ", effective, " from ",
      padded);
}

}  // namespace headrace
