#include "scenario/print_parts.hpp"

namespace dadsim::scenario {

void write_drifts(XmlWriter& xml, const std::vector<spec::DriftSpec>& drifts) {
  for (const spec::DriftSpec& drift : drifts) {
    XmlWriter::Open element(xml, "drift");
    if (!drift.sites.empty()) element.set("sites", drift.sites);
    element.set_seconds("at", drift.at);
    if (drift.corrupts) element.set("corruption", to_string(drift.corruption));
    if (drift.corrupts && drift.corruption != spec::Corruption::none) element.set("severity", drift.severity);
    if (drift.label_alpha > 0) element.set("label-alpha", drift.label_alpha);
  }
}

}  // namespace dadsim::scenario
