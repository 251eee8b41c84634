// Ops that move elements to other places of a tensor, repeat them or frame
// them: Transpose, Tile, Pad, Reverse, Roll, and the moves between space, batch
// and depth.
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/symbolic_shape_fns.h"
#include "headrace/op.h"

namespace headrace {

namespace {

using Shape = PartialTensorShape;

Status TransposeShape(InferenceContext* c) {
  Shape in = c->input(0), perm_shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &perm_shape));
  std::vector<int64_t> perm;
  const bool known = c->IntInputs(1, &perm);
  int64_t rank = known ? perm.size() : perm_shape.dim_size(0);
  if (rank > kMaxTensorRank) {
    return errors::InvalidArgument("perm has ", rank, " elements");
  }
  if (rank < 0) rank = in.dims();
  if (rank < 0) {
    c->set_output(0, c->UnknownShape());
    return OkStatus();
  }
  HR_RETURN_IF_ERROR(c->WithRank(in, static_cast<int>(rank), &in));
  if (!known && rank > 1) {
    c->set_output(0, c->UnknownShapeOfRank(static_cast<int>(rank)));
    return OkStatus();
  }
  DimVector out;
  std::vector<bool> seen(rank, false);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t p = known ? perm[i] : i;
    if (p < -rank || p >= rank) {
      return errors::InvalidArgument("perm dim ", p,
                                     " is out of range of input rank ", rank);
    }
    if (p < 0) p += rank;
    if (seen[p]) {
      return errors::InvalidArgument("perm ", p, " is given twice");
    }
    seen[p] = true;
    out.push_back(in.dim_size(static_cast<int>(p)));
  }
  c->set_output(0, Shape(out));
  return OkStatus();
}

Status InvertPermutationShape(InferenceContext* c) {
  Shape x;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &x));
  c->set_output(0, x);
  return OkStatus();
}

Status TileShape(InferenceContext* c) {
  Shape in = c->input(0), multiples;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(1, &multiples));
  if (in.unknown_rank() && !multiples.unknown_rank()) {
    in = c->UnknownShapeOfRank(multiples.dims());
  }
  if (in.unknown_rank()) {
    c->set_output(0, in);
    return OkStatus();
  }
  HR_RETURN_IF_ERROR(c->WithRank(multiples, in.dims(), &multiples));
  DimVector out;
  for (int i = 0; i < in.dims(); ++i) {
    int64_t d;
    HR_RETURN_IF_ERROR(c->Multiply(in.dim_size(i), multiples.dim_size(i), &d));
    out.push_back(d);
  }
  return Shape::Build(out, &in).ok()
             ? (c->set_output(0, in), OkStatus())
             : errors::InvalidArgument("Tile: the output's size overflows");
}

Status PadShape(InferenceContext* c) {
  Shape in = c->input(0), paddings;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &paddings));
  int64_t two;
  HR_RETURN_IF_ERROR(c->WithValue(paddings.dim_size(1), 2, &two));
  const int64_t rows = paddings.dim_size(0);
  if (rows > kMaxTensorRank) {
    return errors::InvalidArgument("paddings has ", rows, " rows");
  }
  if (rows >= 0) {
    HR_RETURN_IF_ERROR(c->WithRank(in, static_cast<int>(rows), &in));
  }
  if (in.unknown_rank()) {
    c->set_output(0, in);
    return OkStatus();
  }
  std::vector<int64_t> pads;
  const bool known = c->IntInputs(1, &pads);
  if (!known) {
    // Some may be known even so: of a matrix its elements, row by row.
    Shape partial;
    const bool any = c->MakeShapeFromInput(1, &partial).ok();
    if (!any || partial.dims() != 2 * in.dims()) {
      c->set_output(0, c->UnknownShapeOfRank(in.dims()));
      return OkStatus();
    }
    pads.assign(partial.dim_sizes().begin(), partial.dim_sizes().end());
  }
  DimVector out;
  for (int i = 0; i < in.dims(); ++i) {
    const int64_t before = pads[2 * i], after = pads[2 * i + 1];
    if (known && (before < 0 || after < 0)) {
      return errors::InvalidArgument("Paddings must be non-negative: ", before,
                                     " ", after);
    }
    int64_t d;
    HR_RETURN_IF_ERROR(c->Add(in.dim_size(i), before, &d));
    HR_RETURN_IF_ERROR(c->Add(d, after, &d));
    out.push_back(d);
  }
  HR_RETURN_IF_ERROR(Shape::Build(out, &in));
  c->set_output(0, in);
  return OkStatus();
}

