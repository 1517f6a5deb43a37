#include "models/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <variant>

#include "models/digits.hpp"
#include "models/idx.hpp"
#include "support/diagnostics.hpp"

namespace dadsim {
namespace {

void require_positive(std::int64_t count, const char* which) {
  if (count < 1) {
    throw InputError(Diagnostic{"", 0, fmt::format("{} {} samples", count, which), "at least 1 is needed"});
  }
}

Samples slice(const Samples& samples, std::int64_t first, std::int64_t count) {
  Samples part;
  part.features = samples.features.middleRows(first, count);
  part.labels.assign(samples.labels.begin() + first, samples.labels.begin() + first + count);
  return part;
}

[[noreturn]] void too_few(const std::string& file, std::int64_t present, const std::string& wanted) {
  throw InputError(Diagnostic{file, 0, fmt::format("holds {} samples, fewer than {}", present, wanted),
                              "ask for fewer samples, or pass larger files"});
}

Dataset load(const DigitsSource& source, std::uint64_t seed) {
  if (source.train > kMaxDigits - source.test) {
    throw InputError(Diagnostic{"", 0, fmt::format("{} + {} drawn digits", source.train, source.test),
                                fmt::format("at most {} together", kMaxDigits)});
  }
  Dataset data;
  data.train = draw_digits(0, source.train, seed);
  data.test = draw_digits(source.train, source.test, seed);
  data.classes = 10;
  data.name = "drawn digits";
  return data;
}

Dataset load(const IdxSource& source) {
  Dataset data;
  Samples all = read_idx(source.images, source.labels);
  if (source.test_images.empty() != source.test_labels.empty()) {
    throw InputError(Diagnostic{source.test_images.empty() ? source.test_labels : source.test_images, 0,
                                "one of a pair of test files without the other", "name test images and test labels"});
  }
  if (source.test_images.empty()) {
    // Compared without a sum, which could overflow.
    if (source.train > all.size() || source.test > all.size() - source.train) {
      too_few(source.images, all.size(), fmt::format("the {} to train and {} to test", source.train, source.test));
    }
    data.train = slice(all, 0, source.train);
    data.test = slice(all, source.train, source.test);
  } else {
    if (source.train > all.size()) too_few(source.images, all.size(), fmt::format("the {} to train", source.train));
    data.train = slice(all, 0, source.train);
    all = Samples();
    const Samples held_back = read_idx(source.test_images, source.test_labels);
    if (source.test > held_back.size()) {
      too_few(source.test_images, held_back.size(), fmt::format("the {} to test", source.test));
    }
    if (held_back.features.cols() != data.train.features.cols()) {
      throw InputError(Diagnostic{source.test_images, 0,
                                  fmt::format("images of {} pixels, but those to train have {}",
                                              held_back.features.cols(), data.train.features.cols()),
                                  "both must have the same size"});
    }
    data.test = slice(held_back, 0, source.test);
  }
  const std::int32_t largest = std::max(*std::max_element(data.train.labels.begin(), data.train.labels.end()),
                                        *std::max_element(data.test.labels.begin(), data.test.labels.end()));
  data.classes = largest + 1;
  data.name = std::filesystem::path(source.images).filename().string();
  return data;
}

}  // namespace

Dataset load_dataset(const DataSpec& spec, std::uint64_t seed) {
  return std::visit(
      [&](const auto& source) {
        require_positive(source.train, "training");
        require_positive(source.test, "test");
        if constexpr (std::is_same_v<std::decay_t<decltype(source)>, DigitsSource>) {
          return load(source, seed);
        } else {
          return load(source);
        }
      },
      spec.source);
}

}  // namespace dadsim
