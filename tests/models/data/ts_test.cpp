#include "models/data/ts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "models/data/refused.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

const std::string kHeader =
    "# a comment\n@problemName Small\n@timeStamps false\n@missing true\n@univariate false\n@dimensions 2\n"
    "@equalLength false\n@classLabel true up down\n@data\n";

models::TsFile parsed(const std::string& content, const std::string& name = "small.ts") {
  models::SourceBytes bytes(name, content);
  return models::read_ts(bytes);
}
std::string message_of_ts(const std::string& content) {
  return refused([&] { parsed(content); });
}

TEST(Ts, ReadsSeriesOfUnequalLength) {
  const models::TsFile file = parsed(kHeader + "1,2,3:4,?,6:up\n\n 1.5 , -2e1:+7:down\r\n");
  EXPECT_EQ(file.channels, 2);
  EXPECT_EQ(file.longest, 3);
  EXPECT_EQ(file.classes, (std::vector<std::string>{"up", "down"}));
  EXPECT_EQ(file.labels, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(file.starts, (std::vector<std::uint32_t>{0, 3, 6, 8, 9}));
  ASSERT_EQ(file.values.size(), 9U);
  EXPECT_TRUE(std::isnan(file.values[4]));
  EXPECT_EQ(file.values[7], -20.0F);
  EXPECT_EQ(file.values[8], 7.0F);
}

// In the training part, channel 0 has 1 and 3 (mean 2, deviation 1), channel 1 has 10, 10 and 40 (mean 20, deviation
// √200).
TEST(Ts, StandardisesByTheTrainingPartFillsGapsAndPads) {
  const models::TsFile train = parsed(kHeader + "1,3:?,10,10,?,40:up\n");
  const models::TsFile test = parsed("@classLabel true down up\n@data\n4,?,0:20:down\n4:20:up\n");
  const models::Dataset data = dataset_of(train, test, 1, 2);
  const float deviation = std::sqrt(200.0F);
  EXPECT_EQ(data.shape, (spec::SampleShape{1, 5, 2}));
  ASSERT_EQ(data.train.features.cols(), 10);
  const float low = -10 / deviation;
  const std::vector<float> expected = {-1, 0, 1, low, 0, low, 0, low, 0, 20 / deviation};
  for (Eigen::Index i = 0; i < 10; ++i) {
    EXPECT_NEAR(data.train.features(0, i), expected[static_cast<std::size_t>(i)], 1e-6) << i;
  }
  EXPECT_EQ(data.test.features(0, 0), 2.0F);
  EXPECT_EQ(data.test.features(0, 2), 2.0F) << "the last value seen";
  EXPECT_EQ(data.test.features(0, 4), -2.0F);
  EXPECT_EQ(data.test.features.row(0).tail(4).cwiseAbs().sum(), 0.0F) << "padding";
  EXPECT_EQ(data.test.labels, (std::vector<std::int32_t>{1, 0})) << "numbered as in the training file";
  EXPECT_EQ(data.classes, 2);
}

TEST(Ts, ReadsUnivariateSeries) {
  const models::TsFile file =
      parsed("@univariate true\n@equalLength true\n@seriesLength 2\n@classLabel true 1 2\n@data\n1,2:1\n3,4:2");
  EXPECT_EQ(file.channels, 1);
  EXPECT_EQ(file.cases, 2);
}

// A compressed file of 200 kB has 200 MB of short cases, which must not be kept in memory while the file is inspected.
TEST(Ts, LookingAtAFileKeepsNoneOfItsCases) {
  std::string content = "@classLabel true a b\n@data\n";
  for (int i = 0; i < 1000; ++i) content += i % 2 == 0 ? "1:2:3:a\n" : "4:5:6:b\n";
  models::SourceBytes bytes("t.ts", content);
  const models::TsFile looked_at = models::read_ts(bytes, 0);
  EXPECT_EQ(looked_at.cases, 1000);
  EXPECT_EQ(looked_at.channels, 3);
  EXPECT_LE(looked_at.values.capacity() + looked_at.labels.capacity() + looked_at.starts.capacity(), 100U);
  models::SourceBytes again("t.ts", content);
  const models::TsFile first = models::read_ts(again, 2);
  EXPECT_EQ(first.cases, 1000);
  EXPECT_EQ(first.labels, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(first.values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(first.starts.size(), 7U);
}

TEST(Ts, SaysWhereItIsWrong) {
  const std::string many = message_of_ts(kHeader + "1,x:2:up\n1:2:pu\n1:2:3:up\n1,2\n:2:up\n1:1e99:up\n1:2:up\n");
  EXPECT_TRUE(holds(many, "small.ts:10: 'x' in dimension 1 is not a number; ")) << many;
  EXPECT_TRUE(holds(many, "small.ts:11: class 'pu' is not in the header; did you mean 'up'?")) << many;
  EXPECT_TRUE(holds(many, "small.ts:12: 3 dimensions; use 2, ")) << many;
  EXPECT_TRUE(holds(many, "small.ts:13: no ':' before a class; ")) << many;
  EXPECT_TRUE(holds(many, "small.ts:14: no values in dimension 1; ")) << many;
  EXPECT_TRUE(holds(many, "small.ts:15: '1e99' in dimension 2 is not a number; ")) << many;
  EXPECT_TRUE(holds(message_of_ts("@classLabels true a\n@data\n"),
                    ":1: unknown '@classLabels true a'; did you mean 'classLabel'?"));
  EXPECT_TRUE(holds(message_of_ts("@data\n1:a"), ":1: no @classLabel above @data; "));
  EXPECT_TRUE(holds(message_of_ts("@classLabel false\n@data"), ":1: no classes; "));
  EXPECT_TRUE(holds(message_of_ts("@classLabel true a a\n@data"), ":1: class 'a' twice; "));
  EXPECT_TRUE(
      holds(message_of_ts("@classLabel true a\n@missing false\n@data\n1,?:a"), ":4: a missing value in dimension 1; "));
  EXPECT_TRUE(holds(message_of_ts("@classLabel true a\n@equalLength true\n@data\n1,2:a\n1:a"),
                    ":5: 1 values in dimension 1; use 2, "));
  EXPECT_TRUE(holds(message_of_ts("@timeStamps true\n@data"), ":1: series with timestamps; "));
  EXPECT_TRUE(holds(message_of_ts("@targetLabel true\n@data"), ":1: the file has target numbers instead of classes; "));
  EXPECT_TRUE(holds(message_of_ts("@dimensions 2\n@univariate true\n"), ":2: 1 dimensions, but 2 in a line above; "));
  EXPECT_TRUE(holds(message_of_ts("@dimensions 0\n"), ":1: not a whole number; use a whole number from 1 to 10000"));
  EXPECT_TRUE(holds(message_of_ts("1,2:a\n"), ":1: '1,2:a' before @data; "));
  EXPECT_TRUE(holds(message_of_ts("@classLabel true a\n@data\n"), "small.ts: no cases; "));
  EXPECT_TRUE(holds(message_of_ts(""), "small.ts: no @data; "));
}

TEST(Ts, StopsAfterTwentyErrors) {
  std::string content = kHeader;
  for (int i = 0; i < 1000; ++i) content += "x\n";
  const std::string all = message_of_ts(content);
  EXPECT_TRUE(holds(all, "small.ts:29: ") && holds(all, "reading stopped")) << all;
  EXPECT_FALSE(holds(all, "small.ts:30: ")) << all;
}

TEST(Ts, BothFilesMustFit) {
  const models::TsFile train = parsed(kHeader + "1:2:up\n");
  EXPECT_TRUE(
      holds(refused([&] { models::dataset_of(train, parsed("@classLabel true up\n@data\n1:up\n", "t"), 1, 1); }),
            "t: 1 dimensions, but 2 in the training file small.ts"));
  EXPECT_TRUE(
      holds(refused([&] { models::dataset_of(train, parsed("@classLabel true upp\n@data\n1:2:upp\n", "t"), 1, 1); }),
            "t: class 'upp' is not in small.ts; did you mean 'up'?"));
  EXPECT_TRUE(
      holds(refused([&] { models::dataset_of(train, train, 2, 1); }), "holds 1 cases, fewer than the scenario needs"));
}

// One series has a million values, the other two thousand are short.
TEST(Ts, RefusesToPadWithoutBound) {
  std::string content = "@classLabel true a\n@data\n0";
  for (int i = 0; i < 1'000'000; ++i) content += ",1";
  content += ":a\n";
  for (int i = 0; i < 2000; ++i) content += "1:a\n";
  const models::TsFile file = parsed(content);
  EXPECT_TRUE(holds(refused([&] { models::dataset_of(file, file, 2001, 1); }), "2002 cases padded to 1000001 values"));
}

TEST(Ts, ReadsBasicMotions) {
  const char* variable = std::getenv("DADSIM_DATA");
  std::filesystem::path folder = variable == nullptr ? "" : variable;
  if (!std::filesystem::exists(folder / "BasicMotions_TRAIN.ts")) {
    folder = std::filesystem::path(DADSIM_SOURCE_DIR) / "../shared/data";
  }
  if (!std::filesystem::exists(folder / "BasicMotions_TRAIN.ts")) {
    GTEST_SKIP() << "set DADSIM_DATA to a folder with BasicMotions_TRAIN.ts and BasicMotions_TEST.ts";
  }
  const spec::TsSource source{(folder / "BasicMotions_TRAIN.ts").string(), (folder / "BasicMotions_TEST.ts").string(),
                              40, 40};
  const spec::DataFacts facts = models::inspect_ts(source);
  EXPECT_EQ(facts.train, 40);
  EXPECT_EQ(facts.test, 40);
  EXPECT_EQ(facts.classes, 4);
  EXPECT_EQ(facts.shape, (spec::SampleShape{1, 100, 6}));
  const models::Dataset data = models::read_ts(source);
  for (Eigen::Index channel = 0; channel < 6; ++channel) {
    double sum = 0;
    double squares = 0;
    for (Eigen::Index row = 0; row < 40; ++row) {
      for (Eigen::Index t = 0; t < 100; ++t) {
        const double value = data.train.features(row, t * 6 + channel);
        sum += value;
        squares += value * value;
      }
    }
    EXPECT_NEAR(sum / 4000, 0, 1e-6);
    EXPECT_NEAR(squares / 4000, 1, 1e-5);
  }
}

}  // namespace
}  // namespace dadsim::test
