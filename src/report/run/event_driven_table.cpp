#include "report/run/event_driven_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "report/run/causes.hpp"
#include "report/text/paragraph.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

std::string counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", human_count(count), count == 1 ? one : many);
}

/// Those of the parts that there are, with commas.
std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string participation_in_words(const step::Participation& participation) {
  const double share = participation.asked > 0 ? participation.share_used() : 0;
  std::vector<std::string> parts{
      fmt::format("{} ({}) went into the model", human_count(participation.answered), share_in_words(share))};
  if (participation.late > 0) parts.push_back(human_count(participation.late) + " came too late");
  if (participation.failed > 0) parts.push_back(human_count(participation.failed) + " never came");
  const std::int64_t open = participation.asked - participation.answered - participation.late - participation.failed;
  if (open > 0) parts.push_back(human_count(open) + " were under way at the end");
  return fmt::format("{}; clients began to take part {}: {}",
                     counted(participation.updates, "round or update", "rounds or updates"),
                     counted(participation.asked, "time", "times"), listed(parts));
}

std::string staleness_in_words(const step::Participation& participation) {
  return fmt::format(
      "staleness (updates of the model between what was read and what was written): mean {:.3g}, at most {}",
      participation.mean_staleness(), participation.staleness.rbegin()->first);
}

std::string failures_in_words(const EventDrivenResult& event_driven) {
  std::vector<std::string> parts;
  if (event_driven.outages() > 0)
    parts.push_back(counted(event_driven.outages(), "outage of a host", "outages of hosts"));
  if (event_driven.log.link_outages > 0)
    parts.push_back(counted(event_driven.log.link_outages, "outage of a link", "outages of links"));
  if (event_driven.participation.retried > 0)
    parts.push_back(counted(event_driven.participation.retried, "message sent again", "messages sent again"));
  if (event_driven.restored() > 0) {
    parts.push_back(fmt::format("{} from a checkpoint, for which {} of computing were done again",
                                counted(event_driven.restored(), "restart", "restarts"),
                                human_seconds(event_driven.lost_work())));
  }
  return listed(parts);
}

}  // namespace

std::string time_in_words(const EventDrivenResult& event_driven) {
  const double all = event_driven.busy_seconds() + event_driven.idle_seconds() + event_driven.down_seconds();
  if (!(all > 0)) return "no time passed";
  std::string text =
      fmt::format("workers compute {} of the time and wait {}", share_in_words(event_driven.busy_seconds() / all),
                  share_in_words(event_driven.idle_seconds() / all));
  if (event_driven.down_seconds() > 0)
    text += fmt::format(", {} down", share_in_words(event_driven.down_seconds() / all));
  if (event_driven.participation.asked > 0) {
    text += fmt::format("; {} of {} contributions used", share_in_words(event_driven.participation.share_used()),
                        human_count(event_driven.participation.asked));
  }
  if (!event_driven.participation.staleness.empty())
    text += fmt::format("; mean staleness {:.3g}", event_driven.participation.mean_staleness());
  return text;
}

Statement event_time_of(const RunResult& run) {
  const EventDrivenResult& event_driven = run.event_driven.value();
  const double all = event_driven.busy_seconds() + event_driven.idle_seconds() + event_driven.down_seconds();
  Statement statement{"event-time", {run.spec.label}};
  if (!(all > 0)) return statement;
  statement.with("computing", event_driven.busy_seconds() / all).with("waiting", event_driven.idle_seconds() / all);
  if (event_driven.down_seconds() > 0) statement.with("down", event_driven.down_seconds() / all);
  const auto& nodes = event_driven.log.nodes;
  const double framework = std::accumulate(nodes.begin(), nodes.end(), 0.0,
                                           [](double sum, const auto& node) { return sum + node.framework; });
  if (!(framework > 0)) return statement;
  double at_server = 0;
  for (std::size_t node = event_driven.workers; node < nodes.size(); ++node) at_server += nodes[node].framework;
  statement.with("framework", (framework - at_server) / all);
  if (nodes.size() > event_driven.workers) statement.with("framework_at_server", at_server / event_driven.log.seconds);
  return statement;
}

std::string time_sentence(const RunResult& run) { return in_words(event_time_of(run)); }

std::string event_driven_paragraphs(const RunResult& run) {
  const EventDrivenResult& event_driven = run.event_driven.value();
  const std::string& label = run.spec.label;
  std::string text = paragraph(fmt::format("{}: {}.", label, participation_in_words(event_driven.participation)));
  if (!event_driven.participation.staleness.empty())
    text += paragraph(fmt::format("{}: {}.", label, staleness_in_words(event_driven.participation)));
  if (event_driven.wasted_seconds() > 0 || event_driven.wasted_bytes() > 0) {
    text +=
        paragraph(fmt::format("{}: wasted, since it went into no model: {} of computing and {} sent.", label,
                              human_seconds(event_driven.wasted_seconds()), human_bytes(event_driven.wasted_bytes())));
  }
  if (const std::string failures = failures_in_words(event_driven); !failures.empty()) {
    text += paragraph(fmt::format("{}: survived {}.", label, failures));
  }
  if (!event_driven.participation.facts.empty()) {
    std::vector<std::string> facts;
    for (const auto& [name, value] : event_driven.participation.facts)
      facts.push_back(fmt::format("{} {:.6g}", name, value));
    text += paragraph(fmt::format("{}: {}.", label, listed(facts)));
  }
  if (event_driven.learned + event_driven.found > 0) {
    text += paragraph(fmt::format("{}: learned in {}; {} found, since another run had needed the same.", label,
                                  counted(event_driven.learned, "operation", "operations"),
                                  human_count(event_driven.found)));
  }
  return text;
}

}  // namespace dadsim::report
