#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "report/text/path_name.hpp"
#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string target_never_reached(const Statement& answer) {
  return fmt::format(
      "The target is never reached: {} came nearest with {}{}. Learning decides that, so nothing was timed: no line "
      "and no device helps; longer training, another optimizer or a lower target may.",
      answer.subject(), human_percent(answer.number("best_accuracy")),
      answer.has("seeds")
          ? fmt::format(" ({:.0f} of {:.0f} seeds miss it)", answer.number("seeds_missed"), answer.number("seeds"))
          : "");
}

/// `answer`: its parts are the results, if the target is reached, and the standing against the goal.
std::string out_of_reach(const Statement& answer) {
  std::string text = fmt::format("{}: the nearest is {} with {}",
                                 answer.is("open") ? "Whether the goal is met cannot be said" : "Out of reach",
                                 answer.subject(), assignments_in_words(answer.texts("changes")));
  if (answer.parts.size() > 1) text += ": " + in_words(answer.part());
  return fmt::format("{}, which {}{}.", text, answer.is("open") ? "as expected " : "", in_words(answer.parts.back()));
}

std::string front_answer(const Statement& choice) {
  return fmt::format("{} with {}: {}", choice.subject(), assignments_in_words(choice.texts("changes")),
                     in_words(choice.part()));
}

std::string plan_tied(const Statement& answer) {
  constexpr std::size_t kMostTied = 3;
  std::string text = "Not told apart from it: ";
  for (std::size_t i = 0; i < std::min(answer.parts.size(), kMostTied); ++i)
    text += (i == 0 ? "" : "; ") + in_words(answer.parts[i]);
  if (answer.parts.size() > kMostTied) text += fmt::format("; and {} more", answer.parts.size() - kMostTied);
  return text + (answer.has("by") ? fmt::format(". It is the {} one.", answer.text("by")) : ".");
}

std::string plan_sure(const Statement& answer) {
  return fmt::format("All of its band meets the goal: {}.", in_words(answer.part()));
}

std::string plan_front(const Statement& answer) {
  constexpr std::size_t kMostOfFront = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(answer.parts.size(), kMostOfFront); ++i)
    text += (i == 0 ? "" : "; ") + in_words(answer.parts[i]);
  if (answer.parts.size() > kMostOfFront) text += fmt::format("; and {} more", answer.parts.size() - kMostOfFront);
  return fmt::format("The front of {} against {}, which nothing beats in both: {}.", answer.text("objective"),
                     answer.text("against"), text);
}

std::string plan_batches(const Statement& assumption) {
  const std::string batches = fmt::format("The choices have {:.0f} to {:.0f} samples of all workers in a step",
                                          assumption.number("least_batch"), assumption.number("most_batch"));
  return assumption.is("steps")
             ? batches +
                   ": as many steps are taken to be enough with each (samples or tokens of <timed-as> would be a "
                   "budget that does not grow with the batch)."
             : batches +
                   ": what is learned from a sample is taken to be the same with each, as it nearly is far below "
                   "the critical batch.";
}

/// `answer`: its parts are the uncertainty from seeds and the results.
std::string needs_about(const Statement& answer) {
  const std::string& value = answer.text("value");
  return fmt::format("{} needs about {} ({}): {}. As simulated {} is the least that is enough{}: {}.", answer.subject(),
                     rounded_in_words(value), path_in_words(answer.text("path")), in_words(answer.part(0)), value,
                     answer.is("chosen") ? fmt::format(" ({})", assignments_in_words(answer.texts("changes"))) : "",
                     in_words(answer.part(1)));
}

/// `answer`: its parts are the results, and the standing of its neighbour against the goal.
std::string enough(const Statement& answer) {
  std::string text =
      fmt::format("{} with {} {} the goal: {}", answer.subject(), assignments_in_words(answer.texts("changes")),
                  answer.text("standing") == "met" ? "meets" : "likely meets", in_words(answer.part()));
  if (answer.parts.size() > 1)
    text += fmt::format("; {}, {} is enough", in_words(answer.part(1)), answer.text("value"));
  return text + '.';
}

std::string seeds_leave(const Statement& answer) {
  return fmt::format("Seeds leave it at {}.", in_words(answer.part()));
}

std::string seeds_would_tell(const Statement& answer) {
  return answer.is("assumed") ? "<training seeds=\"5\"> measures the scatter."
                              : "The scatter of seeds is not measured (<training seeds=\"5\"> measures it).";
}

std::string missed_beyond(const Statement& answer) {
  return fmt::format("Beyond {} {}.", answer.text("value"), in_words(answer.part()));
}

constexpr std::array kPlans{
    StatementKind{"target-never-reached", "what a plan answers: learning never reaches the target",
                  target_never_reached},
    StatementKind{"out-of-reach", "the same: no choice meets the goal", out_of_reach},
    StatementKind{"plan-tied", "the same: choices that are not told apart from the answer", plan_tied},
    StatementKind{"plan-sure", "the same: the answer is likely, and another choice meets the goal for sure", plan_sure},
    StatementKind{"plan-front", "the same: what nothing beats in both of two objectives", plan_front},
    StatementKind{"front-answer", "a part of that: one of them, with what it takes", front_answer},
    StatementKind{"plan-batches", "what a plan takes for granted of batches that differ", plan_batches},
    StatementKind{"needs-about", "the same: the number that is enough, where seeds leave a range of them", needs_about},
    StatementKind{"enough", "the same: what is enough", enough},
    StatementKind{"seeds-leave", "the same: what seeds leave open, where that is one number, or no end", seeds_leave},
    StatementKind{"seeds-would-tell", "the same: one seed was learned", seeds_would_tell},
    StatementKind{"missed-beyond", "the same: the goal is missed again beyond the answer", missed_beyond},
};

}  // namespace

std::span<const StatementKind> of_plans() { return kPlans; }

}  // namespace dadsim::report::words
