// Ops on a GPU that look at shapes alone, and arithmetic of int32: shapes, axes
// and counters, which stay in host memory as in TensorFlow. Their kernels are
// the CPU's.
#include "kernels/gpu/gpu_op.h"

namespace headrace::gpu {
namespace {

// Of an input on the device only the shape is read.
#define HR_SHAPE(OP)                                                        \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_GPU).HostMemory("output"), \
                          HostKernel);
HR_SHAPE("Shape")
HR_SHAPE("ShapeN")
HR_SHAPE("Size")
HR_SHAPE("Rank")
#undef HR_SHAPE

// The buffer is shared under another shape.
REGISTER_KERNEL_BUILDER(Name("Reshape").Device(DEVICE_GPU).HostMemory("shape"),
                        HostKernel);
REGISTER_KERNEL_BUILDER(Name("ExpandDims").Device(DEVICE_GPU).HostMemory("dim"),
                        HostKernel);
REGISTER_KERNEL_BUILDER(Name("Squeeze").Device(DEVICE_GPU), HostKernel);

#define HR_VIEW(SPEC)                                       \
  REGISTER_KERNEL_BUILDER(SPEC.Device(DEVICE_GPU)           \
                              .TypeConstraint<int32_t>("T") \
                              .HostMemory("output")         \
                              .Priority(1),                 \
                          HostKernel);
HR_VIEW(Name("Reshape").HostMemory("tensor").HostMemory("shape"))
HR_VIEW(Name("ExpandDims").HostMemory("input").HostMemory("dim"))
HR_VIEW(Name("Squeeze").HostMemory("input"))
#undef HR_VIEW

// int32 in and out.
#define HR_HOST1(OP, A, OUT)                                \
  REGISTER_KERNEL_BUILDER(Name(OP)                          \
                              .Device(DEVICE_GPU)           \
                              .TypeConstraint<int32_t>("T") \
                              .HostMemory(A)                \
                              .HostMemory(OUT),             \
                          HostKernel);
#define HR_HOST2(OP, A, B, OUT)                             \
  REGISTER_KERNEL_BUILDER(Name(OP)                          \
                              .Device(DEVICE_GPU)           \
                              .TypeConstraint<int32_t>("T") \
                              .HostMemory(A)                \
                              .HostMemory(B)                \
                              .HostMemory(OUT),             \
                          HostKernel);
#define HR_HOST3(OP, A, B, C, OUT)                          \
  REGISTER_KERNEL_BUILDER(Name(OP)                          \
                              .Device(DEVICE_GPU)           \
                              .TypeConstraint<int32_t>("T") \
                              .HostMemory(A)                \
                              .HostMemory(B)                \
                              .HostMemory(C)                \
                              .HostMemory(OUT),             \
                          HostKernel);
HR_HOST1("Neg", "x", "y")
HR_HOST1("Abs", "x", "y")
HR_HOST1("Sign", "x", "y")
HR_HOST1("Square", "x", "y")
HR_HOST2("Add", "x", "y", "z")
HR_HOST2("AddV2", "x", "y", "z")
HR_HOST2("Sub", "x", "y", "z")
HR_HOST2("Mul", "x", "y", "z")
HR_HOST2("Div", "x", "y", "z")
HR_HOST2("FloorDiv", "x", "y", "z")
HR_HOST2("FloorMod", "x", "y", "z")
HR_HOST2("Maximum", "x", "y", "z")
HR_HOST2("Minimum", "x", "y", "z")
HR_HOST2("SquaredDifference", "x", "y", "z")
HR_HOST2("Equal", "x", "y", "z")
HR_HOST2("NotEqual", "x", "y", "z")
HR_HOST2("Less", "x", "y", "z")
HR_HOST2("LessEqual", "x", "y", "z")
HR_HOST2("Greater", "x", "y", "z")
HR_HOST2("GreaterEqual", "x", "y", "z")
HR_HOST1("Pack", "values", "output")
HR_HOST1("Unpack", "value", "output")
HR_HOST2("Concat", "concat_dim", "values", "output")
HR_HOST2("ConcatV2", "values", "axis", "output")
HR_HOST2("Split", "split_dim", "value", "output")
HR_HOST3("SplitV", "value", "size_splits", "split_dim", "output")
HR_HOST2("Fill", "dims", "value", "output")
HR_HOST1("ZerosLike", "x", "y")
HR_HOST1("OnesLike", "x", "y")
HR_HOST2("Pad", "input", "paddings", "output")
HR_HOST3("Slice", "input", "begin", "size", "output")
HR_HOST2("Tile", "input", "multiples", "output")
HR_HOST2("BroadcastTo", "input", "shape", "output")
HR_HOST2("Sum", "input", "reduction_indices", "output")
HR_HOST2("Prod", "input", "reduction_indices", "output")
HR_HOST2("Max", "input", "reduction_indices", "output")
HR_HOST2("Min", "input", "reduction_indices", "output")
HR_HOST1("InvertPermutation", "x", "y")
HR_HOST2("BroadcastArgs", "s0", "s1", "r0")
#undef HR_HOST1
#undef HR_HOST2
#undef HR_HOST3

// Rows of a gradient are made unique beside their variable. The sizes of the
// results are known when they are computed, so the host computes them; without
// these kernels the variable would leave the GPU, too.
#define HR_UNIQUE(SPEC, T)                            \
  REGISTER_KERNEL_BUILDER(SPEC.Device(DEVICE_GPU)     \
                              .TypeConstraint<T>("T") \
                              .HostMemory("x")        \
                              .HostMemory("y")        \
                              .HostMemory("idx"),     \
                          HostKernel);
#define HR_UNIQUE_TYPE(T)                                                      \
  HR_UNIQUE(Name("Unique"), T)                                                 \
  HR_UNIQUE(Name("UniqueV2").HostMemory("axis"), T)                            \
  HR_UNIQUE(Name("UniqueWithCounts").HostMemory("count"), T)                   \
  HR_UNIQUE(Name("UniqueWithCountsV2").HostMemory("axis").HostMemory("count"), \
            T)
HR_UNIQUE_TYPE(int32_t)
HR_UNIQUE_TYPE(int64_t)
#undef HR_UNIQUE_TYPE
#undef HR_UNIQUE

REGISTER_KERNEL_BUILDER(Name("StridedSlice")
                            .Device(DEVICE_GPU)
                            .TypeConstraint<int32_t>("T")
                            .HostMemory("input")
                            .HostMemory("begin")
                            .HostMemory("end")
                            .HostMemory("strides")
                            .HostMemory("output"),
                        HostKernel);
REGISTER_KERNEL_BUILDER(Name("BroadcastGradientArgs")
                            .Device(DEVICE_GPU)
                            .TypeConstraint<int32_t>("T")
                            .HostMemory("s0")
                            .HostMemory("s1")
                            .HostMemory("r0")
                            .HostMemory("r1"),
                        HostKernel);
REGISTER_KERNEL_BUILDER(Name("DynamicStitch")
                            .Device(DEVICE_GPU)
                            .TypeConstraint<int32_t>("T")
                            .HostMemory("indices")
                            .HostMemory("data")
                            .HostMemory("merged"),
                        HostKernel);
REGISTER_KERNEL_BUILDER(Name("ConcatOffset")
                            .Device(DEVICE_GPU)
                            .HostMemory("concat_dim")
                            .HostMemory("shape")
                            .HostMemory("offset"),
                        HostKernel);
REGISTER_KERNEL_BUILDER(Name("Range")
                            .Device(DEVICE_GPU)
                            .TypeConstraint<int32_t>("Tidx")
                            .HostMemory("start")
                            .HostMemory("limit")
                            .HostMemory("delta")
                            .HostMemory("output"),
                        HostKernel);

}  // namespace
}  // namespace headrace::gpu
