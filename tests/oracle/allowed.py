"""Differences between this library and TensorFlow that are meant.

(pattern of op names, kinds, part of what is reported or a tuple of several, the
reason); kinds are those of differential.py. Where TensorFlow 1.15 and 2.x
differ, 1.15 is what this library follows.
"""
# Marks in what is reported of values: of arguments that are infinite, NaN, huge
# or tiny, and of results that agree to two digits.
EXTREME, NEAR = " [extreme]", " [near]"
# Of an op whose attr sorted is false.
UNSORTED = " [unsorted]"

DIGITS = ("computed in double and exact to the last digits; TensorFlow's "
          "floats lose digits, overflow or give NaN")
SINGULAR = ("of singular, infinite or badly conditioned matrices; the steps "
            "of the decomposition decide what comes out")
CONDITION = "the last digits of badly conditioned matrices"
SIGNS = "vectors are determined but for a factor of absolute value 1"
COLOURS = "of colours that are not finite; order of comparisons"
COMPLEX = ("2.x overflows within its complex functions or divides otherwise; "
           "1.15 gives what this library gives")
LANES = ("of complex infinity and zero TensorFlow's vectors make NaN, and what "
         "is left over by the elements one by one the numbers of C; these are "
         "given here everywhere")
ORDER = "sums that are not finite, by another order of terms"
HALVES = "half numbers are multiplied and summed as floats here"
ZERO = "2.x gives 0 for a gradient of 0, also where 1.15 divides it by 0"
HANDLE = ("TensorFlow infers [2] of a handle that is a scalar; nothing is said "
          "here, so that neither is contradicted")

