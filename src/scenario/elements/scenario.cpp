#include "scenario/elements/elements.hpp"
#include "scenario/language/quantity.hpp"

namespace dadsim::scenario {

const Table<Scenario>& scenario_table() {
  using Spec = Scenario;
  static const Table<Spec> kTable =
      Table<Spec>("scenario",
                  "A question to dadsim: who learns what from which data on which cluster, and which algorithms are "
                  "compared. Its elements may come in any order; platform, workers, data, model and at least one run "
                  "are required; with timing-only no data and no model.",
                  {attribute("name", &Spec::name, text("a title for the scenario"), "Title of the scenario.").must(),
                   attribute("seed", &Spec::seed, seed(),
                             "Of every random number: equal seeds give equal results. A whole number from 0 to "
                             "18446744073709551615."),
                   attribute("metric", &Spec::metric,
                             "What runs, points and scenarios are compared by. `auto`: time to accuracy or to the "
                             "budget of `<timed-as>` where that is known, else throughput; `throughput`: tokens, or "
                             "samples, per second; `per-money`, `per-kwh`: for the same money or energy.")
                       .if_given()})
          .holds({"description", "platform", "network", "framework", "failures",    "availability", "device",
                  "workers",     "data",     "model",   "training",  "timed-as",    "timing-only",  "run",
                  "evaluation",  "costs",    "goal",    "sweep",     "scale-study", "ladder"});
  return kTable;
}

const Table<Scenario>& workers_table() {
  using Spec = Scenario;
  static const Table<Spec> kTable =
      Table<Spec>("workers", "Who takes part; at least one worker, at most one aggregator.",
                  {attribute("memory", &Spec::ignore_memory, one_of({"check", "ignore"}),
                             "check: a run that does not fit the memory of its devices is refused. ignore: it is timed "
                             "all the same.")})
          .holds({"worker", "aggregator"});
  return kTable;
}

const Table<spec::Placement>& worker_table() {
  using Spec = spec::Placement;
  constexpr Range kSpeed{.minimum = 0.01, .maximum = 100};  // outside it, use another device
  static const Table<Spec> kTable =
      Table<Spec>(
          "worker", "One worker on each of the hosts, in this order.",
          {by_code<Spec>(attribute("hosts", text(),
                                   "Names of hosts in the platform with spaces between them; each may hold one range "
                                   "of numbers, e.g. gpu-[0-15]. A name with blanks stands in quotation marks, e.g. "
                                   "'Edge 1', or has a backslash before each; * stands for anything in the names of "
                                   "hosts that no worker has yet, without the aggregator's and hubs.")
                             .must()),
           by_code<Spec>(attribute("device", name_in("devices"),
                                   "What each computes with: a name from `dadsim devices` or a `<device>`; required.")
                             .must()),
           attribute(
               "speed-spread", &Spec::speed_spread, real(kDeviation),
               "How much workers of this kind differ in speed: standard deviation of the logarithm of a factor with "
               "median 1, one per worker for good, drawn from the seed, on all that it computes, 0 … 3; default 0.")
               .if_given(),
           attribute("speed", &Spec::speed, real(kSpeed),
                     "Factor on what each computes in a second: 0.8 is a straggler that is a fifth slower than its "
                     "device.")
               .if_given()})
          .repeats();
  return kTable;
}

const Table<spec::PayloadSpec>& timing_only_table() {
  using Spec = spec::PayloadSpec;
  constexpr QuantityForm kStep{Unit::seconds, {.minimum = 0, .maximum = 1e9}, "seconds with their unit, e.g. 90s"};
  static const Table<Spec> kTable = Table<Spec>(
      "timing-only",
      "Nothing is learned: runs are asked for their times alone, of the workload and with the batch of timed-as, or of "
      "a "
      "payload. There is no data and no model then, and of training only the optimizer.",
      {attribute("payload", &Spec::bytes, quantity(kBytesForm),
                 "Bytes of a model as it is sent, in the place of timed-as; for event-driven runs.")
           .if_given()
           .if_left_out("what timed-as names"),
       attribute(
           "step-time", &Spec::step_seconds, quantity(kStep),
           "With payload: what a local step takes a device of which no step was measured. A client makes one each "
           "time that it is asked, unless local-steps or samples say more.")
           .only([](const Spec& payload) { return payload.bytes > 0; }, "is of a payload",
                 "payload=\"…\" beside it, or a device with a step-time")
           .if_given(),
       attribute(
           "samples", &Spec::samples, integer(1, 1'000'000'000),
           "Samples of every client, which local-epochs passes over in batches of timed-as (of a payload: a batch "
           "is one sample); for event-driven runs.")
           .if_given()
           .if_left_out("one batch")});
  return kTable;
}

std::vector<ElementRule> scenario_rules() {
  return {scenario_table().rule(),
          element("description", "What the scenario is about.").holds_text(),
          workers_table().rule(),
          worker_table().rule(),
          element("aggregator", "The node in the middle of an exchange by aggregator.",
                  {attribute("host", text(), "Name of a host in the platform.").must(),
                   attribute("device", name_in("devices"), "What it computes with.").must()}),
          timing_only_table().rule()};
}

}  // namespace dadsim::scenario
