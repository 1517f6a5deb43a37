#include <fmt/format.h>

#include <algorithm>

#include "scenario/quantity.hpp"
#include "scenario/read.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMostShifts = 100;
constexpr std::int64_t kMostTestBatch = 1'000'000;
constexpr std::int64_t kMostQuantiles = 10'000;

spec::EvaluationSpec::SiteShift read_site_shift(const Element& element, const DataFindings& data,
                                                const ReadContext& context) {
  const Node node(element, context.findings);
  spec::EvaluationSpec::SiteShift shift;
  // "none" is tried in any case, and stands for nothing here.
  std::vector<std::string> corruptions = spec::all_names<spec::Corruption>();
  corruptions.erase(corruptions.begin());
  if (node.required_text("corruption", "what becomes of the values, e.g. gain-offset")) {
    shift.corruption = spec::parse<spec::Corruption>(corruptions.at(node.choice("corruption", corruptions, 0))).value();
    if (needs_picture(shift.corruption) && data.shape.size() > 0 && (data.shape.height < 2 || data.shape.width < 2)) {
      node.fail_at("corruption", "is of samples that are no pictures",
                   "noise, gain-offset, clip, gamma or exponential");
    }
  }
  if (node.has("severity")) {
    shift.severities = node.integers("severity", 1, spec::kMaxSeverity);
    std::ranges::sort(shift.severities);
    if (std::ranges::adjacent_find(shift.severities) != shift.severities.end()) {
      node.fail_at("severity", "says one twice", "each once");
    }
  }
  return shift;
}

}  // namespace

spec::EvaluationSpec read_evaluation(const Element& element, const DataFindings& data,
                                     const std::vector<spec::RunSpec>& runs, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::EvaluationSpec evaluation;
  if (!runs.empty() && std::ranges::none_of(runs, &spec::RunSpec::event_driven)) {
    node.fail(fmt::format("<evaluation> beside runs that all are learned before they are timed ({}): their last "
                          "model is not kept",
                          runs.front().algorithm),
              "an event-driven run, e.g. fedavg, or no <evaluation>");
  }
  if (data.shape.vocabulary > 0) {
    node.fail("<evaluation> of data that are symbols, whose values have no quantiles",
              "data that are numbers, or no <evaluation>");
  }
  if (node.has("batch")) {
    evaluation.batches = node.integers("batch", 1, kMostTestBatch);
    std::ranges::sort(evaluation.batches, std::greater<>());
    if (std::ranges::adjacent_find(evaluation.batches) != evaluation.batches.end()) {
      node.fail_at("batch", "says one twice", "each once");
    }
  }
  evaluation.quantiles = node.integer("quantiles", 2, kMostQuantiles, evaluation.quantiles);
  if (node.has("label-alpha")) {
    evaluation.label_alpha = node.real("label-alpha", {.minimum = 1e-3, .maximum = 1e6}, 1);
    if (data.labels_per_sample > 1) {
      node.fail_at("label-alpha",
                   fmt::format("needs samples of one class; these have {} labels each", data.labels_per_sample),
                   "only <site-shift>");
    }
  }
  for (const Element* shift : node.children("site-shift")) {
    if (evaluation.shifts.size() == kMostShifts) {
      node.fail(fmt::format("more than {} <site-shift>", kMostShifts), "fewer");
      break;
    }
    evaluation.shifts.push_back(read_site_shift(*shift, data, context));
  }
  return evaluation;
}

}  // namespace dadsim::scenario