// The inverse: what MirrorPad added is taken off again.
Status MirrorPadGradShape(InferenceContext* c) {
  Shape in = c->input(0), paddings;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &paddings));
  int64_t two;
  HR_RETURN_IF_ERROR(c->WithValue(paddings.dim_size(1), 2, &two));
  if (paddings.dim_size(0) > kMaxTensorRank) {
    return errors::InvalidArgument("paddings has too many rows");
  }
  if (paddings.dim_size(0) >= 0) {
    HR_RETURN_IF_ERROR(
        c->WithRank(in, static_cast<int>(paddings.dim_size(0)), &in));
  }
  std::vector<int64_t> pads;
  if (in.unknown_rank() || !c->IntInputs(1, &pads)) {
    c->set_output(0, in.unknown_rank() ? c->UnknownShape()
                                       : c->UnknownShapeOfRank(in.dims()));
    return OkStatus();
  }
  for (int i = 0; i < in.dims(); ++i) {
    int64_t d;
    if (pads[2 * i] < 0 || pads[2 * i + 1] < 0) {
      return errors::InvalidArgument("Paddings must be non-negative");
    }
    HR_RETURN_IF_ERROR(c->Subtract(in.dim_size(i), pads[2 * i], &d));
    HR_RETURN_IF_ERROR(c->Subtract(d, pads[2 * i + 1], &d));
    in.set_dim(i, d);
  }
  c->set_output(0, in);
  return OkStatus();
}

Status ReverseShape(InferenceContext* c) {
  Shape in = c->input(0), dims;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &dims));
  const int64_t n = dims.dim_size(0);
  if (n > kMaxTensorRank) {
    return errors::InvalidArgument("dims has ", n, " elements");
  }
  if (n >= 0) HR_RETURN_IF_ERROR(c->WithRank(in, static_cast<int>(n), &in));
  c->set_output(0, in);
  return OkStatus();
}

Status ReverseV2Shape(InferenceContext* c) {
  const Shape& in = c->input(0);
  Shape axes_shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &axes_shape));
  std::vector<int64_t> axes;
  if (!in.unknown_rank() && c->IntInputs(1, &axes)) {
    std::vector<bool> seen(in.dims(), false);
    for (int64_t a : axes) {
      if (a < -in.dims() || a >= in.dims()) {
        return errors::InvalidArgument("'axis' ", a, " is out of range [",
                                       -in.dims(), ", ", in.dims(), ")");
      }
      if (a < 0) a += in.dims();
      if (seen[a]) {
        return errors::InvalidArgument("axis ", a,
                                       " specified more than once.");
      }
      seen[a] = true;
    }
  }
  c->set_output(0, in);
  return OkStatus();
}

Status ReverseSequenceShape(InferenceContext* c) {
  Shape in = c->input(0), lengths;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &lengths));
  int64_t seq_dim, batch_dim;
  HR_RETURN_IF_ERROR(c->GetAttr("seq_dim", &seq_dim));
  HR_RETURN_IF_ERROR(c->GetAttr("batch_dim", &batch_dim));
  if (!in.unknown_rank()) {
    for (int64_t d : {seq_dim, batch_dim}) {
      if (d < 0 || d >= in.dims()) {
        return errors::InvalidArgument("seq_dim ", seq_dim, " and batch_dim ",
                                       batch_dim, " must be in [0, ", in.dims(),
                                       ")");
      }
    }
    int64_t n;
    HR_RETURN_IF_ERROR(c->MergeDims(in.dim_size(static_cast<int>(batch_dim)),
                                    lengths.dim_size(0), &n));
    in.set_dim(static_cast<int>(batch_dim), n);
  }
  c->set_output(0, in);
  return OkStatus();
}

Status RollShape(InferenceContext* c) {
  Shape out, shift, axis;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &out));
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(1), 1, &shift));
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(2), 1, &axis));
  HR_RETURN_IF_ERROR(c->Merge(shift, axis, &shift));
  c->set_output(0, out);
  return OkStatus();
}

