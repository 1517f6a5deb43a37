#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string sizes_miss_target(const Statement& reason) {
  return fmt::format("it did not reach the target with {} parameters",
                     human_count(std::llround(reason.number("parameters"))));
}

std::string too_few_rungs(const Statement& reason) {
  const double rungs = reason.number("rungs");
  if (rungs >= reason.number("needed"))
    return fmt::format("the {:.0f} rungs that have relative steps do not differ enough in size", rungs);
  return fmt::format("{:.0f} rungs have relative steps, and {:.0f} are needed", rungs, reason.number("needed"));
}

constexpr const char* kSizeUnknown = "its size is not known: no steps are published for it at two batches";

std::string not_in_study(const Statement& reason) {
  if (reason.has("studied"))
    return fmt::format("the run of this label in the scale study '{}' has {}, and this one {}", reason.subject(),
                       reason.text("studied"), reason.text("here"));
  return fmt::format("the scale study '{}' has no run of this label", reason.subject());
}

std::string says_study(const Statement& reason) {
  return fmt::format("in the scale study '{}' {}", reason.subject(), in_words(reason.part()));
}

constexpr const char* kFamilyFollowed =
    "the workload follows the family: its other layers, data, optimizer and schedule are in no interval";

constexpr std::array kScaleStudies{
    StatementKind{"sizes-miss-target", "why a scale study says nothing of larger sizes: the largest missed the target",
                  sizes_miss_target},
    StatementKind{"too-few-rungs", "why a scale study has no fit", too_few_rungs},
    StatementKind{"size-unknown", "why it says nothing of a workload: how large it is, as the study counts, is unknown",
                  as_it_is<kSizeUnknown>},
    StatementKind{"not-in-study", "why relative steps are not had from a scale study: it has no such run",
                  not_in_study},
    StatementKind{"says-study", "the same: for a reason of its own, which is a part", says_study},
    StatementKind{"family-followed", "assumed of the workload of a scale study", as_it_is<kFamilyFollowed>},
};

}  // namespace

std::span<const StatementKind> of_scale_studies() { return kScaleStudies; }

}  // namespace dadsim::report::words
