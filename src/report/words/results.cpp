#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string recorded_steps(const Statement& assumption) {
  return fmt::format(
      "Nothing was learned (--timing-only): the first {:.0f} steps of each run that is not event-driven were recorded, "
      "and no accuracy is known.",
      assumption.number("steps"));
}

std::string stand_in(const Statement& assumption) {
  return fmt::format(
      "Nothing was learned: {:.0f} steps of each run were recorded on a small network with one sample per worker, and "
      "sized as {}. Gradient sharing, and what equals it up to rounding, has relative steps of 1 by definition; those "
      "of "
      "the other runs are not known.",
      assumption.number("steps"), assumption.subject());
}

std::string as_recorded(const Statement& assumption) {
  return fmt::format(
      "Nothing was learned: every step is '{}' as it was recorded. Computations take the seconds that were recorded, "
      "by "
      "the speed that workers have here; what is sent is simulated.",
      assumption.subject());
}

std::string timed_as_other(const Statement& assumption) {
  return fmt::format(
      "Learned on {}, timed as {}. Steps, accuracies and effective ranks are those of the network that learned (ranks "
      "by "
      "relative depth, limited to what each layer allows; docs/transfer.md); sizes and times are those of the "
      "workload. "
      "The steps that the workload itself needs {}.",
      assumption.text("learned_on"), assumption.text("timed_as"),
      assumption.is("steps_known") ? "are in the table of time to accuracy" : "are not known here");
}

constexpr const char* kBarrier =
    "Every step starts on an idle cluster, when all workers have ended the one before it; steps add up. "
    "Evaluation and start-up are not charged.";
constexpr const char* kNoBarrier =
    "Runs that exchange with neighbours only have no barrier between steps: a worker goes on when its own"
    " neighbours have delivered. A step takes its time in the steady state; the first steps are listed "
    "beside it.";

std::string event_driven(const Statement& assumption) {
  std::string labels;
  for (const std::string& run : assumption.subjects) labels += fmt::format("{}'{}'", labels.empty() ? "" : ", ", run);
  return fmt::format(
      "Event-driven runs ({}) are simulated from beginning to end; all that is under way at the same time shares links "
      "and devices. A step is a round or an update of the model, and figures per step are means. A model counts from "
      "when "
      "the last computation of the node that holds it has ended. Evaluation and start-up are not charged.",
      labels);
}

std::string framework(const Statement& assumption) {
  if (assumption.subject() == "none") {
    return "Framework: none. Packing and unpacking messages, summing them, saving and polling take no time; "
           "docs/frameworks.md has what frameworks were measured to add.";
  }
  std::string text = fmt::format("Framework: {}.", assumption.subject());
  if (assumption.has("source"))
    text += fmt::format(" Measured {}: {}.", assumption.text("date"), assumption.text("source"));
  return text;
}

constexpr const char* kOutagesAreSeen =
    "Where something fails both ends of a connection learn at once that a host or a link has failed or is back; "
    "waiting for a timeout costs nothing here.";

std::string jitter(const Statement& assumption) {
  return fmt::format("Computing jitters by log-normal factors with mean 1: sigma {} between workers, {} between steps.",
                     assumption.number("spatial"), assumption.number("temporal"));
}

constexpr const char* kSpeedSpread =
    "Workers of one device differ in speed: each has a log-normal factor with median 1 on all that it "
    "computes.";
constexpr const char* kFailuresOfOthers =
    "Runs in which nothing is exchanged are ends to measure by: in them every host and link is always up.";
constexpr const char* kBrokenSteps =
    "A step that is under way when one of its sites goes down, or is cut off, comes to nothing: what it has sent until "
    "then is lost. Whether an outage falls into a step is decided by what the last one of the same sites took. A site "
    "that is back, or has missed steps, gets the model, weights and state of the optimizer, before the step that it "
    "takes part in.";

std::string objectives_differ(const Statement& assumption) {
  return fmt::format(
      "Not all runs minimise the same: {}. Sites have {:.0f} to {:.0f} samples; weights=\"samples\" or \"uniform\" "
      "puts all runs on one objective.",
      fmt::join(assumption.texts("objectives"), "; "), assumption.number("least"), assumption.number("most"));
}

constexpr const char* kCorrections =
    "Corrections of shifted data are tried on the last models of event-driven runs only; the others keep "
    "no model.";
