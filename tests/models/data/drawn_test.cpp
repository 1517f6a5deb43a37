// Tests the properties of all drawn sets, and that each serves its purpose.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "models/data/classifier.hpp"
#include "models/data/dataset.hpp"
#include "models/data/generated.hpp"
#include "models/data/refused.hpp"
#include "models/thread_counts.hpp"

namespace dadsim::test {
namespace {

struct DrawnSet {
  std::string name;
  spec::DataSource source;
  std::function<models::Samples(std::int64_t first, std::int64_t count, std::uint64_t seed)> draw;
};

const std::vector<DrawnSet>& drawn_sets() {
  static const std::vector<DrawnSet> kSets = {
      {"shapes", spec::ShapesSource{300, 100}, models::draw_shapes},
      {"utterances", spec::UtterancesSource{40, 300, 100},
       [](auto first, auto count, auto seed) { return models::draw_utterances(40, first, count, seed); }},
      {"grammar", spec::GrammarSource{30, 300, 100},
       [](auto first, auto count, auto seed) { return models::draw_grammar(30, first, count, seed); }},
      {"tabular", spec::TabularSource{12, 5, 0.1, 300, 100}, [](auto first, auto count, auto seed) {
         return models::draw_tabular({12, 5, 0.1, 0, 0}, first, count, seed);
       }}};
  return kSets;
}

bool same(const models::Samples& a, const models::Samples& b) {
  return a.labels == b.labels && same_bits(a.features, b.features);
}

class Drawn : public testing::TestWithParam<DrawnSet> {};
INSTANTIATE_TEST_SUITE_P(All, Drawn, testing::ValuesIn(drawn_sets()), [](const auto& one) { return one.param.name; });

TEST_P(Drawn, SampleDependsOnSeedAndIndexAlone) {
  const models::Samples all = GetParam().draw(0, 120, 5);
  const models::Samples some = GetParam().draw(47, 20, 5);
  EXPECT_TRUE(same_bits(all.features.middleRows(47, 20), some.features));
  EXPECT_TRUE(std::equal(some.labels.begin(), some.labels.end(), all.labels.begin() + 47 * all.labels_per_sample));
  EXPECT_FALSE(same(all, GetParam().draw(0, 120, 6)));
}

TEST_P(Drawn, SameBitsForAnyNumberOfThreads) {
  expect_same_for_thread_counts([] { return GetParam().draw(0, 200, 9); }, same);
}

TEST_P(Drawn, NoTwoAlike) {
  const models::Samples samples = GetParam().draw(0, 500, 2);
  std::set<std::vector<float>> seen;
  for (Eigen::Index i = 0; i < samples.size(); ++i) {
    const auto row = samples.features.row(i);
    EXPECT_TRUE(seen.emplace(row.begin(), row.end()).second) << "sample " << i;
  }
}

TEST_P(Drawn, FactsAreWhatIsLoaded) {
  spec::DataSpec spec;
  spec.source = GetParam().source;
  const spec::DataFacts facts = models::inspect_data(spec.source);
  const models::Dataset data = models::load_dataset(spec, 3);
  EXPECT_EQ(facts.train, spec::kMaxDrawnSamples);
  EXPECT_FALSE(facts.test);
  EXPECT_EQ(data.shape, facts.shape);
  EXPECT_EQ(data.classes, facts.classes);
  EXPECT_EQ(data.train.size(), 300);
  EXPECT_EQ(data.test.size(), 100);
  EXPECT_EQ(data.train.features.cols(), facts.shape.size());
  EXPECT_TRUE(same(data.test, GetParam().draw(300, 100, 3)));
  for (const models::Samples* part : {&data.train, &data.test}) {
    EXPECT_EQ(part->labels_per_sample, facts.labels_per_sample);
    EXPECT_EQ(static_cast<std::int64_t>(part->labels.size()), part->size() * facts.labels_per_sample);
    EXPECT_TRUE(part->features.allFinite());
    for (const std::int32_t label : part->labels) EXPECT_TRUE(label >= 0 && label < facts.classes);
  }
}

TEST_P(Drawn, RefusesTooMany) {
  spec::DataSpec spec;
  spec.source = GetParam().source;
  std::visit([](auto& source) { source.train = spec::kMaxDrawnSamples; }, spec.source);
  EXPECT_TRUE(holds(refused([&] { models::load_dataset(spec, 1); }), "at most 200000 together"));
  EXPECT_THROW(GetParam().draw(-1, 5, 1), std::logic_error);
}

TEST(Shapes, BalancedClassesAndLevels) {
  const models::Samples shapes = models::draw_shapes(0, 2000, 1);
  EXPECT_GE(shapes.features.minCoeff(), 0.0F);
  EXPECT_LE(shapes.features.maxCoeff(), 1.0F);
  std::array<int, 10> counts{};
  for (const std::int32_t label : shapes.labels) ++counts.at(static_cast<std::size_t>(label));
  for (const int count : counts) EXPECT_NEAR(count, 200, 5 * 13.5);  // five standard deviations of Binomial(2000, 0.1)
}

TEST(Shapes, RefusesMoreThanAGibibyte) {
  spec::DataSpec spec;
  spec.source = spec::ShapesSource{80000, 10000};
  EXPECT_TRUE(
      holds(refused([&] { models::load_dataset(spec, 1); }), "90000 samples of 3072 values; use at most 268435456"));
}

// Frames after the end of an utterance are zero, and no frame before is.
TEST(Utterances, VaryInLengthAndArePadded) {
  constexpr Eigen::Index kLength = 60;
  const models::Samples words = models::draw_utterances(kLength, 0, 300, 1);
  std::set<Eigen::Index> lengths;
  for (Eigen::Index i = 0; i < words.size(); ++i) {
    Eigen::Index end = kLength;
    while (end > 0 && words.features.row(i).segment((end - 1) * 13, 13).isZero(0)) --end;
    lengths.insert(end);
    for (Eigen::Index t = 0; t < end; ++t) EXPECT_FALSE(words.features.row(i).segment(t * 13, 13).isZero(0));
  }
  EXPECT_GE(*lengths.begin(), 24);  // the shortest utterance: 0.4 × 60
  EXPECT_EQ(*lengths.rbegin(), kLength);
  EXPECT_GT(lengths.size(), 25U);
}

/// Checks sentences of a text with a separate parser, and counts the characters that could be predicted.
class Parser {
 public:
  explicit Parser(std::string text) : text_(std::move(text)) {}

