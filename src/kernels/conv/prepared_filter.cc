#include "kernels/conv/prepared_filter.h"

#include <vector>

#include "kernels/conv/byte_levels.h"
#include "kernels/conv/layout.h"

namespace headrace {

const void* ConstantFilter::Get(ThreadPool* pool,
                                const ConvImplementation& impl,
                                const ConvParams& p) {
  std::vector<int64_t> sizes = {
      p.dtype,        p.filter[0], p.filter[1], p.filter[2], p.in_channels,
      p.out_channels, p.groups,    p.stride[0], p.stride[1], p.stride[2]};
  if (p.byte_levels != nullptr) p.byte_levels->AppendFilterTo(&sizes);
  return forms_.Get(
      &impl, sizes, impl.PreparedFilterBytes(p),
      [&](const Tensor& filter, void* form) {
        // These go when the form is made.
        Tensor aligned, wide;
        const Tensor* from = &filter;
        if (!IsAligned(filter) &&
            (!impl.TakesUnalignedFilter(p) || filter.dtype() != p.dtype)) {
          if (!filter.DeepCopyTo(&aligned).ok()) return false;
          from = &aligned;
        }
        if (filter.dtype() != p.dtype) {
          if (!Tensor::Allocate(CpuAllocator(), p.dtype, filter.shape(), &wide)
                   .ok()) {
            return false;
          }
          CastToFloat(pool, *from, &wide);
          from = &wide;
        }
        impl.PrepareFilter(pool, p, from->raw_data(), form);
        return true;
      });
}

}  // namespace headrace
