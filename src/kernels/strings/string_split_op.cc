// StringSplit and StringSplitV2: the pieces of each string of a vector as a
// sparse matrix, a row a string. V1 splits at any byte of `delimiter` (an empty
// one splits into bytes); V2 at the whole of `sep` (an empty one is a run of
// blanks), as Python's str.split.
#include <algorithm>
#include <bitset>
#include <vector>

#include "absl/strings/ascii.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

using Pieces = std::vector<absl::string_view>;

void SplitAtAny(absl::string_view s, absl::string_view delimiter,
                bool skip_empty, Pieces* out) {
  if (delimiter.empty()) {
    for (size_t i = 0; i < s.size(); ++i) out->push_back(s.substr(i, 1));
    return;
  }
  // As in TensorFlow: nothing is no piece.
  if (s.empty()) return;
  std::bitset<256> ends;
  for (char c : delimiter) ends.set(static_cast<unsigned char>(c));
  size_t begin = 0;
  for (size_t i = 0; i <= s.size(); ++i) {
    if (i < s.size() && !ends.test(static_cast<unsigned char>(s[i]))) continue;
    if (i > begin || !skip_empty) out->push_back(s.substr(begin, i - begin));
    begin = i + 1;
  }
}

// At most `limit` splits where it is positive; then the rest is one piece.
void SplitAtBlanks(absl::string_view s, int64_t limit, Pieces* out) {
  s = absl::StripLeadingAsciiWhitespace(s);
  for (int64_t n = 1; !s.empty(); ++n) {
    const auto* end = std::find_if(s.begin(), s.end(), absl::ascii_isspace);
    out->push_back(s.substr(0, end - s.begin()));
    s = absl::StripLeadingAsciiWhitespace(s.substr(end - s.begin()));
    if (n == limit) {
      out->push_back(s);
      return;
    }
  }
}

void SplitAtString(absl::string_view s, absl::string_view sep, int64_t limit,
                   Pieces* out) {
  for (int64_t n = 1; limit <= 0 || n <= limit; ++n) {
    const size_t at = s.find(sep);
    if (at == absl::string_view::npos) break;
    out->push_back(s.substr(0, at));
    s.remove_prefix(at + sep.size());
  }
  out->push_back(s);
}

template <bool kV2>
class StringSplitOp : public OpKernel {
 public:
  explicit StringSplitOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (kV2) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("maxsplit", &limit_));
    } else {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("skip_empty", &skip_empty_));
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &at = ctx->input(1);
    OP_REQUIRES(ctx, in.dims() == 1,
                errors::InvalidArgument("input must be a vector, got shape: ",
                                        in.shape().DebugString()));
    OP_REQUIRES(ctx, at.dims() == 0,
                errors::InvalidArgument(kV2 ? "sep" : "delimiter",
                                        " must be a scalar, got shape: ",
                                        at.shape().DebugString()));
    const absl::string_view separator = at.scalar<tstring>();
    const int64_t rows = in.NumElements();
    Pieces pieces;
    std::vector<int64_t> ends(rows);
    for (int64_t i = 0; i < rows; ++i) {
      const absl::string_view s = in.data<tstring>()[i];
      if (!kV2) {
        SplitAtAny(s, separator, skip_empty_, &pieces);
      } else if (limit_ == 0) {
        pieces.push_back(s);
      } else if (separator.empty()) {
        SplitAtBlanks(s, limit_, &pieces);
      } else {
        SplitAtString(s, separator, limit_, &pieces);
      }
      ends[i] = static_cast<int64_t>(pieces.size());
    }
    const auto n = static_cast<int64_t>(pieces.size());
    Tensor *indices = nullptr, *values = nullptr, *shape = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({n, 2}), &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({n}), &values));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, TensorShape({2}), &shape));
    int64_t columns = 0, k = 0;
    int64_t* index = indices->data<int64_t>();
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t begin = k;
      for (; k < ends[i]; ++k) {
        *index++ = i;
        *index++ = k - begin;
        values->data<tstring>()[k] = pieces[k];
      }
      columns = std::max(columns, k - begin);
    }
    shape->data<int64_t>()[0] = rows;
    shape->data<int64_t>()[1] = columns;
  }

 private:
  bool skip_empty_ = true;
  int64_t limit_ = -1;
};

REGISTER_KERNEL_BUILDER(Name("StringSplit").Device(DEVICE_CPU),
                        StringSplitOp<false>);
REGISTER_KERNEL_BUILDER(Name("StringSplitV2").Device(DEVICE_CPU),
                        StringSplitOp<true>);

}  // namespace
}  // namespace headrace
