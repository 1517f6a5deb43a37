#include "scenario/elements/elements.hpp"
#include "scenario/language/quantity.hpp"

namespace dadsim::scenario {

const Table<Scenario>& scenario_table() {
  using Spec = Scenario;
  static const Table<Spec> kTable =
      Table<Spec>(
          "scenario",
          "Cluster, participants, data, network, training and the compared algorithms, in any order. Required are "
          "platform, workers, data, model and at least one run; with timing-only, data and model are not allowed.",
          {attribute("name", &Spec::name, text("a title for the scenario")).must(),
           attribute("seed", &Spec::seed, seed()), attribute("metric", &Spec::metric).if_given()})
          .holds({"description", "platform", "network", "framework", "failures",    "availability", "device",
                  "workers",     "data",     "model",   "training",  "timed-as",    "timing-only",  "run",
                  "evaluation",  "costs",    "goal",    "sweep",     "scale-study", "ladder"});
  return kTable;
}

const Table<Scenario>& workers_table() {
  using Spec = Scenario;
  static const Table<Spec> kTable =
      Table<Spec>("workers", "The participants; at least one worker, at most one aggregator.",
                  {attribute("memory", &Spec::ignore_memory, one_of({"check", "ignore"}))})
          .holds({"worker", "aggregator"});
  return kTable;
}

const Table<spec::Placement>& worker_table() {
  using Spec = spec::Placement;
  constexpr Range kSpeed{.minimum = 0.01, .maximum = 100};  // relative speeds; beyond this range, use another device
  static const Table<Spec> kTable =
      Table<Spec>("worker", "One worker on each of the hosts, in this order.",
                  {by_code<Spec>(attribute("hosts", text()).must()),
                   by_code<Spec>(attribute("device", name_in("devices")).must()),
                   attribute("speed-spread", &Spec::speed_spread, real(kDeviation)).if_given(),
                   attribute("speed", &Spec::speed, real(kSpeed)).if_given()})
          .repeats();
  return kTable;
}

const Table<spec::PayloadSpec>& timing_only_table() {
  using Spec = spec::PayloadSpec;
  constexpr QuantityForm kStep{Unit::seconds, {.minimum = 0, .maximum = 1e9}, "seconds with their unit, e.g. 90s"};
  static const Table<Spec> kTable = Table<Spec>(
      "timing-only",
      "Times runs without learning, with the workload and batch of timed-as or with a payload. Data and model are not "
      "allowed; training may only set the optimizer.",
      {attribute("payload", &Spec::bytes, quantity(kBytesForm)).if_given().if_left_out("the network of timed-as"),
       attribute("step-time", &Spec::step_seconds, quantity(kStep))
           .only([](const Spec& payload) { return payload.bytes > 0; }, "needs a payload",
                 "add payload=\"…\", or a device with a step-time")
           .if_given(),
       attribute("samples", &Spec::samples, integer(1, 1'000'000'000)).if_given().if_left_out("one batch")});
  return kTable;
}

std::vector<ElementRule> scenario_rules() {
  return {scenario_table().rule(),
          element("description", "A description of the scenario.").holds_text(),
          workers_table().rule(),
          worker_table().rule(),
          element("aggregator", "The node that sums the contributions with exchange=\"aggregator\".",
                  {attribute("host", text()).must(), attribute("device", name_in("devices")).must()}),
          timing_only_table().rule()};
}

}  // namespace dadsim::scenario
