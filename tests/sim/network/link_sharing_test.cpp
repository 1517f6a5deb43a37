// Tests that transfers around a hub share its lines max-min fairly, with new rates at every event.
#include "sim/network/link_sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace dadsim::sim {
namespace {

using LinkNumbers = std::vector<std::int32_t>;

struct Begin {
  double date;
  std::int32_t transfer;
  double bytes;
};

/// A network, its transfers and their begin dates; each transfer carries one message at a time.
struct SharedCase {
  std::vector<double> capacity;
  std::vector<LinkNumbers> transfers;
  std::vector<double> most;
  std::vector<Begin> begins;
};

/// Returns max-min fair rates by progressive filling: the tightest link fixes the rates of its transfers, then the next
/// tightest.
std::vector<double> max_min_rates(std::vector<double> left, const std::vector<const LinkNumbers*>& transfers) {
  std::vector<double> rates(transfers.size(), std::numeric_limits<double>::infinity());
  std::vector<bool> fixed(transfers.size(), false);
  for (;;) {
    std::vector<double> open(left.size(), 0);
    for (std::size_t i = 0; i < transfers.size(); ++i)
      for (const std::int32_t link : *transfers[i]) open[static_cast<std::size_t>(link)] += fixed[i] ? 0 : 1;
    std::size_t tightest = left.size();
    for (std::size_t link = 0; link < left.size(); ++link) {
      if (open[link] == 0) continue;
      if (tightest == left.size() || left[link] / open[link] < left[tightest] / open[tightest]) tightest = link;
    }
    if (tightest == left.size()) return rates;
    const double rate = left[tightest] / open[tightest];
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      if (fixed[i] || std::ranges::count(*transfers[i], static_cast<std::int32_t>(tightest)) == 0) continue;
      fixed[i] = true;
      rates[i] = rate;
      for (const std::int32_t link : *transfers[i])
        left[static_cast<std::size_t>(link)] = std::max(0.0, left[static_cast<std::size_t>(link)] - rate);
    }
  }
}

/// Returns the end of each transfer. Rates are recomputed whenever a transfer begins or ends. A transfer's limit is a
/// link of its own.
std::map<std::int32_t, double> ends_by_filling(const SharedCase& one) {
  std::vector<double> capacity = one.capacity;
  std::vector<LinkNumbers> links = one.transfers;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!std::isfinite(one.most[i])) continue;
    links[i].push_back(static_cast<std::int32_t>(capacity.size()));
    capacity.push_back(one.most[i]);
  }
  std::map<std::int32_t, double> left, ends;
  double date = 0;
  for (std::size_t next = 0; next < one.begins.size() || !left.empty();) {
    std::vector<const LinkNumbers*> active;
    for (const auto& [number, bytes] : left) active.push_back(&links[static_cast<std::size_t>(number)]);
    const std::vector<double> rates = max_min_rates(capacity, active);
    double until = next < one.begins.size() ? one.begins[next].date : std::numeric_limits<double>::infinity();
    std::size_t i = 0;
    for (const auto& [number, bytes] : left) until = std::min(until, date + bytes / rates[i++]);
    i = 0;
    std::vector<std::int32_t> over;
    for (auto& [number, bytes] : left) {
      bytes -= rates[i++] * (until - date);
      if (bytes <= 1e-6) over.push_back(number);
    }
    date = until;
    for (const std::int32_t number : over) {
      ends[number] = date;
      left.erase(number);
    }
    for (; next < one.begins.size() && one.begins[next].date <= date; ++next)
      left[one.begins[next].transfer] = one.begins[next].bytes;
  }
  return ends;
}

