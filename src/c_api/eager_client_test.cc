// A program with a header-only wrapper of the C API, as others write them.
#include "../../tests/clients/eager_client.h"

#include <gtest/gtest.h>

namespace eager_client {
namespace {

// Lives as long as the process, so that it goes after the client's context.
Value* const kLasting = new Value(std::vector<float>{1, 2, 3}, {3});

TEST(EagerClientTest, Arithmetic) {
  const Value a(std::vector<float>{1, 2}, {2});
  EXPECT_EQ((a * a + 1.0f).data<float>(), (std::vector<float>{2, 5}));
  EXPECT_EQ((a - a).shape(), (std::vector<int64_t>{2}));
  EXPECT_THROW(a + Value(int32_t{1}), std::runtime_error);
  EXPECT_EQ(kLasting->data<float>().size(), 3u);
  EXPECT_EQ(a.device(), "/job:localhost/replica:0/task:0/device:CPU:0");
}

TEST(EagerClientTest, Strings) {
  const Value joined =
      Op("StringJoin",
         {std::vector<Value>{std::string("a rather long text "),
                             std::string("and its end")}},
         {{"separator", std::string("- ")}});
  EXPECT_EQ(joined.text(), "a rather long text - and its end");
  EXPECT_EQ(Op("StringLength", {joined}).data<int32_t>(),
            (std::vector<int32_t>{32}));
  EXPECT_EQ(Op("StringToNumber", {Value(std::string("2.5"))}).data<float>(),
            (std::vector<float>{2.5f}));
}

TEST(EagerClientTest, ASmallNetwork) {
  std::vector<float> pixels(1 * 8 * 8 * 1);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = i % 7;
  const Value image(pixels, {1, 8, 8, 1});
  const Value filter(std::vector<float>(3 * 3 * 1 * 2, 0.1f), {3, 3, 1, 2});
  const Value conv =
      Op("Relu", {Op("Conv2D", {image, filter},
                     {{"strides", std::vector<int64_t>{1, 2, 2, 1}},
                      {"padding", std::string("SAME")}})});
  EXPECT_EQ(conv.shape(), (std::vector<int64_t>{1, 4, 4, 2}));
  const Value flat =
      Op("Reshape", {conv, Value(std::vector<int32_t>{1, -1}, {2})});
  const Value dense(std::vector<float>(32 * 3, 0.01f), {32, 3});
  const std::vector<float> p =
      Op("Softmax", {Op("MatMul", {flat, dense})}).data<float>();
  ASSERT_EQ(p.size(), 3u);
  for (float v : p) EXPECT_NEAR(v, 1.0f / 3, 1e-6);
  const std::vector<Value> top = eager_client::Run(
      "TopKV2", {Value(std::vector<float>{3, 1, 2}, {3}), Value(int32_t{2})});
  EXPECT_EQ(top[0].data<float>(), (std::vector<float>{3, 2}));
  EXPECT_EQ(top[1].data<int32_t>(), (std::vector<int32_t>{0, 2}));
}

}  // namespace
}  // namespace eager_client
