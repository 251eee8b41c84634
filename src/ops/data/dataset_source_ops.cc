// Datasets made of tensors, numbers, functions and files.
#include "ops/data/dataset_op.h"

namespace headrace {
namespace {

// Components stacked or cut: the first dimensions must agree.
Status TensorSliceShape(InferenceContext* c) {
  int64_t n = -1;
  for (int i = 0; i < c->num_inputs(); ++i) {
    PartialTensorShape unused;
    HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(i), 1, &unused));
    HR_RETURN_IF_ERROR(c->MergeDims(n, c->Dim(c->input(i), 0), &n));
  }
  c->set_output(0, c->Scalar());
  return OkStatus();
}

#define SOURCE_OP(NAME) DATASET_OP(NAME).SetIsStateful()

SOURCE_OP("TensorDataset")
    .Input("components: Toutput_types")
    .Attr("Toutput_types: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .Attr("metadata: string = ''")
    .HasNoEffects();
SOURCE_OP("TensorSliceDataset")
    .Input("components: Toutput_types")
    .Attr("Toutput_types: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .Attr("is_files: bool = false")
    .Attr("metadata: string = ''")
    .Attr("replicate_on_split: bool = false")
    .SetShapeFn(TensorSliceShape)
    .HasNoEffects();
SOURCE_OP("SparseTensorSliceDataset")
    .Input("indices: int64")
    .Input("values: Tvalues")
    .Input("dense_shape: int64")
    .Attr("Tvalues: type")
    .HasNoEffects();
SOURCE_OP("RangeDataset")
    .Input("start: int64")
    .Input("stop: int64")
    .Input("step: int64") DATASET_ELEMENTS.Attr("metadata: string = ''")
    .Attr("replicate_on_split: bool = false")
    .HasNoEffects();
SOURCE_OP("GeneratorDataset")
    .Input("init_func_other_args: Tinit_func_args")
    .Input("next_func_other_args: Tnext_func_args")
    .Input("finalize_func_other_args: Tfinalize_func_args")
    .Attr("init_func: func")
    .Attr("next_func: func")
    .Attr("finalize_func: func")
    .Attr("Tinit_func_args: list(type) >= 0")
    .Attr("Tnext_func_args: list(type) >= 0")
    .Attr("Tfinalize_func_args: list(type) >= 0") DATASET_ELEMENTS
    .Attr("metadata: string = ''")
    .CallsFunctions();

#define RANDOM_OP(NAME) \
  SOURCE_OP(NAME).Input("seed: int64").Input("seed2: int64") DATASET_ELEMENTS
RANDOM_OP("RandomDataset").Attr("metadata: string = ''").IsRandom();
RANDOM_OP("ExperimentalRandomDataset").IsRandom();
SOURCE_OP("RandomDatasetV2")
    .Input("seed: int64")
    .Input("seed2: int64")
    .Input("seed_generator: resource")
    .Attr("rerandomize_each_iteration: bool = false") DATASET_ELEMENTS
    .Attr("metadata: string = ''")
    .IsRandom();
#undef RANDOM_OP

#define FILES_OP(NAME) \
  SOURCE_OP(NAME).Input("filenames: string").Attr("metadata: string = ''")
FILES_OP("TFRecordDataset")
    .Input("compression_type: string")
    .Input("buffer_size: int64")
    .ReadsFiles()
    .FileNameInput(0);
FILES_OP("TFRecordDatasetV2")
    .Input("compression_type: string")
    .Input("buffer_size: int64")
    .Input("byte_offsets: int64")
    .ReadsFiles()
    .FileNameInput(0);
FILES_OP("TextLineDataset")
    .Input("compression_type: string")
    .Input("buffer_size: int64")
    .ReadsFiles()
    .FileNameInput(0);
#define FIXED_LENGTH_OP(NAME)       \
  FILES_OP(NAME)                    \
      .Input("header_bytes: int64") \
      .Input("record_bytes: int64") \
      .Input("footer_bytes: int64") \
      .Input("buffer_size: int64")
FIXED_LENGTH_OP("FixedLengthRecordDataset").ReadsFiles().FileNameInput(0);
FIXED_LENGTH_OP("FixedLengthRecordDatasetV2")
    .Input("compression_type: string")
    .ReadsFiles()
    .FileNameInput(0);
#undef FIXED_LENGTH_OP
#undef FILES_OP

#define CSV_OP(NAME)                                                      \
  SOURCE_OP(NAME)                                                         \
      .Input("filenames: string")                                         \
      .Input("compression_type: string")                                  \
      .Input("buffer_size: int64")                                        \
      .Input("header: bool")                                              \
      .Input("field_delim: string")                                       \
      .Input("use_quote_delim: bool")                                     \
      .Input("na_value: string")                                          \
      .Input("select_cols: int64")                                        \
      .Input("record_defaults: output_types")                             \
      .Attr("output_types: list({float,double,int32,int64,string}) >= 1") \
      .Attr("output_shapes: list(shape) >= 1")
CSV_OP("CSVDataset").ReadsFiles().FileNameInput(0);
CSV_OP("CSVDatasetV2")
    .Input("exclude_cols: int64")
    .ReadsFiles()
    .FileNameInput(0);
CSV_OP("ExperimentalCSVDataset").ReadsFiles().FileNameInput(0);
#undef CSV_OP

SOURCE_OP("MatchingFilesDataset")
    .Input("patterns: string")
    .ReadsFiles()
    .FolderNameInput(0);
SOURCE_OP("ExperimentalMatchingFilesDataset")
    .Input("patterns: string")
    .ReadsFiles()
    .FolderNameInput(0);
#undef SOURCE_OP

}  // namespace
}  // namespace headrace
