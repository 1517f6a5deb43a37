#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenario/print_parts.hpp"
#include "scenario/read_varied.hpp"

namespace dadsim::scenario {
namespace {

using Open = XmlWriter::Open;

void write_vary(XmlWriter& xml, const spec::VariedPath& varied, bool drawn) {
  Open element(xml, "vary");
  element.set("path", varied.path);
  if (!varied.values.empty()) {
    element.set("values", values_text(varied.values));
  } else {
    element.set("from", varied.from).set("to", varied.to);
    if (!drawn) element.set("steps", varied.steps);
    element.set("scale", varied.logarithmic ? "log" : "linear").set("whole", varied.whole);
  }
  if (varied.form != "{}") element.set("form", varied.form);
}

}  // namespace

void write_sweep(XmlWriter& xml, const spec::SweepSpec& sweep) {
  Open element(xml, "sweep");
  element.set("method", to_string(sweep.method));
  if (sweep.drawn()) element.set("points", sweep.points).set("seed", sweep.seed);
  element.set("seeds", sweep.seeds);
  for (const spec::SweepAxis& axis : sweep.axes) {
    if (axis.size() == 1) {
      write_vary(xml, axis.front(), sweep.drawn());
      continue;
    }
    const Open linked(xml, "linked");
    for (const spec::VariedPath& varied : axis) write_vary(xml, varied, sweep.drawn());
  }
}

}  // namespace dadsim::scenario
