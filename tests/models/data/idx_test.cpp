#include "models/data/idx.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "models/data/dataset.hpp"
#include "models/uniform.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(value >> shift & 0xffU);
  return bytes;
}

/// Returns an IDX file as bytes.
std::string idx(std::uint32_t magic, const std::vector<std::uint32_t>& dims, const std::string& data) {
  std::string bytes = big_endian(magic);
  for (const std::uint32_t dim : dims) bytes += big_endian(dim);
  return bytes + data;
}

constexpr std::uint32_t kImages = 0x00000803;
constexpr std::uint32_t kLabels = 0x00000801;

class Idx : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(TempDir()) / ("dadsim_idx_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    good_images_ =
        plain("images", idx(kImages, {3, 2, 2}, std::string("\x00\x33\x66\xff\x01\x02\x03\x04\x05\x06\x07\x08", 12)));
    good_labels_ = plain("labels", idx(kLabels, {3}, std::string("\x07\x00\x02", 3)));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string plain(const std::string& name, const std::string& bytes) {
    std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string read_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string gzip(const std::string& name, const std::string& bytes) {
    std::string path = (folder_ / name).string();
    gzFile file = gzopen(path.c_str(), "wb");
    EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
    EXPECT_EQ(gzclose(file), Z_OK);
    return path;
  }

  /// Expects that both readers refuse the files with one message, which names the file.
  void expect_refused(const std::string& images, const std::string& labels, const std::string& at,
                      const std::string& what) {
    std::string read_message;
    std::string inspect_message;
    try {
      read_idx(images, labels);
    } catch (const InputError& error) {
      read_message = error.what();
      ASSERT_EQ(error.diagnostics().size(), 1U);
      EXPECT_FALSE(error.diagnostics()[0].remedy.empty());
    }
    try {
      inspect_idx(images, labels);
    } catch (const InputError& error) {
      inspect_message = error.what();
    }
    EXPECT_EQ(read_message.find(at), 0U) << read_message;
    EXPECT_NE(read_message.find(what), std::string::npos) << read_message;
    EXPECT_EQ(read_message, inspect_message);
  }
  void expect_bad_images(const std::string& path, const std::string& what) {
    expect_refused(path, good_labels_, path, what);
  }
  void expect_bad_labels(const std::string& path, const std::string& what) {
    expect_refused(good_images_, path, path, what);
  }

  fs::path folder_;
  std::string good_images_, good_labels_;
};

TEST_F(Idx, ReadsPlainAndGzipAlike) {
  const Samples samples = read_idx(good_images_, good_labels_);
  ASSERT_EQ(samples.size(), 3);
  ASSERT_EQ(samples.features.cols(), 4);
  EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{7, 0, 2}));
  EXPECT_EQ(samples.features(0, 0), 0.0F);
  EXPECT_EQ(samples.features(0, 1), 0.2F);
  EXPECT_EQ(samples.features(0, 3), 1.0F);
  EXPECT_EQ(samples.features(2, 3), 8.0F / 255.0F);
  const Samples zipped = read_idx(gzip("i.gz", read_bytes(good_images_)), gzip("l", read_bytes(good_labels_)));
  EXPECT_EQ(zipped.features, samples.features);
  EXPECT_EQ(zipped.labels, samples.labels);
  const IdxFacts facts = inspect_idx(good_images_, good_labels_);
  EXPECT_EQ(facts.samples, 3);
  EXPECT_EQ(facts.shape, (spec::SampleShape{2, 2, 1}));
  EXPECT_EQ(facts.classes, 8);
}

TEST_F(Idx, ReadsOtherRanks) {
  EXPECT_EQ(read_idx(plain("r2", idx(0x802, {3, 5}, std::string(15, 'x'))), good_labels_).features.cols(), 5);
  EXPECT_EQ(read_idx(plain("r4", idx(0x804, {3, 2, 2, 3}, std::string(36, 'x'))), good_labels_).features.cols(), 12);
}

// The file is larger than one read.
TEST_F(Idx, ReadsManyPieces) {
  const std::uint32_t count = 1200;
  std::string pixels(std::size_t{count} * 784, '\0');
  RandomStream random(1, Purpose::test);
  for (char& pixel : pixels) pixel = static_cast<char>(random() & 0xffU);
  const std::string labels = gzip("many_labels", idx(kLabels, {count}, std::string(count, '\1')));
  const Samples samples = read_idx(gzip("many", idx(kImages, {count, 28, 28}, pixels)), labels);
  ASSERT_EQ(samples.size(), count);
  for (const std::size_t at : {std::size_t{0}, std::size_t{400000}, pixels.size() - 1}) {
    EXPECT_EQ(samples.features.data()[at], static_cast<float>(static_cast<unsigned char>(pixels[at])) / 255.0F);
  }
}