  /// Returns false if the text ends early; reports errors of grammar.
  bool sentence() {
    int value = 0;
    if (!sum(value) || !expect('=') || at_ >= text_.size()) return false;
    EXPECT_EQ(text_[at_], static_cast<char>('0' + value)) << text_.substr(0, at_ + 1);
    ++at_;
    return expect(';');
  }
  int sentences() {
    int count = 0;
    while (sentence()) ++count;
    EXPECT_EQ(at_, text_.size()) << "stopped at " << text_.substr(at_);
    return count;
  }

 private:
  bool expect(char c) {
    if (at_ >= text_.size()) return false;
    EXPECT_EQ(text_[at_], c) << text_.substr(0, at_ + 1);
    ++at_;
    return true;
  }
  bool term(int& value) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    const std::size_t kind = std::string_view("([{").find(c);
    if (kind != std::string_view::npos) return sum(value) && expect(std::string_view(")]}")[kind]);
    EXPECT_TRUE(c >= '0' && c <= '9') << c;
    value = c - '0';
    return true;
  }
  bool sum(int& value) {
    int left = 0;
    int right = 0;
    if (!term(left) || at_ >= text_.size()) return false;
    const char op = text_[at_++];
    EXPECT_TRUE(op == '+' || op == '-' || op == '*') << op;
    if (!term(right)) return false;
    const int result = op == '+' ? left + right : op == '-' ? left - right : left * right;
    value = ((result % 10) + 10) % 10;
    return true;
  }

  std::string text_;
  std::size_t at_ = 0;
};

TEST(Grammar, SentencesAreWellFormedAndRight) {
  const models::Samples samples = models::draw_grammar(200, 0, 200, 1);
  int sentences = 0;
  for (Eigen::Index i = 0; i < samples.size(); ++i) {
    std::string text;
    for (Eigen::Index t = 0; t < 200; ++t) {
      text += models::kGrammarAlphabet.at(static_cast<std::size_t>(samples.features(i, t)));
      const auto next = static_cast<float>(samples.labels[static_cast<std::size_t>(i * 200 + t)]);
      if (t + 1 == 200) continue;
      EXPECT_EQ(next, samples.features(i, t + 1)) << "the label is the next symbol";
    }
    sentences += Parser(text).sentences();
  }
  EXPECT_GT(sentences, 1000);
}

TEST(Tabular, NoiseIsTheShareOfOtherLabels) {
  spec::TabularSource source;
  source.noise = 0;
  const models::Samples clean = models::draw_tabular(source, 0, 20000, 1);
  source.noise = 0.4;
  const models::Samples noisy = models::draw_tabular(source, 0, 20000, 1);
  EXPECT_TRUE(same_bits(clean.features, noisy.features));
  int other = 0;
  for (std::size_t i = 0; i < clean.labels.size(); ++i) other += clean.labels[i] != noisy.labels[i];
  // One replaced label in four is the same by chance. The bound is five standard deviations.
  EXPECT_NEAR(other, 20000 * 0.4 * 0.75, 5 * 65);
}

// A linear classifier must learn something but not enough, which is the purpose of these sets. docs/data.md has the
// measured values.
TEST(DrawnSets, AreHardForALinearClassifier) {
#ifndef __OPTIMIZE__
  GTEST_SKIP() << "trains networks: too slow without optimisation";
#endif
  const auto accuracy = [](const spec::DataSource& source, std::int64_t hidden, std::uint32_t epochs) {
    spec::DataSpec spec;
    spec.source = source;
    const models::Dataset data = models::load_dataset(spec, 1);
    return accuracy_of_classifier(data.train, data.test, data.classes, hidden, epochs);
  };
  const double linear_table = accuracy(spec::TabularSource(), 0, 10);
  EXPECT_GT(linear_table, 0.35);
  EXPECT_LT(linear_table, 0.55);
  EXPECT_GT(accuracy(spec::TabularSource(), 128, 20), 0.7);
  const double linear_words = accuracy(spec::UtterancesSource(), 0, 10);
  EXPECT_GT(linear_words, 0.75);
  EXPECT_LT(linear_words, 0.93);
  const double linear_shapes = accuracy(spec::ShapesSource{4000, 1000}, 0, 3);
  EXPECT_GT(linear_shapes, 0.2) << "chance is 0.1";
  EXPECT_LT(linear_shapes, 0.5);
}

TEST(Tabular, NoClassIsRare) {
  for (const std::int64_t classes : {2, 4, 10}) {
    spec::TabularSource source;
    source.classes = classes;
    std::map<std::int32_t, int> counts;
    for (const std::int32_t label : models::draw_tabular(source, 0, 5000, 3).labels) ++counts[label];
    ASSERT_EQ(static_cast<std::int64_t>(counts.size()), classes);
    for (const auto& [label, count] : counts) EXPECT_GT(count, 5000 / classes / 4) << label << " of " << classes;
  }
}

}  // namespace
}  // namespace dadsim::test
