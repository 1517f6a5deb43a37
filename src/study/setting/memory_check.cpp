#include "study/setting/memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <variant>

#include "algorithms/recent_weights.hpp"
#include "estimate/program_memory.hpp"
#include "protocols/registry.hpp"
#include "spec/kept_activations.hpp"
#include "spec/model_shape.hpp"
#include "spec/program_activations.hpp"
#include "spec/tiles.hpp"
#include "study/setting/cluster_of.hpp"
#include "support/human.hpp"
#include "support/parallel.hpp"

namespace dadsim::study {
namespace {

double models_held(const spec::RunSpec& run, double sites, bool fails) {
  const methods::MethodInfo* info = protocols::find_method(run.algorithm);
  if (info == nullptr || !info->event_driven()) return 0;
  return info->models_held ? info->models_held(run.parameters, sites, fails) : 1;
}

/// Returns the number of replicas that share gradients and may shard states among themselves.
std::int64_t sharing_replicas(const scenario::Scenario& scenario, const spec::RunSpec& run) {
  const bool apart = has_islands(scenario, run) && scenario::devices_of_participant(scenario, run) > 1;
  return static_cast<std::int64_t>(apart ? scenario::replicas_of_participant(scenario, run) : scenario.workers.size());
}

std::string in_words(const estimate::MemoryUse& use) {
  std::string text;
  for (const auto& [what, bytes] : use.breakdown())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, human_bytes(bytes));
  return text;
}

bool is_pooled(const spec::RunSpec& run) {
  const methods::MethodInfo* info = protocols::find_method(run.algorithm);
  return info != nullptr && info->sharing == methods::Sharing::pooled;
}

/// Returns whether PyTorch's autocast computes products in 16 bit from fp32 weights. Not for sharded parameters, which
/// are cast before.
bool casts_weights(const scenario::Scenario& scenario, const TimedAs& timed) {
  return scenario.timed_as && spec::casts_weights(scenario.timed_as->program) &&
         spec::has_master_copies(timed.precision) && !spec::casts_operands(timed.precision) &&
         timed.states.master > 0 && timed.parallelism.sharding < spec::Sharding::parameters;
}

estimate::ProgramMemory program_memory_of(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                          const TimedAs& timed) {
  constexpr double kFloat = 4;  // bytes
  estimate::ProgramMemory program;
  if (sums_in_fp32(run, timed)) program.gradient_width = timed.gradient_width;
  if (casts_weights(scenario, timed)) {
    program.shortcut = kFloat;
    program.casts_again = true;
    return program;
  }
  const bool fuses = scenario.timed_as && !spec::casts_weights(scenario.timed_as->program);
  if (fuses && program.gradient_width > 1 && timed.parallelism.sharding < spec::Sharding::parameters)
    program.empty_gradient = bytes_per_element(timed.precision);
  return program;
}

/// Returns the memory of a run in a program. Fills `moments`, unless null, with the memory over a step.
estimate::MemoryUse memory_in(const scenario::Scenario& scenario, const spec::RunSpec& run, const TimedAs& timed,
                              std::int64_t workers, const estimate::ProgramMemory& program,
                              std::vector<estimate::MemoryMoment>* moments = nullptr) {
  const methods::MethodInfo* info = protocols::find_method(run.algorithm);
  const bool pooled = is_pooled(run);
  const std::vector<std::int32_t> samples(pooled ? 1 : static_cast<std::size_t>(workers),
                                          static_cast<std::int32_t>(pooled ? timed.batch * workers : timed.batch));
  estimate::AlgorithmState state;
  if (info != nullptr && info->state) state = info->state(run.parameters);
  if (info != nullptr && info->state_with_absence && run.absence.goes_without()) {
    methods::RunFacts facts{run, scenario.workers.size()};
    facts.seed = scenario.seed;
    state = info->state_with_absence(facts);
  }
  const spec::Program how = scenario.timed_as ? scenario.timed_as->program : spec::Program::typical;
  const spec::ModelShape shape =
      spec::with_activations_of(timed.shape, how, timed.precision, casts_weights(scenario, timed));
  estimate::MemoryUse use = memory_use(shape, scenario.training.optimizer, state, samples, 0, timed.precision,
                                       timed.parallelism, timed.states, program, moments);
  // A single worker stores its gradients in memory freed by the backward pass (zero_grad() of PyTorch sets gradients to
  // None).
  const bool one_pass = timed.parallelism.micro_batch == 0 || timed.parallelism.micro_batch >= timed.batch;
  if (samples.size() == 1 && timed.parallelism.devices() == 1 && one_pass) {
    const double gradients = use.gradients;
    const bool keeps =
        timed.parallelism.recomputation == spec::Recomputation::none && !timed.parallelism.offloads_activations();
    const spec::KeptActivations kept(timed.precision, timed.parallelism, program.shortcut);
    const double early = estimate::gradients_before_room(
        shape, static_cast<double>(samples.front()), program.gradient_width * bytes_per_element(timed.precision), kept);
    use.gradients = std::max(0.0, use.gradients - use.activations - use.scores);
    // The backward pass has freed scores, but holds all activations.
    if (keeps) use.gradients = std::max(use.gradients, early - use.scores);
    for (std::size_t i = 0; moments != nullptr && i < moments->size(); ++i) {
      const std::size_t left = moments->size() - i;  // last moments: backward pass, its middle, update
      (*moments)[i].use.gradients = left == 3 ? use.gradients : left == 2 ? gradients / 2 : left == 1 ? gradients : 0;
    }
  }
  return use;
}

/// Returns the least memory with which the run is possible. Published jobs often do not state what they recompute.
double least_memory(const scenario::Scenario& scenario, const spec::RunSpec& run, TimedAs timed) {
  const bool blocks = std::ranges::any_of(
      timed.shape.layers, [](const spec::LayerShape& layer) { return layer.kind == spec::LayerKind::attention; });
  if (blocks) timed.parallelism.recomputation = spec::Recomputation::full;
  timed.shape = spec::with_smallest_tiles(std::move(timed.shape), samples_at_once(timed));
  estimate::ProgramMemory program;
  if (sums_in_fp32(run, timed)) program.gradient_width = timed.gradient_width;
  estimate::MemoryUse use = memory_in(scenario, run, timed, sharing_replicas(scenario, run), program);
  if (spec::casts_operands(timed.precision)) {
    const bool one_scale = timed.precision == spec::Precision::fp8 || timed.precision == spec::Precision::fp8_current;
    const double both = one_scale ? 1 : 2;  // row-wise and column-wise, unless one cast serves both
    const double casts = both * spec::operand_bytes(timed.precision);
    use.parameters *= casts / (bytes_per_element(timed.precision) + (both > 1 ? casts : 0));
  }
  return use.total();
}

/// Returns the memory of a run with this timing.
RunMemory memory_of_run(const scenario::Scenario& scenario, const spec::RunSpec& run, const TimedAs& timed) {
  const bool pooled = is_pooled(run);
  RunMemory memory;
  if (timed.recorded) {  // a recorded step has no information about memory
    memory.use.parameters = std::numeric_limits<double>::quiet_NaN();
    return memory;
  }
  memory.use = memory_in(scenario, run, timed, sharing_replicas(scenario, run), program_memory_of(scenario, run, timed),
                         &memory.moments);
  memory.least = least_memory(scenario, run, timed);
  memory.checked = run.communicates;
  for (const spec::Placement& worker : scenario.all_devices()) {
    const spec::DeviceSpec& device = find_device(scenario.devices, worker.device);
    if (!(device.memory_bytes > 0)) {
      memory.some_unknown = true;
    } else if (memory.available == 0 || device.memory_bytes < memory.available) {
      memory.available = device.memory_bytes;
      memory.device = device.name;
    }
    if (pooled) break;
  }
  return memory;
}

}  // namespace

