#include "models/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <type_traits>
#include <utility>
#include <variant>

#include "models/data/cifar10.hpp"
#include "models/data/csv.hpp"
#include "models/data/digits.hpp"
#include "models/data/grammar.hpp"
#include "models/data/idx.hpp"
#include "models/data/shapes.hpp"
#include "models/data/standardise.hpp"
#include "models/data/tabular.hpp"
#include "models/data/text.hpp"
#include "models/data/ts.hpp"
#include "models/data/utterances.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {
namespace {

void require_positive(std::int64_t count, const char* which) {
  if (count < 1) {
    throw InputError(Diagnostic{"", 0, fmt::format("{} {} samples", count, which), "at least 1 is needed"});
  }
}

// Drawn sets: their shape, and how to draw some of the samples.

spec::DataFacts drawn(const spec::SampleShape& shape, std::int64_t classes) {
  return {spec::kMaxDrawnSamples, {}, shape, classes};
}

spec::DataFacts inspect(const spec::DigitsSource&) { return drawn(kDigitsShape, 10); }
spec::DataFacts inspect(const spec::ShapesSource&) { return drawn(kShapesShape, kShapesClasses); }
spec::DataFacts inspect(const spec::UtterancesSource& source) {
  return drawn({1, source.length, kUtteranceChannels}, kUtteranceClasses);
}
spec::DataFacts inspect(const spec::GrammarSource& source) {
  return {spec::kMaxDrawnSamples, {}, {1, source.length, 1, kGrammarVocabulary}, kGrammarVocabulary, source.length};
}
spec::DataFacts inspect(const spec::TabularSource& source) { return drawn({1, 1, source.features}, source.classes); }

Samples draw(const spec::DigitsSource&, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_digits(first, count, seed);
}
Samples draw(const spec::ShapesSource&, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_shapes(first, count, seed);
}
Samples draw(const spec::UtterancesSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_utterances(source.length, first, count, seed);
}
Samples draw(const spec::GrammarSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_grammar(source.length, first, count, seed);
}
Samples draw(const spec::TabularSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_tabular(source, first, count, seed);
}

const char* name_of(const spec::DigitsSource&) { return "drawn digits"; }
const char* name_of(const spec::ShapesSource&) { return "drawn shapes"; }
const char* name_of(const spec::UtterancesSource&) { return "drawn utterances"; }
const char* name_of(const spec::GrammarSource&) { return "drawn arithmetic"; }
const char* name_of(const spec::TabularSource&) { return "drawn table"; }

template <class Source>
Dataset load(const Source& source, std::uint64_t seed) {
  // Compared without a sum, which could overflow.
  if (source.train > spec::kMaxDrawnSamples - source.test) {
    throw InputError(Diagnostic{"", 0, fmt::format("{} + {} samples of {}", source.train, source.test, name_of(source)),
                                fmt::format("at most {} together", spec::kMaxDrawnSamples)});
  }
  const spec::DataFacts facts = inspect(source);
  if (source.train + source.test > spec::kMaxSampleValues / facts.shape.size()) {
    throw InputError(Diagnostic{"", 0,
                                fmt::format("{} samples of {} values", source.train + source.test, facts.shape.size()),
                                fmt::format("at most {} values together", spec::kMaxSampleValues)});
  }
  Dataset data;
  data.train = draw(source, 0, source.train, seed);
  data.test = draw(source, source.train, source.test, seed);
  data.shape = facts.shape;
  data.classes = facts.classes;
  data.name = name_of(source);
  return data;
}

// IDX files.

spec::DataFacts inspect(const spec::IdxSource& source) {
  spec::DataFacts facts;
  std::vector<Diagnostic> errors;
  const auto attempt = [&](const std::string& images, const std::string& labels) {
    try {
      return inspect_idx(images, labels);
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
      return IdxFacts();
    }
  };
  const IdxFacts train = attempt(source.images, source.labels);
  facts.train = train.samples;
  facts.shape = train.shape;
  facts.classes = train.classes;
  if (!source.test_images.empty()) {
    const IdxFacts test = attempt(source.test_images, source.test_labels);
    if (errors.empty() && test.shape != train.shape) {
      errors.push_back({source.test_images, 0,
                        fmt::format("images of {} × {} pixels, but those to train have {} × {}", test.shape.height,
                                    test.shape.width, train.shape.height, train.shape.width),
                        "both must have the same size"});
    }
    facts.test = test.samples;
    facts.classes = std::max(train.classes, test.classes);
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  return facts;
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

Dataset load(const spec::IdxSource& source, std::uint64_t) {
  if (source.test_images.empty() != source.test_labels.empty()) {
    throw InputError(Diagnostic{source.test_images.empty() ? source.test_labels : source.test_images, 0,
                                "one of a pair of test files without the other", "name test images and test labels"});
  }
  const spec::DataFacts facts = inspect(source);
  Dataset data;
  Samples all = read_idx(source.images, source.labels);
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
    data.test = slice(held_back, 0, source.test);
  }
  data.shape = facts.shape;
  data.classes = facts.classes;
  data.name = std::filesystem::path(source.images).filename().string();
  return data;
}

/// Tables and series are scaled while they are read; other sources come in their usual scale.
template <class Source>
constexpr bool kComesInUsualScale = requires(const Source& source) {
  source.scale;
};
template <>
constexpr bool kComesInUsualScale<spec::TsSource> = false;
template <>
constexpr bool kComesInUsualScale<spec::CsvSource> = false;

/// Values of a sample stand position by position, and within one channel by channel.
void rescale(Dataset& data, spec::Scale from, spec::Scale to) {
  if (from == to) return;
  if (from == spec::Scale::unit && to == spec::Scale::none) {
    constexpr float kWhite = 255;
    for (Samples* samples : {&data.train, &data.test}) samples->features = (kWhite * samples->features).array().round();
    return;
  }
  const Eigen::Index channels = data.shape.channels;
  std::vector<Moments> moments(static_cast<std::size_t>(channels));
  for (Eigen::Index row = 0; row < data.train.size(); ++row) {
    for (Eigen::Index i = 0; i < data.train.features.cols(); ++i)
      moments[static_cast<std::size_t>(i % channels)].add(data.train.features(row, i));
  }
  for (Samples* samples : {&data.train, &data.test}) {
    for (Eigen::Index row = 0; row < samples->size(); ++row) {
      for (Eigen::Index i = 0; i < samples->features.cols(); ++i) {
        float& value = samples->features(row, i);
        value = moments[static_cast<std::size_t>(i % channels)].scaled(value, to);
      }
    }
  }
}

// Other files.

spec::DataFacts inspect(const spec::Cifar10Source& source) { return inspect_cifar10(source); }
spec::DataFacts inspect(const spec::TsSource& source) { return inspect_ts(source); }
spec::DataFacts inspect(const spec::CsvSource& source) { return inspect_csv(source); }
spec::DataFacts inspect(const spec::TextSource& source) { return inspect_text(source); }

Dataset load(const spec::Cifar10Source& source, std::uint64_t) { return read_cifar10(source); }
Dataset load(const spec::TsSource& source, std::uint64_t) { return read_ts(source); }
Dataset load(const spec::CsvSource& source, std::uint64_t seed) { return read_csv(source, seed); }
Dataset load(const spec::TextSource& source, std::uint64_t) { return read_text(source); }

}  // namespace

spec::DataFacts inspect_data(const spec::DataSource& source) {
  return std::visit([](const auto& one) { return inspect(one); }, source);
}

Dataset load_dataset(const spec::DataSpec& spec, std::uint64_t seed) {
  return std::visit(
      [&]<class Source>(const Source& source) {
        require_positive(source.train, "training");
        require_positive(source.test, "test");
        Dataset data = load(source, seed);
        if constexpr (kComesInUsualScale<Source>) rescale(data, Source{}.scale, source.scale);
        return data;
      },
      spec.source);
}

}  // namespace dadsim::models