constexpr const char* kRendezvous =
    "A message leaves when its receiver has posted it and the news has come (rendezvous, as gloo).";

std::string measured_device(const Statement& assumption) {
  return fmt::format(
      "{}: forward, backward and update take {} s as measured, shared among them as on a roofline; what an algorithm "
      "computes beside them follows the roofline",
      assumption.subject(), assumption.number("step_seconds"));
}

std::string roofline(const Statement& assumption) {
  return fmt::format("{} computes by a roofline: {}", assumption.subject(), assumption.text("rates"));
}

constexpr const char* kBatchStatistics =
    "Batch norms use the statistics of each site's own batch, as data parallelism does; a pooled run uses"
    " those of all, so its gradient differs. For evaluation running statistics are averaged over sites, "
    "which is not charged.";

constexpr const char* kMemoryUnknown = "Devices of unknown memory were not checked for it.";

std::string input_rate(const Statement& assumption) {
  return fmt::format(
      "The input of each worker delivers at most {} samples per second, read ahead: no step is shorter than its "
      "largest "
      "batch takes. Event-driven runs are not limited.",
      assumption.number("samples_per_second"));
}

constexpr const char* kLossScaling =
    "Loss scaling: before each update one pass over all gradients looks for infinities; none is found, "
    "and no step is skipped.";
constexpr const char* kFlashAttention =
    "Flash attention: scores of pairs of tokens are neither written nor kept; the backward pass takes "
    "five products instead of four; causal attention does half of them (it skips blocks above the "
    "diagonal).";

std::string narrow_numbers(const Statement& assumption) {
  return fmt::format(
      "In {} gradients, activations and factors take two bytes in memory and on the wire; the optimizer works on {}.{}",
      assumption.text("precision"), assumption.is("masters") ? "fp32 masters" : "the weights themselves",
      assumption.is("learned") ? " Learning used fp32." : "");
}

std::string loss_in_parts(const Statement& assumption) {
  return fmt::format(
      "The loss is made in {:.0f} parts, since a device would have {} scores of classes at once; loss-parts says "
      "otherwise.",
      assumption.number("parts"), human_count(static_cast<std::int64_t>(assumption.number("scores"))));
}

std::string first_seed_timed(const Statement& assumption) {
  return fmt::format("{:.0f} seeds learned; the first is timed, and a step of the others takes as long.",
                     assumption.number("seeds"));
}

std::string device_price(const Statement& assumption) {
  std::string text = assumption.subject() + ": ";
  if (!assumption.has("per_hour")) {
    text += "no price known, so the money is not";
  } else if (assumption.has("source")) {
    text += fmt::format("{:.4g} {} an hour{} ({})", assumption.number("per_hour"), assumption.text("currency"),
                        assumption.has("term") ? ", " + assumption.text("term") : "", assumption.text("source"));
  } else {
    text +=
        fmt::format("{} {} an hour as the scenario says", assumption.number("per_hour"), assumption.text("currency"));
  }
  if (!assumption.has("watts")) return text + "; its power is not known, so the energy is not";
  return text + fmt::format("; {:.4g} W computing, {:.4g} W waiting{}", assumption.number("watts"),
                            assumption.number("idle_watts"), assumption.is("idle_assumed") ? " (assumed)" : "");
}

std::string cost_terms(const Statement& assumption) {
  const std::string& currency = assumption.text("currency");
  std::string text = "Costs are of the devices named, from the first step to the last";
  if (assumption.has("egress_per_gb")) {
    text += fmt::format("; {} {} per 10^9 bytes {}", assumption.number("egress_per_gb"), currency,
                        assumption.has("egress_links") ? fmt::format("on links '{}'", assumption.text("egress_links"))
                                                       : "that a node sends");
  }
  if (assumption.has("lines_per_month")) {
    const std::vector<std::string>& links = assumption.texts("line_links");
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const double count = assumption.numbers("line_count").at(i);
      lines.push_back(fmt::format("{:.0f} link{} '{}', {:.4g} Mbit/s in all, {:.4g} {} for each", count,
                                  count == 1 ? "" : "s", links[i], assumption.numbers("line_mbps").at(i),
                                  assumption.numbers("line_price").at(i), currency));
    }
    text += fmt::format("; lines at {:.4g} {} a month ({}), by the second", assumption.number("lines_per_month"),
                        currency, fmt::join(lines, "; "));
  }
  if (assumption.has("rent")) text += fmt::format("; rent of {} {} a month", assumption.number("rent"), currency);
  if (assumption.has("purchase"))
    text += fmt::format("; what is bought, for {} {}, is no part of it", assumption.number("purchase"), currency);
  if (assumption.has("electricity")) text += fmt::format("; {} {} per kWh", assumption.number("electricity"), currency);
  if (assumption.has("overhead"))
    text += fmt::format("; a building that takes {} times its machines", assumption.number("overhead"));
  text += assumption.has("network_energy")
              ? fmt::format("; {} kWh per 10^9 bytes sent", assumption.number("network_energy"))
              : "; the energy of the network is not counted";
  return text + ".";
}

