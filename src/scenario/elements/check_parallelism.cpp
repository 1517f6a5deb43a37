#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "methods/divides_step.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "spec/islands.hpp"
#include "spec/timed_workload.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kListed = 12;  // largest number of values that a remedy lists

/// Returns `use NAME="1", "2" or "4"`, and at most kListed of the numbers.
std::string remedy_of(std::string_view name, const std::vector<std::size_t>& numbers) {
  std::string words = fmt::format("use {}=\"{}\"", name, numbers.front());
  const std::size_t listed = std::min(numbers.size(), kListed);
  for (std::size_t i = 1; i < listed; ++i)
    words += fmt::format("{}\"{}\"", i + 1 == numbers.size() ? " or " : ", ", numbers[i]);
  return numbers.size() > kListed ? words + " …" : words;
}

}  // namespace

std::string use_divisor(std::string_view attribute, std::size_t number) {
  std::vector<std::size_t> divisors;
  for (std::size_t one = 1; one <= number && divisors.size() <= kListed; ++one) {
    if (number % one == 0) divisors.push_back(one);
  }
  return remedy_of(attribute, divisors);
}

std::string remedy_for_division(spec::TimedAsSpec timed, std::size_t devices) {
  using Way = std::int32_t spec::ParallelismSpec::*;
  constexpr std::size_t kMostTried = 128;
  const std::size_t multiple = static_cast<std::size_t>(timed.parallelism.devices());
  for (const auto& [name, way] : {std::pair<const char*, Way>{"tensor", &spec::ParallelismSpec::tensor},
                                  {"context", &spec::ParallelismSpec::context},
                                  {"pipeline", &spec::ParallelismSpec::pipeline},
                                  {"expert-parallel", &spec::ParallelismSpec::experts}}) {
    const std::int32_t asked = std::exchange(timed.parallelism.*way, 1);
    std::vector<std::size_t> numbers;
    // Skips tensor="1" with sequence-parallel, which has no effect without tensor parallelism and would be refused.
    const bool several = way == &spec::ParallelismSpec::tensor && timed.parallelism.sequence_parallel;
    for (std::size_t one = several ? 2 : 1; asked > 1 && one <= kMostTried && numbers.size() <= kListed; ++one) {
      timed.parallelism.*way = static_cast<std::int32_t>(one);
      const bool divides = devices == 0 || devices % static_cast<std::size_t>(timed.parallelism.devices()) == 0;
      if (divides && !spec::fault_of_workload(timed)) numbers.push_back(one);
    }
    if (!numbers.empty()) return remedy_of(name, numbers);
    timed.parallelism.*way = asked;
  }
  return devices % multiple == 0 ? "use sizes that divide one another"
                                 : fmt::format("use <workers> with a multiple of {} hosts", multiple);
}

