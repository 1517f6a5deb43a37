#include "report/run/played_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
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

std::string failures_in_words(const PlayedResult& played) {
  std::vector<std::string> parts;
  if (played.outages() > 0) parts.push_back(counted(played.outages(), "outage of a host", "outages of hosts"));
  if (played.log.link_outages > 0)
    parts.push_back(counted(played.log.link_outages, "outage of a link", "outages of links"));
  if (played.participation.retried > 0)
    parts.push_back(counted(played.participation.retried, "message sent again", "messages sent again"));
  if (played.restored() > 0) {
    parts.push_back(fmt::format("{} from a checkpoint, for which {} of computing were done again",
                                counted(played.restored(), "restart", "restarts"), human_seconds(played.lost_work())));
  }
  return listed(parts);
}

}  // namespace

std::string time_in_words(const PlayedResult& played) {
  const double all = played.busy_seconds() + played.idle_seconds() + played.down_seconds();
  if (!(all > 0)) return "no time passed";
  std::string text =
      fmt::format("workers compute {} of the time and wait {}", share_in_words(played.busy_seconds() / all),
                  share_in_words(played.idle_seconds() / all));
  if (played.down_seconds() > 0) text += fmt::format(", {} down", share_in_words(played.down_seconds() / all));
  if (played.participation.asked > 0) {
    text += fmt::format("; {} of {} contributions used", share_in_words(played.participation.share_used()),
                        human_count(played.participation.asked));
  }
  if (!played.participation.staleness.empty())
    text += fmt::format("; mean staleness {:.3g}", played.participation.mean_staleness());
  return text;
}

std::string time_sentence(const RunResult& run) {
  const PlayedResult& played = run.played.value();
  const double all = played.busy_seconds() + played.idle_seconds() + played.down_seconds();
  if (!(all > 0)) return run.spec.label + ": no time passed.";
  std::string text = fmt::format(
      "{}: of its workers' time {} went into computing, {} into waiting for the network or for others", run.spec.label,
      share_in_words(played.busy_seconds() / all), share_in_words(played.idle_seconds() / all));
  if (played.down_seconds() > 0)
    text += fmt::format(", {} they were down", share_in_words(played.down_seconds() / all));
  return text + ".";
}

std::string played_paragraphs(const RunResult& run) {
  const PlayedResult& played = run.played.value();
  const std::string& label = run.spec.label;
  std::string text = paragraph(fmt::format("{}: {}.", label, participation_in_words(played.participation)));
  if (!played.participation.staleness.empty())
    text += paragraph(fmt::format("{}: {}.", label, staleness_in_words(played.participation)));
  if (played.wasted_seconds() > 0 || played.wasted_bytes() > 0) {
    text += paragraph(fmt::format("{}: wasted, since it went into no model: {} of computing and {} sent.", label,
                                  human_seconds(played.wasted_seconds()), human_bytes(played.wasted_bytes())));
  }
  if (const std::string failures = failures_in_words(played); !failures.empty()) {
    text += paragraph(fmt::format("{}: survived {}.", label, failures));
  }
  if (!played.participation.facts.empty()) {
    std::vector<std::string> facts;
    for (const auto& [name, value] : played.participation.facts) facts.push_back(fmt::format("{} {:.6g}", name, value));
    text += paragraph(fmt::format("{}: {}.", label, listed(facts)));
  }
  if (played.learned + played.found > 0) {
    text += paragraph(fmt::format("{}: learned in {}; {} found, since another run had needed the same.", label,
                                  counted(played.learned, "operation", "operations"), human_count(played.found)));
  }
  return text;
}

}  // namespace dadsim::report
