#include "io/image.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace headrace {
namespace {

constexpr int kHeight = 13, kWidth = 9;

Tensor Picture() {
  Tensor t(DT_UINT8, TensorShape({kHeight, kWidth, 3}));
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<uint8_t>()[i] = static_cast<uint8_t>(i / 3 + i % 3 * 40);
  }
  return t;
}

std::string Number(uint64_t v, int bytes) {
  std::string s;
  for (int i = 0; i < bytes; ++i, v >>= 8) s += static_cast<char>(v);
  return s;
}

std::string Bmp() {
  const Tensor t = Picture();
  std::string s = "BM" + Number(0, 8) + Number(54, 4) + Number(40, 4) +
                  Number(kWidth, 4) + Number(kHeight, 4) + Number(1, 2) +
                  Number(24, 2) + Number(0, 24);
  const int stride = (kWidth * 3 + 3) / 4 * 4;
  for (int y = kHeight - 1; y >= 0; --y) {
    std::string row;
    for (int x = 0; x < kWidth; ++x) {
      const uint8_t* p = t.data<uint8_t>() + (y * kWidth + x) * 3;
      row += {static_cast<char>(p[2]), static_cast<char>(p[1]),
              static_cast<char>(p[0])};
    }
    row.resize(stride);
    s += row;
  }
  return s;
}

// Frames of one colour of a map of 256, in codes of 9 bits without compression;
// the first covers the canvas, the others a corner.
std::string Gif(int frames) {
  std::string s =
      "GIF89a" + Number(kWidth, 2) + Number(kHeight, 2) + "\xf7" + Number(0, 2);
  for (int i = 0; i < 256; ++i) s += Number(i * 0x010203, 3);
  for (int f = 0; f < frames; ++f) {
    const int width = f == 0 ? kWidth : 4, height = f == 0 ? kHeight : 3;
    s += "," + Number(0, 4) + Number(width, 2) + Number(height, 2) +
         Number(0, 1) + "\x08";
    std::string codes;
    uint32_t bits = 0;
    int n = 0;
    const auto put = [&](uint32_t code) {
      bits |= code << n;
      for (n += 9; n >= 8; n -= 8, bits >>= 8) codes += static_cast<char>(bits);
    };
    for (int i = 0; i < width * height; ++i) {
      if (i % 100 == 0) put(256);
      put(10 + f);
    }
    put(257);
    codes += static_cast<char>(bits);
    for (size_t at = 0; at < codes.size(); at += 255) {
      const std::string block = codes.substr(at, 255);
      s += Number(block.size(), 1) + block;
    }
    s += Number(0, 1);
  }
  return s + ";";
}

std::string Jpeg() {
  std::string s;
  const Tensor t = Picture();
  EXPECT_EQ(EncodeJpeg(t.data<uint8_t>(), kHeight, kWidth, 3, {}, &s),
            OkStatus());
  return s;
}
std::string Png() {
  std::string s;
  EXPECT_EQ(EncodePng(Picture(), -1, &s), OkStatus());
  return s;
}

struct Decoded {
  Tensor pixels;
  Status status;
};
template <typename F>
Decoded Decode(const F& decode) {
  Decoded d;
  d.status = decode([&](const TensorShape& shape, Tensor** out) {
    *out = &d.pixels;
    return Tensor::Allocate(CpuAllocator(), DT_UINT8, shape, &d.pixels);
  });
  return d;
}
Decoded Any(const std::string& bytes) {
  return Decode([&](const ImageAllocator& allocate) -> Status {
    switch (DetectImageFormat(bytes)) {
      case ImageFormat::kJpeg:
        return DecodeJpeg(bytes, {}, allocate);
      case ImageFormat::kPng:
        return DecodePng(bytes, 0, false, allocate);
      case ImageFormat::kGif:
        return DecodeGif(bytes, false, allocate);
      case ImageFormat::kBmp:
        return DecodeBmp(bytes, 0, allocate);
      default:
        return errors::InvalidArgument("unknown");
    }
  });
}

TEST(ImageTest, LosslessFormats) {
  const Tensor want = Picture();
  for (const std::string& bytes : {Png(), Bmp()}) {
    const Decoded d = Any(bytes);
    ASSERT_EQ(d.status, OkStatus());
    EXPECT_EQ(d.pixels.shape(), want.shape());
    EXPECT_TRUE(d.pixels.tensor_data() == want.tensor_data());
    Tensor image;
    ASSERT_EQ(DecodeImage(bytes, 3, &image), OkStatus());
    EXPECT_TRUE(image.tensor_data() == want.tensor_data());
  }
  const Decoded d = Any(Gif(3));
  ASSERT_EQ(d.status, OkStatus());
  ASSERT_EQ(d.pixels.shape(), TensorShape({3, kHeight, kWidth, 3}));
  const auto pixel = [&](int frame, int y, int x) {
    return static_cast<int>(
        d.pixels.data<uint8_t>()[((frame * kHeight + y) * kWidth + x) * 3]);
  };
  EXPECT_EQ(pixel(0, 0, 0), 30);
  EXPECT_EQ(pixel(1, 0, 0), 33);
  EXPECT_EQ(pixel(1, 5, 5), 30);  // what the frame before left there
  EXPECT_EQ(pixel(2, 0, 0), 36);
}

