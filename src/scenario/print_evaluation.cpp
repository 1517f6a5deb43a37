#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenario/print_parts.hpp"

namespace dadsim::scenario {

void write_evaluation(XmlWriter& xml, const spec::EvaluationSpec& evaluation) {
  XmlWriter::Open element(xml, "evaluation");
  element.set("batch", fmt::format("{}", fmt::join(evaluation.batches, " "))).set("quantiles", evaluation.quantiles);
  if (evaluation.label_alpha > 0) element.set("label-alpha", evaluation.label_alpha);
  for (const spec::EvaluationSpec::SiteShift& shift : evaluation.shifts) {
    XmlWriter::Open(xml, "site-shift")
        .set("corruption", to_string(shift.corruption))
        .set("severity", fmt::format("{}", fmt::join(shift.severities, " ")));
  }
}

}  // namespace dadsim::scenario
