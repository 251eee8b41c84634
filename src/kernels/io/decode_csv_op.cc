// DecodeCSV: each field of the records becomes one tensor with the shape of
// `records`. Quoting follows RFC 4180: inside quotes a quote is written twice.
// A missing field gets the default, if there is one.
#include <string>
#include <vector>

#include "headrace/op_kernel.h"
#include "headrace/tstring.h"
#include "kernels/io/csv_field.h"

namespace headrace {
namespace {

class DecodeCsvOp : public OpKernel {
 public:
  explicit DecodeCsvOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string delim;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("field_delim", &delim));
    OP_REQUIRES(ctx, delim.size() == 1,
                errors::InvalidArgument(
                    "field_delim should be only 1 char, got ", delim.size()));
    delim_ = delim[0];
    OP_REQUIRES_OK(ctx, ctx->GetAttr("use_quote_delim", &quotes_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("na_value", &na_value_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("select_cols", &select_));
    OP_REQUIRES(
        ctx,
        select_.empty() || static_cast<int>(select_.size()) == num_outputs(),
        errors::InvalidArgument("select_cols should match output size: ",
                                select_.size(), " and ", num_outputs()));
    OP_REQUIRES_OK(ctx, CheckCsvColumns(select_, "select_cols"));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& records = ctx->input(0);
    for (int i = 0; i < num_outputs(); ++i) {
      OP_REQUIRES_OK(ctx, CheckCsvDefault(ctx->input(1 + i), i));
    }
    std::vector<Tensor*> outputs(num_outputs());
    for (int i = 0; i < num_outputs(); ++i) {
      OP_REQUIRES_OK(ctx,
                     ctx->allocate_output(i, records.shape(), &outputs[i]));
    }
    std::vector<std::string> fields;
    for (int64_t r = 0; r < records.NumElements(); ++r) {
      const std::string record = StrCat("record ", r);
      OP_REQUIRES_OK(ctx, Split(records.data<tstring>()[r], &fields));
      OP_REQUIRES(
          ctx, static_cast<int>(fields.size()) == num_outputs(),
          errors::InvalidArgument("Expect ", num_outputs(), " fields but have ",
                                  fields.size(), " in ", record));
      for (int i = 0; i < num_outputs(); ++i) {
        OP_REQUIRES_OK(ctx,
                       StoreCsvField(fields[i], na_value_, ctx->input(1 + i), i,
                                     record, r, outputs[i]));
      }
    }
  }

 private:
  // The fields that are selected.
  Status Split(absl::string_view in, std::vector<std::string>* fields) const {
    fields->clear();
    if (in.empty()) return OkStatus();
    size_t at = 0, selected = 0;
    for (int64_t column = 0;; ++column) {
      const bool wanted = select_.empty() || (selected < select_.size() &&
                                              select_[selected] == column);
      std::string field;
      HR_RETURN_IF_ERROR(Field(in, &at, &field));
      if (wanted) {
        fields->push_back(std::move(field));
        ++selected;
      }
      if (at == in.size()) return OkStatus();
      ++at;  // the delimiter
    }
  }

  // One field from `at` on, which then is at the delimiter or the end.
  Status Field(absl::string_view in, size_t* at, std::string* field) const {
    if (!quotes_ || *at == in.size() || in[*at] != '"') {
      for (; *at < in.size() && in[*at] != delim_; ++*at) {
        const char c = in[*at];
        if (quotes_ && (c == '"' || c == '\n' || c == '\r')) {
          return errors::InvalidArgument(
              "Unquoted fields cannot have quotes/CRLFs inside");
        }
        field->push_back(c);
      }
      return OkStatus();
    }
    for (++*at; *at < in.size(); ++*at) {
      if (in[*at] != '"') {
        field->push_back(in[*at]);
        continue;
      }
      ++*at;
      if (*at == in.size() || in[*at] == delim_) return OkStatus();
      if (in[*at] != '"') {
        return errors::InvalidArgument(
            "Quote inside a string has to be escaped by another quote");
      }
      field->push_back('"');
    }
    return errors::InvalidArgument(
        "Quoted field has to end with quote followed by delim or end");
  }

  char delim_ = ',';
  bool quotes_ = true;
  std::string na_value_;
  std::vector<int64_t> select_;
};
REGISTER_KERNEL_BUILDER(Name("DecodeCSV").Device(DEVICE_CPU), DecodeCsvOp);

}  // namespace
}  // namespace headrace