std::map<std::int32_t, double> ends_by_sharing(const SharedCase& one) {
  LinkSharing sharing;
  for (std::size_t i = 0; i < one.capacity.size(); ++i)
    sharing.set_link(static_cast<std::int32_t>(i), one.capacity[i], true);
  std::vector<std::int32_t> numbers(one.transfers.size(), -1);
  std::map<std::int32_t, double> ends;
  for (std::size_t next = 0;;) {
    const double begins = next < one.begins.size() ? one.begins[next].date : std::numeric_limits<double>::infinity();
    const double date = std::min(begins, sharing.next());
    if (!std::isfinite(date)) return ends;
    for (; next < one.begins.size() && one.begins[next].date <= date; ++next) {
      const auto which = static_cast<std::size_t>(one.begins[next].transfer);
      // A connection is opened at its first message.
      if (numbers[which] < 0) numbers[which] = sharing.add(one.transfers[which], one.most[which]);
      sharing.begin(numbers[which], one.begins[next].bytes, date);
    }
    for (const std::int32_t over : sharing.settle(date))
      ends[static_cast<std::int32_t>(std::ranges::find(numbers, over) - numbers.begin())] = date;
  }
}

void expect_same(const SharedCase& one, const std::string& what) {
  const auto filled = ends_by_filling(one);
  const auto shared = ends_by_sharing(one);
  ASSERT_EQ(filled.size(), shared.size()) << what;
  for (const auto& [number, date] : filled) EXPECT_NEAR(shared.at(number), date, 1e-9 * date) << what << ", " << number;
}

/// Returns sites with lines of 1 to 30 byte/s around a hub's link; some sites have equal lines.
SharedCase star(std::uint32_t number, std::size_t sites, bool meet_twice) {
  RandomStream random(number, Purpose::test, 7);
  const auto drawn = [&](double least, double most) {
    return least + (most - least) * boost::random::uniform_01<double>()(random);
  };
  SharedCase one;
  one.capacity.push_back(drawn(1, 20.0 * static_cast<double>(sites)));
  for (std::size_t site = 0; site < sites; ++site) {
    const auto line = static_cast<std::int32_t>(one.capacity.size());
    one.capacity.push_back(std::floor(drawn(1, 31)));
    one.transfers.push_back({line, 0});
    one.most.push_back(site % 5 == 0 ? drawn(1, 31) : std::numeric_limits<double>::infinity());
    one.begins.push_back({std::floor(drawn(0, 20)), static_cast<std::int32_t>(site), drawn(1, 500)});
  }
  // Two sites also send to each other, over their lines to the hub.
  if (meet_twice) {
    one.transfers.push_back({1, 2});
    one.most.push_back(std::numeric_limits<double>::infinity());
    one.begins.push_back({12, static_cast<std::int32_t>(sites), 100});
  }
  std::ranges::stable_sort(one.begins, {}, &Begin::date);
  return one;
}

TEST(LinkSharing, AroundAHubIsMaxMinFair) {
  for (std::uint32_t number = 0; number < 40; ++number)
    expect_same(star(number, 3 + number, false), "star " + std::to_string(number));
}

TEST(LinkSharing, WhereTransfersMeetTwiceToo) {
  for (std::uint32_t number = 0; number < 20; ++number)
    expect_same(star(number, 3 + number, true), "meeting twice " + std::to_string(number));
}

TEST(LinkSharing, WhatIsStoppedLeavesItsShareToOthers) {
  LinkSharing sharing;
  sharing.set_link(0, 10, true);
  for (const std::int32_t line : {1, 2, 3}) sharing.set_link(line, 8, true);
  for (const std::int32_t line : {1, 2, 3}) {
    const std::int32_t number = sharing.add(std::vector<std::int32_t>{line, 0}, 100);
    sharing.begin(number, 100, 0);
  }
  EXPECT_TRUE(sharing.settle(0).empty());
  EXPECT_NEAR(sharing.next(), 30, 1e-9);
  sharing.stop(1, 15);  // so far, each transfer has received 50 of 100 bytes
  EXPECT_TRUE(sharing.settle(15).empty());
  EXPECT_NEAR(sharing.next(), 25, 1e-9) << "5 a second";
  sharing.stop(2, 20);
  EXPECT_TRUE(sharing.settle(20).empty());
  EXPECT_NEAR(sharing.next(), 20 + 25 / 8.0, 1e-9) << "its own line";
}

}  // namespace
}  // namespace dadsim::sim
