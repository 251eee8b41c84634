#include "kernels/lib/visit_type.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

TEST(VisitType, CallsOnceWithTheTypeOrNotAtAll) {
  std::string seen;
  const auto visit = [&](DataType dtype) {
    return VisitType<float, int8_t, half>(dtype, [&]<typename T>(T) {
      seen += DataTypeString(DataTypeToEnum<T>::value) + " ";
    });
  };
  EXPECT_TRUE(visit(DT_HALF));
  EXPECT_TRUE(visit(DT_FLOAT));
  EXPECT_FALSE(visit(DT_DOUBLE));
  EXPECT_FALSE(visit(DT_FLOAT_REF));
  EXPECT_FALSE(visit(DT_INVALID));
  EXPECT_EQ(seen, "half float ");
}

}  // namespace
}  // namespace headrace
