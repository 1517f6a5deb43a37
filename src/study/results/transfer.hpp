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

/// What travels, as far as the error of its time goes by it.
struct CarriedMessages {
  double most_bytes = 0;     ///< of the largest collective
  double at_once_bytes = 0;  ///< that lie on the busiest link at the same time
  bool gloo = false;         ///< messages leave as PyTorch's backend for CPUs has them
};

/// The category of estimate::error_categories() of what messages take: by the slowest transport among the links in use,
/// the library, and the size.
std::string category_of_messages(const step::NetworkUse& network, const CarriedMessages& carried);

/// Bytes that lie on the busiest link of a star at the same time, by how a collective of so many workers is carried
/// out.
double bytes_at_once(const step::NetworkUse::Collective& collective, double workers);

/// What of a run that was learned on one network holds for the one that is timed, as far as that can be seen in what
/// was recorded: fills in RunResult::is_lossy and RunResult::censored_layers.
/// - A compression is lossy if it left anything out while it learned: not where its limits lie beyond the network that
///   learned while they cut what is timed, nor where the steps show that nothing was ever left out, or that the run
///   learned to the bit what gradient sharing did. Without compression there is nothing that could.
/// - Layers whose ranks are censored: see step::extent::censored_rank().
void annotate_transfer(const scenario::Scenario& scenario, const Learned& learned, std::size_t run,
                       const TimedAs& timed, report::RunResult& result);

/// What can be known of a scenario before it learns, and its author should know: what its tables hold besides, and
/// compressions that the network that learns is too small for, where relative steps are asked for. Sentences.
std::vector<std::string> warnings_of(const scenario::Scenario& scenario);

}  // namespace dadsim::study
