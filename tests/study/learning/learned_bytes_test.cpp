#include "study/learning/learned_bytes.hpp"

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "scenario/document/load.hpp"
#include "study/setting/catalog.hpp"
#include "study/sweep/tiny_sweep.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

/// Learns one run of every algorithm that accepts the scenario's optimizer.
Learned learn_all() {
  std::string runs;
  for (const algorithms::SynchronousMethod& info : algorithms::algorithm_registry().all()) {
    using enum algorithms::Needs;
    if (info.optimizer != any_optimizer && info.optimizer != adam) continue;  // the scenario has Adam
    runs += "<run algorithm=\"" + info.name + "\"/>\n";
  }
  const test::TemporaryFolder folder;
  const std::string path = folder.write("scenario.xml", test::tiny_scenario("", runs));
  return learn_scenario(load_scenario(path, {}, make_catalog()), nullptr, false);
}

bool same(const step::Evaluation& a, const step::Evaluation& b) {
  return a.step == b.step && a.loss == b.loss && a.accuracy == b.accuracy && a.auc == b.auc && a.sites == b.sites;
}

bool same(const step::EpochRanks& a, const step::EpochRanks& b) {
  return a.epoch == b.epoch && a.site == b.site && a.merged == b.merged;
}

TEST(LearnedBytes, EveryAlgorithmComesBackAsItWas) {
  const Learned learned = learn_all();
  ASSERT_GE(learned.runs.size(), 7U);
  for (const LearnedRunPtr& run : learned.runs) {
    const LearnedRunPtr back = learned_from_bytes(to_bytes(*run));
    ASSERT_NE(back, nullptr);
    EXPECT_EQ(back->shape, run->shape);
    EXPECT_EQ(back->data, run->data);
    EXPECT_EQ(back->remarks, run->remarks);
    EXPECT_EQ(back->has_batch_statistics, run->has_batch_statistics);
    const step::Trajectory& a = back->trajectory;
    const step::Trajectory& b = run->trajectory;
    EXPECT_EQ(a.structures, b.structures);
    EXPECT_EQ(a.distinct_steps, b.distinct_steps);
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(a.steps_per_epoch, b.steps_per_epoch);
    EXPECT_EQ(a.diverged_at, b.diverged_at);
    EXPECT_TRUE(std::ranges::equal(a.curve, b.curve, [](const auto& x, const auto& y) { return same(x, y); }));
    EXPECT_TRUE(std::ranges::equal(a.ranks, b.ranks, [](const auto& x, const auto& y) { return same(x, y); }));
    EXPECT_GT(b.curve.size(), 1U);
    ASSERT_TRUE(a.leak.has_value());
    EXPECT_EQ(a.leak->why_not, b.leak->why_not);
    EXPECT_EQ(a.leak->every, b.leak->every);
    ASSERT_EQ(a.leak->adversaries.size(), b.leak->adversaries.size());
    for (std::size_t i = 0; i < a.leak->adversaries.size(); ++i) {
      const step::AdversaryLeak &one = a.leak->adversaries[i], &other = b.leak->adversaries[i];
      EXPECT_EQ(one.adversary, other.adversary);
      EXPECT_EQ(one.all.rows_handed_over, other.all.rows_handed_over);
      EXPECT_EQ(one.sites.size(), other.sites.size());
      EXPECT_EQ(one.curve.size(), other.curve.size());
      EXPECT_EQ(one.why_not, other.why_not);
    }
  }
}

TEST(LearnedBytes, DamagedBytesAreNoOtherRun) {
  const Learned learned = learn_all();
  const std::string bytes = to_bytes(*learned.runs.back());
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 10)
    EXPECT_EQ(learned_from_bytes(bytes.substr(0, size)), nullptr) << size;
  for (std::size_t i = 0; i < bytes.size(); i += 1 + i / 50) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    // Damage to compressed bytes can be harmless: a match may be copied from another place with equal bytes.
    const LearnedRunPtr read = learned_from_bytes(damaged);
    if (read) {
      EXPECT_EQ(to_bytes(*read), bytes) << "byte " << i;
    }
  }
  EXPECT_EQ(learned_from_bytes(""), nullptr);
}

}  // namespace
}  // namespace dadsim::study
