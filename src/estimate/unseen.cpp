#include "estimate/unseen.hpp"

#include <algorithm>

#include "estimate/seen_steps.csv.hpp"
#include "support/fact_table.hpp"
#include "support/split.hpp"

namespace dadsim::estimate {

std::span<const SeenSteps> seen_steps() {
  static const std::vector<SeenSteps> kSteps = [] {
    const FactTable table(tables::kSeenSteps, {"steps", "precisions", "parallelism", "devices", "date", "source"});
    return table.each([](const FactTable::Row& row) {
      const std::vector<std::string> steps = words_of(row.text("steps"));
      return SeenSteps{steps.at(0), steps.at(1), words_of(row.text("precisions")),
                       words_of(row.optional_text("parallelism")), row.number("devices")};
    });
  }();
  return kSteps;
}

std::vector<std::string> unseen_in(const StepSetting& step, std::span<const SeenSteps> seen) {
  bool device = false;
  std::vector<const SeenSteps*> alike;
  for (const SeenSteps& one : seen) {
    device = device || one.device == step.device;
    if (one.device == step.device && one.program == step.program) alike.push_back(&one);
  }
  if (!device) return {"unseen.device"};
  if (alike.empty()) return {"unseen.software"};
  const auto any = [&](auto&& has) {
    return std::ranges::any_of(alike, [&](const SeenSteps* one) { return has(*one); });
  };
  const auto lists = [](const std::vector<std::string>& list, const std::string& word) {
    return std::ranges::find(list, word) != list.end();
  };
  std::vector<std::string> unseen;
  const auto divided = [&](const std::string& kind) {
    return any([&](const SeenSteps& one) { return lists(one.parallelism, kind); });
  };
  if (!std::ranges::all_of(step.parallelism, divided)) unseen.emplace_back("unseen.parallelism");
  if (!any([&](const SeenSteps& one) { return lists(one.precisions, step.precision); }))
    unseen.emplace_back("unseen.precision");
  if (!any([&](const SeenSteps& one) { return one.devices >= step.devices; })) unseen.emplace_back("unseen.size");
  return unseen;
}

}  // namespace dadsim::estimate
