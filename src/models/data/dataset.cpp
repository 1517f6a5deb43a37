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
#include "models/data/tabular.hpp"
#include "models/data/text.hpp"
#include "models/data/ts.hpp"
#include "models/data/utterances.hpp"
#include "support/diagnostics.hpp"

namespace dadsim {
namespace {

void require_positive(std::int64_t count, const char* which) {
  if (count < 1) {
    throw InputError(Diagnostic{"", 0, fmt::format("{} {} samples", count, which), "at least 1 is needed"});
  }
}

// Drawn sets: what they look like, and how to draw some of the samples.

DataFacts drawn(const SampleShape& shape, std::int64_t classes) { return {kMaxDrawnSamples, {}, shape, classes}; }

DataFacts inspect(const DigitsSource&) { return drawn(kDigitsShape, 10); }
DataFacts inspect(const ShapesSource&) { return drawn(kShapesShape, kShapesClasses); }
DataFacts inspect(const UtterancesSource& source) {
  return drawn({1, source.length, kUtteranceChannels}, kUtteranceClasses);
}
DataFacts inspect(const GrammarSource& source) {
  return {kMaxDrawnSamples, {}, {1, source.length, 1, kGrammarVocabulary}, kGrammarVocabulary, source.length};
}
DataFacts inspect(const TabularSource& source) { return drawn({1, 1, source.features}, source.classes); }

Samples draw(const DigitsSource&, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_digits(first, count, seed);
}
Samples draw(const ShapesSource&, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_shapes(first, count, seed);
}
Samples draw(const UtterancesSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_utterances(source.length, first, count, seed);
}
Samples draw(const GrammarSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_grammar(source.length, first, count, seed);
}
Samples draw(const TabularSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_tabular(source, first, count, seed);
}

const char* name_of(const DigitsSource&) { return "drawn digits"; }
const char* name_of(const ShapesSource&) { return "drawn shapes"; }
const char* name_of(const UtterancesSource&) { return "drawn utterances"; }
const char* name_of(const GrammarSource&) { return "drawn arithmetic"; }
const char* name_of(const TabularSource&) { return "drawn table"; }

template <class Source>
Dataset load(const Source& source, std::uint64_t seed) {
  // Compared without a sum, which could overflow.
  if (source.train > kMaxDrawnSamples - source.test) {
    throw InputError(Diagnostic{"", 0, fmt::format("{} + {} samples of {}", source.train, source.test, name_of(source)),
                                fmt::format("at most {} together", kMaxDrawnSamples)});
  }
  const DataFacts facts = inspect(source);
  if (source.train + source.test > kMaxSampleValues / facts.shape.size()) {
    throw InputError(Diagnostic{"", 0,
                                fmt::format("{} samples of {} values", source.train + source.test, facts.shape.size()),
                                fmt::format("at most {} values together", kMaxSampleValues)});
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

DataFacts inspect(const IdxSource& source) {
  DataFacts facts;
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

Dataset load(const IdxSource& source, std::uint64_t) {
  if (source.test_images.empty() != source.test_labels.empty()) {
    throw InputError(Diagnostic{source.test_images.empty() ? source.test_labels : source.test_images, 0,
                                "one of a pair of test files without the other", "name test images and test labels"});
  }
  const DataFacts facts = inspect(source);
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

// Other files.

DataFacts inspect(const Cifar10Source& source) { return inspect_cifar10(source); }
DataFacts inspect(const TsSource& source) { return inspect_ts(source); }
DataFacts inspect(const CsvSource& source) { return inspect_csv(source); }
DataFacts inspect(const TextSource& source) { return inspect_text(source); }

Dataset load(const Cifar10Source& source, std::uint64_t) { return read_cifar10(source); }
Dataset load(const TsSource& source, std::uint64_t) { return read_ts(source); }
Dataset load(const CsvSource& source, std::uint64_t seed) { return read_csv(source, seed); }
Dataset load(const TextSource& source, std::uint64_t) { return read_text(source); }

}  // namespace

DataFacts inspect_data(const DataSource& source) {
  return std::visit([](const auto& one) { return inspect(one); }, source);
}

Dataset load_dataset(const DataSpec& spec, std::uint64_t seed) {
  return std::visit(
      [&](const auto& source) {
        require_positive(source.train, "training");
        require_positive(source.test, "test");
        return load(source, seed);
      },
      spec.source);
}

}  // namespace dadsim