void check_parallelism(const Element& timed_as, const spec::TimedAsSpec& timed, std::size_t devices,
                       const std::vector<spec::RunSpec>& runs, const ReadContext& context) {
  const spec::ParallelismSpec& how = timed.parallelism;
  if (how.devices() > 1 && timed.workload.empty()) {
    context.findings.add(timed_as.origin, "<timed-as> can divide only layers of a named workload",
                         "add workload=\"…\", or remove 'tensor', 'context' and 'pipeline'");
  }
  if (how.offloads_activations() && timed.workload.empty()) {
    context.findings.add(timed_as.origin, "offload=\"activations\" of <timed-as> needs a workload with blocks",
                         "add workload=\"…\", or use offload=\"optimizer\"");
  }
  const auto per_worker = static_cast<std::size_t>(how.devices());
  if (devices % per_worker != 0 || devices == 0) {
    context.findings.add(
        timed_as.origin,
        infeasible(fmt::format("<timed-as> needs a multiple of {} devices, but there are {}", per_worker, devices),
                   timed.workload.empty() || devices == 0
                       ? fmt::format("use <workers> with a multiple of {} hosts", per_worker)
                       : remedy_for_division(timed, devices)));
  }
  const std::size_t of_stage = devices / static_cast<std::size_t>(how.pipeline);
  const std::int64_t of_experts = std::int64_t{how.experts} * how.expert_tensor;
  if (how.experts > 1 && of_stage % static_cast<std::size_t>(of_experts) != 0) {
    context.findings.add(
        timed_as.origin,
        infeasible(fmt::format("expert-parallel=\"{}\" of <timed-as> does not divide the {} devices of a stage",
                               how.experts, of_stage / static_cast<std::size_t>(how.expert_tensor)),
                   use_divisor("expert-parallel", of_stage / static_cast<std::size_t>(how.expert_tensor))));
  }
  if (how.experts > 1 && how.tensor > 1 && !how.sequence_parallel) {
    context.findings.add(timed_as.origin, not_built("'expert-parallel' with 'tensor' needs sequence-parallel=\"true\"",
                                                    "set sequence-parallel=\"true\""));
  }
  const std::size_t workers = devices / per_worker;
  const auto shares = [](const spec::RunSpec& run) { return run.communicates; };
  if (how.experts == 1 && workers > 1 && std::ranges::any_of(runs, shares) && spec::has_pooled_tables(timed)) {
    context.findings.add(timed_as.origin,
                         not_built(fmt::format("'{}' has embedding tables, whose whole gradients {} workers would sum "
                                               "in every step; in practice, devices divide the tables",
                                               timed.workload, workers),
                                   fmt::format("set expert-parallel=\"{}\" on <timed-as>", workers)));
  }
  if (how.sharding_group > 0 && (how.context > 1 || workers % static_cast<std::size_t>(how.sharding_group) != 0)) {
    context.findings.add(
        timed_as.origin,
        how.context > 1
            ? not_built("'sharding-group' and 'context' of <timed-as> cannot be combined", "remove 'sharding-group'")
            : infeasible(fmt::format("sharding-group=\"{}\" of <timed-as> does not divide the {} workers",
                                     how.sharding_group, workers),
                         use_divisor("sharding-group", workers)));
  }
  if (!how.divides()) return;
  const auto divides_states = [&](std::size_t replicas) {
    return how.sharding == spec::Sharding::none || replicas > 1 || how.context > 1;
  };
  for (const spec::RunSpec& run : runs) {
    const auto info = std::ranges::find(context.catalog.algorithms, run.algorithm, &Catalog::Algorithm::name);
    if (info == context.catalog.algorithms.end()) continue;
    const auto refuse = [&](const std::string& what, const std::string& remedy) {
      context.findings.add(timed_as.origin, not_built(fmt::format("run '{}' {}", printable(run.label), what), remedy));
    };
    // Each participant makes its own passes over a batch, unless sites take a step together (partial participation).
    const bool one_device = how.devices() == 1 && how.experts == 1 && how.sharding == spec::Sharding::none &&
                            how.offload == spec::Offload::none;
    const bool own_steps = run.event_driven && !run.parameters.contains("barrier");
    if (own_steps && one_device) continue;
    const auto islands = static_cast<std::size_t>(spec::islands_of(run.parameters));
    const std::size_t replicas = islands > 0 ? workers / islands : 1;
    const bool chooses = !info->statistics.empty();
    const bool of_groups = !run.event_driven && (islands > 0 || !methods::divides_step(*info, run, how));
    const bool in_islands = own_steps ? spec::takes_islands(run.parameters) && replicas > 0 : of_groups && !chooses;
    const auto cannot = [&](const std::string& what, const std::string& remedy) {
      context.findings.add(timed_as.origin, infeasible(fmt::format("run '{}' {}", printable(run.label), what), remedy));
    };
    if (own_steps && !spec::takes_islands(run.parameters)) {
      refuse("cannot have participants of several devices, or offload",
             "use <timed-as> without tensor, context, pipeline, expert-parallel, sharding and offload, or another "
             "algorithm");
    } else if (in_islands && of_groups && islands == 0 &&
               (!divides_states(1) || how.of_stage() % static_cast<std::int32_t>(of_experts) != 0)) {
      refuse("cannot divide states or experts among workers: this needs a run that exchanges only gradient sums",
             "use <timed-as> without sharding and expert-parallel, or gradient-sharing among peers without <compress>");
    } else if (in_islands && !divides_states(replicas)) {
      cannot("has participants of one replica, but sharding needs several replicas",
             "set islands=\"1\" on the run, or sharding=\"none\"");
    } else if (in_islands && how.sharding_group > 0 && replicas % static_cast<std::size_t>(how.sharding_group) != 0) {
      cannot(fmt::format("has participants of {} replicas, not a multiple of sharding-group=\"{}\"", replicas,
                         how.sharding_group),
             "set islands=\"1\" on the run, or remove 'sharding-group'");
    } else if (in_islands && how.experts > 1 &&
               replicas * static_cast<std::size_t>(how.of_stage()) % static_cast<std::size_t>(of_experts) != 0) {
      cannot(fmt::format("has participants of {} devices per stage, which cannot divide experts among {}",
                         replicas * static_cast<std::size_t>(how.of_stage()), of_experts),
             "set islands=\"1\" on the run, or remove 'expert-parallel'");
    } else if (in_islands) {
      continue;
    } else if (run.event_driven) {
      refuse("cannot have workers with micro-batches or several devices",
             "use <timed-as> without tensor, pipeline, micro-batch, recompute and sharding, or another algorithm");
    } else if (info->sharing == methods::Sharing::pooled &&
               (how.sharding_group > 1 || how.tensor * how.context % (how.experts * how.expert_tensor) != 0)) {
      cannot("has one worker, but dividing states or experts needs several workers",
             "use <timed-as> without sharding-group and expert-parallel, or another algorithm");
    } else if (run.communicates && run.exchange == spec::ExchangeMode::aggregator) {
      refuse("uses an aggregator, but workers with micro-batches or several devices need exchange=\"peer\"",
             "set exchange=\"peer\" on the run");
    } else if (run.communicates && how.sharding > methods::most_sharding(*info, run)) {
      const bool alone = methods::most_sharding(*info, run) == spec::Sharding::optimizer;
      refuse(alone ? "needs whole gradients, but sharding divides them"
                   : "does not sum gradients, but sharding needs their sum",
             fmt::format("set sharding=\"{}\", or use gradient-sharing without <compress>",
                         to_string(alone ? spec::Sharding::optimizer : spec::Sharding::none)));
    } else if (of_groups || (how.devices() > 1 && !run.share.empty())) {
      refuse("chooses what each layer shares; this needs workers of one device", "use a run without <share>");
    }
  }
}

}  // namespace dadsim::scenario
