#include "study/train/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "estimate/prices.hpp"
#include "report/layout/layout_report.hpp"
#include "report/plan/plan_report.hpp"
#include "report/text/escape.hpp"
#include "report/text/text_blocks.hpp"
#include "scenario/elements/count_row.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "spec/near_names.hpp"
#include "spec/workload.hpp"
#include "study/import/import_model.hpp"
#include "study/layout/search_layouts.hpp"
#include "study/setting/catalog.hpp"
#include "study/train/usual_batches.csv.hpp"
#include "study/train/usual_systems.csv.hpp"
#include "support/diagnostics.hpp"
#include "support/fact_table.hpp"
#include "support/parse_whole.hpp"
#include "support/whole_file.hpp"

namespace dadsim::study {
namespace {

constexpr std::int64_t kUsualSamples = 32;        // assumed samples per device, if samples are no sequences
constexpr std::int64_t kLongSequence = 32768;     // smallest number of tokens of a sequence that devices may divide
constexpr std::size_t kSimulatedForTraining = 8;  // layouts to simulate
constexpr double kMostWork = 3e7;                 // limit on the work of all simulations (SimulationWork)
constexpr std::size_t kNextLayouts = 2;           // layouts listed after the best

/// The usual system of a device: a row of usual_systems.csv.
struct UsualSystem {
  std::string device, system;
  std::int64_t gpus = 1;  ///< GPUs joined by `inside`: of a node, a rack, or a pod
  std::int64_t tray = 1;  ///< GPUs sold together; a job may use a part of a rack
  std::string inside;
  bool mesh = false;
  std::string nic;
  std::int64_t adapters = 1;  ///< adapters per node
  std::int64_t axes = 0;      ///< axes of a torus of devices; 0: nodes at a switch
};

/// Returns the usual system of a device; nullptr if none is known.
const UsualSystem* usual_system_of(const std::string& device) {
  static const std::vector<UsualSystem> kSystems =
      FactTable(tables::kUsualSystems,
                {"device", "system", "gpus", "tray", "inside", "mesh", "nic", "adapters", "axes", "date", "source"})
          .each([](const FactTable::Row& row) {
            return UsualSystem{row.text("device"),  row.text("system"),      row.integer("gpus"),
                               row.integer("tray"), row.text("inside"),      row.yes("mesh"),
                               row.text("nic"),     row.integer("adapters"), row.integer("axes")};
          });
  const auto found = std::ranges::find(kSystems, device, &UsualSystem::device);
  return found == kSystems.end() ? nullptr : &*found;
}

/// Returns the usual tokens per step of all devices, for that many parameters.
double usual_tokens(std::int64_t parameters) {
  static const auto kBatches = FactTable(tables::kUsualBatches, {"most parameters", "tokens", "date", "source"})
                                   .each([](const FactTable::Row& row) {
                                     return std::pair(row.number("most parameters"), row.number("tokens"));
                                   });
  for (const auto& [most, tokens] : kBatches) {
    if (static_cast<double>(parameters) <= most) return tokens;
  }
  throw std::logic_error("no usual batch for this number of parameters");
}

InputError refused_option(const std::string& option, const std::string& what, const std::string& remedy) {
  return InputError(Diagnostic{option, 0, what, remedy});
}

/// Returns at most `count` nearly equal factors above 1 of `devices`, the largest first.
std::vector<std::int64_t> equal_axes(std::int64_t devices, std::int64_t count) {
  std::vector<std::int64_t> axes;
  for (; count > 0 && devices > 1; --count) {
    const double wanted = std::pow(static_cast<double>(devices), 1 / static_cast<double>(count));
    std::int64_t axis = devices;
    for (std::int64_t one = 2; one <= devices && count > 1; ++one) {
      if (devices % one == 0 && std::abs(std::log(static_cast<double>(one) / wanted)) <
                                    std::abs(std::log(static_cast<double>(axis) / wanted)))
        axis = one;
    }
    axes.push_back(axis);
    devices /= axis;
  }
  std::ranges::sort(axes, std::greater<>());
  return axes;
}

/// Completes a request with defaults, and answers it.
class TrainSearch {
 public:
  explicit TrainSearch(const TrainRequest& request) : asked_(request) {
    find_device();
    find_model();
    find_system();
    find_batch();
    find_training();
    if (request.tokens) {
      const estimate::DevicePrice* known = estimate::find_price(device_->name);
      if (request.price) {
        price_ = request.price;
      } else if (known != nullptr) {
        price_ = known->per_hour;
        taken_.push_back(report::Statement{"usual-price", {device_->name}}
                             .with("per_hour", known->per_hour)
                             .with("provider", known->provider)
                             .with("date", known->date));
      }
    }
  }

