#include <fmt/format.h>

#include <array>
#include <string>

#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"
#include "support/link_rate.hpp"

namespace dadsim::report::words {
namespace {

/// Returns "twice", "half" or "3 times".
std::string multiple_in_words(double factor) {
  if (factor == 2) return "twice";
  return factor == 0.5 ? "half" : fmt::format("{:.3g} times", factor);
}

std::string range_in_words(double least, double most, std::string (*number_in_words)(double)) {
  return least == most ? number_in_words(least)
                       : fmt::format("{} to {}", number_in_words(least), number_in_words(most));
}

/// Returns "the links hdr-# (200 Gbit/s, 600 ns; 32 directions)" or "all links".
std::string links_in_words(const Statement& change) {
  if (!change.has("directions")) return "all links";
  const std::string numbers = fmt::format(
      "{}, {}", range_in_words(change.number("bandwidth_low"), change.number("bandwidth_high"), human_link_rate),
      range_in_words(change.number("latency_low"), change.number("latency_high"), human_seconds));
  if (change.is("one_link")) return fmt::format("{} ({})", change.subject(), numbers);
  return fmt::format("the links {} ({}; {:.0f} directions)", change.subject(), numbers, change.number("directions"));
}

std::string more_bandwidth(const Statement& change) {
  return fmt::format("{} the bandwidth of {}", multiple_in_words(change.number("factor")), links_in_words(change));
}

std::string less_latency(const Statement& change) {
  return fmt::format("{} the latency of {}", multiple_in_words(1 / change.number("factor")), links_in_words(change));
}

std::string faster_device(const Statement& change) {
  return fmt::format("{} {} as fast as {}", change.is("aggregator") ? "an aggregator" : "workers",
                     multiple_in_words(change.number("factor")), change.subject());
}

std::string other_batch(const Statement& change) {
  return fmt::format("{} the batch ({:.0f} per worker)", multiple_in_words(change.number("factor")),
                     change.number("samples_per_worker"));
}

std::string sums_in_buckets(const Statement& change) {
  return fmt::format("sums put into buckets of {:.4g} MB", change.number("bytes") / 1e6);
}

std::string faster_framework(const Statement& change) {
  return fmt::format("a framework ({}) {} as fast", change.subject(), multiple_in_words(change.number("factor")));
}

std::string framework_without_time(const Statement& change) {
  return fmt::format("a framework that takes no time in the place of {}", change.subject());
}

constexpr const char* kSumsByLayer = "every layer's sum by itself, as soon as it is there";
constexpr const char* kNoNetworkLimit = "a network without limits";
constexpr const char* kFrameworkLimits = "a limit: what lines and devices take stays";
constexpr const char* kNoComputingTime = "computing that takes no time";

std::string all_of_the_device(const Statement& assumption) {
  return fmt::format("everything the device does takes {} the time",
                     multiple_in_words(1 / assumption.number("factor")));
}

std::string steps_by_batch(const Statement& assumption) {
  const double factor = assumption.number("factor");
  return fmt::format("if it needs {} the steps, which {} do at {}", multiple_in_words(1 / factor),
                     factor > 1 ? "larger batches" : "smaller batches", factor > 1 ? "best" : "worst");
}

constexpr const char* kOtherRunsStay = "runs that share without sums, or do so already, stay as they are";
constexpr const char* kLinkLimits =
    "all bandwidths times a million, latencies of links zero; what protocols and software take stays";
constexpr const char* kDeviceLimits = "all devices a million times as fast";

constexpr std::array kChanges{
    StatementKind{"more-bandwidth", "a change of an explanation: links of more bandwidth", more_bandwidth},
    StatementKind{"less-latency", "another: links of less latency", less_latency},
    StatementKind{"faster-device", "another: workers or an aggregator that are faster", faster_device},
    StatementKind{"other-batch", "another: another batch", other_batch},
    StatementKind{"sums-in-buckets", "another: gradients summed in buckets", sums_in_buckets},
    StatementKind{"sums-by-layer", "another: gradients summed layer by layer", as_it_is<kSumsByLayer>},
    StatementKind{"network-without-limits", "another: what no network is better than", as_it_is<kNoNetworkLimit>},
    StatementKind{"computing-without-time", "another: what no device is better than", as_it_is<kNoComputingTime>},
    StatementKind{"faster-framework", "another: a framework of twice the rates and half the pauses", faster_framework},
    StatementKind{"framework-without-time", "another: what no framework is better than", framework_without_time},
    StatementKind{"limits-of-framework", "assumed of a framework without time", as_it_is<kFrameworkLimits>},
    StatementKind{"all-of-the-device", "assumed with a faster device", all_of_the_device},
    StatementKind{"steps-by-batch", "assumed with another batch", steps_by_batch},
    StatementKind{"other-runs-stay", "assumed with other sums", as_it_is<kOtherRunsStay>},
    StatementKind{"limits-of-links", "assumed of a network without limits", as_it_is<kLinkLimits>},
    StatementKind{"limits-of-devices", "assumed of computing without time", as_it_is<kDeviceLimits>},
};

}  // namespace

std::span<const StatementKind> of_changes() { return kChanges; }

}  // namespace dadsim::report::words