// block: the sizes if known; pads: [m, 2] of them, else null. `back` is
// BatchToSpace. Dims after the blocked ones stay.
Status SpaceBatch(InferenceContext* c, Shape in,
                  const std::vector<int64_t>* block, int64_t num_block_dims,
                  const std::vector<int64_t>* pads, bool back) {
  if (num_block_dims < 0) {
    c->set_output(0, in.unknown_rank() ? c->UnknownShape()
                                       : c->UnknownShapeOfRank(in.dims()));
    return OkStatus();
  }
  if (num_block_dims + 1 > kMaxTensorRank) {
    return errors::InvalidArgument("block_shape has ", num_block_dims,
                                   " elements");
  }
  const int m = static_cast<int>(num_block_dims);
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(in, m + 1, &in));
  if (in.unknown_rank()) {
    c->set_output(0, in);
    return OkStatus();
  }
  Shape out = in;
  int64_t batch = in.dim_size(0);
  for (int i = 0; i < m; ++i) {
    const int64_t b = block == nullptr ? -1 : (*block)[i];
    if (block != nullptr && b < 1) {
      return errors::InvalidArgument("block_shape must be positive, got ", b);
    }
    int64_t before = -1, after = -1;
    if (pads != nullptr) {
      before = (*pads)[2 * i];
      after = (*pads)[2 * i + 1];
      if (before < 0 || after < 0) {
        return errors::InvalidArgument(
            "paddings and crops must be non-negative, got ", before, " and ",
            after);
      }
    }
    int64_t d = in.dim_size(i + 1);
    if (back) {
      if (b < 0) {
        batch = -1;
      } else {
        HR_RETURN_IF_ERROR(c->Divide(batch, b, true, &batch));
      }
      HR_RETURN_IF_ERROR(c->Multiply(d, b, &d));
      if (before < 0) d = -1;
      HR_RETURN_IF_ERROR(c->Subtract(d, before, &d));
      HR_RETURN_IF_ERROR(c->Subtract(d, after, &d));
    } else {
      HR_RETURN_IF_ERROR(c->Multiply(batch, b, &batch));
      HR_RETURN_IF_ERROR(c->Add(d, before, &d));
      HR_RETURN_IF_ERROR(c->Add(d, after, &d));
      if (b < 0) {
        d = -1;
      } else {
        HR_RETURN_IF_ERROR(c->Divide(d, b, true, &d));
      }
    }
    out.set_dim(i + 1, d);
  }
  out.set_dim(0, batch);
  c->set_output(0, out);
  return OkStatus();
}

template <bool kBack>
Status SpaceBatchNdShape(InferenceContext* c) {
  Shape block_shape, pads_shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &block_shape));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 2, &pads_shape));
  int64_t m, two;
  HR_RETURN_IF_ERROR(
      c->MergeDims(block_shape.dim_size(0), pads_shape.dim_size(0), &m));
  HR_RETURN_IF_ERROR(c->WithValue(pads_shape.dim_size(1), 2, &two));
  std::vector<int64_t> block, pads;
  const bool block_known = c->IntInputs(1, &block);
  const bool pads_known = c->IntInputs(2, &pads);
  return SpaceBatch(c, c->input(0), block_known ? &block : nullptr, m,
                    pads_known ? &pads : nullptr, kBack);
}

template <bool kBack>
Status SpaceBatchShape(InferenceContext* c) {
  Shape in, pads_shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &in));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &pads_shape));
  int64_t two;
  HR_RETURN_IF_ERROR(c->WithValue(pads_shape.dim_size(0), 2, &two));
  HR_RETURN_IF_ERROR(c->WithValue(pads_shape.dim_size(1), 2, &two));
  int64_t size;
  HR_RETURN_IF_ERROR(c->GetAttr("block_size", &size));
  const std::vector<int64_t> block(2, size);
  std::vector<int64_t> pads;
  const bool pads_known = c->IntInputs(1, &pads);
  return SpaceBatch(c, in, &block, 2, pads_known ? &pads : nullptr, kBack);
}

