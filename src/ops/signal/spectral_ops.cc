// Fourier transforms over the last dimensions.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

template <int rank>
Status FftShape(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), rank, &s));
  c->set_output(0, s);
  return OkStatus();
}

// The last dims become fft_length; those of a real transform's result end with
// n/2 + 1.
template <int rank, bool forward>
Status RfftShape(InferenceContext* c) {
  Shape s, length;
  int64_t unused;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), rank, &s));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &length));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(length, 0), rank, &unused));
  if (!c->RankKnown(s)) {
    c->set_output(0, s);
    return OkStatus();
  }
  std::vector<int64_t> n(rank, -1), given;
  if (c->IntInputs(1, &given) && given.size() == rank) n = given;
  if (forward && n[rank - 1] > 0) n[rank - 1] = n[rank - 1] / 2 + 1;
  for (int d = 0; d < rank; ++d) s.set_dim(s.dims() - rank + d, n[d]);
  c->set_output(0, s);
  return OkStatus();
}

#define FFT_OP(NAME, RANK)                                      \
  REGISTER_OP(NAME)                                             \
      .Input("input: Tcomplex")                                 \
      .Output("output: Tcomplex")                               \
      .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64") \
      .SetShapeFn(FftShape<RANK>)
FFT_OP("FFT", 1);
FFT_OP("FFT2D", 2);
FFT_OP("FFT3D", 3);
FFT_OP("IFFT", 1);
FFT_OP("IFFT2D", 2);
FFT_OP("IFFT3D", 3);

#define RFFT_OP(NAME, RANK)                                     \
  REGISTER_OP(NAME)                                             \
      .Input("input: Treal")                                    \
      .Input("fft_length: int32")                               \
      .Output("output: Tcomplex")                               \
      .Attr("Treal: {float, double} = DT_FLOAT")                \
      .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64") \
      .SetShapeFn(RfftShape<RANK, true>)
RFFT_OP("RFFT", 1);
RFFT_OP("RFFT2D", 2);
RFFT_OP("RFFT3D", 3);

#define IRFFT_OP(NAME, RANK)                                    \
  REGISTER_OP(NAME)                                             \
      .Input("input: Tcomplex")                                 \
      .Input("fft_length: int32")                               \
      .Output("output: Treal")                                  \
      .Attr("Treal: {float, double} = DT_FLOAT")                \
      .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64") \
      .SetShapeFn(RfftShape<RANK, false>)
IRFFT_OP("IRFFT", 1);
IRFFT_OP("IRFFT2D", 2);
IRFFT_OP("IRFFT3D", 3);

#define BATCH_FFT_OP(NAME, RANK, NOW) \
  REGISTER_OP(NAME)                   \
      .Input("input: complex64")      \
      .Output("output: complex64")    \
      .Deprecated(15, "Use " NOW)     \
      .SetShapeFn(FftShape<RANK>)
BATCH_FFT_OP("BatchFFT", 1, "FFT");
BATCH_FFT_OP("BatchFFT2D", 2, "FFT2D");
BATCH_FFT_OP("BatchFFT3D", 3, "FFT3D");
BATCH_FFT_OP("BatchIFFT", 1, "IFFT");
BATCH_FFT_OP("BatchIFFT2D", 2, "IFFT2D");
BATCH_FFT_OP("BatchIFFT3D", 3, "IFFT3D");
#undef FFT_OP
#undef RFFT_OP
#undef IRFFT_OP
#undef BATCH_FFT_OP

}  // namespace
}  // namespace headrace
