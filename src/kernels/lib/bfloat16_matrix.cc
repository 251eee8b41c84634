#include "kernels/lib/bfloat16_matrix.h"

#include "kernels/lib/bfloat16_product.h"

namespace headrace {

Bfloat16Matrix::Bfloat16Matrix(const OpKernelConstruction& ctx)
    : is_on_(MultipliesBfloat16(ctx)) {}

Status Bfloat16Matrix::Multiply(OpKernelContext* ctx,
                                const GemmArgs<float>& g) {
  if (g.m == 0 || g.n == 0) return OkStatus();
  const int64_t pairs = NumPairs(g.k);
  Tensor rounded, form;
  HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_UINT32, TensorShape({g.m, pairs}),
                                        &rounded, Tensor::kHeap));
  Bfloat16Pair* const a = rounded.data<uint32_t>();
  ctx->ParallelFor(g.m, 0.3 * static_cast<double>(g.k),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       if (g.transpose_a) {
                         RoundToPairs(g.a + i, g.k, a + i * pairs, g.lda);
                       } else {
                         RoundToPairs(g.a + i * g.lda, g.k, a + i * pairs);
                       }
                     }
                   });
  const int64_t bytes = Bfloat16PanelsBytes(g.n, pairs);
  static constexpr char kKind = 0;
  const int64_t sizes[] = {g.transpose_b, g.n, g.k};
  const auto pack = [&](const void* b, void* to) {
    PackBfloat16Panels(ctx->thread_pool(), b, g.ldb, g.transpose_b, g.n, g.k, 0,
                       pairs, static_cast<Bfloat16Pair*>(to));
  };
  const void* panels =
      constant_.Get(&kKind, sizes, bytes, [&](const Tensor& b, void* to) {
        pack(b.raw_data(), to);
        return true;
      });
  if (panels == nullptr) {
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_UINT8, TensorShape({bytes}), &form,
                                          Tensor::kHeap));
    pack(g.b, form.raw_data());
    panels = form.raw_data();
  }
  Bfloat16Gemm(ctx->thread_pool(), g.m, g.n, pairs, a,
               static_cast<const Bfloat16Pair*>(panels), g.c, g.ldc);
  ctx->set_algorithm("bfloat16");
  return OkStatus();
}

}  // namespace headrace