std::string goodput(const Statement& assumption) {
  const double streams = assumption.number("streams");
  return fmt::format(
      "Bandwidths of pairs of regions without a queue, and others that say so, are what was measured over them: "
      "nothing "
      "is lost any more, and a connection gets per-connection of one, or else {} per round trip; {}.",
      human_bytes(assumption.number("window")),
      streams > 1 ? fmt::format("a transfer has {:.0f} connections", streams) : "a transfer is one connection");
}

constexpr std::array kAssumptions{
    StatementKind{"recorded-steps", "nothing was learned, and the network of the scenario was recorded",
                  recorded_steps},
    StatementKind{"stand-in", "nothing was learned, and no network was there to be recorded", stand_in},
    StatementKind{"as-recorded", "what is timed is a step that was recorded", as_recorded},
    StatementKind{"timed-as-other", "what is timed is not what learned", timed_as_other},
    StatementKind{"barrier", "some run has a barrier between steps", as_it_is<kBarrier>},
    StatementKind{"no-barrier-runs", "some run has none", as_it_is<kNoBarrier>},
    StatementKind{"event-driven", "some runs are event-driven", event_driven},
    StatementKind{"framework", "some runs are event-driven, or the scenario names a framework: which one", framework},
    StatementKind{"outages-are-seen", "some runs are event-driven, or sites may be missing from steps",
                  as_it_is<kOutagesAreSeen>},
    StatementKind{"jitter", "computing jitters", jitter},
    StatementKind{"speed-spread", "workers of one device differ in speed", as_it_is<kSpeedSpread>},
    StatementKind{"broken-steps", "sites may be missing from the steps of some run", as_it_is<kBrokenSteps>},
    StatementKind{"objectives-differ", "sites have unequal samples, and runs weigh them differently",
                  objectives_differ},
    StatementKind{"failures-of-others", "something can fail, and in some run nothing is exchanged",
                  as_it_is<kFailuresOfOthers>},
    StatementKind{"corrections", "the scenario evaluates corrections, and some run is not event-driven",
                  as_it_is<kCorrections>},
    StatementKind{"rendezvous", "messages wait for their receivers", as_it_is<kRendezvous>},
    StatementKind{"goodput", "lines are given as they were measured", goodput},
    StatementKind{"measured-device", "of devices with a measured step", measured_device},
    StatementKind{"roofline", "of the other devices", roofline},
    StatementKind{"batch-statistics", "the network has batch norms", as_it_is<kBatchStatistics>},
    StatementKind{"memory-unknown", "the memory of some device is not known", as_it_is<kMemoryUnknown>},
    StatementKind{"input-rate", "the input of a worker is limited", input_rate},
    StatementKind{"loss-scaling", "gradients are searched for infinities", as_it_is<kLossScaling>},
    StatementKind{"flash-attention", "attention is flash", as_it_is<kFlashAttention>},
    StatementKind{"narrow-numbers", "numbers take two bytes", narrow_numbers},
    StatementKind{"loss-in-parts", "a device would have more than 2³¹ scores of classes at once", loss_in_parts},
    StatementKind{"first-seed-timed", "several seeds were learned", first_seed_timed},
    StatementKind{"device-price", "the scenario asks for costs: of each device", device_price},
    StatementKind{"cost-terms", "the same: of all that is not a device", cost_terms},
};

}  // namespace

std::span<const StatementKind> of_results() { return kAssumptions; }

}  // namespace dadsim::report::words