  /// Returns the text of a scenario in which the <timed-as> settings `assignments` divide the network.
  std::string text_of(const std::vector<std::string>& assignments) const {
    std::string timed = fmt::format("workload=\"{}\"", workload_);
    const auto add = [&](const std::string& name, const std::string& value) {
      timed += fmt::format(" {}=\"{}\"", name, report::escaped(value));
    };
    for (const auto& [name, value] : sizes_) add(name, value);
    add("precision", spec::to_string(precision_));
    if (attends_) add("attention", "flash");
    if (asked_.tokens) add("tokens", scenario::count_text(*asked_.tokens));
    if (assignments.empty()) add("batch", "1");
    for (const std::string& one : assignments) {
      const std::size_t equals = one.find('=');
      add(one.substr(one.find('.') + 1, equals - one.find('.') - 1), one.substr(equals + 1));
    }
    const std::string cluster =
        axes_.empty() ? fmt::format("<gpu-cluster nodes=\"{}\" gpus=\"{}\" inside=\"{}\"{}{} nic=\"{}\"/>",
                                    asked_.gpus / of_node_, of_node_, system_.inside,
                                    system_.mesh && of_node_ > 1 ? " mesh=\"true\"" : "",
                                    rails_ > 1 ? fmt::format(" rails=\"{}\"", rails_) : std::string(), system_.nic)
                      : fmt::format(
                            "<gpu-cluster nodes=\"{}\" gpus=\"1\" rails=\"{}\" nic=\"{}\">"
                            "<torus link=\"{}\" dimensions=\"{}\"/></gpu-cluster>",
                            asked_.gpus, 2 * axes_.size(), system_.nic, system_.nic, fmt::join(axes_, "x"));
    const std::string costs =
        price_
            ? fmt::format("  <costs>\n    <price device=\"{}\" per-hour=\"{}\"/>\n  </costs>\n", device_->name, *price_)
            : std::string();
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<!-- The quickest layout that `dadsim train` found; `dadsim layout` looks for others (docs/train.md). -->\n"
        "<scenario name=\"{} on {} {}\" seed=\"1\">\n"
        "  <platform>\n    {}\n  </platform>\n"
        "  <workers>\n    <worker hosts=\"{}\" device=\"{}\"/>\n  </workers>\n"
        "  <network fidelity=\"flow\"/>\n  <timing-only/>\n  <training>\n    <adamw/>\n  </training>\n"
        "  <timed-as {}/>\n  <run algorithm=\"{}\" exchange=\"peer\" bucket=\"25MB\"/>\n{}</scenario>\n",
        workload_, asked_.gpus, device_->name, cluster,
        asked_.gpus == 1 ? std::string("gpu-0") : fmt::format("gpu-[0-{}]", asked_.gpus - 1), device_->name, timed,
        algorithms::baseline().name, costs);
  }

  report::LayoutReport search(std::size_t simulated, bool show_progress) const {
    LayoutOptions options;
    options.global_batch = batch_;
    options.simulated = simulated;
    options.simulates_written = false;
    options.most_work = kMostWork;
    if (sequence_ < kLongSequence) options.fixed.emplace_back("context", "1");
    options.fixed.emplace_back("schedule", "1f1b");
    return search_layouts(scenario::ScenarioSource("train.xml", text_of({})), {}, options, show_progress);
  }

  const TrainRequest& asked() const { return asked_; }
  const std::string& workload() const { return workload_; }
  const spec::DeviceSpec& device() const { return *device_; }
  std::int64_t of_node() const { return of_node_; }
  std::int64_t batch() const { return batch_; }
  std::int64_t sequence() const { return sequence_; }
  spec::Precision precision() const { return precision_; }
  const std::optional<double>& price() const { return price_; }
  const std::vector<report::Statement>& taken() const { return taken_; }

