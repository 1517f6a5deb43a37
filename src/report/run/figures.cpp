#include "report/run/figures.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "report/run/causes.hpp"
#include "report/run/over_seeds.hpp"

namespace dadsim::report {
namespace {

// ---- figures of work and its cost; not a number if unknown ----

constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();
constexpr double kJoulesOfKwh = 3.6e6;

double samples_of(const FigureSource& of) {
  return of.run.throughput ? of.run.throughput->samples * of.run.step_seconds : kNoFigure;
}

double tokens_of(const FigureSource& of) {
  return of.run.throughput ? of.run.throughput->tokens.value_or(kNoFigure) * of.run.step_seconds : kNoFigure;
}

double money_of(const FigureSource& of) {
  return of.run.costs ? of.run.costs->per_step.money.value_or(kNoFigure) : kNoFigure;
}

double kwh_of(const FigureSource& of) {
  return of.run.costs ? of.run.costs->per_step.joules.value_or(kNoFigure) / kJoulesOfKwh : kNoFigure;
}

double for_cost(double work, double cost) { return cost > 0 ? work / cost : kNoFigure; }

/// Returns the samples of all workers per step.
double global_batch(const FigureSource& of) { return std::round(samples_of(of)); }

/// Returns the number of steps that the workload is known to need.
double known_steps(const FigureSource& of) {
  return of.run.at_scale && of.result.scale && of.result.scale->known ? of.result.scale->known->steps : kNoFigure;
}

double samples_per_money(const FigureSource& of) { return for_cost(samples_of(of), money_of(of)); }
double tokens_per_money(const FigureSource& of) { return for_cost(tokens_of(of), money_of(of)); }
double samples_per_kwh(const FigureSource& of) { return for_cost(samples_of(of), kwh_of(of)); }
double tokens_per_kwh(const FigureSource& of) { return for_cost(tokens_of(of), kwh_of(of)); }

double money_per_month(const FigureSource& of) {
  return of.run.costs ? of.run.costs->per_month.value_or(kNoFigure) : kNoFigure;
}

double spot_seconds(const FigureSource& of) {
  return of.run.costs && of.run.costs->spot ? of.run.costs->spot->seconds : kNoFigure;
}

double spot_money(const FigureSource& of) {
  return of.run.costs && of.run.costs->spot ? of.run.costs->spot->costs.money.value_or(kNoFigure) : kNoFigure;
}

using Kind = Figure::Kind;

namespace figure_table {

using Better = Figure::Better;
using Of = const FigureSource&;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// ---- getters of figures ----

template <auto member>
double plain(Of of) {
  return static_cast<double>(of.run.*member);
}

double as_number(std::optional<bool> value) { return value ? static_cast<double>(*value) : kNone; }

/// Returns the mean over the learned seeds.
template <auto by_seed, auto of_first>
double mean_accuracy(Of of) {
  return (of.run.*by_seed).size() < 2 ? of.run.*of_first : over_seeds(of.run.*by_seed).mean;
}

template <auto member>
double to_target(Of of) {
  const TargetOverSeeds over = target_over_seeds(of.run);
  return over.reached ? over.*member : kNone;
}

template <auto member>
double of_throughput(Of of) {
  return of.run.throughput ? std::optional<double>((*of.run.throughput).*member).value_or(kNone) : kNone;
}

/// Returns value `which` of the estimate `member` at scale; NaN if it is unknown.
template <auto member, auto which>
double at_scale(Of of) {
  const std::optional<ScaleResult>& scale = of.run.at_scale;
  if (!scale || !((*scale).*member)) return kNone;
  return std::optional<double>((*((*scale).*member)).*which).value_or(kNone);
}

/// Returns an end of the interval that includes the errors of a step, if these are known.
template <auto which>
double scale_end(Of of) {
  const bool banded = of.run.at_scale && of.run.at_scale->time_band;
  return banded ? at_scale<&ScaleResult::time_band, which>(of) : at_scale<&ScaleResult::time, which>(of);
}

template <auto which>
double relative_steps(Of of) {
  const std::optional<ScaleResult>& scale = of.run.at_scale;
  if (!scale || !scale->relative.ratio) return kNone;
  return std::optional<double>((*scale->relative.ratio).*which).value_or(kNone);
}

/// Returns cost `what` of the period `stretch`.
template <auto stretch, auto what>
double cost(Of of) {
  if (!of.run.costs) return kNone;
  const std::optional<Costs> costs = (*of.run.costs).*stretch;
  return costs ? ((*costs).*what).value_or(kNone) : kNone;
}

template <auto member>
double of_event_driven(Of of) {
  return of.run.event_driven ? ((*of.run.event_driven).*member)() : kNone;
}

double share_used(Of of) { return of.run.event_driven ? of.run.event_driven->participation.share_used() : kNone; }

std::string cause(Of of) {
  const std::vector<Cause> causes = causes_of(of.run);
  if (causes.empty()) return "";
  const Cause& most = causes.front();
  return most.parts.empty() ? cause_in_words(most.kind) : in_words(most, most.parts.front());
}

double cause_share(Of of) {
  const std::vector<Cause> causes = causes_of(of.run);
  return causes.empty() ? kNone : causes.front().share;
}

template <auto figure>
double leaked(Of of) {
  return most_leaked(of.run, figure);
}

using Estimate = estimate::Estimate;
using Leak = step::LeakFigures;

// Figures of kind text have no getter for numbers, and the reverse.
constexpr Figure text(const char* name, const char* meaning, std::string (*had)(Of)) {
  return {name, Kind::text, "", meaning, nullptr, had};
}
constexpr Figure truth(const char* name, const char* meaning, double (*had)(Of)) {
  return {name, Kind::truth, "", meaning, had, nullptr};
}
constexpr Figure count(const char* name, const char* unit, const char* meaning, double (*had)(Of),
                       Better better = Better::neither, const char* title = "") {
  return {name, Kind::count, unit, meaning, had, nullptr, better, title};
}
constexpr Figure number(const char* name, const char* unit, const char* meaning, double (*had)(Of),
                        Better better = Better::neither, const char* title = "") {
  return {name, Kind::number, unit, meaning, had, nullptr, better, title};
}
constexpr Figure not_in_csv(Figure figure) {
  figure.in_csv = false;
  return figure;
}

constexpr std::array kFigures{
    text("label", "unique within the scenario", [](Of of) { return of.run.spec.label; }),
    text("algorithm", "name of the algorithm, as in `dadsim algorithms`", [](Of of) { return of.run.spec.algorithm; }),
    truth("communicates", "whether sites exchange anything; no: a baseline",
          [](Of of) { return static_cast<double>(of.run.spec.communicates); }),
    text("exchange", "`aggregator` or `peer`; none for `pooled` and `no-sharing`, which exchange nothing",
         [](Of of) { return std::string(of.run.spec.communicates ? to_string(of.run.spec.exchange) : ""); }),
    truth("event_driven", "whether the order of events decides what is learned",
          [](Of of) { return of.run.spec.event_driven ? 1.0 : 0.0; }),
    count("workers", "", "workers that were timed (1 for `pooled`)", plain<&RunResult::workers>),
    count("steps", "steps", "training steps taken (event-driven runs: rounds, or updates of the model)",
          plain<&RunResult::steps>),
    number("final_accuracy", "share", "share of held-back samples classified right, at the last evaluation",
           mean_accuracy<&RunResult::final_accuracies, &RunResult::final_accuracy>, Better::high, "final accuracy"),
    number("best_accuracy", "share", "the highest of all evaluations",
           mean_accuracy<&RunResult::best_accuracies, &RunResult::best_accuracy>, Better::high, "best accuracy"),
    number("final_auc", "share",
           "area under the ROC curve at the last evaluation: one class against the rest, mean over the classes that "
           "occur",
           plain<&RunResult::final_auc>, Better::high),
    truth("target_reached", "whether an evaluation reached the target accuracy, with every seed",
          [](Of of) { return static_cast<double>(target_over_seeds(of.run).reached); }),
    count(
        "target_step", "steps", "step of the first evaluation that reached the target; 0: reached before training",
        [](Of of) { return std::round(to_target<&TargetOverSeeds::steps>(of)); }, Better::low, "steps to the target"),
    number("target_seconds", "s", "simulated time of the evaluation at `target_step`",
           to_target<&TargetOverSeeds::seconds>, Better::low, "time to the target"),
    number("target_after_seconds", "s", "simulated time of the evaluation before `target_step`",
           to_target<&TargetOverSeeds::after>),
    truth("exact", "whether the run learns the same as every exact run, up to rounding", plain<&RunResult::exact>),
    truth("diverged",
          "whether training diverged: at the end the loss is not a finite number, or exceeds ten times that of the "
          "untrained network",
          [](Of of) { return static_cast<double>(of.run.divergence.has_value()); }),
    truth("compression_is_lossy",
          "whether the run's compression dropped anything while it learned. If it did not, the accuracies do not show "
          "the effect of compression; unknown without compression ([transfer.md](transfer.md))",
          [](Of of) { return as_number(of.run.is_lossy); }),
    count("censored_layers", "layers",
          "layers of the timed network whose ranks reached the limit of the learning network; they are timed with the "
          "cap",
          plain<&RunResult::censored_layers>),
    number("step_seconds", "s",
           "time of a step, until the last worker ends; mean over the steps of the run. Event-driven: the whole time ÷ "
           "updates",
           plain<&RunResult::step_seconds>, Better::low, "time of a step"),
    number("compute_seconds", "s",
           "part of `step_seconds` in which the compute stream of the last worker is busy; mean. "
           "Event-driven: mean over updates and the workers that take part",
           plain<&RunResult::compute_seconds>, Better::low),
    number("exposed_seconds", "s",
           "part of `step_seconds` in which the same stream waits for the network or for other workers; "
           "mean. Event-driven: the rest of `step_seconds`, including time in which a worker is down",
           plain<&RunResult::exposed_seconds>, Better::low),
    number("compression_seconds", "s",
           "part of `compute_seconds` in which the algorithm computes more than a plain step (factorising, merging, "
           "adding up); mean; not known for event-driven runs",
           plain<&RunResult::compression_seconds>, Better::low),
    number("waiting_seconds", "s",
           "part of `exposed_seconds` before the slowest worker sends its part, or an aggregator its answer; the rest "
           "is network time; mean; not known for event-driven runs",
           plain<&RunResult::waiting_seconds>, Better::low),
    number("first_step_seconds", "s", "the first step alone, on cold connections; event-driven: until the first update",
           plain<&RunResult::first_step_seconds>, Better::low),
    number("slowest_step_seconds", "s", "the longest step of the run; not known for event-driven runs",
           plain<&RunResult::slowest_step_seconds>, Better::low, "slowest step"),
    number("step_seconds_p95", "s", "95 % of the steps take at most this; not known for event-driven runs",
           plain<&RunResult::step_seconds_p95>, Better::low),
    number("step_seconds_p99", "s", "99 % of the steps take at most this; not known for event-driven runs",
           plain<&RunResult::step_seconds_p99>, Better::low),
    number("bytes_up_per_worker", "B",
           "bytes sent by a worker; mean over steps and workers (event-driven: workers that take part)",
           plain<&RunResult::bytes_up_per_worker>, Better::low),
    number("bytes_down_per_worker", "B",
           "bytes received by a worker; mean over steps and workers (event-driven: workers that take part)",
           plain<&RunResult::bytes_down_per_worker>, Better::low),
    number(
        "total_bytes", "B", "bytes sent by all nodes over the whole run, including the aggregator",
        [](Of of) { return sent_in_all(of.run); }, Better::low, "bytes sent in all"),
    number("total_seconds", "s", "all steps of the run; evaluation takes no time", plain<&RunResult::total_seconds>,
           Better::low),
    text("bound_by", "the resource that dominates the critical path of the steps; none for event-driven runs",
         [](Of of) { return of.run.bounds.empty() ? std::string() : name_of(of.run.bounds.front()); }),
    text("bound_kind",
         "limit of the resource in `bound_by`: `bandwidth`, `latency`, `compute`, `queueing`, `framework`, `overhead` "
         "or `overlap` ([timing.md](timing.md))",
         [](Of of) { return of.run.bounds.empty() ? std::string() : of.run.bounds.front().kind; }),
    number("bound_share", "share", "share of a step on the resource in `bound_by`",
           [](Of of) { return of.run.bounds.empty() ? kNone : of.run.bounds.front().share; }),
    text("cause", "the most frequent kind on the critical path, with its longest resources", cause),
    number("cause_share", "share", "share of a step that the kind in `cause` takes", cause_share),
    not_in_csv(
        text("causes_in_words", "the whole critical path in words", [](Of of) { return causes_in_words(of.run); })),
    text("workload", "the workload that is timed instead of the learning network; none: the learning network is timed",
         [](Of of) { return of.result.scale ? of.result.scale->workload : std::string(); }),
    number("samples_per_second", "1/s", "samples of all workers, of the timed network; not known for event-driven runs",
           of_throughput<&Throughput::samples>, Better::high),
    number("tokens_per_second", "1/s", "tokens, for workloads whose samples are sequences",
           of_throughput<&Throughput::tokens>, Better::high),
    number("model_flops_utilisation", "share",
           "flops of the network (6 per multiplication of the forward pass, without recomputation) ÷ the peak of the "
           "devices in the timed precision. Above 1 if the algorithm multiplies less than is counted (3 × 3 "
           "convolutions in fp32, [devices.md](devices.md)); a note then gives the reason",
           of_throughput<&Throughput::model_flops_utilisation>, Better::high),
    number("masked_flops_utilisation", "share",
           "`model_flops_utilisation` without the products of attention that a mask omits; for causal flash attention",
           of_throughput<&Throughput::masked_flops_utilisation>, Better::high),
    count("global_batch", "samples",
          "mean number of samples of all workers per step, for the timed network; not known for event-driven "
          "runs",
          global_batch),
    count("known_steps", "steps",
          "steps that the timed workload needs with gradient sharing: published, set in the scenario, or derived from "
          "its budget of samples or tokens at this batch",
          known_steps),
    number("samples_per_money", "1/currency", "samples per unit of money", samples_per_money, Better::high,
           "samples for the money"),
    number("tokens_per_money", "1/currency", "tokens per unit of money", tokens_per_money, Better::high,
           "tokens for the money"),
    number("samples_per_kwh", "1/kWh", "samples per kWh", samples_per_kwh, Better::high),
    number("tokens_per_kwh", "1/kWh", "tokens per kWh", tokens_per_kwh, Better::high, "tokens for the energy"),
    number("scaling_efficiency", "share",
           "time of a step of one worker alone, without sharing ÷ time of a step of this run; not known unless "
           "`<timing-only>` "
           "requests it",
           of_throughput<&Throughput::scaling_efficiency>, Better::high, "scaling efficiency"),
    number(
        "sampling_error", "",
        "standard error of `step_seconds` ÷ `step_seconds`, where [a sample of the steps]"
        "(timing.md#steps-that-differ) was simulated",
        [](Of of) { return of.run.network.sampling ? of.run.network.sampling->mean_error : kNone; }, Better::low),
    number(
        "memory_bytes", "B", "bytes that a worker's device holds, with the mean batch",
        [](Of of) { return of.run.memory.total(); }, Better::low),
    number("relative_steps", "",
           "steps to the target (interpolated between evaluations, mean over the seeds) ÷ those of gradient sharing. "
           "If gradient sharing missed the target: 1 by definition for it and for runs equal to it up to rounding. "
           "Otherwise not known if one of them missed the target, or if `compression_is_lossy` is false "
           "([workloads.md](workloads.md))",
           relative_steps<&Estimate::value>, Better::low),
    number("relative_steps_low", "",
           "lower end of its interval (Fieller's of 95 %, plus the gap between evaluations); not known with one seed",
           relative_steps<&Estimate::low>),
    number("relative_steps_high", "", "upper end", relative_steps<&Estimate::high>),
    number("scale_seconds", "s",
           "time to accuracy of the timed workload: known steps × `relative_steps` × `step_seconds`, plus charged "
           "evaluation and start-up",
           at_scale<&ScaleResult::time, &Estimate::value>, Better::low, "time to accuracy at scale"),
    number("scale_low", "s",
           "lower end of its interval: the interval of the relative steps and the band of a step (90 %), added in "
           "squares of logarithms",
           scale_end<&Estimate::low>),
    number("scale_high", "s", "upper end to `scale_low`", scale_end<&Estimate::high>),
    number("scale_seeds_low", "s", "lower end with the interval of the relative steps alone",
           at_scale<&ScaleResult::time, &Estimate::low>),
    number("scale_seeds_high", "s", "upper end to `scale_seeds_low`", at_scale<&ScaleResult::time, &Estimate::high>),
    number("money", "currency", "money of the whole run; costs are known if the scenario has [costs](costs.md)",
           cost<&RunCosts::whole, &Costs::money>, Better::low),
    number("money_to_target", "currency", "money until the target is reached",
           cost<&RunCosts::to_target, &Costs::money>, Better::low, "money to the target"),
    number("money_at_scale", "currency", "money until the accuracy of the timed workload is reached",
           cost<&RunCosts::at_scale, &Costs::money>, Better::low, "money at scale"),
    number("money_per_step", "currency", "money of a step", cost<&RunCosts::per_step, &Costs::money>, Better::low),
    number("money_per_month", "currency", "for a month of steps: 30.4 days without a pause", money_per_month,
           Better::low),
    number("spot_seconds", "s",
           "expected time on machines that can be reclaimed ([costs.md](costs.md)): for the steps that the workload "
           "needs, if known; else to the target; else for the whole run",
           spot_seconds, Better::low),
    number("spot_money", "currency", "expected money on these machines", spot_money, Better::low),
    number("joules", "J", "energy of the whole run: of devices, and of the network if the scenario gives its energy",
           cost<&RunCosts::whole, &Costs::joules>, Better::low),
    number("joules_to_target", "J", "energy until the target is reached", cost<&RunCosts::to_target, &Costs::joules>,
           Better::low, "energy to the target"),
    number("joules_at_scale", "J", "energy until the accuracy of the timed workload is reached",
           cost<&RunCosts::at_scale, &Costs::joules>, Better::low, "energy at scale"),
    number("joules_per_step", "J", "energy of a step", cost<&RunCosts::per_step, &Costs::joules>, Better::low),
    number("grams_co2e", "g", "CO2 equivalent of the whole run", cost<&RunCosts::whole, &Costs::carbon>, Better::low),
    number("grams_co2e_to_target", "g", "CO2 equivalent until the target is reached",
           cost<&RunCosts::to_target, &Costs::carbon>, Better::low),
    number("grams_co2e_at_scale", "g", "CO2 equivalent until the accuracy of the timed workload is reached",
           cost<&RunCosts::at_scale, &Costs::carbon>, Better::low),
    number("grams_co2e_per_step", "g", "CO2 equivalent of a step", cost<&RunCosts::per_step, &Costs::carbon>,
           Better::low),
    number("rows_handed_over", "rows",
           "input rows that appear unchanged in messages, of all sites; this figure and the next five are for the "
           "strongest adversary ([leak.md](leak.md))",
           leaked<&Leak::rows_handed_over>, Better::low),
    number("samples_handed_over", "share", "share of the sites' samples with a row in a message",
           leaked<&Leak::samples_handed_over>, Better::low, "samples handed over"),
    number("span_excess", "share",
           "share of a batch's rows in the span of messages, beyond that of rows outside the batch",
           leaked<&Leak::span_excess>, Better::low, "batch revealed"),
    number(
        "best_sample_excess", "share",
        "share of the most exposed sample in the span of messages, beyond that of the most exposed sample outside the "
        "batch",
        leaked<&Leak::best_sample_excess>, Better::low, "best sample revealed"),
    number("labels_told", "share", "share of a batch's labels, or of the classes present, that follow from messages",
           leaked<&Leak::labels>, Better::low, "labels told"),
    number(
        "epsilon", "", "differential privacy budget spent, for the adversary with the least; not known without noise",
        [](Of of) { return epsilon_spent(of.run); }, Better::low),
    number("participation", "share",
           "contributions that entered a model ÷ contributions begun; this figure and those below exist only for "
           "event-driven runs",
           share_used, Better::high),
    number("taking_part", "workers", "clients per round; without rounds, clients at work concurrently; mean",
           of_event_driven<&EventDrivenResult::taking_part>),
    number("rounds_per_hour", "1/h", "rounds, or updates of the model",
           of_event_driven<&EventDrivenResult::rounds_per_hour>, Better::high, "rounds an hour"),
    number(
        "mean_staleness", "updates",
        "updates between a contribution's read and its write, if the algorithm reports them",
        [](Of of) { return of.run.event_driven ? of.run.event_driven->participation.mean_staleness() : kNone; },
        Better::low),
    number("wasted_seconds", "s", "computing time whose result entered no model, over all nodes",
           of_event_driven<&EventDrivenResult::wasted_seconds>, Better::low),
    number("wasted_bytes", "B", "bytes of messages whose content entered no model, or that never arrived",
           of_event_driven<&EventDrivenResult::wasted_bytes>, Better::low),
    number("down_seconds", "s", "time that workers were down, over all workers",
           of_event_driven<&EventDrivenResult::down_seconds>, Better::low),
};

}  // namespace figure_table

using figure_table::kFigures;

}  // namespace

double most_leaked(const RunResult& run, double step::LeakFigures::*figure) {
  double most = step::LeakFigures::kUnknown;
  if (!run.leak) return most;
  for (const step::AdversaryLeak& one : run.leak->adversaries) most = std::fmax(most, one.all.*figure);
  return most;
}

double epsilon_spent(const RunResult& run) {
  double least = step::LeakFigures::kUnknown;
  if (!run.leak) return least;
  for (const step::AdversaryLeak& one : run.leak->adversaries) least = std::fmin(least, one.epsilon);
  return least;
}

const char* to_string(Figure::Kind kind) {
  constexpr std::array kNames{"number", "count", "truth", "text"};
  return kNames.at(static_cast<std::size_t>(kind));
}

const char* to_string(Figure::Better better) {
  constexpr std::array kNames{"", "low", "high"};
  return kNames.at(static_cast<std::size_t>(better));
}

std::span<const Figure> figures() { return kFigures; }

std::size_t figure_index(std::string_view name) {
  static const auto kIndex = [] {
    std::unordered_map<std::string_view, std::size_t> index;
    for (std::size_t i = 0; i < kFigures.size(); ++i) index[kFigures[i].name] = i;
    return index;
  }();
  const auto found = kIndex.find(name);
  if (found == kIndex.end()) throw std::logic_error(fmt::format("there is no figure {}", name));
  return found->second;
}

}  // namespace dadsim::report