TEST(ImageTest, Jpeg) {
  const Tensor want = Picture();
  const Decoded d = Any(Jpeg());
  ASSERT_EQ(d.status, OkStatus());
  ASSERT_EQ(d.pixels.shape(), want.shape());
  double error = 0;
  for (int64_t i = 0; i < want.NumElements(); ++i) {
    error += std::abs(d.pixels.data<uint8_t>()[i] - want.data<uint8_t>()[i]);
  }
  EXPECT_LT(error / want.NumElements(), 4);
  int64_t height, width;
  int channels;
  ASSERT_EQ(ReadJpegShape(Jpeg(), &height, &width, &channels), OkStatus());
  EXPECT_EQ(height, kHeight);
  EXPECT_EQ(width, kWidth);
  EXPECT_EQ(channels, 3);
  JpegDecodeOptions crop;
  crop.crop = true;
  crop.crop_y = 2, crop.crop_x = 3, crop.crop_height = 4, crop.crop_width = 5;
  const Decoded part = Decode([&](const ImageAllocator& allocate) {
    return DecodeJpeg(Jpeg(), crop, allocate);
  });
  ASSERT_EQ(part.status, OkStatus());
  EXPECT_EQ(part.pixels.shape(), TensorShape({4, 5, 3}));
}

// Whatever the bytes are there is an image or a Status, and no file of this
// size makes one that is large.
TEST(ImageTest, DamagedFiles) {
  std::mt19937 random(1);
  for (const std::string& good : {Jpeg(), Png(), Gif(2), Bmp()}) {
    for (size_t n = 0; n < good.size(); n += 5) {
      const Decoded d = Any(good.substr(0, n));
      EXPECT_TRUE(d.status.ok() || errors::IsInvalidArgument(d.status))
          << d.status;
    }
    for (int i = 0; i < 500; ++i) {
      std::string bad = good;
      for (int k = 0; k < 4; ++k) {
        bad[random() % bad.size()] = static_cast<char>(random());
      }
      const Decoded d = Any(bad);
      EXPECT_TRUE(d.status.ok() || errors::IsInvalidArgument(d.status))
          << d.status;
      JpegDecodeOptions recover;
      recover.try_recover_truncated = true;
      recover.crop = i % 2 == 0;
      recover.crop_height = recover.crop_width = 4;
      recover.crop_y = 8;
      Decode([&](const ImageAllocator& allocate) {
        return DecodeJpeg(bad, recover, allocate);
      });
    }
  }
}

TEST(ImageTest, HugeSizesAreRefused) {
  std::string jpeg = Jpeg(), png = Png(), gif = Gif(1), bmp = Bmp();
  jpeg.replace(jpeg.find("\xff\xc0") + 5, 4, "\xff\xdc\xff\xdc");
  png.replace(16, 8, std::string("\0\0\xff\xff\0\0\xff\xff", 8));
  gif.replace(gif.find(std::string(",\0\0\0\0", 5)) + 5, 4, 4, '\xff');
  bmp.replace(18, 8, std::string("\xff\xff\0\0\xff\xff\0\0", 8));
  for (const std::string& bytes : {jpeg, png, gif, bmp}) {
    const Decoded d = Any(bytes);
    EXPECT_TRUE(errors::IsInvalidArgument(d.status)) << d.status;
    EXPECT_FALSE(d.pixels.IsInitialized());
  }
}

TEST(ImageTest, EncodersRefuse) {
  std::string s;
  const uint8_t pixel[4] = {};
  EXPECT_FALSE(EncodeJpeg(pixel, 0, 1, 3, {}, &s).ok());
  EXPECT_FALSE(EncodeJpeg(pixel, 1, 1, 4, {}, &s).ok());
  EXPECT_FALSE(EncodeJpeg(pixel, 1, 70000, 3, {}, &s).ok());
  JpegEncodeOptions xmp;
  xmp.xmp_metadata.resize(70000);
  EXPECT_FALSE(EncodeJpeg(pixel, 1, 1, 3, xmp, &s).ok());
  EXPECT_FALSE(
      EncodePng(Tensor(DT_FLOAT, TensorShape({1, 1, 1})), -1, &s).ok());
  EXPECT_FALSE(
      EncodePng(Tensor(DT_UINT8, TensorShape({1, 1, 5})), -1, &s).ok());
  EXPECT_FALSE(
      EncodePng(Tensor(DT_UINT8, TensorShape({0, 1, 3})), -1, &s).ok());
  EXPECT_FALSE(EncodePng(Picture(), 10, &s).ok());
}

}  // namespace
}  // namespace headrace
