#include "headrace/tstring.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

TEST(TstringTest, CharactersThatAreWrittenAreTheStringsOwn) {
  for (const size_t size : {size_t{0}, size_t{3}, size_t{22}, size_t{500}}) {
    std::string bytes(size, 'a');
    tstring own(bytes), view;
    view.assign_as_view(bytes.data(), bytes.size());
    EXPECT_EQ(view.data(), bytes.data());
    for (tstring* s : {&own, &view}) {
      char* const to = s->mdata();
      EXPECT_EQ(to, s->data());
      for (size_t i = 0; i < size; ++i) to[i] = 'b';
      EXPECT_EQ(std::string(*s), std::string(size, 'b'));
    }
    EXPECT_EQ(bytes, std::string(size, 'a'));  // the view became a copy
  }
}

}  // namespace
}  // namespace headrace
