#include "base/error_cause.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(ErrorCauseTest, IsKeptByAnnotateAndByCopies) {
  const Status s = WithCause(errors::NotFound("no x"), ErrorCause::kNoFeed);
  EXPECT_TRUE(HasCause(s, ErrorCause::kNoFeed));
  EXPECT_FALSE(HasCause(s, ErrorCause::kUninitializedVariable));
  const Status more = Annotate(s, " in node n");
  EXPECT_EQ(more.message(), "no x in node n");
  EXPECT_TRUE(HasCause(more, ErrorCause::kNoFeed));
}

TEST(ErrorCauseTest, TwoCausesStandBesideEachOther) {
  const Status s =
      WithCause(WithCause(errors::NotFound("no x"), ErrorCause::kNoFeed),
                ErrorCause::kUninitializedVariable);
  EXPECT_TRUE(HasCause(s, ErrorCause::kNoFeed));
  EXPECT_TRUE(HasCause(s, ErrorCause::kUninitializedVariable));
}

TEST(ErrorCauseTest, IsNotInTheTextAndNotOnOk) {
  const Status same_text = errors::NotFound(
      WithCause(errors::NotFound("no x"), ErrorCause::kNoFeed).message());
  EXPECT_FALSE(HasCause(same_text, ErrorCause::kNoFeed));
  EXPECT_TRUE(WithCause(OkStatus(), ErrorCause::kNoFeed).ok());
  EXPECT_FALSE(HasCause(WithCause(OkStatus(), ErrorCause::kNoFeed),
                        ErrorCause::kNoFeed));
}

}  // namespace
}  // namespace headrace
