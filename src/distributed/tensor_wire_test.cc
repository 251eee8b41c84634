#include "distributed/tensor_wire.h"

#include <gtest/gtest.h>

#include <random>

#include "framework/op/tensor_proto.h"
#include "headrace/device.pb.h"
#include "headrace/worker.pb.h"

namespace headrace {
namespace {

Tensor Floats(int64_t n) {
  Tensor t(DT_FLOAT, TensorShape({n}));
  for (int64_t i = 0; i < n; ++i) t.data<float>()[i] = static_cast<float>(i);
  return t;
}

Tensor Strings() {
  Tensor t(DT_STRING, TensorShape({2}));
  t.data<tstring>()[0] = "a";
  t.data<tstring>()[1] = std::string(5000, 'b');
  return t;
}

std::string Summary(const Tensor& t) { return StrCat(t.DebugString(1 << 20)); }

// Small and large values, of plain data and of objects.
std::vector<Tensor> Values() {
  Tensor flags(DT_BOOL, TensorShape({3000}));
  for (int i = 0; i < 3000; ++i) flags.data<bool>()[i] = i % 3 == 0;
  return {Floats(0),   Floats(3),    Floats(255),
          Floats(256), Floats(5000), Tensor::Scalar<int64_t>(-7),
          Strings(),   flags,        Tensor(DT_FLOAT, TensorShape({0, 1000}))};
}

TEST(TensorWireTest, IsWhatProtobufReadsAndWrites) {
  for (const Tensor& value : Values()) {
    WireWriter writer;
    writer.AddVarint(pb::RecvTensorResponse::kIsDeadFieldNumber, 1);
    writer.AddTensor(pb::RecvTensorResponse::kTensorFieldNumber, value);
    const WireBytes bytes = writer.Finish();
    pb::RecvTensorResponse parsed;
    ASSERT_TRUE(parsed.ParseFromString(bytes.Flatten()));
    EXPECT_TRUE(parsed.is_dead());
    Tensor back;
    ASSERT_EQ(TensorFromProto(parsed.tensor(), &back), OkStatus());
    EXPECT_EQ(Summary(back), Summary(value));

    // Fields in another order, as a map of unknown fields might have them.
    std::vector<Tensor> read;
    pb::RecvTensorResponse rest;
    ASSERT_EQ(ReadTensors("test", ToWire(parsed), 1, &read, &rest), OkStatus());
    ASSERT_EQ(read.size(), 1u);
    EXPECT_EQ(Summary(read[0]), Summary(value));
    EXPECT_TRUE(rest.is_dead());
  }
}

TEST(TensorWireTest, NamedTensorsComeWithTheOtherFields) {
  pb::RunGraphRequest header;
  header.set_graph_handle("g");
  header.add_recv_key("k");
  WireWriter writer;
  writer.AddFields(header);
  const std::vector<Tensor> values = Values();
  for (size_t i = 0; i < values.size(); ++i) {
    writer.AddNamedTensor(pb::RunGraphRequest::kSendFieldNumber, StrCat("t", i),
                          values[i]);
  }
  header.Clear();
  NamedTensors read;
  const WireBytes bytes = writer.Finish();
  ASSERT_EQ(ReadNamedTensors("test", bytes, 3, &read, &header), OkStatus());
  EXPECT_EQ(header.graph_handle(), "g");
  EXPECT_EQ(header.recv_key(0), "k");
  ASSERT_EQ(read.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(read[i].first, StrCat("t", i));
    EXPECT_EQ(Summary(read[i].second), Summary(values[i]));
  }
}

TEST(TensorWireTest, ALargeTensorIsNotCopied) {
  const Tensor value = Floats(5000);
  WireWriter writer;
  writer.AddTensor(1, value);
  const WireBytes bytes = writer.Finish();
  bool found = false;
  for (const WireBytes::Piece& p : bytes.pieces()) {
    found |= p.bytes.data() == value.tensor_data().data();
  }
  EXPECT_TRUE(found);
}

// Pieces of any sizes give the same as one.
TEST(TensorWireTest, PiecesMayEndAnywhere) {
  WireWriter writer;
  writer.AddNamedTensor(3, "name", Floats(600));
  writer.AddNamedTensor(3, "text", Strings());
  const std::string all = writer.Finish().Flatten();
  for (size_t size : {1, 2, 3, 7, 100, 1000}) {
    WireBytes bytes;
    for (size_t at = 0; at < all.size(); at += size) {
      bytes.Append(all.substr(at, size));
    }
    NamedTensors read;
    pb::RunGraphRequest rest;
    ASSERT_EQ(ReadNamedTensors("test", bytes, 3, &read, &rest), OkStatus());
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(Summary(read[0].second), Summary(Floats(600)));
  }
}

TEST(TensorWireTest, RefusesWhatIsNoTensor) {
  pb::TensorProto huge;
  huge.set_dtype(pb::DT_FLOAT);
  huge.mutable_tensor_shape()->add_dim()->set_size(int64_t{1} << 50);
  pb::TensorProto wrong_size;
  wrong_size.set_dtype(pb::DT_FLOAT);
  wrong_size.mutable_tensor_shape()->add_dim()->set_size(3);
  wrong_size.set_tensor_content(std::string(2000, 'x'));
  pb::TensorProto negative = wrong_size;
  negative.mutable_tensor_shape()->mutable_dim(0)->set_size(-500);
  pb::TensorProto no_type;
  no_type.set_tensor_content(std::string(2000, 'x'));
  // 2^62 + 512 elements of four bytes are 2048 modulo 2^64.
  pb::TensorProto wraps = wrong_size;
  wraps.mutable_tensor_shape()->mutable_dim(0)->set_size((int64_t{1} << 62) +
                                                         512);
  wraps.set_tensor_content(std::string(2048, 'x'));
  for (const pb::TensorProto& bad :
       {huge, wrong_size, negative, no_type, wraps}) {
    pb::RecvTensorResponse message;
    *message.mutable_tensor() = bad;
    std::vector<Tensor> read;
    pb::RecvTensorResponse rest;
    const Status s = ReadTensors("test", ToWire(message), 1, &read, &rest);
    EXPECT_FALSE(s.ok()) << bad.ShortDebugString().substr(0, 100);
  }
}

TEST(TensorWireTest, AnyBytesAreRefusedOrRead) {
  WireWriter writer;
  writer.AddNamedTensor(3, "name", Floats(600));
  writer.AddNamedTensor(3, "text", Strings());
  const std::string all = writer.Finish().Flatten();
  for (size_t n = 0; n < all.size(); n += 13) {
    NamedTensors read;
    pb::RunGraphRequest rest;
    // A message may end between its fields alone.
    if (ReadNamedTensors("test", WireBytes(all.substr(0, n)), 3, &read, &rest)
            .ok()) {
      EXPECT_LT(read.size(), 2u);
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = all;
    for (int k = 0; k < 3; ++k) {
      // Most of the bytes that matter are at the beginning.
      changed[random() % (i % 2 == 0 ? 40 : changed.size())] =
          static_cast<char>(random());
    }
    NamedTensors read;
    pb::RunGraphRequest rest;
    ReadNamedTensors("test", WireBytes(changed), 3, &read, &rest).IgnoreError();
    for (const auto& [name, value] : read) {
      EXPECT_TRUE(!value.IsInitialized() || value.NumElements() >= 0) << name;
    }
  }
}

}  // namespace
}  // namespace headrace