 private:
  std::string name_of(spec::NameKind kind, const std::string& option, const std::string& typed,
                      const std::vector<std::string>& names, const std::string& usual = {}) {
    return meant_name(kind, option, typed, names, fmt::format("none of `dadsim {}s`", kind_name(kind)), taken_, usual);
  }
  static const char* kind_name(spec::NameKind kind) {
    return kind == spec::NameKind::device ? "device" : kind == spec::NameKind::link ? "link" : "workload";
  }

  void find_device() {
    const auto& devices = sim::device_catalog();
    device_ = &devices.at(name_of(spec::NameKind::device, "--device", asked_.device, devices.names()));
  }

  void find_model() {
    std::error_code error;
    if (asked_.model.ends_with(".json") || std::filesystem::is_regular_file(asked_.model, error)) {
      constexpr InputLimit kMostOfConfig{std::size_t{16} << 20U, "name the config.json of a model"};
      const ImportedModel model =
          import_model(asked_.model, read_input(asked_.model, "name the config.json of a model", kMostOfConfig),
                       asked_.sequence.value_or(0));
      if (model.workload.empty())
        throw refused_option(
            asked_.model, "no workload has these layers",
            fmt::format("run dadsim import --layers layers.xml {}, and write a scenario with <timed-as file=\"…\"/>",
                        asked_.model));
      workload_ = model.workload;
      sizes_ = model.sizes;
    } else {
      workload_ = name_of(spec::NameKind::workload, "MODEL", asked_.model, spec::workload_registry().names());
    }
    const spec::Workload& workload = spec::workload_registry().at(workload_);
    const auto length = std::ranges::find(workload.parameters, std::string("sequence"), &spec::ParameterSpec::name);
    const bool has_length = length != workload.parameters.end();
    if (asked_.sequence && !has_length)
      throw refused_option("--sequence", fmt::format("samples of {} have a fixed length", workload_), "remove it");
    if (asked_.sequence) sizes_["sequence"] = fmt::format("{}", *asked_.sequence);
    if (has_length) {
      const std::string& said = sizes_.contains("sequence") ? sizes_["sequence"] : length->default_value;
      sequence_ = parse_whole<std::int64_t>(said).value_or(0);
    } else if (asked_.tokens) {
      throw refused_option("--tokens", fmt::format("samples of {} are not sequences of tokens", workload_),
                           "remove it");
    }
    try {
      const spec::ModelShape shape = workload.shape(sizes_);
      parameters_ = shape.parameters();
      attends_ =
          std::ranges::find(shape.layers, spec::LayerKind::attention, &spec::LayerShape::kind) != shape.layers.end();
    } catch (const std::invalid_argument& fault) {
      throw refused_option("--sequence", fault.what(), "use another length");
    }
  }

  /// Places the devices on a slice of a pod with axes as equal as possible.
  void find_slice(const UsualSystem& pod) {
    system_ = pod;
    if (asked_.gpus > pod.gpus)
      throw refused_option("--gpus",
                           fmt::format("a {} has at most {} devices, not {}", pod.system, pod.gpus, asked_.gpus),
                           fmt::format("use {}, or add --gpus-per-node K --inside LINK --nic LINK", pod.gpus));
    axes_ = equal_axes(asked_.gpus, pod.axes);
    taken_.push_back(report::Statement{"usual-slice", {device_->name, pod.system}}
                         .with("devices", static_cast<double>(asked_.gpus))
                         .with("dimensions", fmt::format("{}", fmt::join(axes_, " x ")))
                         .with("link", pod.nic));
  }

