#include "kernels/lib/conv_args.h"

#include "kernels/lib/element.h"

namespace headrace {

Status CheckPerChannel(const char* name, const Tensor& t, int64_t channels) {
  if (t.dims() == 1 && t.NumElements() == channels) return OkStatus();
  return errors::InvalidArgument(name, ": got shape ", t.shape().DebugString(),
                                 ", wanted one element for each of ", channels,
                                 " output channels");
}

Status ReadSizes(const char* name, const Tensor& t, DimVector* dims) {
  if (t.dims() != 1) {
    return errors::InvalidArgument(name, " must be 1-dimensional, got shape ",
                                   t.shape().DebugString());
  }
  HR_RETURN_IF_ERROR(ReadIntegers(t, name, dims));
  for (size_t i = 0; i < dims->size(); ++i) {
    if ((*dims)[i] < 0) {
      return errors::InvalidArgument(name, " must not be negative, got ",
                                     (*dims)[i], " at ", i);
    }
  }
  return OkStatus();
}

}  // namespace headrace
