#include "models/data/cifar10.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "support/diagnostics.hpp"

namespace dadsim::models {
namespace {

constexpr std::int64_t kPlane = std::int64_t{32} * 32;
constexpr std::int64_t kRecord = 1 + 3 * kPlane;
constexpr std::int64_t kClasses = 10;
constexpr std::int64_t kMaxImages = 1'000'000;  // largest number of images per file; the data set has 60,000 in six
                                                // files
constexpr std::size_t kMaxErrors = 20;
const char* const kCifarForm =
    "use the binary version of CIFAR-10: records of 1 + 3072 bytes, a label from 0 to 9 before each image";

using Record = std::array<unsigned char, kRecord>;

/// Calls `image(record)` for each image before the first error. Returns the number of images.
template <class Image>
std::int64_t for_each_image(SourceBytes& bytes, Image&& image) {
  if (!bytes.compressed() && bytes.stored() % kRecord != 0) {
    bytes.fail(fmt::format("{} bytes is not a multiple of {}", bytes.stored(), kRecord), kCifarForm);
  }
  std::vector<Diagnostic> errors;
  Record record{};
  std::int64_t count = 0;
  while (const std::size_t got = bytes.read(record.data(), record.size())) {
    const std::int64_t at = count * kRecord;
    if (got < record.size())
      bytes.fail(fmt::format("byte {}: the last record has only {} of {} bytes", at, got, kRecord), kCifarForm);
    if (++count > kMaxImages) bytes.fail(fmt::format("more than {} images", kMaxImages), "use a shorter file");
    if (record[0] >= kClasses) {
      errors.push_back({bytes.name(), 0,
                        fmt::format("byte {}: label {} of image {} is above 9", at, record[0], count - 1), kCifarForm});
      if (errors.size() == kMaxErrors) break;
    }
    if (errors.empty()) image(record);
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  if (count == 0) bytes.fail("the file is empty", kCifarForm);
  return count;
}

SourceBytes open(const std::string& path) { return SourceBytes::open(path, kCifarForm); }

/// Counts the images of all files, so that all errors are reported at once.
std::int64_t images_in(const std::vector<std::string>& files) {
  std::vector<Diagnostic> errors;
  std::int64_t count = 0;
  for (const std::string& file : files) {
    try {
      SourceBytes bytes = open(file);
      count += inspect_cifar10(bytes);
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  return count;
}

Samples samples_of(const std::vector<std::string>& files, std::int64_t first, std::int64_t count) {
  std::vector<float> features;
  Samples samples;
  for (const std::string& file : files) {
    const std::int64_t left = first + count - static_cast<std::int64_t>(samples.labels.size());
    if (left <= 0) break;
    SourceBytes bytes = open(file);
    read_cifar10(bytes, left, features, samples.labels);
  }
  if (static_cast<std::int64_t>(samples.labels.size()) < first + count) {
    throw InputError(Diagnostic{
        files.back(), 0,
        fmt::format("the files end after {} images, but {} are needed", samples.labels.size(), first + count),
        "use fewer samples, or more files"});
  }
  samples.labels.erase(samples.labels.begin(), samples.labels.begin() + first);
  const Eigen::Map<const Matrix> images(features.data(), first + count, kCifar10Shape.size());
  samples.features = images.bottomRows(count);
  return samples;
}

}  // namespace

void read_cifar10(SourceBytes& bytes, std::int64_t most, std::vector<float>& features,
                  std::vector<std::int32_t>& labels) {
  std::int64_t taken = 0;
  for_each_image(bytes, [&](const Record& record) {
    if (taken == most) return;
    ++taken;
    labels.push_back(record[0]);
    for (std::size_t pixel = 0; pixel < kPlane; ++pixel) {
      for (std::size_t plane = 0; plane < 3; ++plane) {
        features.push_back(static_cast<float>(record[1 + plane * kPlane + pixel]) / 255.0F);
      }
    }
  });
}

std::int64_t inspect_cifar10(SourceBytes& bytes) {
  return for_each_image(bytes, [](const Record&) {});
}

spec::DataFacts inspect_cifar10(const spec::Cifar10Source& source) {
  spec::DataFacts facts;
  facts.train = images_in(source.files);
  if (!source.test_files.empty()) facts.test = images_in(source.test_files);
  facts.shape = kCifar10Shape;
  facts.classes = kClasses;
  return facts;
}

Dataset read_cifar10(const spec::Cifar10Source& source) {
  Dataset data;
  const bool own_test = !source.test_files.empty();
  data.train = samples_of(source.files, 0, source.train);
  data.test =
      own_test ? samples_of(source.test_files, 0, source.test) : samples_of(source.files, source.train, source.test);
  data.shape = kCifar10Shape;
  data.classes = kClasses;
  data.name = "CIFAR-10";
  return data;
}

}  // namespace dadsim::models
