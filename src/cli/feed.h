// Values for a model's inputs from files and from the command line.
#ifndef HEADRACE_CLI_FEED_H_
#define HEADRACE_CLI_FEED_H_

#include <string>

#include "headrace/tensor.h"

namespace headrace::cli {

// `text` names a .png, .jpg, .jpeg or .npy file, or is a number, a string or a
// list such as "[[1, 2], [3, 4]]". The result has type `dtype` and fits
// `shape`: a picture is resized (bilinear) to the height and width asked for,
// and a batch dimension is put in front where the shape has one more dim.
// Pixels are 0..255, times `scale` plus `offset`.
struct FeedOptions {
  float scale = 1;
  float offset = 0;
};
Status MakeFeed(const std::string& text, DataType dtype,
                const PartialTensorShape& shape, const FeedOptions& options,
                Tensor* out);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_FEED_H_