double host_bytes_of(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::SampleShape& sample) {
  constexpr double kFloat = 4;  // bytes
  spec::ModelShape shape;
  try {
    shape = spec::model_shape(scenario.model, sample);
  } catch (const spec::ModelMistake&) {
    return 0;
  }
  double parameters = 0;
  double outputs = 0;
  for (const spec::LayerShape& layer : shape.layers) {
    parameters += static_cast<double>(layer.parameters);
    outputs += layer.outputs_per_sample;
  }
  const methods::MethodInfo* info = protocols::find_method(run.algorithm);
  const bool own = info != nullptr &&
                   (info->sharing == methods::Sharing::no_sharing || info->sharing == methods::Sharing::own_weights);
  const double networks = own ? static_cast<double>(scenario.workers.size()) : 1;
  constexpr double kPerNetwork = 8000;  // bytes of a network in addition to its numbers, at least
  const bool fails = !(run.conditions.failures_of(scenario.failures) == spec::FailureSpec{});
  const double held = models_held(run, static_cast<double>(scenario::participants_of(scenario, run)), fails);
  const double copies = 2 + estimate::optimizer_state_per_parameter(scenario.training.optimizer);
  // The weights between two epochs, if a method searches targets among recent weights (algorithms/recent_weights.hpp).
  const double one_copy = kFloat * networks * parameters;
  const double between = scenario.training.evaluate_every > 0 || run.event_driven
                             ? 0
                             : one_copy * static_cast<double>(algorithms::RecentWeights::most_copies(one_copy));
  const auto samples =
      std::visit([](const auto& one) { return static_cast<double>(one.train + one.test); }, scenario.data.source);
  return networks * kPerNetwork + between +
         kFloat * ((networks * copies + held) * parameters + static_cast<double>(scenario.training.batch) * outputs +
                   samples * static_cast<double>(sample.size()));
}

