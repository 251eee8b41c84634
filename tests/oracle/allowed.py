"""Differences between this library and TensorFlow that are meant.

(pattern of op names, kinds, part of what is reported, the reason); kinds are
those of differential.py. The first line that fits counts.
"""
EXTREME = ("computed in double and exact to the last digits; TensorFlow's "
           "floats overflow or lose their digits in some regions")
SINGULAR = ("of singular, infinite or badly conditioned matrices; the steps "
            "of the decomposition decide what comes out")
SIGNS = "vectors are determined but for a factor of absolute value 1"
COLOURS = "of colours that are not finite; order of comparisons"
COMPLEX = ("2.x overflows within its complex functions or divides otherwise; "
           "1.15 gives what this library gives")
LANES = ("of complex infinity and zero TensorFlow's vectors make NaN, and what "
         "is left over by the elements one by one the numbers of C; these are "
         "given here everywhere")
HANDLE = ("TensorFlow infers [2] of a handle that is a scalar; nothing is said "
          "here, so that neither is contradicted")

ALLOWED = [
    # Values.
    ("Round", "value", "int", "2.x rounds integers to 0; 1.15 leaves them"),
    ("Svd", "value", "", SIGNS),
    ("Qr", "value", "", SIGNS),
    ("Eig", "value", "", SIGNS),
    ("SelfAdjointEig*", "value", "", SIGNS),
    ("Cholesky*", "value refuses", "", SINGULAR),
    ("Matrix*", "value refuses", "", SINGULAR),
    ("LogMatrixDeterminant", "value", "", SINGULAR),
    ("Tridiagonal*", "value", "", SINGULAR),
    ("Banded*", "value refuses", "", SINGULAR),
    ("Lu", "value", "", SINGULAR),
    ("Bessel*", "value", "", EXTREME),
    ("*gamma*", "value", "", EXTREME),
    ("Betainc", "value", "", EXTREME),
    ("Zeta", "value", "", EXTREME),
    ("Expint", "value", "", EXTREME),
    ("Spence", "value", "", EXTREME),
    ("Dawsn", "value", "", EXTREME),
    ("Erfinv", "value", "", EXTREME),
    ("Ndtri", "value", "", EXTREME),
    ("*FFT*", "value", "inf", "infinities meet twiddle factors in an order "
     "that is the algorithm's; finite sums stay finite in double"),
    ("*FFT*", "value", "nan", "the same of NaN"),
    ("AudioSpectrogram", "value", "", "the same of its transform"),
    ("Sqrt", "value", "complex", COMPLEX),
    ("Rsqrt", "value", "complex", COMPLEX),
    ("Log", "value", "complex", COMPLEX),
    ("Log1p", "value", "complex", COMPLEX),
    ("Sigmoid", "value", "complex", COMPLEX),
    ("Sign", "value", "complex", COMPLEX),
    ("Reciprocal", "value", "complex", LANES),
    ("Inv", "value", "complex", LANES),
    ("*Div*", "value", "complex", LANES),
    ("Xdivy", "value", "complex", LANES),
    ("Xlog*", "value", "complex", LANES),
    ("AdjustHue", "value", "", COLOURS),
    ("AdjustSaturation", "value", "", COLOURS),
    ("AdjustContrast*", "value", "", COLOURS),
    ("RGBToHSV", "value", "", COLOURS),
    ("HSVToRGB", "value", "", COLOURS),
    ("LRN", "value", "nan", "TensorFlow sums windows by a product with a band "
     "matrix, of which the zeros make NaN of infinities"),
    ("InvGrad", "value", "", EXTREME),
    ("ReciprocalGrad", "value", "", EXTREME),
    ("RsqrtGrad", "value", "", EXTREME),
    ("SqrtGrad", "value", "", EXTREME),
    ("TanhGrad", "value", "float16", "half numbers are multiplied as floats"),
    ("*MatMul*", "value", "nan", "an infinite sum, by another order of terms"),
    ("Conv*", "value", "nan", "an infinite sum, by another order of terms"),
    ("FusedBatchNorm*", "value", "", "moments that are not finite, by another "
     "order of terms; reserved outputs of nothing are not written there"),
    ("MaxPoolGradGrad*", "value", "", "orig_output need not be the pool of "
     "orig_input here"),
    ("Cast", "value", "uint8", "2.x takes negative and large floats for the "
     "nearest byte; 1.15 cuts off the high bits"),
    ("DataFormatDimMap", "value", "", "of dimensions that the format lacks"),
    ("RaggedFillEmptyRows", "value", "", "TensorFlow gives a matrix if there "
     "are no rows, a vector else"),
    ("MaxPool*", "value", "nan", "NaN is skipped in windows, as in 1.15"),
    ("Erf", "value", "nan", EXTREME),
    ("LRNGrad", "value", "nan", "output_image need not be the image's here"),
    ("MaxPool*", "value", "-inf", "of a window of NaN alone; 1.15 gives -inf "
     "in some kernels and the lowest number in others"),
    ("*SegmentM*", "value", "nan", "2.x lets NaN through; 1.15 picks a number"),
    ("NonMaxSuppression*", "value", "", "of boxes that are not finite"),
    ("ResizeArea", "value", "inf", EXTREME),
    ("CumulativeLogsumexp", "value", "nan", "TensorFlow takes NaN for a very "
     "small number"),
    ("NthElement", "value", "nan", "NaN counts as the largest number; in "
     "TensorFlow it has no place in the order"),
    ("TopKV2", "value", "", "the order of sorted=false is free"),
    ("NearestNeighbors", "value", "", "distances that are not finite"),
    ("QuantizedAvgPool", "value", "", "signed bytes are rounded as oneDNN "
     "does, TensorFlow's default"),
    ("Dequantize", "value", "", "TensorFlow's product of the highest int32 "
     "overflows to the other sign"),
    ("ExtractGlimpse*", "value", "", "filled with random numbers"),
    ("FakeParam", "value", "", "memory as it lay"),
    ("StringFormat", "value", "?", "TensorFlow prints ? for complex numbers"),
    ("ResizeBilinearGrad", "value", "", "weights are double here, where the "
     "gradients are"),
    ("CTC*", "value", "", "probabilities are summed in double"),
    # Shapes.
    ("StackV2", "vague", "", HANDLE),
    ("TensorArray*V3", "vague", "", HANDLE),
    ("ResourceConditionalAccumulator", "vague", "", HANDLE),
    ("SoftmaxCrossEntropyWithLogits", "vague", "", "TensorFlow takes arguments "
     "of unknown shape to be as large as the other, which broadcasting need "
     "not bear out"),
    ("Fractional*Pool", "shape", "", "TensorFlow infers one element less than "
     "its sequences have"),
    ("Svd", "shape vague", "", "TensorFlow infers [0] of outputs that it makes "
     "scalars"),
    ("SelfAdjointEig*", "shape vague", "", "the same"),
    ("Eig", "shape vague", "", "the same"),
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
    ("RecordInput", "refuses", "batch_size", "it would read for ever"),
    ("*Grad", "refuses", "equal rank", "TensorFlow reads both by the first's "
     "size, beyond the end of a smaller second"),
    ("SparseAdd", "refuses", "thresh", "TensorFlow reads the threshold as "
     "another type than it has"),
    ("SerializeSparse", "refuses", "Dimensions", "TensorFlow does not compare "
     "the three parts"),
    ("SparseDenseCwise*", "refuses", "broadcasts", "TensorFlow takes no "
     "elements for any shape"),
    ("TensorSummaryV2", "refuses", "metadata", "TensorFlow skips what it "
     "cannot read"),
    ("TensorStridedSliceUpdate", "refuses", "the slice is", "2.x broadcasts "
     "the value"),
    ("FixedLengthRecordReaderV2", "kernel", "compression_type", "TensorFlow "
     "finds out when it reads"),
    ("Stateless*", "refuses kernel", "counter", "TensorFlow reads a counter of "
     "any length"),
    ("Stateless*", "kernel", "ThreeFry", "an algorithm of 2.x alone"),
    ("Multinomial", "death", "no answer", "as many samples as asked for"),
]
