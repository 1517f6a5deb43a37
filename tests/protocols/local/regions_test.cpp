// Tests sums by region, and rings with eight bits. Sites differ in samples and speed, regions in size.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "compress/registry.hpp"
#include "protocols/local/local_rounds.hpp"
#include "protocols/local/played.hpp"
#include "support/random.hpp"

namespace dadsim::test {
namespace {

constexpr double kBytes = 4 * kSentNumbers;
const std::vector<std::size_t> kUnevenRegions = {0, 1, 0, 0};

Played by_region(const char* method, spec::ParameterValues parameters,
                 const std::vector<std::size_t>& regions = kUnevenRegions) {
  parameters["to"] = "region";
  return played(run_of(method, parameters), unequal_problem(kPlayedSamples),
                {.latency = kLatency, .bandwidth = kBandwidth}, regions);
}

double sent(const Played& one) {
  const auto& nodes = one.simulated.log.nodes;
  return std::accumulate(nodes.begin(), nodes.end(), 0.0,
                         [](double sum, const step::EventLog::NodeUse& node) { return sum + node.sent; });
}

// ---- regions ----

TEST(ByRegion, OneRegionMakesTheModelsOfAnAggregator) {
  for (const char* rule : {"mean", "nesterov", "adam"}) {
    const spec::ParameterValues parameters{{"period", "3"}, {"outer", rule}};
    const Played one = by_region("diloco", parameters, {0, 0, 0, 0});
    expect_same_models(one, played("diloco", parameters), 1e-6, rule);
    EXPECT_FALSE(one.simulated.protocol_log.facts.contains("bytes between regions"));
    EXPECT_DOUBLE_EQ(sent(one), 2 * 3 * kBytes * static_cast<double>(one.simulated.protocol_log.updates));
  }
}

TEST(ByRegion, UnevenRegionsMakeTheFlatMeanAndSendTheFormulasBytes) {
  const spec::ParameterValues parameters{{"period", "2"}, {"rounds", "3"}};
  spec::ParameterValues flat = parameters;
  flat["to"] = "peers";
  for (const std::vector<std::size_t>& regions : {kUnevenRegions, {0, 1, 2, 1}, {2, 1, 0, 3}}) {
    const Played one = by_region("diloco", parameters, regions);
    expect_same_models(one, played("diloco", flat), 1e-6);
    const double count = 1 + static_cast<double>(*std::ranges::max_element(regions));
    EXPECT_NEAR(one.simulated.protocol_log.facts.at("bytes between regions"), 3 * 2 * (count - 1) * kBytes, 1e-6);
    EXPECT_NEAR(sent(one), 3 * 2 * (4 - count + count - 1) * kBytes, 1e-6) << "up and down inside, and between";
  }
}

TEST(ByRegion, ARoundTakesItsThreeStages) {
  const double slowest = 0.2 + 0.13 * 3, hop = kLatency + kBytes / kBandwidth;
  const Played one = by_region("diloco", {{"period", "5"}, {"rounds", "3"}});
  const double between = 2 * (kLatency + kBytes / 2 / kBandwidth);
  const double round = 5 * slowest + 2 * hop + between + 2 * hop;  // the larger region has three workers
  for (std::size_t i = 1; i <= 3; ++i) {
    const auto rounds = static_cast<double>(i);
    EXPECT_NEAR(one.simulated.protocol_log.versions.at(i).at, rounds * round + (rounds - 1) * slowest + 0.2, 1e-9);
  }
}

TEST(ByRegion, SpeakersEncodeWhatGoesBetweenRegions) {
  const auto between = [](const Played& one) { return one.simulated.protocol_log.facts.at("bytes between regions"); };
  const spec::ParameterValues three{{"rounds", "3"}, {"period", "2"}};
  spec::RunSpec halves = run_of("diloco", three);
  halves.parameters["to"] = "region";
  halves.compress = {.method = "fp16", .parameters = {}, .memory = false};
  const Played half =
      played(halves, unequal_problem(kPlayedSamples), {.latency = kLatency, .bandwidth = kBandwidth}, kUnevenRegions);
  EXPECT_NEAR(between(half), 3 * 2 * kBytes / 2, 1e-6);
  EXPECT_NEAR(sent(half) - between(half), 3 * 4 * kBytes, 1e-6) << "whole numbers inside";
  spec::RunSpec sparse = run_of("diloco", three);
  sparse.parameters["to"] = "region";
  sparse.compress = {.method = "top-k", .parameters = {{"fraction", "0.1"}}, .memory = true};
  const Played gathered =
      played(sparse, unequal_problem(kPlayedSamples), {.latency = kLatency, .bandwidth = kBandwidth}, kUnevenRegions);
  EXPECT_NEAR(between(gathered), 3 * 2 * 8 * std::ceil(0.1 * kSentNumbers), 1e-6) << "a block each to one other";
  spec::ParameterValues ring = three;
  ring["encoding"] = "int8-ring";
  EXPECT_NEAR(between(by_region("diloco", ring)), 3 * 2 * (kSentNumbers + 2 * 2 * 1024), 1e-6);
}

TEST(ByRegion, OutagesAreSurvived) {
  for (const char* method : {"diloco", "sparseloco", "local-sgd"})
    expect_outages_survived(method, "region", kUnevenRegions);
}

// ---- a ring of eight bits ----

using PeerRows = std::vector<std::vector<float>>;

/// Runs the ring message by message, and returns the numbers that every peer ends with. Adds the bytes of all messages
/// to `bytes`.
PeerRows ring_of_messages(PeerRows rows, const std::vector<std::size_t>& matrices, double& bytes) {
  const std::size_t peers = rows.size();
  const compress::CompressorInfo& info = compress::encoding("int8-table");
  const auto compressor = info.make(default_parameters(info.parameters));
  const auto encoded = [&](std::span<float> numbers) {
    compress::Encoder encoder;
    compressor->encode(Eigen::Map<models::Matrix>(numbers.data(), 1, std::ssize(numbers)), {}, encoder);
    return encoder.take();
  };
  const auto decoded = [&](const compress::Message& message, std::size_t count) {
    models::Matrix numbers(1, static_cast<Eigen::Index>(count));
    compress::Decoder decoder(message);
    compressor->decode(decoder, {}, numbers);
    return numbers;
  };
  std::size_t at = 0;
  for (const std::size_t size : matrices) {
    const auto chunk_of = [&](std::vector<float>& row, std::size_t chunk) {
      const std::size_t first = chunk * size / (2 * peers), end = (chunk + 1) * size / (2 * peers);
      return std::span(row).subspan(at + first, end - first);
    };
    for (std::size_t round = 0; round + 1 < peers; ++round) {
      for (std::size_t peer = 0; peer < peers; ++peer) {  // chunks in transit are distinct, so the order does not
                                                          // matter
        const std::size_t block = (peer + peers - round) % peers;
        for (const std::size_t chunk : {2 * block, 2 * block + 1}) {
          const compress::Message message = encoded(chunk_of(rows[peer], chunk));
          bytes += static_cast<double>(message.size());
          const std::span<float> next = chunk_of(rows[(peer + 1) % peers], chunk);
          const models::Matrix arrived = decoded(message, next.size());
          for (std::size_t k = 0; k < next.size(); ++k) next[k] = arrived(static_cast<Eigen::Index>(k)) + next[k];
        }
      }
    }
    for (std::size_t chunk = 0; chunk < 2 * peers; ++chunk) {
      const std::size_t last = (chunk / 2 + peers - 1) % peers;
      const compress::Message message = encoded(chunk_of(rows[last], chunk));
      for (std::size_t step = 0; step < peers; ++step) {
        const std::span<float> own = chunk_of(rows[(last + step) % peers], chunk);
        const models::Matrix arrived = decoded(message, own.size());
        for (std::size_t k = 0; k < own.size(); ++k) own[k] = arrived(static_cast<Eigen::Index>(k));
        if (step > 0) bytes += static_cast<double>(message.size());
      }
    }
    at += size;
  }
  return rows;
}

PeerRows drawn_rows(std::size_t peers, std::size_t numbers, const std::function<float(RandomStream&)>& draw) {
  PeerRows rows(peers, std::vector<float>(numbers));
  for (std::size_t peer = 0; peer < peers; ++peer) {
    RandomStream random(7, Purpose::rounding, static_cast<std::uint32_t>(peer));
    for (float& x : rows[peer]) x = draw(random);
  }
  return rows;
}

float uniform_number(RandomStream& random) {
  return static_cast<float>(static_cast<double>(random() >> 8U) / static_cast<double>(1U << 24U)) * 2 - 1;
}
float normal_number(RandomStream& random) {  // method of Box and Muller
  const double length = std::sqrt(-2 * std::log((static_cast<double>(random()) + 1) / 4294967297.0));
  return static_cast<float>(length * std::cos(std::acos(-1.0) * static_cast<double>(uniform_number(random))));
}

/// Returns ‖a − Σ rows‖ ÷ ‖Σ rows‖.
double error_of(const std::vector<float>& a, const PeerRows& rows) {
  double difference = 0, whole = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double exact = 0;
    for (const std::vector<float>& row : rows) exact += static_cast<double>(row[k]);
    difference += std::pow(static_cast<double>(a[k]) - exact, 2);
    whole += exact * exact;
  }
  return std::sqrt(difference / whole);
}

TEST(QuantisedRing, AllPeersEndWithTheSameBitsAfterTheFormulasBytes) {
  for (const std::size_t peers : {2U, 3U, 5U, 8U}) {
    const std::vector<std::size_t> matrices = {1000, 37, 3};  // the last matrices have chunks without numbers
    const PeerRows rows = drawn_rows(peers, 1040, normal_number);
    double bytes = 0;
    const PeerRows ended = ring_of_messages(rows, matrices, bytes);
    for (const std::vector<float>& one : ended) EXPECT_EQ(one, protocols::quantised_ring::sum(rows, matrices)) << peers;
    const auto n = static_cast<double>(peers);
    EXPECT_DOUBLE_EQ(bytes, 2 * (n - 1) * (1040 + 3 * 2 * n * 1024));
  }
}

TEST(QuantisedRing, WhatABinHoldsAloneArrives) {
  const PeerRows whole =
      drawn_rows(4, 4000, [](RandomStream& random) { return std::round(1.5F * uniform_number(random)) * 0.3125F; });
  EXPECT_EQ(error_of(protocols::quantised_ring::sum(whole, {3990}), whole), 0) << "sums of -1, 0, 1";
  const PeerRows zeros(3, std::vector<float>(50, 0.0F));
  EXPECT_EQ(protocols::quantised_ring::sum(zeros, {50}), zeros.front());
  const PeerRows alone = drawn_rows(1, 500, normal_number);
  EXPECT_EQ(protocols::quantised_ring::sum(alone, {500}), alone.front());
  PeerRows wrong = drawn_rows(3, 600, normal_number);
  wrong[1][5] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> spoiled = protocols::quantised_ring::sum(wrong, {600});
  EXPECT_TRUE(std::isnan(spoiled[5]));
  EXPECT_FALSE(std::isnan(spoiled[599])) << "another chunk";
}

TEST(QuantisedRing, EveryHopAddsAtMostABin) {
  for (const std::size_t peers : {2U, 4U, 8U}) {
    const std::size_t numbers = 2 * peers * 500;
    const PeerRows rows = drawn_rows(peers, numbers, uniform_number);  // σ is 0.58, and no number exceeds 3 σ
    const std::vector<float> sum = protocols::quantised_ring::sum(rows, {numbers});
    std::size_t within = 0;
    for (std::size_t k = 0; k < numbers; ++k) {
      const std::size_t chunk = k / 500;
      double exact = 0, bound = 0;
      bool clipped = false;
      for (std::size_t hop = 0; hop < peers; ++hop) {
        exact += static_cast<double>(rows[(chunk / 2 + hop) % peers][k]);
        const double sigma = std::sqrt(static_cast<double>(hop + 1) / 3);  // σ of a partial sum
        clipped = clipped || std::abs(exact) > 2.6 * sigma;
        bound += 1.15 * 6 * sigma / 256;  // the σ of 500 numbers is right to about a tenth
      }
      if (clipped) continue;
      ++within;
      EXPECT_LE(std::abs(static_cast<double>(sum[k]) - exact), bound) << k;
    }
    EXPECT_GT(within, numbers * 9 / 10);
  }
}

TEST(QuantisedRing, ErrorsGrowWithTheNumberOfHops) {
  const PeerRows rows = drawn_rows(16, 64000, normal_number);
  const compress::CompressorInfo& info = compress::encoding("int8-table");
  const auto compressor = info.make(default_parameters(info.parameters));
  double squares = 0;
  for (const std::vector<float>& row : rows) {
    models::Matrix numbers = Eigen::Map<const models::Matrix>(row.data(), 1, std::ssize(row));
    compress::Encoder encoder;
    compressor->encode(numbers, {}, encoder);
    const compress::Message message = encoder.take();
    compress::Decoder decoder(message);
    compressor->decode(decoder, {}, numbers);
    squares += std::pow(error_of({numbers.data(), numbers.data() + numbers.size()}, {row}), 2);
  }
  const double pass = std::sqrt(squares / 16);
  EXPECT_NEAR(pass, 0.0165, 0.001) << "what is beyond 3 sigma goes to the end bins";
  double last = pass;
  for (const std::size_t peers : {4U, 16U}) {
    const PeerRows some(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(peers));
    const double error = error_of(protocols::quantised_ring::sum(some, {64000}), some);
    EXPECT_GT(error, 1.2 * last) << peers;
    EXPECT_LT(error, 1.9 * last) << peers;
    last = error;
    const PeerRows equal(peers, rows.front());
    EXPECT_LT(error_of(protocols::quantised_ring::sum(equal, {64000}), equal), 1.3 * pass) << peers;
  }
}

TEST(QuantisedRing, CarriesRoundsOfPeers) {
  const spec::ParameterValues parameters{{"rounds", "4"}, {"period", "3"}, {"to", "peers"}};
  spec::ParameterValues ring = parameters;
  ring["encoding"] = "int8-ring";
  const Played plain = played("diloco", parameters), quantised = played("diloco", ring);
  for (std::size_t node = 0; node < 4; ++node)
    EXPECT_NEAR(quantised.simulated.log.nodes[node].sent, 4 * 2 * 3.0 / 4 * (kSentNumbers + 2 * 4 * 1024), 1e-6);
  ASSERT_EQ(plain.losses.size(), quantised.losses.size());
  EXPECT_NE(plain.losses.back(), quantised.losses.back());
  for (std::size_t i = 0; i < plain.losses.size(); ++i)
    EXPECT_NEAR(quantised.losses[i], plain.losses[i], 0.02 * plain.losses[i]) << i;
}

}  // namespace
}  // namespace dadsim::test
