#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <vector>

#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string flow_by_budget(const Statement& note) {
  return fmt::format("by flow: {:.3g} messages are more than the budget", note.number("messages"));
}

std::string flow_by_effort(const Statement& note) {
  return fmt::format("by flow: {:.3g} messages would take about {:.2g} s to simulate one by one",
                     note.number("messages"), note.number("seconds"));
}

std::string flow_by_size(const Statement& note) { return "by flow: " + note.text("fault"); }
std::string not_by_flow(const Statement& note) { return "not by flow: " + note.text("fault"); }

std::string late_ranks_by_flow(const Statement& note) {
  return fmt::format(
      "collectives that ranks come to late, or that go on beside others, do not share links to the letter: steps may "
      "be "
      "wrong by {:.1f} %",
      100 * note.number("share"));
}

std::string changes_by_flow(const Statement& note) {
  return fmt::format(
      "a step during which links change has its share of the network before and after: steps may be wrong by {:.1f} %",
      100 * note.number("share"));
}

constexpr const char* kEveryStepSimulated =
    "every step simulated: the network or the speed of computing changes over time, or others use it";

std::string compared_by_flow(const Statement& note) {
  std::vector<std::string> times;
  for (std::size_t i = 0; i < note.subjects.size(); ++i)
    times.push_back(fmt::format("{} {:.4g} s", note.subjects[i], note.numbers("seconds").at(i)));
  std::string text = fmt::format("by flow {}", fmt::join(times, ", "));
  if (const double slower = note.number("slower"); slower > 0)
    text += fmt::format("; {:.0f} more are slower by their closed forms", slower);
  if (note.has("too_large"))
    text += fmt::format("; too many messages to compare: {}", fmt::join(note.texts("too_large"), ", "));
  return text;
}

constexpr const char* kNoneCompared = "the choice of auto: all have too many messages to compare them";

std::string quicker_in_library(const Statement& note) {
  constexpr double kMicro = 1e6;
  const std::string& protocol = note.text("protocol");
  return fmt::format("{}{} takes {:.4g} µs, {:.0f} % less than what the library chooses by its own formulas; set {}",
                     note.subject(), protocol.empty() ? "" : " " + protocol, kMicro * note.number("seconds"),
                     100 * note.number("saving"), note.text("setting"));
}

constexpr const char* kNetworkChanges = "the network changes over time, or others use it: no step is like another";
constexpr const char* kEventRunsAlone =
    "its runs are event-driven: what they learn depends on the cluster, and is simulated anew on another";

std::string step_too_long(const Statement& reason) {
  return fmt::format("a step of each run is {} {}, and several hundred of them would take too long",
                     human_count(static_cast<std::int64_t>(reason.number("count"))), reason.text("of"));
}

std::string not_fitted(const Statement& reason) {
  return "the times of other clusters could not be fitted: " + reason.text("fault");
}

constexpr std::array kSimulations{
    StatementKind{"flow-by-budget", "why a network is simulated by flow: more messages than the budget",
                  flow_by_budget},
    StatementKind{"flow-by-effort", "the same: messages would take long", flow_by_effort},
    StatementKind{"flow-by-size", "the same: messages would be too many", flow_by_size},
    StatementKind{"not-by-flow", "why it is simulated by message, where flow was asked for", not_by_flow},
    StatementKind{"late-ranks-by-flow",
                  "by how much steps by flow may be wrong, as ranks come apart or collectives share links",
                  late_ranks_by_flow},
    StatementKind{"changes-by-flow", "by how much steps by flow may be wrong, as links change during them",
                  changes_by_flow},
    StatementKind{"every-step-simulated", "why no sample of the steps was simulated", as_it_is<kEveryStepSimulated>},
    StatementKind{"compared-by-flow", "with what the quickest collective was compared", compared_by_flow},
    StatementKind{"none-compared", "collectives are too large to be compared", as_it_is<kNoneCompared>},
    StatementKind{"quicker-in-library", "an algorithm of the library is quicker than the one that it takes",
                  quicker_in_library},
    StatementKind{"network-changes", "why a page has no sliders: no step is like another", as_it_is<kNetworkChanges>},
    StatementKind{"event-runs-alone", "the same: all runs are event-driven", as_it_is<kEventRunsAlone>},
    StatementKind{"step-too-long", "the same: to simulate a step takes long", step_too_long},
    StatementKind{"not-fitted", "the same: a simulation or the fit failed", not_fitted},
};

}  // namespace

std::span<const StatementKind> of_simulations() { return kSimulations; }

}  // namespace dadsim::report::words
