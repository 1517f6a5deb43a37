#include "scenario/print_parts.hpp"
#include "scenario/read_varied.hpp"

namespace dadsim::scenario {

using Open = XmlWriter::Open;

void write_goal(XmlWriter& xml, const spec::GoalSpec& goal) {
  constexpr double kJoulesPerKwh = 3.6e6;
  constexpr double kGramsPerKilogram = 1e3;
  Open element(xml, "goal");
  if (goal.accuracy) element.set("accuracy", *goal.accuracy);
  if (goal.seconds) element.set_seconds("within", *goal.seconds);
  if (goal.money) element.set("cost", *goal.money);
  if (goal.joules) element.set("energy-kwh", *goal.joules / kJoulesPerKwh);
  if (goal.carbon) element.set("carbon-kg", *goal.carbon / kGramsPerKilogram);
  if (!goal.run.empty()) element.set("run", goal.run);
  for (const spec::AllowedChange& change : goal.allowed) {
    Open one(xml, "allow");
    one.set("path", change.varied.path);
    if (!change.varied.values.empty()) {
      one.set("values", values_text(change.varied.values));
    } else {
      one.set("from", change.varied.from)
          .set("to", change.varied.to)
          .set("whole", change.varied.whole)
          .set("prefer", change.prefers_least ? "least" : "most");
    }
    if (change.varied.form != "{}") one.set("form", change.varied.form);
  }
}

}  // namespace dadsim::scenario
