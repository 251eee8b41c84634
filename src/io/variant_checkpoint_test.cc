// Variants in checkpoints: the places of iterators.
#include <fstream>
#include <iterator>

#include "framework/op/saved_variant.h"
#include "gtest/gtest.h"
#include "io/tensor_bundle.h"

namespace headrace {
namespace {

Tensor Saved(const std::string& metadata) {
  auto proto = std::make_shared<pb::VariantTensorDataProto>();
  proto->set_type_name(kIteratorStateName);
  proto->set_metadata(metadata);
  Tensor t(DT_VARIANT, TensorShape({2}));
  for (int i = 0; i < 2; ++i) {
    t.data<Variant>()[i] = Variant::Of<SavedVariant>(proto, kIteratorStateName);
  }
  return t;
}

std::string Prefix(const char* name) { return ::testing::TempDir() + name; }

void Write(const std::string& prefix, const Tensor& t) {
  auto writer = *BundleWriter::Open(Env::Default(), prefix);
  ASSERT_TRUE(writer->Add("v", t).ok());
  ASSERT_TRUE(writer->Finish().ok());
}

TEST(VariantCheckpoint, ReadsWhatItWrote) {
  const std::string prefix = Prefix("variants");
  Write(prefix, Saved(std::string(300, 'x')));
  auto reader = *BundleReader::Open(Env::Default(), prefix);
  Tensor t;
  ASSERT_TRUE(reader->Read("v", &t).ok());
  ASSERT_EQ(t.shape(), TensorShape({2}));
  const auto* saved = t.data<Variant>()[1].Get<SavedVariant>();
  ASSERT_NE(saved, nullptr);
  EXPECT_EQ((*saved)->metadata(), std::string(300, 'x'));
}

TEST(VariantCheckpoint, RefusesOtherVariants) {
  auto writer = *BundleWriter::Open(Env::Default(), Prefix("others"));
  Tensor t(DT_VARIANT, TensorShape());
  EXPECT_EQ(writer->Add("v", t).code(), absl::StatusCode::kUnimplemented);
  t.scalar<Variant>() = Variant::Of<int>(3, "int");
  EXPECT_EQ(writer->Add("v", t).code(), absl::StatusCode::kUnimplemented);
}

TEST(VariantCheckpoint, EveryChangedByteIsFound) {
  const std::string prefix = Prefix("changed");
  Write(prefix, Saved("abc"));
  const std::string path = BundleDataPath(prefix, 0, 1);
  std::ifstream in(path, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)),
                         std::istreambuf_iterator<char>());
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x15);
    std::ofstream(path, std::ios::binary) << bad;
    auto reader = *BundleReader::Open(Env::Default(), prefix);
    Tensor t;
    EXPECT_EQ(reader->Read("v", &t).code(), absl::StatusCode::kDataLoss) << i;
  }
}

}  // namespace
}  // namespace headrace
