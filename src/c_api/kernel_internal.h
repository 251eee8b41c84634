// The handles of kernels.h are the C++ objects themselves.
#ifndef HEADRACE_C_API_KERNEL_INTERNAL_H_
#define HEADRACE_C_API_KERNEL_INTERNAL_H_

#include "headrace/op_kernel.h"
#include "tensorflow/c/kernels.h"

namespace headrace::c_api {

inline OpKernelContext* ToCpp(TF_OpKernelContext* ctx) {
  return reinterpret_cast<OpKernelContext*>(ctx);
}
inline TF_OpKernelContext* ToC(OpKernelContext* ctx) {
  return reinterpret_cast<TF_OpKernelContext*>(ctx);
}
inline OpKernelConstruction* ToCpp(TF_OpKernelConstruction* ctx) {
  return reinterpret_cast<OpKernelConstruction*>(ctx);
}
inline TF_OpKernelConstruction* ToC(OpKernelConstruction* ctx) {
  return reinterpret_cast<TF_OpKernelConstruction*>(ctx);
}
inline TF_StringView ViewOf(const std::string& s) {
  return {s.data(), s.size()};
}

}  // namespace headrace::c_api

#endif  // HEADRACE_C_API_KERNEL_INTERNAL_H_
