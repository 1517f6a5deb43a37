#include <fmt/format.h>

#include <algorithm>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMostShifts = 100;

/// Returns the kind for names of corruptions, without "none", which is always evaluated.
Kind corruptions() {
  std::vector<std::string> names = spec::all_names<spec::Corruption>();
  names.erase(names.begin());
  Kind kind = one_of(std::move(names));
  kind.form = "a corruption of the values, e.g. gain-offset";
  return kind;
}

/// Sorts the numbers and reports repeated ones.
template <class Compare>
void sort(const Node& node, const char* attribute, std::vector<std::int64_t>& numbers, Compare before) {
  std::ranges::sort(numbers, before);
  if (std::ranges::adjacent_find(numbers) != numbers.end()) node.fail_at(attribute, "names one twice", "each once");
}

const Table<spec::EvaluationSpec::SiteShift>& site_shift_table() {
  using Spec = spec::EvaluationSpec::SiteShift;
  static const Table<Spec> kTable =
      Table<Spec>("site-shift", "A corruption of the held-back data of every site.",
                  {attribute("corruption", &Spec::corruption, corruptions()).must(),
                   attribute("severity", &Spec::severities, integers(1, spec::kMaxSeverity))})
          .check([](const Node& node, const ReadContext&, Spec& shift) {
            sort(node, "severity", shift.severities, std::less<>());
          })
          .repeats();
  return kTable;
}

}  // namespace

const Table<spec::EvaluationSpec>& evaluation_table() {
  using Spec = spec::EvaluationSpec;
  static const Table<Spec> kTable =
      Table<Spec>("evaluation",
                  "Evaluates the last model of every event-driven run on shifted held-back data, with corrections that "
                  "need no training.",
                  {attribute("batch", &Spec::batches, integers(1, 1'000'000)),
                   attribute("quantiles", &Spec::quantiles, integer(2, 10'000)),
                   attribute("label-alpha", &Spec::label_alpha, real({.minimum = 0.001, .maximum = 1e6}))
                       .if_given()
                       .if_left_out("not tried")})
          .with(site_shift_table(), &Spec::shifts, kMostShifts)
          .check([](const Node& node, const ReadContext&, Spec& evaluation) {
            sort(node, "batch", evaluation.batches, std::greater<>());
          });
  return kTable;
}

spec::EvaluationSpec read_evaluation(const Element& element, const DataFindings& data,
                                     const std::vector<spec::RunSpec>& runs, const ReadContext& context) {
  const Node node(element, context.findings);
  if (!runs.empty() && std::ranges::none_of(runs, &spec::RunSpec::event_driven)) {
    node.fail(not_built(fmt::format("<evaluation> needs an event-driven run: runs such as {} keep no last model",
                                    runs.front().algorithm),
                        "add an event-driven run, e.g. fedavg, or remove <evaluation>"));
  }
  if (data.shape.vocabulary > 0) {
    node.fail("<evaluation> needs numeric data, but the data are symbols", "use numeric data, or remove <evaluation>");
  }
  spec::EvaluationSpec evaluation;
  evaluation_table().read(node, context, evaluation);
  if (node.has("label-alpha") && data.labels_per_sample > 1) {
    node.fail_at("label-alpha",
                 fmt::format("needs samples of one class, but each sample has {} labels", data.labels_per_sample),
                 "remove it, and keep <site-shift>");
  }
  const std::vector<const Element*> shifts = node.children("site-shift");
  for (std::size_t i = 0; i < evaluation.shifts.size(); ++i)
    check_picture(Node(*shifts[i], context.findings), evaluation.shifts[i].corruption, data);
  return evaluation;
}

void check_picture(const Node& node, spec::Corruption corruption, const DataFindings& data) {
  if (!needs_picture(corruption) || data.shape.size() == 0 || (data.shape.height > 1 && data.shape.width > 1)) return;
  node.fail_at("corruption", "needs images, but the samples are not images",
               "use noise, gain-offset, clip, gamma or exponential");
}

std::vector<ElementRule> evaluation_rules() { return {evaluation_table().rule(), site_shift_table().rule()}; }

}  // namespace dadsim::scenario