TEST_F(Idx, RefusesFilesThatAreNone) {
  const std::string missing = (folder_ / "missing").string();
  expect_bad_images(missing, "no such file");
  expect_bad_labels(missing, "no such file");
  expect_bad_images(folder_.string(), "not a regular file");
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_bad_images(pipe, "not a regular file");
  expect_bad_images(std::string("/dev/null"), "not a regular file");
  expect_bad_images(good_images_ + "/below", "Not a directory");
}

TEST_F(Idx, RefusesUnreadableFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const std::string path = plain("secret", read_bytes(good_images_));
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  expect_bad_images(path, "Permission denied");
}

TEST_F(Idx, RefusesWrongMagic) {
  expect_bad_images(plain("empty", ""), "the file is empty");
  expect_bad_images(gzip("empty.gz", ""), "the file is empty");
  expect_bad_images(plain("short", std::string("\0\0\x08", 3)), "truncated: 3 bytes are too few for an IDX header");
  expect_bad_images(plain("text", "hello, world"), "not an IDX file: it starts with 0x68656c6c");
  expect_bad_images(plain("png", "\x89PNG\r\n\x1a\n"), "not an IDX file");
  expect_bad_images(plain("int32", idx(0x00000C03, {3, 2, 2}, std::string(48, 'x'))), "32-bit integer (0x0c)");
  expect_bad_images(plain("float", idx(0x00000D03, {3, 2, 2}, std::string(48, 'x'))), "float (0x0d)");
  expect_bad_images(plain("odd", idx(0x00000703, {3, 2, 2}, std::string(12, 'x'))), "0x07, which IDX does not define");
  expect_bad_images(plain("rank0", idx(0x00000800, {}, "")), "holds an array of rank 0");
  expect_bad_images(plain("rank200", idx(0x000008C8, {3, 2, 2}, "")), "holds an array of rank 200");
}

TEST_F(Idx, RefusesExchangedFiles) {
  expect_refused(good_labels_, good_images_, good_labels_, "holds labels (rank 1), not images");
  expect_bad_labels(good_images_, "holds an array of rank 3, not labels (rank 1)");
}

TEST_F(Idx, RefusesWrongSizes) {
  expect_bad_images(plain("header", big_endian(kImages) + big_endian(3) + std::string(1, '\0')),
                    "truncated inside the header");
  expect_bad_images(plain("cut", idx(kImages, {3, 2, 2}, std::string(11, 'x'))), "truncated: 11 of the 12 bytes");
  expect_bad_images(plain("long", idx(kImages, {3, 2, 2}, std::string(13, 'x'))), "trailing bytes after the 12");
  expect_bad_images(gzip("cut.gz", idx(kImages, {3, 2, 2}, std::string(11, 'x'))), "truncated: 11 of the 12 bytes");
  expect_bad_images(gzip("long.gz", idx(kImages, {3, 2, 2}, std::string(13, 'x'))), "trailing bytes after the 12");
  expect_bad_images(plain("none", idx(kImages, {0, 2, 2}, "")), "no samples");
  expect_bad_labels(plain("no_labels", idx(kLabels, {0}, "")), "no samples");
  expect_bad_images(plain("flat", idx(kImages, {3, 0, 2}, "")), "dimension 2 is zero");
  expect_bad_labels(plain("two", idx(kLabels, {2}, "\1\1")), "2 labels for the 3 images");
  expect_bad_labels(plain("cut_labels", idx(kLabels, {3}, "\1\1")), "truncated: 2 of the 3 bytes");
}

TEST_F(Idx, RefusesHeadersThatPromiseTooMuch) {
  const std::uint32_t huge = 0xffffffffU;
  expect_bad_images(plain("huge", idx(kImages, {huge, huge, huge}, "x")), "promises more than 1073741824 bytes");
  // The product of the sizes, 3 · 2⁶⁴, overflows 64 bits to 0.
  expect_bad_images(plain("wrap", idx(0x804, {3, 0x80000000U, 0x80000000U, 4}, "x")), "promises more than");
  // Files of a few bytes, plain and compressed, promise 1 GB, which must not be allocated.
  expect_bad_images(plain("gigabyte", idx(kImages, {1000000, 25, 40}, "x")), "truncated: 1 of the 1000000000 bytes");
  expect_bad_images(gzip("gigabyte.gz", idx(kImages, {1000000, 25, 40}, "x")), "cannot hold the 1000000000");
}

TEST_F(Idx, StopsADecompressionBomb) {
  // The header promises 12 bytes, but the file has 64 MiB.
  expect_bad_images(gzip("bomb.gz", idx(kImages, {3, 2, 2}, std::string(64U << 20U, '\0'))),
                    "trailing bytes after the 12");
}

