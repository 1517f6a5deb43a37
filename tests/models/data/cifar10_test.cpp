#include "models/data/cifar10.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "models/data/refused.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

/// Returns a record in which red pixel i is i mod 251, green is 7 and blue 200.
std::string record(char label) {
  std::string bytes(1, label);
  for (int i = 0; i < 1024; ++i) bytes += static_cast<char>(i % 251);
  return bytes + std::string(1024, '\7') + std::string(1024, '\xc8');
}

spec::Cifar10Source source(std::vector<std::string> files, std::int64_t train, std::int64_t test,
                           std::vector<std::string> test_files = {}) {
  return {std::move(files), std::move(test_files), train, test};
}

TEST(Cifar10, StoresPixelByPixel) {
  const TemporaryFolder folder;
  const std::string file = folder.write("batch", record(3) + record(9));
  const models::Dataset data = models::read_cifar10(source({file}, 1, 1));
  EXPECT_EQ(data.shape, (spec::SampleShape{32, 32, 3}));
  EXPECT_EQ(data.classes, 10);
  EXPECT_EQ(data.train.labels, (std::vector<std::int32_t>{3}));
  EXPECT_EQ(data.test.labels, (std::vector<std::int32_t>{9}));
  ASSERT_EQ(data.train.features.cols(), 3072);
  for (const int pixel : {0, 1, 250, 251, 1023}) {
    EXPECT_EQ(data.train.features(0, 3 * pixel), static_cast<float>(pixel % 251) / 255.0F) << pixel;
    EXPECT_EQ(data.train.features(0, 3 * pixel + 1), 7.0F / 255.0F);
    EXPECT_EQ(data.test.features(0, 3 * pixel + 2), 200.0F / 255.0F);
  }
}

TEST(Cifar10, ReadsFilesOneAfterTheOther) {
  const TemporaryFolder folder;
  const std::string first = folder.write("1", record(0) + record(1));
  const std::string second = folder.write("2", record(2) + record(3) + record(4));
  const models::Dataset following = models::read_cifar10(source({first, second}, 3, 2));
  EXPECT_EQ(following.train.labels, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(following.test.labels, (std::vector<std::int32_t>{3, 4}));
  const models::Dataset own = models::read_cifar10(source({second}, 2, 1, {first}));
  EXPECT_EQ(own.train.labels, (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(own.test.labels, (std::vector<std::int32_t>{0}));
  const spec::DataFacts facts = models::inspect_cifar10(source({first, second}, 0, 0));
  EXPECT_EQ(facts.train, 5);
  EXPECT_FALSE(facts.test);
  EXPECT_EQ(models::inspect_cifar10(source({second}, 0, 0, {first, second})).test, 5);
}

TEST(Cifar10, ReadsGzip) {
  const TemporaryFolder folder;
  const std::string path = folder.path("batch.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  const std::string bytes = record(5);
  ASSERT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
  EXPECT_EQ(models::inspect_cifar10(source({path}, 0, 0)).train, 1);
}

TEST(Cifar10, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string whole = folder.write("whole", record(1) + record(2));
  const std::string cut = folder.write("cut", record(1).substr(0, 3000));
  const std::string labels = folder.write("labels", record(1) + record(10) + record(3) + record(-1));
  const std::string empty = folder.write("empty", "");
  const auto inspected = [](const std::string& file) {
    return refused([&] { models::inspect_cifar10(source({file}, 0, 0)); });
  };
  EXPECT_TRUE(holds(inspected(cut), cut + ": 3000 bytes is not a multiple of 3073; "));
  EXPECT_TRUE(holds(inspected(empty), empty + ": the file is empty; "));
  EXPECT_TRUE(holds(inspected(labels), labels + ": byte 3073: label 10 of image 1 is above 9; "));
  EXPECT_TRUE(holds(inspected(labels), labels + ": byte 9219: label 255 of image 3 is above 9; ")) << "all at once";
  const std::string both = refused([&] { models::inspect_cifar10(source({cut, empty}, 0, 0)); });
  EXPECT_TRUE(holds(both, cut) && holds(both, empty)) << both;
  EXPECT_TRUE(holds(refused([&] { models::read_cifar10(source({whole}, 2, 1)); }), "end after 2 images, but 3"));
}

}  // namespace
}  // namespace dadsim::test
