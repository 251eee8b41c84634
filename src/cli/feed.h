// Creates values for a model's inputs from files and from the command line.
#ifndef HEADRACE_CLI_FEED_H_
#define HEADRACE_CLI_FEED_H_

#include <string>

#include "headrace/tensor.h"

namespace headrace::cli {

// `text` names a .png, .jpg, .jpeg or .npy file, or it is a number, a string or
// a list such as "[[1, 2], [3, 4]]". The result has type `dtype` and fits
// `shape`. A picture is resized (bilinear) to the height and width of `shape`.
// If `shape` has one more dim, a batch dim is added in front. Pixels 0..255 are
// multiplied by `scale`, then `offset` is added.
struct FeedOptions {
  float scale = 1;
  float offset = 0;
};
Status MakeFeed(const std::string& text, DataType dtype,
                const PartialTensorShape& shape, const FeedOptions& options,
                Tensor* out);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_FEED_H_