TEST_F(Idx, RefusesBrokenGzip) {
  std::string noise(12, '\0');
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * 37);
  const std::string whole = read_bytes(gzip("whole.gz", idx(kImages, {3, 2, 2}, noise)));
  expect_bad_images(plain("cut_in_trailer.gz", whole.substr(0, whole.size() - 4)),
                    "truncated: the gzip stream ends early");
  expect_bad_images(plain("cut_in_middle.gz", whole.substr(0, whole.size() / 2)), "truncated");
  expect_bad_images(plain("cut_in_header.gz", whole.substr(0, 5)), "truncated");
  std::string checksum = whole;
  checksum[whole.size() - 6] = static_cast<char>(checksum[whole.size() - 6] ^ 1);
  expect_bad_images(plain("checksum.gz", checksum), "corrupt gzip stream");
  std::string method = whole;
  method[2] = 7;
  expect_bad_images(plain("method.gz", method), "corrupt gzip stream");
  std::string body = whole;
  body[10] = static_cast<char>(body[10] ^ 6);  // changes the type of the block
  expect_bad_images(plain("body.gz", body), "");
}

TEST_F(Idx, LoadDatasetTakesWhatIsAskedFor) {
  const std::uint32_t count = 10;
  std::string pixels;
  std::string labels;
  for (std::uint32_t i = 0; i < count; ++i) {
    pixels += std::string(4, static_cast<char>(i));
    labels += static_cast<char>(i % 3);
  }
  spec::IdxSource source;
  source.images = plain("ten_images", idx(kImages, {count, 2, 2}, pixels));
  source.labels = plain("ten_labels", idx(kLabels, {count}, labels));
  source.train = 6;
  source.test = 3;
  spec::DataSpec spec;
  spec.source = source;
  const Dataset data = load_dataset(spec, 1);
  EXPECT_EQ(data.train.size(), 6);
  EXPECT_EQ(data.test.size(), 3);
  EXPECT_EQ(data.classes, 3);
  EXPECT_EQ(data.test.features(0, 0), 6.0F / 255.0F) << "the test samples follow";
  EXPECT_EQ(data.test.labels[0], 0);

  const auto message = [&](const spec::IdxSource& changed) -> std::string {
    spec.source = changed;
    try {
      load_dataset(spec, 1);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  spec::IdxSource many = source;
  many.test = 5;
  EXPECT_NE(message(many).find("holds 10 samples, fewer than the 6 to train and 5 to test"), std::string::npos);
  many.train = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(message(many).find("holds 10 samples"), std::string::npos);
  spec::IdxSource none = source;
  none.train = 0;
  EXPECT_NE(message(none).find("0 training samples"), std::string::npos);

  spec::IdxSource files = source;
  files.test_images = good_images_;
  files.test_labels = good_labels_;
  spec.source = files;
  const Dataset apart = load_dataset(spec, 1);
  EXPECT_EQ(apart.test.labels, (std::vector<std::int32_t>{7, 0, 2}));
  EXPECT_EQ(apart.classes, 8);
  files.test = 4;
  EXPECT_EQ(message(files).find(good_images_ + ": holds 3 samples, fewer than the 4 to test"), 0U) << message(files);
  files.test = 3;
  files.test_images = plain("wide", idx(kImages, {3, 2, 3}, std::string(18, 'x')));
  EXPECT_NE(message(files).find("test images have 2 × 3 pixels, but training images have 2 × 2"), std::string::npos);
  files.test_labels.clear();
  EXPECT_NE(message(files).find("test images and test labels must be given together"), std::string::npos);
}

// Reads the published files, if this machine has them.
TEST(Mnist, TestFilesReadWhole) {
  std::vector<fs::path> folders{fs::path(DADSIM_SOURCE_DIR) / ".." / "shared" / "data"};
  if (const char* named = std::getenv("DADSIM_DATA")) folders.insert(folders.begin(), named);
  for (const fs::path& folder : folders) {
    const fs::path images = folder / "t10k-images-idx3-ubyte.gz";
    if (!fs::exists(images)) continue;
    const std::string labels = (folder / "t10k-labels-idx1-ubyte.gz").string();
    const IdxFacts facts = inspect_idx(images.string(), labels);
    EXPECT_EQ(facts.samples, 10000);
    EXPECT_EQ(facts.shape, (spec::SampleShape{28, 28, 1}));
    EXPECT_EQ(facts.classes, 10);
    const Samples samples = read_idx(images.string(), labels);
    // LeCun's page shows that the first test digits are 7 2 1 0 4.
    EXPECT_EQ(std::vector<std::int32_t>(samples.labels.begin(), samples.labels.begin() + 5),
              (std::vector<std::int32_t>{7, 2, 1, 0, 4}));
    EXPECT_EQ(samples.features.maxCoeff(), 1.0F);
    EXPECT_NEAR(samples.features.cast<double>().mean(), 0.1325, 0.0005);
    return;
  }
  GTEST_SKIP() << "no t10k files; name their folder in DADSIM_DATA";
}

}  // namespace
}  // namespace dadsim::models
