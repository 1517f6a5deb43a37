#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string step_parts(const Statement& statement) {
  const std::vector<std::string>& kinds = statement.texts("causes");
  std::string text;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    text += fmt::format("{}{}{} {}", i == 0 ? "Of its step " : ", ", share_in_words(statement.numbers("shares").at(i)),
                        i == 0 ? " is" : "", cause_in_words(kinds[i]));
  }
  return text + '.';
}

std::string event_time(const Statement& statement) {
  if (!statement.has("computing")) return statement.subject() + ": no time passed.";
  std::string text = fmt::format(
      "{}: of {} {} went into computing, {} into waiting for the network or for others", statement.subject(),
      statement.has("taking_part") ? "the time of " + those_at_work(statement) : "its workers' time",
      share_in_words(statement.number("computing")), share_in_words(statement.number("waiting")));
  if (statement.has("down")) text += fmt::format(", {} they were down", share_in_words(statement.number("down")));
  if (statement.has("framework"))
    text +=
        fmt::format("; the framework packed or unpacked at them for {}", share_in_words(statement.number("framework")));
  if (statement.has("framework_at_server")) {
    text += fmt::format(" and was busy at the server for {}",
                        share_in_words(std::min(1.0, statement.number("framework_at_server"))));
  }
  return text + '.';
}

std::string no_step(const Statement& /*statement*/) { return "takes no step: the target was met before training"; }

std::string most_helpful(const Statement& statement) {
  return fmt::format("What helps most is {}: {:.0f} % of {} saved{}{}.", in_words(statement.part()),
                     100 * statement.number("saving"), statement.is("to_target") ? "the time to the target" : "a step",
                     statement.parts.size() > 1 ? "; " : "",
                     statement.parts.size() > 1 ? in_words(statement.parts[1]) : std::string());
}

constexpr const char* kNothingHelps = "Nothing that was tried saves a hundredth of its time.";

std::string sampled_changes(const Statement& note) {
  std::string runs;
  for (std::size_t i = 0; i < note.subjects.size(); ++i) {
    runs += fmt::format("{}{} ({:.0f} of {:.0f})", i == 0 ? "" : ", ", note.subjects[i], note.number("steps"),
                        note.numbers("of").at(i));
  }
  return fmt::format(
      "What-ifs are timed on a sample of the steps that differ: {}; network timed-steps=\"1000000\" times all.", runs);
}

std::string untried_change(const Statement& note) {
  return fmt::format("Not tried: {} ({}).", in_words(note.part()), note.text("fault"));
}

std::string links_left_out(const Statement& note) {
  return fmt::format("{} less busy links were changed only together with others.",
                     human_count(static_cast<std::int64_t>(note.number("links"))));
}

constexpr const char* kChangesAreSimulated =
    "Every change is a simulation of its own: what was learned is timed again with one thing changed and all else as "
    "it is; nothing is learned again.";
constexpr const char* kEventsAreSimulatedAgain =
    "Event-driven runs are the exception: they are simulated again, and learned again as far as the order of events is "
    "another; a step is an update of the model.";
constexpr const char* kLearnedUntilTarget =
    "Runs are learned until they reach the target, those that are equal up to rounding as one; steps are means until "
    "then.";

std::string first_seed_explained(const Statement& note) {
  return fmt::format("The first of {:.0f} seeds is explained; the others take other numbers of steps, each as long.",
                     note.number("seeds"));
}

constexpr std::array kExplanations{
    StatementKind{"step-parts", "what the step of an explained run went into", step_parts},
    StatementKind{"event-time", "what the time of an event-driven run's workers went into", event_time},
    StatementKind{"no-step", "an explained run reached the target before training", no_step},
    StatementKind{"most-helpful", "what would help an explained run most: the change is a part of it", most_helpful},
    StatementKind{"nothing-helps", "no change helps an explained run", as_it_is<kNothingHelps>},
    StatementKind{"sampled-changes", "changes were timed on a sample of the steps", sampled_changes},
    StatementKind{"untried-change", "a change could not be timed: it is a part of the note", untried_change},
    StatementKind{"links-left-out", "links were not changed one by one", links_left_out},
    StatementKind{"changes-are-simulated", "of every explanation", as_it_is<kChangesAreSimulated>},
    StatementKind{"events-are-simulated-again", "an explained run is event-driven", as_it_is<kEventsAreSimulatedAgain>},
    StatementKind{"learned-until-target", "less was learned than the scenario asks for", as_it_is<kLearnedUntilTarget>},
    StatementKind{"first-seed-explained", "the scenario asks for several seeds", first_seed_explained},
};

}  // namespace

std::span<const StatementKind> of_explanations() { return kExplanations; }

}  // namespace dadsim::report::words