  void find_system() {
    const UsualSystem* usual = usual_system_of(device_->name);
    const bool is_told = !asked_.inside.empty() || !asked_.nic.empty() || asked_.gpus_per_node;
    if (usual != nullptr && usual->axes > 0) {
      if (!is_told) return find_slice(*usual);
      usual = nullptr;  // defaults of a torus do not apply to a system with a switch
    }
    if (usual == nullptr && (asked_.inside.empty() || asked_.nic.empty() || !asked_.gpus_per_node))
      throw refused_option("--device", fmt::format("dadsim knows no usual system of {}", device_->name),
                           "add --gpus-per-node K --inside LINK --nic LINK");
    if (usual != nullptr) system_ = *usual;
    const std::vector<std::string> links = names_of_links();
    const std::string usual_nic = system_.nic;
    if (!asked_.nic.empty()) system_.nic = name_of(spec::NameKind::link, "--nic", asked_.nic, links, usual_nic);
    if (!asked_.inside.empty()) {
      system_.inside = name_of(spec::NameKind::link, "--inside", asked_.inside, links, system_.inside);
      system_.mesh = false;
    }
    if (usual == nullptr) system_.gpus = system_.tray = system_.adapters = *asked_.gpus_per_node;
    of_node_ = asked_.gpus_per_node.value_or(part_of_domain());
    if (asked_.gpus % of_node_ != 0) {
      const std::int64_t fewer = asked_.gpus / of_node_ * of_node_;
      throw refused_option("--gpus", fmt::format("{} devices do not fill nodes of {}", asked_.gpus, of_node_),
                           fewer > 0 ? fmt::format("use {} or {}, or --gpus-per-node", fewer, fewer + of_node_)
                                     : fmt::format("use {}, or --gpus-per-node {}", of_node_, asked_.gpus));
    }
    rails_ = std::max<std::int64_t>(1, std::min(system_.adapters * of_node_ / system_.gpus, of_node_));
    report::Statement said =
        report::Statement{"usual-system", {device_->name, usual == nullptr ? "a server" : system_.system}}
            .with("nodes", static_cast<double>(asked_.gpus / of_node_))
            .with("gpus", static_cast<double>(of_node_))
            .with("of", static_cast<double>(system_.gpus))
            .with("inside", system_.inside)
            .with("nic", system_.nic)
            .with("adapters", static_cast<double>(rails_));
    taken_.push_back(std::move(said));
  }

  /// Returns the devices per node: all, or a part if fewer are requested or if a rack consists of trays.
  std::int64_t part_of_domain() const {
    if (asked_.gpus <= system_.gpus) return asked_.gpus;
    if (asked_.gpus % system_.gpus == 0 || system_.tray == system_.gpus) return system_.gpus;
    for (std::int64_t part = system_.gpus; part > system_.tray; part -= system_.tray) {
      if (asked_.gpus % part == 0) return part;
    }
    return system_.tray;
  }

  /// Sets the global batch: the requested one, or a number of samples near the usual one. That number is the odd factor
  /// of the number of devices, doubled several times.
  void find_batch() {
    report::Statement said{"usual-batch"};
    if (asked_.global_batch) {
      batch_ = *asked_.global_batch;
    } else {
      const double tokens = usual_tokens(parameters_);
      const double samples =
          sequence_ > 0 ? tokens / static_cast<double>(sequence_) : static_cast<double>(kUsualSamples * asked_.gpus);
      std::int64_t odd = asked_.gpus;
      while (odd % 2 == 0) odd /= 2;
      const double doublings = std::log2(std::max(1.0, samples / static_cast<double>(odd)));
      batch_ = odd << std::llround(doublings);
      said.with("usual", true);
    }
    said.with("samples", static_cast<double>(batch_));
    if (sequence_ > 0)
      said.with("tokens", static_cast<double>(batch_ * sequence_)).with("sequence", static_cast<double>(sequence_));
    if (said.is("usual")) taken_.push_back(std::move(said));
  }

  void find_training() {
    using spec::Precision;
    precision_ = device_->peak(Precision::bf16) > 0   ? Precision::bf16
                 : device_->peak(Precision::fp16) > 0 ? Precision::fp16
                                                      : Precision::fp32;
    if (!asked_.precision.empty())
      precision_ = *spec::parse<Precision>(meant_name(spec::NameKind::precision, "--precision", asked_.precision,
                                                      spec::all_names<Precision>(), "unknown", taken_));
    if (!(device_->peak(precision_) > 0))
      throw refused_option("--precision", fmt::format("{} has no {}", device_->name, spec::to_string(precision_)),
                           "one of " + device_->precisions());
    taken_.push_back(report::Statement{"usual-training"}
                         .with("precision", std::string(spec::to_string(precision_)))
                         .with("attention", attends_));
  }