ALLOWED = [
    # Values.
    ("Round", "value", ("np.int", ", not np.int"),
     "2.x rounds integers to 0; 1.15 leaves them"),
    ("Svd", "value", "output 1", SIGNS),
    ("Svd", "value", "output 2", SIGNS),
    ("Svd", "value", EXTREME, SINGULAR),
    ("Qr", "value", EXTREME, SINGULAR),
    ("Eig", "value", "", "the order of eigenvalues is the decomposition's"),
    ("SelfAdjointEig", "value", "", SIGNS),
    ("SelfAdjointEigV2", "value", "output 1", SIGNS),
    ("SelfAdjointEigV2", "value", EXTREME, SINGULAR),
    ("Cholesky*", "value", EXTREME, SINGULAR),
    ("Cholesky*", "value", NEAR, CONDITION),
    ("CholeskyGrad", "value", "inf", "of factors with zeros on the diagonal"),
    ("Cholesky*", "refuses", "not successful", SINGULAR),
    ("Matrix[DEILST]*", "value", EXTREME, SINGULAR),
    ("Matrix[DEILST]*", "value", NEAR, CONDITION),
    ("MatrixSquareRoot", "value", "nan", "of matrices that have no root"),
    ("MatrixSolveLs", "value", "", SINGULAR),
    ("Matrix*", "refuses", "not invertible", SINGULAR),
    ("MatrixSolveLs", "refuses", "rank deficient", SINGULAR),
    ("MatrixSolveLs", "refuses", "l2_regularizer", "TensorFlow does not read it "
     "if there are no elements"),
    ("LogMatrixDeterminant", "value", EXTREME, SINGULAR),
    ("Tridiagonal*", "value", EXTREME, SINGULAR),
    ("TridiagonalSolve", "value", NEAR, CONDITION),
    ("Banded*", "value", EXTREME, SINGULAR),
    ("Banded*", "refuses", "", SINGULAR),
    ("Lu", "value", EXTREME, SINGULAR),
    ("Bessel*", "value", "np.float32", DIGITS),
    ("Bessel*", "value", "np.float16", DIGITS),
    ("*gamma*", "value", EXTREME, DIGITS),
    ("*gamma*", "value", NEAR, DIGITS),
    ("Betainc", "value", EXTREME, DIGITS),
    ("Betainc", "value", NEAR, DIGITS),
    ("Zeta", "value", "np.float32", DIGITS),
    ("Zeta", "value", EXTREME, DIGITS),
    ("Expint", "value", "np.float32", DIGITS),
    ("Expint", "value", "np.float16", DIGITS),
    ("Spence", "value", "np.float32", DIGITS),
    ("Spence", "value", "np.float16", DIGITS),
    ("Erfinv", "value", EXTREME, DIGITS),
    ("Ndtri", "value", EXTREME, DIGITS),
    ("*FFT*", "value", EXTREME, "infinities meet twiddle factors in an order "
     "that is the algorithm's; finite sums stay finite in double"),
    ("AudioSpectrogram", "value", EXTREME, "the same of its transform"),
    ("Sqrt", "value", ("complex", EXTREME), COMPLEX),
    ("Rsqrt", "value", ("complex", EXTREME), COMPLEX),
    ("Log", "value", ("complex", EXTREME), COMPLEX),
    ("Log1p", "value", ("complex", EXTREME), COMPLEX),
    ("Sigmoid", "value", ("complex", EXTREME), COMPLEX),
    ("Sign", "value", ("complex", EXTREME), COMPLEX),
    ("Reciprocal", "value", "complex", LANES),
    ("Inv", "value", "complex", LANES),
    ("*Div*", "value", "complex", LANES),
    ("Xdivy", "value", "complex", LANES),
    ("Xlog*", "value", "complex", LANES),
    ("AdjustHue", "value", EXTREME, COLOURS),
    ("AdjustHue", "value", NEAR, "the last digits of sums that cancel"),
    ("AdjustSaturation", "value", EXTREME, COLOURS),
    ("AdjustContrast*", "value", EXTREME, COLOURS),
    ("RGBToHSV", "value", EXTREME, COLOURS),
    ("HSVToRGB", "value", EXTREME, COLOURS),
    ("LRN", "value", ("nan", EXTREME), "TensorFlow sums windows by a product "
     "with a band matrix, of which the zeros make NaN of infinities"),
    ("LRNGrad", "value", ("float16", EXTREME), HALVES),
    ("InvGrad", "value", "nan", ZERO),
    ("ReciprocalGrad", "value", "nan", ZERO),
    ("RsqrtGrad", "value", "nan", ZERO),
    ("SqrtGrad", "value", "nan", ZERO),
    ("TanhGrad", "value", "float16", HALVES),
    ("TanhGrad", "value", ("complex", EXTREME), ORDER),
    ("*MatMul*", "value", ("nan", EXTREME), ORDER),
    ("Conv*", "value", ("nan", EXTREME), ORDER),
    ("Conv3D*", "value", "float16", HALVES),
    ("FusedBatchNorm*", "value", EXTREME, "moments that are not finite, by "
     "another order of terms"),
    ("FusedBatchNorm*", "value", "output 5", "reserved; TensorFlow does not "
     "write it if there are no elements"),
    ("Cast", "value", "uint8", "2.x takes negative and large floats for the "
     "nearest byte; 1.15 cuts off the high bits"),
    ("DataFormatDimMap", "value", "", "of dimensions that the format lacks"),
    ("RaggedFillEmptyRows", "value", "shape", "TensorFlow gives a matrix if "
     "there are no rows, a vector else"),
    ("MaxPool*", "value", EXTREME, "NaN is skipped in windows, as in 1.15"),
    ("Erf", "value", ("nan", EXTREME), DIGITS),
    ("*SegmentM*", "value", ("nan", EXTREME), "2.x lets NaN through; 1.15 "
     "picks a number"),
    ("NonMaxSuppression*", "value", EXTREME, "of boxes that are not finite"),
    ("ResizeArea", "value", ("inf", EXTREME), DIGITS),
    ("CumulativeLogsumexp", "value", ("nan", EXTREME), "TensorFlow takes NaN "
     "for a very small number"),
    ("NthElement", "value", ("nan", EXTREME), "NaN counts as the largest "
     "number; in TensorFlow it has no place in the order"),
    ("TopK*", "value", UNSORTED, "the order is free"),
    ("TopK*", "value", EXTREME, "NaN has no place in the order"),
    ("NearestNeighbors", "value", EXTREME, "distances that are not finite"),
    ("QuantizedAvgPool", "value", "np.int8", "signed bytes are rounded as "
     "oneDNN does, TensorFlow's default"),
    ("Dequantize", "value", "", "TensorFlow's product of the highest int32 "
     "overflows to the other sign"),
    ("ExtractGlimpse*", "value", "", "filled with random numbers"),
    ("FakeParam", "value", "", "memory as it lay"),
    ("StringFormat", "value", "?", "TensorFlow prints ? for complex numbers"),
    ("ResizeBilinearGrad", "value", ("np.float64", NEAR), "weights are double "
     "here, where the gradients are"),
    ("ResizeBilinearGrad", "value", ("np.float64", EXTREME), "the same"),
    ("CTC*", "value", NEAR, "probabilities are summed in double"),
    ("CTC*", "value", EXTREME, "probabilities are summed in double"),
    # Shapes.
    ("StackV2", "vague", "", HANDLE),
    ("TensorArray*V3", "vague", "", HANDLE),
    ("ResourceConditionalAccumulator", "vague", "", HANDLE),
    ("SoftmaxCrossEntropyWithLogits", "vague", "", "TensorFlow takes arguments "
     "of unknown shape to be as large as the other, which broadcasting need "
     "not bear out"),
    ("Fractional*Pool", "shape", "output 1", "TensorFlow infers one element "
     "less than its sequences have"),
    ("Fractional*Pool", "shape", "output 2", "the same"),
    ("Svd", "shape vague", "output 1", "TensorFlow infers [0] of outputs that "
     "it makes scalars"),
    ("Svd", "shape vague", "output 2", "the same"),
    ("SelfAdjointEig*", "shape vague", "output 1", "the same"),
    ("Eig", "shape vague", "output 1", "the same"),
    ("*Pool*", "shape", "", "of windows over the channels, which no kernel "
     "takes"),
    ("MatrixDiagV*", "vague", "", "TensorFlow takes sizes that are not known "
     "for those of a square"),
    ("DenseBincount", "vague", "", "TensorFlow infers a scalar where its "
     "kernel gives a vector"),
    ("SparseCountSparseOutput", "vague", "", "TensorFlow infers more "
     "dimensions than its kernel gives"),
    ("AccumulateNV2", "vague", "", "the attr contradicts the inputs"),
    ("Resize*Grad", "vague", "", "TensorFlow infers the image's batch and "
     "depth, its kernel gives those of the gradients"),
    ("ScaleAndTranslateGrad", "vague", "", "the same"),
    # Refusals.
    ("*Queue*", "refuses", "fully defined", "TensorFlow takes an unknown shape "
     "for a scalar's"),
    ("Barrier", "refuses", "fully defined", "the same"),
    ("TemporaryVariable", "refuses", "fully defined", "the same"),
    ("Variable*", "refuses", "uninitialized", "of no elements, which "
     "TensorFlow takes for a value"),
    ("FixedLengthRecordReader*", "refuses", "record_bytes", "it would read for "
     "ever"),
    ("RecordInput", "refuses", "must be positive", "it would read for ever"),
    ("*Grad", "refuses", "equal rank", "TensorFlow reads both by the first's "
     "size, beyond the end of a smaller second"),
    ("*Grad", "refuses", "same size and shape", "the same"),
    ("*Grad", "refuses", "both shapes must be equal", "the same"),
    ("SparseAdd", "refuses", "thresh", "TensorFlow reads the threshold as "
     "another type than it has"),
    ("SerializeSparse", "refuses", "Dimensions", "TensorFlow does not compare "
     "the three parts"),
    ("SerializeSparse", "refuses", "sparse_indices has", "the same"),
    ("Quantized*", "refuses", "must be finite", "TensorFlow computes with "
     "ranges that are infinite"),
    ("SparseDenseCwise*", "refuses", "broadcasts", "TensorFlow takes no "
     "elements for any shape"),
    ("TensorSummaryV2", "refuses", "metadata", "TensorFlow skips what it "
     "cannot read"),
    ("TensorStridedSliceUpdate", "refuses", "Automatic broadcasting not yet", "2.x broadcasts "
     "the value"),
    ("FixedLengthRecordReaderV2", "kernel", "compression_type", "TensorFlow "
     "finds out when it reads"),
    ("Stateless*", "refuses kernel", "counter", "TensorFlow reads a counter of "
     "any length"),
    ("Stateless*", "kernel", "ThreeFry", "an algorithm of 2.x alone"),
    ("Multinomial", "death", "no answer", "as many samples as asked for"),
]