template <bool kToDepth>
Status SpaceDepthShape(InferenceContext* c) {
  Shape in;
  std::string format;
  int64_t block;
  HR_RETURN_IF_ERROR(c->GetAttr("data_format", &format));
  HR_RETURN_IF_ERROR(c->GetAttr("block_size", &block));
  const bool vect = format == "NCHW_VECT_C";
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), vect ? 5 : 4, &in));
  const int channel = format == "NHWC" ? 3 : 1;
  const int height = format == "NHWC" ? 1 : 2;
  int64_t square;
  HR_RETURN_IF_ERROR(c->Multiply(block, block, &square));
  Shape out = in;
  int64_t d;
  for (int i = height; i < height + 2; ++i) {
    if (kToDepth) {
      HR_RETURN_IF_ERROR(c->Divide(in.dim_size(i), block, true, &d));
    } else {
      HR_RETURN_IF_ERROR(c->Multiply(in.dim_size(i), block, &d));
    }
    out.set_dim(i, d);
  }
  if (kToDepth) {
    HR_RETURN_IF_ERROR(c->Multiply(in.dim_size(channel), square, &d));
  } else {
    HR_RETURN_IF_ERROR(c->Divide(in.dim_size(channel), square, true, &d));
  }
  out.set_dim(channel, d);
  c->set_output(0, out);
  return OkStatus();
}

// Windows over the dims between the first and the last.
Status PatchesShape(InferenceContext* c, int rank) {
  const std::string& op = c->op_def().name;
  Shape in;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &in));
  std::vector<int64_t> ksizes, strides, rates(rank, 1);
  std::string padding_name;
  HR_RETURN_IF_ERROR(c->GetAttr("ksizes", &ksizes));
  HR_RETURN_IF_ERROR(c->GetAttr("strides", &strides));
  if (rank == 4) HR_RETURN_IF_ERROR(c->GetAttr("rates", &rates));
  HR_RETURN_IF_ERROR(c->GetAttr("padding", &padding_name));
  Padding padding;
  HR_RETURN_IF_ERROR(ParsePadding(padding_name, &padding));
  const auto n = static_cast<size_t>(rank);
  if (ksizes.size() != n || strides.size() != n || rates.size() != n) {
    return errors::InvalidArgument(op, ": ksizes, strides and rates must have ",
                                   rank, " elements");
  }
  Shape out = in;
  int64_t depth = in.dim_size(rank - 1);
  for (int i = 1; i < rank - 1; ++i) {
    if (ksizes[i] < 1 || strides[i] < 1 || rates[i] < 1) {
      return errors::InvalidArgument(
          op, ": ksizes, strides and rates must be positive");
    }
    int64_t d = -1, before, after;
    if (in.dim_size(i) >= 0) {
      HR_RETURN_IF_ERROR(WindowedOutputSize(in.dim_size(i), ksizes[i], rates[i],
                                            strides[i], padding, &d, &before,
                                            &after));
    }
    out.set_dim(i, d);
    HR_RETURN_IF_ERROR(c->Multiply(depth, ksizes[i], &depth));
  }
  out.set_dim(rank - 1, depth);
  c->set_output(0, out);
  return OkStatus();
}
Status ExtractImagePatchesShape(InferenceContext* c) {
  return PatchesShape(c, 4);
}
Status ExtractVolumePatchesShape(InferenceContext* c) {
  return PatchesShape(c, 5);
}

}  // namespace

REGISTER_OP("Transpose")
    .Input("x: T")
    .Input("perm: Tperm")
    .Output("y: T")
    .Attr("T: type")
    .Attr("Tperm: {int32, int64} = DT_INT32")
    .SetShapeFn(TransposeShape)
    .IsNoOpWhen(NoOpWhen::kOrderIsKept)
    .SymbolicShape(TransposeSymbolicShape);

REGISTER_OP("ConjugateTranspose")
    .Input("x: T")
    .Input("perm: Tperm")
    .Output("y: T")
    .Attr("T: type")
    .Attr("Tperm: {int32, int64} = DT_INT32")
    .SetShapeFn(TransposeShape);

REGISTER_OP("InvertPermutation")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {int32, int64} = DT_INT32")
    .SetShapeFn(InvertPermutationShape);

REGISTER_OP("Tile")
    .Input("input: T")
    .Input("multiples: Tmultiples")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tmultiples: {int32, int64} = DT_INT32")
    .SetShapeFn(TileShape);

REGISTER_OP("TileGrad")
    .Input("input: T")
    .Input("multiples: int32")
    .Output("output: T")
    .Attr("T: type")
    .Deprecated(3, "TileGrad has been replaced with reduce_sum")
    .SetShapeFn(shape_inference::UnknownShape);