  TrainRequest asked_;
  const spec::DeviceSpec* device_ = nullptr;
  std::string workload_;
  spec::ParameterValues sizes_;
  std::int64_t sequence_ = 0;  ///< tokens of a sample; 0: samples are no sequences
  std::int64_t parameters_ = 0;
  bool attends_ = false;
  UsualSystem system_;
  std::vector<std::int64_t> axes_;  ///< devices per axis of a torus; empty: nodes at a switch
  std::int64_t of_node_ = 1, rails_ = 1, batch_ = 1;
  spec::Precision precision_ = spec::Precision::bf16;
  std::optional<double> price_;  ///< USD per device and hour; none: unknown
  std::vector<report::Statement> taken_;
};

/// Throws an error that explains why no layout has a time: none divides evenly, none fits, or the simulations failed.
/// Names a sufficient number of devices if up to kMostFactor times as many suffice.
[[noreturn]] void refuse_unfit(const TrainSearch& training, const report::LayoutReport& report) {
  constexpr std::int64_t kMostFactor = 64;
  const TrainRequest& asked = training.asked();
  if (!report.failed.empty())
    throw InputError(
        Diagnostic{"--gpus", 0,
                   fmt::format("{} of {} that fit {} {} could not be simulated: {}",
                               report.failed.size() == 1 ? "the layout" : "the best layouts", training.workload(),
                               asked.gpus, training.device().name, report.failed.front().fault),
                   "write a scenario, and time one layout in it with <network fidelity=\"message\"/>", false, true});
  const std::string what = report.divisible == 0
                               ? fmt::format("no layout of {} divides {} devices and {} samples evenly",
                                             training.workload(), asked.gpus, training.batch())
                               : fmt::format("no layout of {} fits the memory of {} {}", training.workload(),
                                             asked.gpus, training.device().name);
  std::int64_t too_few = asked.gpus;
  for (std::int64_t factor = 2; factor <= kMostFactor; factor *= 2) {
    TrainRequest more = asked;
    more.gpus = asked.gpus * factor;
    try {
      if (TrainSearch(more).search(0, false).fitting == 0) {
        too_few = more.gpus;
        continue;
      }
    } catch (const InputError&) {  // the number does not fill whole nodes
      continue;
    }
    throw InputError(Diagnostic{
        "--gpus", 0, what, fmt::format("use --gpus {}; {} {} too few", more.gpus, too_few, too_few == 1 ? "is" : "are"),
        false, true});
  }
  throw InputError(
      Diagnostic{"--gpus", 0, what, "use a smaller --sequence or --global-batch, or another --device", false, true});
}

report::Statement train_step_of(const TrainSearch& training, const report::LayoutReport& report) {
  const report::LayoutTrial& best = report.trials.front();
  const report::RunResult& run = *best.simulated;
  report::Statement step = report::Statement{"train-step", {training.workload(), training.device().name}}
                               .with("devices", static_cast<double>(report.devices))
                               .with("samples", static_cast<double>(report.global_batch))
                               .with("seconds", run.step_seconds)
                               .with("bytes", best.bytes)
                               .with("device_bytes", report.device_bytes);
  if (run.step_band) {
    const double doubt = report::doubt_of(run);
    step.with("low", run.step_band->low * (1 - doubt)).with("high", run.step_band->high * (1 + doubt));
  }
  if (run.throughput) {
    step.with("samples_per_second", run.throughput->samples);
    if (run.throughput->tokens) step.with("tokens_per_second", *run.throughput->tokens);
    if (run.throughput->model_flops_utilisation) step.with("utilisation", *run.throughput->model_flops_utilisation);
  }
  return step;
}

/// States time and cost for a budget of tokens, and compares the time with the limit.
std::optional<report::Statement> train_time_of(const TrainSearch& training, const report::LayoutReport& report) {
  const TrainRequest& asked = training.asked();
  const report::RunResult& run = *report.trials.front().simulated;
  if (!asked.tokens) return std::nullopt;
  const double steps = std::ceil(*asked.tokens / static_cast<double>(training.batch() * training.sequence()));
  report::Trial trial;
  trial.reached = true;
  trial.seconds = steps * run.step_seconds;
  trial.band = run.factors();
  report::Statement time = report::Statement{"train-time", {training.workload(), training.device().name}}
                               .with("devices", static_cast<double>(report.devices))
                               .with("tokens", *asked.tokens)
                               .with("steps", steps)
                               .with("seconds", trial.seconds);
  if (trial.band) time.with("low", trial.seconds * trial.band->low).with("high", trial.seconds * trial.band->high);
  if (training.price()) {
    constexpr double kHour = 3600;
    time.with("money", *training.price() * static_cast<double>(report.devices) * trial.seconds / kHour)
        .with("currency", std::string("USD"))
        .with("per_hour", *training.price());
  }
  if (asked.within) {
    const spec::GoalSpec goal{.seconds = asked.within};
    time.with("within", *asked.within).with("standing", std::string(to_string(standing_of(goal, trial))));
  }
  return time;
}

/// States the largest part of the step and how to reduce it.
report::Statement train_help_of(const TrainSearch& training, const report::LayoutReport& report) {
  const report::StepParts& parts = report.trials.front().parts;
  std::vector<std::pair<double, const char*>> all{
      {parts.computing, "computing"}, {parts.tensor, "tensor"}, {parts.bubble, "bubble"}, {parts.exchange, "exchange"}};
  const auto largest = std::ranges::max_element(all);
  report::Statement help = report::Statement{"train-help"}
                               .with("part", std::string(largest->second))
                               .with("share", largest->first / parts.total())
                               .with("samples", static_cast<double>(2 * training.batch()));
  const bool halves = training.precision() == spec::Precision::bf16 && training.device().peak(spec::Precision::fp8) > 0;
  return help.with("fp8", halves);
}

/// Says that no step on such a device was measured, where that is so.
std::optional<report::Statement> train_unmeasured_of(const TrainSearch& training, const report::LayoutReport& report) {
  const std::optional<report::StepBand>& band = report.trials.front().simulated->step_band;
  const auto unseen = [](const estimate::TimePart& part) {
    return std::ranges::find(part.unseen, "unseen.device") != part.unseen.end();
  };
  if (!band || std::ranges::none_of(band->parts, unseen)) return std::nullopt;
  return report::Statement{"train-unmeasured", {training.device().name}};
}

report::Statement train_next_of(const report::LayoutReport& report) {
  report::Statement next{"train-next"};
  const double best = report.trials.front().simulated->step_seconds;
  for (std::size_t i = 1; i < report.trials.size() && i <= kNextLayouts; ++i)
    next.with(statement_of(report.trials[i].layout).with("gap", report.trials[i].simulated->step_seconds / best - 1));
  return next;
}

}  // namespace

