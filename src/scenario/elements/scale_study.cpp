#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/elements/read_axes.hpp"

namespace dadsim::scenario {
namespace {

using spec::SizeKind;

void read_against(const Node& node, const ReadContext&, spec::ScaleStudySpec& study) {
  std::vector<SizeKind> kinds;
  for (const std::string& word : values_of(node.text("against", ""))) {
    const std::optional<SizeKind> kind = spec::parse<SizeKind>(word);
    if (!kind || std::ranges::find(kinds, *kind) != kinds.end()) {
      node.fail_at("against", "is not a list of kinds of size",
                   fmt::format("use one or several of {}, each once", fmt::join(spec::all_names<SizeKind>(), ", ")));
      return;
    }
    kinds.push_back(*kind);
  }
  if (kinds.empty()) {
    node.fail_at("against", "is empty",
                 fmt::format("use one or several of {}", fmt::join(spec::all_names<SizeKind>(), ", ")));
  } else {
    study.against = std::move(kinds);
  }
}

std::string against_text(const spec::ScaleStudySpec& study, const PathText&) {
  std::vector<std::string_view> names;
  for (const SizeKind kind : study.against) names.push_back(to_string(kind));
  return fmt::format("{}", fmt::join(names, " "));
}

const Table<spec::ScaleStudySpec>& scale_study_table() {
  using Spec = spec::ScaleStudySpec;
  static const Table<Spec> kTable =
      Table<Spec>("scale-study",
                  "A family of networks that `dadsim scale-study` learns, to measure how relative steps change with "
                  "size. The elements vary and linked have the same meaning as in sweep.",
                  {by_code<Spec>(attribute("against", text()), read_against, against_text).if_left_out("`parameters`"),
                   attribute("level", &Spec::level, real({.minimum = 0.5, .maximum = 0.999})),
                   attribute("hold-out", &Spec::hold_out, integer(0, 100))})
          .holds({"vary", "linked"});
  return kTable;
}

/// Checks that the study has enough points for its fit.
void check_study(const Node& node, const spec::ScaleStudySpec& study, const Scenario& scenario) {
  const std::int64_t needed = static_cast<std::int64_t>(study.against.size()) + 2;
  const std::int64_t fitted = count_points(study.rungs) - study.hold_out;
  if (fitted < needed) {
    node.fail(fmt::format("<scale-study> has {} rungs, but at most {} remain for the fit", count_points(study.rungs),
                          std::max<std::int64_t>(0, fitted)),
              fmt::format("use at least {} rungs besides the held-out rungs: two more than kinds of size", needed));
  }
  if (scenario.training.seeds < 2) {
    node.fail("<scale-study> needs several seeds to measure chance, not seeds=\"1\" of <training>",
              "set seeds=\"3\" of <training>, or more");
  }
  const bool of_batch = std::ranges::any_of(study.rungs.axes, [](const spec::SweepAxis& axis) {
    return axis.size() == 1 && axis.front().path == "training.batch";
  });
  if (std::ranges::find(study.against, SizeKind::batch_per_critical) != study.against.end() && !of_batch) {
    node.fail_at("against", "needs several batches at each size to measure the critical batch",
                 "add <vary path=\"training.batch\" values=\"…\"/> outside <linked>");
  }
}

}  // namespace

spec::ScaleStudySpec read_scale_study(const Element& element, const Scenario& scenario, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::ScaleStudySpec study;
  const std::size_t before = context.findings.added();
  scale_study_table().read(node, context, study);
  read_axes(node, study.rungs, context);
  if (context.findings.added() == before) check_study(node, study, scenario);
  return study;
}

void write_scale_study(XmlWriter& xml, const spec::ScaleStudySpec& study) {
  XmlWriter::Open element(xml, "scale-study");
  scale_study_table().print_attributes(element, study, {});
  write_axes(xml, study.rungs);
}

std::vector<ElementRule> scale_study_rules() { return {scale_study_table().rule()}; }

}  // namespace dadsim::scenario