std::optional<Fault> fault_of_host_memory(const scenario::Scenario& scenario, const spec::SampleShape& sample,
                                          double limit) {
  if (!(limit > 0)) return {};
  const auto fault = [&](const std::string& who, double bytes) {
    return Fault{fmt::format("training {} needs at least {} of memory, but this machine has {}", who,
                             human_bytes(bytes), human_bytes(limit)),
                 "use fewer units or sites, a smaller batch, or a machine with more memory (docs/command-line.md)"};
  };
  std::vector<std::pair<double, std::string>> needs;
  for (const spec::RunSpec& run : scenario.runs)
    needs.emplace_back(host_bytes_of(scenario, run, sample), fmt::format("'{}'", run.label));
  if (needs.empty()) needs.emplace_back(host_bytes_of(scenario, {}, sample), "one such network");
  std::ranges::stable_sort(needs, std::greater(), [](const auto& one) { return one.first; });
  needs.resize(std::min(needs.size(), std::max<std::size_t>(1, thread_limit())));
  double sum = 0;
  std::string labels;
  for (const auto& [bytes, label] : needs) {
    sum += bytes;
    labels += (labels.empty() ? "" : " beside ") + label;
    if (sum > limit) return fault(labels, sum);
  }
  return {};
}

estimate::MemoryUse memory_of_workers(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                      const TimedAs& timed, std::int64_t workers) {
  return memory_in(scenario, run, timed, workers, program_memory_of(scenario, run, timed));
}

std::vector<RunMemory> memory_of_runs(const scenario::Scenario& scenario, const TimedAs& timed) {
  std::vector<RunMemory> memory;
  for (const spec::RunSpec& run : scenario.runs) memory.push_back(memory_of_run(scenario, run, timed));
  return memory;
}

std::optional<Fault> fault_of_memory(const std::optional<spec::TimedAsSpec>& timed_as, const RunMemory& memory) {
  if (!memory.checked || memory.available == 0 || memory.least <= memory.available) return std::nullopt;
  const bool narrow = timed_as && spec::has_master_copies(timed_as->precision);
  const double without_masters = memory.least - memory.use.master_copies - memory.use.optimizer / 2;
  const bool masters = memory.use.master_copies > 0 && without_masters <= memory.available;
  const std::string least = memory.least < memory.use.total()
                                ? fmt::format(" ({} with the usual memory savings)", human_bytes(memory.least))
                                : "";
  return infeasible(fmt::format("needs {} on a worker{}, but '{}' has {}: {}", human_bytes(memory.use.total()), least,
                                memory.device, human_bytes(memory.available), in_words(memory.use)),
                    fmt::format("use a smaller batch, {}{}devices with more memory, or <workers memory=\"ignore\">",
                                narrow ? "" : "16 bit (precision=\"bf16\" or \"fp16\" of <timed-as>), ",
                                masters ? "no fp32 masters (masters=\"none\" of <timed-as>), " : ""));
}

}  // namespace dadsim::study
