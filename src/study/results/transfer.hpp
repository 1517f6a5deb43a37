#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "step/timing.hpp"
#include "study/learning/learned.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// Properties of messages that determine the error category of their times.
struct CarriedMessages {
  double most_bytes = 0;     ///< bytes of the largest collective
  double at_once_bytes = 0;  ///< bytes queued simultaneously on the busiest link
  bool gloo = false;         ///< true: messages are sent as by Gloo, PyTorch's backend for CPUs
};

/// Returns the error category of message times, one of estimate::error_categories(). It depends on the slowest
/// transport among the links in use, the library, and the size.
std::string category_of_messages(const step::NetworkUse& network, const CarriedMessages& carried);

/// Returns the bytes that a collective of `workers` workers queues simultaneously on the busiest link of a star.
double bytes_at_once(const step::NetworkUse::Collective& collective, double workers);

/// Fills in RunResult::is_lossy and RunResult::censored_layers: the findings of a run learned on one network that hold
/// for the timed one, as far as the recording shows.
/// - A compression is lossy if it left anything out while it learned. It is not if its limits exceed the network that
///   learned while they cut the timed one, if the steps show that nothing was left out, or if the run learned the same
///   as gradient sharing bit for bit. Without compression nothing is lossy.
/// - Layers with censored ranks: see step::extent::censored_rank().
void annotate_transfer(const scenario::Scenario& scenario, const Learned& learned, std::size_t run,
                       const TimedAs& timed, report::RunResult& result);

/// Returns warnings known before learning: unexpected contents of tables, and compressions for which the learning
/// network is too small if relative steps are requested.
std::vector<std::string> warnings_of(const scenario::Scenario& scenario);
/// Returns warnings known after timing: outages that begin after all runs, or last longer than half of the longest run.
std::vector<std::string> warnings_of(const scenario::Scenario& scenario, const report::Result& result);

}  // namespace dadsim::study
