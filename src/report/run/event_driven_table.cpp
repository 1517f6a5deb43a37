#include "report/run/event_driven_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/text/paragraph.hpp"
#include "report/words/phrases.hpp"
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

/// Seconds in which the framework packed, unpacked or summed: at workers, and at the server.
struct Framework {
  double clients = 0, server = 0;
};
Framework framework_of(const EventDrivenResult& event_driven) {
  Framework framework;
  for (std::size_t node = 0; node < event_driven.log.nodes.size(); ++node)
    (node < event_driven.workers ? framework.clients : framework.server) += event_driven.log.nodes[node].framework;
  return framework;
}

Statement rounds_of(const RunResult& run, const std::string& currency) {
  const EventDrivenResult& event_driven = run.event_driven.value();
  const auto rounds = static_cast<double>(run.steps);
  Statement statement{"rounds", {run.spec.label}};
  const bool asynchronous = !event_driven.participation.staleness.empty();
  statement.with("asynchronous", asynchronous).with("per_hour", event_driven.rounds_per_hour());
  statement.with("seconds", run.step_seconds);
  if (const auto factors = run.factors())
    statement.with("seconds_low", run.step_seconds * factors->low)
        .with("seconds_high", run.step_seconds * factors->high);
  const Framework framework = framework_of(event_driven);
  const double of_clients = framework.clients / rounds / event_driven.taking_part();
  double of_server = framework.server;
  for (std::size_t node = event_driven.workers; node < event_driven.log.nodes.size(); ++node)
    of_server += event_driven.log.nodes[node].busy;
  of_server = asynchronous ? 0 : std::min(of_server / rounds, run.exposed_seconds);  // else beside what clients do
  statement.with("computing", run.compute_seconds);
  if (of_clients > 0) statement.with("framework", of_clients);
  if (of_server > 0) statement.with("server", of_server);
  statement.with("waiting", std::max(0.0, run.exposed_seconds - of_clients - of_server));
  statement.with("bytes_up", run.bytes_up_per_worker).with("bytes_down", run.bytes_down_per_worker);
  statement.with("taking_part", event_driven.taking_part()).with("workers", static_cast<double>(event_driven.workers));
  if (!run.costs || currency.empty()) return statement;
  const Costs& costs = run.costs->per_step;
  statement.with("currency", currency);
  if (costs.money) statement.with("money", *costs.money);
  if (costs.joules) statement.with("joules", *costs.joules);
  if (costs.carbon) statement.with("grams_co2e", *costs.carbon);
  return statement;
}

}  // namespace

Statement event_time_of(const RunResult& run) {
  const EventDrivenResult& event_driven = run.event_driven.value();
  const auto workers = static_cast<double>(event_driven.workers);
  const double taking_part = event_driven.taking_part();
  const double all = taking_part * event_driven.log.seconds;
  Statement statement{"event-time", {run.spec.label}};
  if (!(all > 0)) return statement;
  const double down = event_driven.down_seconds();
  const bool some = taking_part < workers;  // who is down then has often not been asked
  statement.with("computing", event_driven.busy_seconds() / all);
  statement.with("waiting", (all - event_driven.busy_seconds() - (some ? 0 : down)) / all);
  if (some) statement.with("taking_part", taking_part).with("workers", workers);
  if (down > 0) statement.with("down", down / (workers * event_driven.log.seconds));
  const Framework framework = framework_of(event_driven);
  if (!(framework.clients + framework.server > 0)) return statement;
  statement.with("framework", framework.clients / all);
  if (event_driven.log.nodes.size() > event_driven.workers)
    statement.with("framework_at_server", framework.server / event_driven.log.seconds);
  return statement;
}

void say_rounds(const Result& result, std::vector<Statement>& statements) {
  constexpr std::size_t kMostSaid = 4;  // the table has all
  for (const RunResult& run : result.runs) {
    if (run.event_driven && run.steps > 0 && statements.size() < kMostSaid)
      statements.push_back(rounds_of(run, result.currency));
  }
}

std::string time_in_words(const RunResult& run) {
  const EventDrivenResult& event_driven = run.event_driven.value();
  const Statement time = event_time_of(run);
  if (!time.has("computing")) return "no time passed";
  std::string text = fmt::format("{} compute {} of the time and wait {}", words::those_at_work(time),
                                 share_in_words(time.number("computing")), share_in_words(time.number("waiting")));
  if (time.has("down")) text += fmt::format(", {} down", share_in_words(time.number("down")));
  if (event_driven.participation.asked > 0) {
    text += fmt::format("; {} of {} contributions used", share_in_words(event_driven.participation.share_used()),
                        human_count(event_driven.participation.asked));
  }
  if (!event_driven.participation.staleness.empty())
    text += fmt::format("; mean staleness {:.3g}", event_driven.participation.mean_staleness());
  return text;
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
