#include "headrace/status.h"

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(StatusTest, MakersJoinTheirArguments) {
  const std::string_view op = "Conv2D";
  const Status s = errors::InvalidArgument(op, ": rank ", 3, std::string(", "),
                                           "wanted ", absl::string_view("4"));
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(s.message(), "Conv2D: rank 3, wanted 4");
  EXPECT_TRUE(errors::IsInvalidArgument(s));
  EXPECT_FALSE(errors::IsInternal(s));
}

TEST(StatusTest, EachMakerHasItsCode) {
  const struct {
    Status status;
    absl::StatusCode code;
  } kCases[] = {
      {errors::Cancelled("x"), absl::StatusCode::kCancelled},
      {errors::Unknown("x"), absl::StatusCode::kUnknown},
      {errors::DeadlineExceeded("x"), absl::StatusCode::kDeadlineExceeded},
      {errors::NotFound("x"), absl::StatusCode::kNotFound},
      {errors::AlreadyExists("x"), absl::StatusCode::kAlreadyExists},
      {errors::PermissionDenied("x"), absl::StatusCode::kPermissionDenied},
      {errors::ResourceExhausted("x"), absl::StatusCode::kResourceExhausted},
      {errors::FailedPrecondition("x"), absl::StatusCode::kFailedPrecondition},
      {errors::Aborted("x"), absl::StatusCode::kAborted},
      {errors::OutOfRange("x"), absl::StatusCode::kOutOfRange},
      {errors::Unimplemented("x"), absl::StatusCode::kUnimplemented},
      {errors::Internal("x"), absl::StatusCode::kInternal},
      {errors::Unavailable("x"), absl::StatusCode::kUnavailable},
      {errors::DataLoss("x"), absl::StatusCode::kDataLoss},
  };
  for (const auto& c : kCases) EXPECT_EQ(c.status.code(), c.code) << c.status;
}

TEST(StatusTest, AnnotateKeepsCodeAndPayloads) {
  Status s = errors::NotFound("no kernel");
  s.SetPayload("headrace/node", absl::Cord("conv"));
  const Status a = Annotate(s, " [[node conv]]");
  EXPECT_EQ(a.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(a.message(), "no kernel [[node conv]]");
  EXPECT_EQ(a.GetPayload("headrace/node"), absl::Cord("conv"));
  EXPECT_TRUE(Annotate(OkStatus(), "ignored").ok());
}

StatusOr<std::unique_ptr<int>> Make(bool good) {
  if (!good) return errors::DataLoss("bad");
  return std::make_unique<int>(7);
}

StatusOr<int> Twice(bool first, bool second) {
  HR_ASSIGN_OR_RETURN(std::unique_ptr<int> p, Make(first));
  HR_ASSIGN_OR_RETURN(p, Make(second));
  return *p;
}

Status Check(bool good) {
  if (good) HR_RETURN_IF_ERROR(Twice(true, true).status());
  HR_RETURN_IF_ERROR(Make(good).status());
  return OkStatus();
}

TEST(StatusTest, MacrosPassErrorsUp) {
  EXPECT_EQ(*Twice(true, true), 7);
  EXPECT_TRUE(errors::IsDataLoss(Twice(false, true).status()));
  EXPECT_TRUE(errors::IsDataLoss(Twice(true, false).status()));
  EXPECT_TRUE(Check(true).ok());
  EXPECT_TRUE(errors::IsDataLoss(Check(false)));
}

}  // namespace
}  // namespace headrace