REGISTER_OP("Pad")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: {int32, int64} = DT_INT32")
    .SetShapeFn(PadShape)
    .IsNoOpWhen(NoOpWhen::kPaddingIsZero)
    .SymbolicShape(PadSymbolicShape);

REGISTER_OP("PadV2")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Input("constant_values: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: {int32, int64} = DT_INT32")
    .SetShapeFn(PadShape)
    .IsNoOpWhen(NoOpWhen::kPaddingIsZero)
    .SymbolicShape(PadSymbolicShape);

REGISTER_OP("MirrorPad")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: {int32, int64} = DT_INT32")
    .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
    .SetShapeFn(PadShape)
    .IsNoOpWhen(NoOpWhen::kPaddingIsZero)
    .SymbolicShape(PadSymbolicShape);

REGISTER_OP("MirrorPadGrad")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: {int32, int64} = DT_INT32")
    .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
    .SetShapeFn(MirrorPadGradShape);

REGISTER_OP("Reverse")
    .Input("tensor: T")
    .Input("dims: bool")
    .Output("output: T")
    .Attr(
        "T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, "
        "bfloat16, half, float, double, complex64, complex128, string}")
    .SetShapeFn(ReverseShape);

REGISTER_OP("ReverseV2")
    .Input("tensor: T")
    .Input("axis: Tidx")
    .Output("output: T")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .Attr(
        "T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, "
        "bfloat16, half, float, double, complex64, complex128, string}")
    .SetShapeFn(ReverseV2Shape);

REGISTER_OP("ReverseSequence")
    .Input("input: T")
    .Input("seq_lengths: Tlen")
    .Output("output: T")
    .Attr("seq_dim: int")
    .Attr("batch_dim: int = 0")
    .Attr("T: type")
    .Attr("Tlen: {int32, int64} = DT_INT64")
    .SetShapeFn(ReverseSequenceShape);

REGISTER_OP("Roll")
    .Input("input: T")
    .Input("shift: Tshift")
    .Input("axis: Taxis")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tshift: {int32, int64}")
    .Attr("Taxis: {int32, int64}")
    .SetShapeFn(RollShape);

REGISTER_OP("SpaceToBatch")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: {int32, int64} = DT_INT32")
    .Attr("block_size: int >= 2")
    .SetShapeFn(SpaceBatchShape<false>);

REGISTER_OP("SpaceToBatchND")
    .Input("input: T")
    .Input("block_shape: Tblock_shape")
    .Input("paddings: Tpaddings")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tblock_shape: {int32, int64} = DT_INT32")
    .Attr("Tpaddings: {int32, int64} = DT_INT32")
    .SetShapeFn(SpaceBatchNdShape<false>);

REGISTER_OP("BatchToSpace")
    .Input("input: T")
    .Input("crops: Tidx")
    .Output("output: T")
    .Attr("T: type")
    .Attr("block_size: int >= 2")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(SpaceBatchShape<true>);

REGISTER_OP("BatchToSpaceND")
    .Input("input: T")
    .Input("block_shape: Tblock_shape")
    .Input("crops: Tcrops")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tblock_shape: {int32, int64} = DT_INT32")
    .Attr("Tcrops: {int32, int64} = DT_INT32")
    .SetShapeFn(SpaceBatchNdShape<true>);

REGISTER_OP("SpaceToDepth")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("block_size: int >= 2")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .SetShapeFn(SpaceDepthShape<true>);

REGISTER_OP("DepthToSpace")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("block_size: int >= 2")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .SetShapeFn(SpaceDepthShape<false>);

REGISTER_OP("ExtractImagePatches")
    .Input("images: T")
    .Output("patches: T")
    .Attr("ksizes: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("rates: list(int) >= 4")
    .Attr(
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, "
        "uint16, uint32, uint64, complex64, complex128, bool}")
    .Attr("padding: {'SAME', 'VALID'}")
    .SetShapeFn(ExtractImagePatchesShape);

REGISTER_OP("ExtractVolumePatches")
    .Input("input: T")
    .Output("patches: T")
    .Attr("ksizes: list(int) >= 5")
    .Attr("strides: list(int) >= 5")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64}")
    .Attr("padding: {'SAME', 'VALID'}")
    .SetShapeFn(ExtractVolumePatchesShape);

}  // namespace headrace
