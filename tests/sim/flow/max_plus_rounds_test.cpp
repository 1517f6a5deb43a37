#include "sim/flow/max_plus_rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "collectives/collective.hpp"

// Compares rounds that are solved at once with the same rounds solved one by one, for ranks that begin at different
// dates.

namespace dadsim::sim {
namespace {

constexpr collectives::Rank kRanks = 24;

std::unique_ptr<collectives::Rounds> some_ring() {
  collectives::CollectiveRequest request;
  request.kind = step::CollectiveKind::all_reduce;
  request.bytes = {1e6};
  collectives::RankLayout layout;
  for (std::int32_t rank = 0; rank < kRanks; ++rank) layout.node_of.push_back(rank);
  return lay_out(request, "ring", layout);
}

struct Sent {
  std::int32_t from, to;
  MaxPlusRounds::RoundMessage takes;
};

/// Returns `times` rounds of these messages, solved one by one or as one repeated round.
MaxPlusRounds solved(const std::vector<Sent>& sent, std::int64_t times, bool one_by_one) {
  const auto rounds = some_ring();
  MaxPlusRounds result;
  result.begin(*rounds);
  for (std::int64_t i = 0; i < (one_by_one ? times : 1); ++i) {
    result.add_round(one_by_one ? 1 : times);
    for (const Sent& one : sent) result.add(one.from, one.to, 0, one.takes);
  }
  result.settle(std::vector<double>(kRanks, 1));
  return result;
}

void expect_the_same(const std::vector<Sent>& sent, std::int64_t times, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> begins(kRanks);
  for (double& begin : begins) begin = std::uniform_real_distribution<double>(0, 0.1)(random);
  if (seed % 2 == 0) begins[seed % kRanks] += 3;  // one rank is very late
  std::vector<double> at_once = begins;
  std::vector<double> one_by_one = begins;
  solved(sent, times, false).enter(at_once);
  solved(sent, times, true).enter(one_by_one);
  // Both ways solve the same system, so dates differ by rounding alone.
  for (std::size_t rank = 0; rank < begins.size(); ++rank) {
    EXPECT_NEAR(at_once[rank], one_by_one[rank], 1e-9 * one_by_one[rank] + 1e-12) << rank << " of " << seed;
  }
}

/// Returns messages around one ring of all ranks, or around two rings of half the ranks each.
std::vector<Sent> rings(std::mt19937& random, bool halves, bool same) {
  std::vector<Sent> sent;
  const auto drawn = [&] { return std::uniform_real_distribution<double>(1e-6, 2e-6)(random); };
  const double seconds = drawn();
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    const std::int32_t half = kRanks / 2;
    const std::int32_t next = !halves ? (rank + 1) % kRanks : rank % half == half - 1 ? rank - half + 1 : rank + 1;
    sent.push_back({rank, next, {0, same ? seconds : drawn(), drawn(), 1e-6}});
  }
  return sent;
}

TEST(MaxPlusRounds, ManyRoundsAroundRingsAreThoseOneByOne) {
  // 100,003 rounds are replaced by a formula, even if one rank is 3 seconds late.
  for (unsigned seed = 0; seed < 2; ++seed) {
    std::mt19937 random(seed);
    expect_the_same(rings(random, seed == 1, true), 100'003, seed);
  }
}

TEST(MaxPlusRounds, RoundsThatHaveSettledAreThoseOneByOne) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    std::vector<Sent> sent = rings(random, seed % 2 == 1, seed < 3);
    // Adds some messages across the rings.
    for (std::int32_t rank = 0; rank < kRanks; rank += 3)
      sent.push_back({rank, (rank + 7) % kRanks, {0, 1.5e-6, 1e-6, 1e-6}});
    expect_the_same(sent, 1500, seed);
  }
}

TEST(MaxPlusRounds, WhoBeginTogetherTakeWhatWasWorkedOut) {
  std::mt19937 random(7);
  const MaxPlusRounds rounds = solved(rings(random, false, false), 50, false);
  std::vector<double> dates(kRanks, 5);
  rounds.enter(dates);
  for (const double date : dates) EXPECT_NEAR(date, 6, 1e-12);
  EXPECT_EQ(rounds.carried(), 50.0 * kRanks);
}

TEST(MaxPlusRounds, ClassesOfRanksEndWhenTheirRanksDo) {
  // Ranks of three classes send to the next rank, and ranks of the first class also past it.
  constexpr std::int32_t kClasses = 3;
  const auto rounds = some_ring();
  MaxPlusRounds of_ranks;
  MaxPlusRounds of_classes;
  of_ranks.begin(*rounds);
  of_classes.begin(*rounds);
  std::vector<std::int32_t> class_of;
  for (std::int32_t rank = 0; rank < kRanks; ++rank) class_of.push_back(rank % kClasses);
  of_classes.divide(class_of, {0, 1, 2});
  std::mt19937 random(3);
  const auto drawn = [&] { return std::uniform_real_distribution<double>(1e-6, 2e-6)(random); };
  for (int round = 0; round < 9; ++round) {
    of_ranks.add_round(1);
    of_classes.add_round(1);
    for (std::int32_t from = 0; from < kClasses; ++from) {
      for (std::int32_t steps = 1; steps <= (from == 0 ? 2 : 1); ++steps) {
        const MaxPlusRounds::RoundMessage takes{drawn(), drawn(), drawn(), 1e-6};
        for (std::int32_t rank = from; rank < kRanks; rank += kClasses)
          of_ranks.add(rank, (rank + steps) % kRanks, 0, takes);
        of_classes.count_of_class(from);
        of_classes.add_of_class(from, (from + steps) % kClasses, kClasses * steps + from, takes);
      }
    }
  }
  const std::vector<double> done(kRanks, 1);
  of_ranks.settle(done);
  of_classes.settle(done);
  EXPECT_EQ(of_ranks.carried(), of_classes.carried());
  EXPECT_EQ(of_ranks.doubt(1e-5), of_classes.doubt(1e-5));
  std::vector<double> dates;
  for (const std::int32_t of_rank : class_of)
    dates.push_back(1e-6 * std::vector{0.3, 2.9, 1.7}[static_cast<std::size_t>(of_rank)]);
  ASSERT_TRUE(of_classes.holds_for(dates));
  std::vector<double> ends = dates;
  of_ranks.enter(ends);
  std::vector<double> again = dates;
  of_classes.enter(again);
  EXPECT_EQ(ends, again);
  dates.back() += 1e-9;
  EXPECT_FALSE(of_classes.holds_for(dates));
}

}  // namespace
}  // namespace dadsim::sim
