#include "scenario/elements/elements.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/elements/read_axes.hpp"

namespace dadsim::scenario {
namespace {

const Table<spec::SweepSpec>& sweep_table() {
  using Spec = spec::SweepSpec;
  static const Table<Spec> kTable =
      Table<Spec>("sweep", "The values that dadsim sweep varies; the scenario runs once at each point.",
                  {attribute("method", &Spec::method),
                   attribute("points", &Spec::points, integer(1, spec::kMostSweepPoints))
                       .only_with("method", &Spec::method, {Spec::Method::random, Spec::Method::latin_hypercube},
                                  "remove it: the varied values give the number of points")
                       .needed(),
                   attribute("seed", &Spec::seed, seed())
                       .only_with("method", &Spec::method, {Spec::Method::random, Spec::Method::latin_hypercube},
                                  "remove it: nothing is drawn, and points use the seeds of the scenario"),
                   attribute("seeds", &Spec::seeds, integer(1, spec::kMostSweepSeeds))})
          .holds({"vary", "linked"});
  return kTable;
}

}  // namespace

spec::SweepSpec read_sweep(const Element& element, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::SweepSpec sweep;
  sweep_table().read(node, context, sweep);
  read_axes(node, sweep, context);
  return sweep;
}

void write_sweep(XmlWriter& xml, const spec::SweepSpec& sweep) {
  XmlWriter::Open element(xml, "sweep");
  sweep_table().print_attributes(element, sweep, {});
  write_axes(xml, sweep);
}

std::vector<ElementRule> sweep_rules() { return {sweep_table().rule()}; }

}  // namespace dadsim::scenario