TrainAnswer train(const TrainRequest& request, bool show_progress) {
  const TrainSearch training(request);
  const report::LayoutReport report = training.search(kSimulatedForTraining, show_progress);
  if (report.trials.empty()) refuse_unfit(training, report);
  TrainAnswer answer{document_of(report), training.text_of(report.trials.front().layout.set)};
  report::Document& document = answer.document;
  for (report::DocumentPart& part : document.parts) {
    if (part.shown == report::Shown::always) part.shown = report::Shown::verbose;
  }
  document.answer.clear();
  const std::optional<report::Statement> time = train_time_of(training, report);
  if (time) document.answer.push_back(*time);
  document.answer.push_back(train_step_of(training, report));
  if (std::optional<report::Statement> unmeasured = train_unmeasured_of(training, report))
    document.answer.push_back(*std::move(unmeasured));
  document.answer.push_back(report::Statement{"train-layout"}.with(statement_of(report.trials.front().layout)));
  if (report.trials.size() > 1) document.answer.push_back(train_next_of(report));
  document.answer.push_back(train_help_of(training, report));
  document.lead = report::in_words(document.answer);
  const auto facts = std::ranges::find(document.parts, std::string("facts"), &report::DocumentPart::name);
  facts->what = report::facts_of(document.answer);
  facts->shown = report::Shown::never;  // the first lines on a terminal already contain them
  std::vector<report::Statement> taken = training.taken();
  document.head.assumptions.insert(document.head.assumptions.begin(), taken.begin(), taken.end());
  if (report.too_large > 0)
    taken.push_back(report::Statement{"layouts-too-large"}.with("layouts", static_cast<double>(report.too_large)));
  document.rests_on(report::paragraph("Assumed: " + report::as_paragraph(taken)), report::Shown::brief);
  std::string all;
  for (const std::string& one : report::in_words(document.head.assumptions))
    all += report::paragraph("Assumed: " + one);
  document.rests_on(std::move(all), report::Shown::verbose);
  const auto number = [&](const char* name) {
    return time && time->has(name) ? report::DocumentValue(time->number(name)) : report::DocumentValue();
  };
  for (const char* name : {"tokens", "steps", "seconds", "low", "high", "money", "within"})
    document.add(fmt::format("budget.{}", name), number(name));
  document.add("budget.standing",
               time && time->has("standing") ? report::DocumentValue(time->text("standing")) : report::DocumentValue(),
               "scenario_text", answer.scenario);
  return answer;
}

}  // namespace dadsim::study
