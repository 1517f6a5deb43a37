#include "study/layout/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "formats/launch.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "study/layout/candidates.hpp"
#include "study/layout/search_layouts.hpp"
#include "support/diagnostics.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::study {
namespace {

/// A setting, and the attribute to report if the framework has no argument for it; empty: the value is the framework's
/// default.
struct SaidSetting {
  formats::LaunchSetting setting;
  std::string said;
};

bool has_wide_gradients(spec::Precision precision) {
  return spec::has_master_copies(precision) && precision != spec::Precision::fp16;
}

/// Returns the settings of a launch, common to all frameworks. `shards`: the framework has an argument for the
/// sharding.
std::vector<SaidSetting> launch_settings(const Launch& launch, bool shards) {
  std::vector<SaidSetting> all;
  const report::Layout& layout = launch.layout;
  const spec::ParallelismSpec& how = layout.how;
  const auto add = [&](const char* quantity, const auto& value, const std::string& said = "") {
    all.push_back({{quantity, fmt::format("{}", value)}, said});
  };
  spec::TimedAsSpec timed = timed_as_spec_of(layout);
  timed.precision = launch.precision.value_or(timed.precision);
  if (timed.parallelism.micro_batch == 0) timed.parallelism.micro_batch = layout.batch;
  /// Adds the attribute as a setting of the same name. `tells`: reports the attribute as lacking even if it has its
  /// default.
  const auto attribute = [&](const char* name, bool tells = false) {
    const std::string value = scenario::timed_as_attribute(timed, name);
    tells = tells || value != scenario::timed_as_attribute({}, name);
    add(name, value, tells ? fmt::format("{}={}", name, value) : "");
  };
  add("nodes", launch.devices() / launch.devices_per_node);
  add("devices-per-node", launch.devices_per_node);
  attribute("tensor");
  attribute("sequence-parallel", how.tensor > 1);
  attribute("tensor-overlap");
  attribute("context");
  if (how.context > 1) attribute("context-exchange", true);
  attribute("pipeline");
  const bool pipes = how.pipeline > 1;
  attribute("schedule");
  attribute("interleave");
  const std::array<SaidSetting, 2> scheduled{all[all.size() - 2], all.back()};
  for (const SaidSetting& one : scheduled)
    add("scheduled-pieces", scheduled[0].setting.value + '/' + scheduled[1].setting.value, one.said);
  if (how.experts > 1) {
    attribute("expert-parallel");
    attribute("expert-tensor");
    if (how.expert_imbalance > 1) attribute("expert-imbalance");
    if (how.expert_capacity > 0) attribute("expert-capacity");
  }
  add("global-batch", layout.batch * layout.replicas, "batch");
  const std::int64_t micro = timed.parallelism.micro_batch;
  add("micro-batch", micro, micro < layout.batch ? fmt::format("micro-batch={}", micro) : "");
  const std::string said = all.back().said;
  add("micro-batches", layout.batch / micro, said);
  add("local-batch", pipes ? layout.batch : micro, said);
  if (pipes) add("pipeline-micro-batch", micro, said);
  attribute("recompute");
  if (how.recomputation == spec::Recomputation::selective && how.recomputed_parts != spec::BlockParts{})
    attribute("recompute-modules", true);
  const bool divides = how.sharding != spec::Sharding::none;
  attribute("sharding");
  const std::int64_t group = how.sharding_group > 0 ? how.sharding_group : layout.replicas;
  const bool groups = divides && group < layout.replicas;
  const std::string of_groups = groups ? fmt::format("sharding-group={}", group) : "";
  const std::int64_t sharded = divides && shards ? group : 1;
  add("sharded-replicas", sharded, shards ? of_groups : "");
  add("copies", layout.replicas / sharded);
  add("sharding-groups", groups ? layout.replicas / group : 1, of_groups);
  if (groups && how.sharding == spec::Sharding::parameters) add("sharding-group", group, of_groups);
  if (how.sharding == spec::Sharding::parameters) attribute("prefetch");
  attribute("offload");
  attribute("deferred-sums");
  if (launch.precision) {
    attribute("precision", true);
    if (launch.wide_gradients && has_wide_gradients(*launch.precision))
      add("wide-gradients", *launch.wide_gradients, *launch.wide_gradients ? "gradients=fp32" : "gradients=precision");
  }
  if (launch.bucket > 0) add("bucket", launch.bucket, "bucket");
  add("overlap", true);
  add("overlap-parameters", divides);
  return all;
}

/// Reads a launch from the settings of a file.
class LaunchOf {
 public:
  LaunchOf(std::string file, const std::string& framework, const std::string& text, std::optional<std::int64_t> devices)
      : file_(std::move(file)),
        entries_(formats::read_launch_file(file_, framework, text).entries),
        devices_(devices) {}

  Launch read() {
    for (const char* name :
         {"tensor", "sequence-parallel", "tensor-overlap", "context", "context-exchange", "pipeline", "schedule",
          "interleave", "expert-parallel", "expert-tensor", "expert-capacity", "recompute", "sharding"})
      take(name, name, text(name));
    spec::ParallelismSpec& how = timed_.parallelism;
    read_schedule(how);
    if (how.recomputation == spec::Recomputation::selective)
      take("recompute-modules", "recompute-modules", text("recompute-modules"));
    read_replicas(how);
    read_batch(how);
    launch_.layout.how = how;
    if (has("precision")) launch_.precision = spec::parse<spec::Precision>(text("precision"));
    if (has("wide-gradients") && launch_.precision && has_wide_gradients(*launch_.precision))
      launch_.wide_gradients = text("wide-gradients") == "true";
    launch_.bucket = number("bucket", 0);
    return launch_;
  }

 private:
  static constexpr std::int64_t kMostDivided = 4096;  // largest number allowed in <timed-as>
  static constexpr std::int64_t kMostDevices = 16'777'216;
  static constexpr std::int64_t kMostBatch = 1'000'000'000;

  bool has(const std::string& quantity) const { return entries_.contains(quantity); }
  std::string text(const std::string& quantity) const { return has(quantity) ? entries_.at(quantity).value : ""; }

  [[noreturn]] void fail(const std::string& quantity, const std::string& what, const std::string& remedy) const {
    const auto found = entries_.find(quantity);
    const bool said = found != entries_.end() && !found->second.argument.empty();
    throw InputError({file_, said ? found->second.line : 0, said ? found->second.argument + ' ' + what : what, remedy});
  }
  std::int64_t number(const std::string& quantity, std::int64_t otherwise, std::int64_t most = kMostBatch) const {
    const std::int64_t value = parse_whole<std::int64_t>(text(quantity)).value_or(otherwise);
    if (value > most) fail(quantity, fmt::format("is {}", value), fmt::format("{} at most", most));
    return value;
  }
  /// Reads an attribute from the value of a quantity, or keeps its default.
  void take(const char* quantity, const char* name, const std::string& value) {
    if (value.empty()) return;
    try {
      scenario::Findings findings("");
      scenario::read_timed_as_attribute(quantity, name, value, timed_, findings);
      findings.throw_if_any();
    } catch (const InputError& fault) {
      fail(quantity, "is " + value, fault.diagnostics().front().remedy);
    }
  }
  std::int64_t quotient(std::int64_t whole, std::int64_t part, const char* quantity, const char* what) const {
    if (part > 0 && whole % part == 0 && whole > 0) return whole / part;
    fail(quantity, fmt::format("does not divide evenly: {} {}", whole, fmt::format(fmt::runtime(what), part)),
         "use numbers that divide evenly, as the framework requires");
  }

  void read_schedule(spec::ParallelismSpec& how) {
    if (const std::string both = text("scheduled-pieces"); !both.empty()) {
      take("scheduled-pieces", "schedule", both.substr(0, both.find('/')));
      take("scheduled-pieces", "interleave", both.substr(both.find('/') + 1));
    }
    if (how.pipeline == 1) how.interleave = 1;
    if (!has("layers-per-piece") || how.pipeline == 1) return;
    if (!has("layers"))
      fail("layers-per-piece", "needs the number of layers, which is not in the file",
           "remove it, and set timed-as.interleave=PIECES in the printed scenario");
    how.interleave = static_cast<std::int32_t>(quotient(number("layers", 1),
                                                        how.pipeline * number("layers-per-piece", 1, kMostDivided),
                                                        "layers-per-piece", "layers among stages of {}"));
  }

  void read_replicas(spec::ParallelismSpec& how) {
    std::int64_t& replicas = launch_.layout.replicas;
    const std::int64_t groups = number(has("copies") ? "copies" : "sharding-groups", 1, kMostDevices);
    const bool by_groups = has("sharded-replicas") && text("sharded-replicas") != "rest";
    const bool by_nodes = has("nodes") && has("devices-per-node");
    const bool by_batches = has("global-batch") && has("micro-batch") && has("micro-batches");
    if (devices_ && (by_groups || by_nodes || by_batches))
      throw InputError({file_, 0, "already gives the number of devices", "remove --devices"});
    if (by_groups) {
      replicas = groups * number("sharded-replicas", 1, kMostDevices);
    } else if (by_nodes || devices_) {
      const std::int64_t all =
          by_nodes ? number("nodes", 1, kMostDevices) * number("devices-per-node", 1, kMostDevices) : *devices_;
      replicas = quotient(all, how.devices(), "tensor", "devices among replicas of {}");
    } else if (by_batches) {
      replicas = quotient(number("global-batch", 1), number("micro-batches", 1) * number("micro-batch", 1),
                          "global-batch", "samples among replicas of {}");
    } else {
      throw InputError({file_, 0, "lacks the number of devices", "add --devices N"});
    }
    std::int64_t group = has("sharded-replicas") || groups > 1
                             ? quotient(replicas, groups, "sharding-groups", "replicas among groups, {}")
                             : number("sharding-group", 0);
    if (has("sharded-replicas")) {
      // FSDP with a pipeline keeps parameters between the forward and backward passes by default.
      if (how.sharding == spec::Sharding::none)
        how.sharding = how.pipeline > 1 ? spec::Sharding::gradients : spec::Sharding::parameters;
      if (group == 1) how.sharding = spec::Sharding::none;
    }
    if (how.sharding != spec::Sharding::none && group < replicas) how.sharding_group = static_cast<std::int32_t>(group);
    launch_.devices_per_node = has("devices-per-node") ? number("devices-per-node", 1) : 1;
  }

  void read_batch(spec::ParallelismSpec& how) {
    report::Layout& layout = launch_.layout;
    const char* const own = has("local-batch") ? "local-batch" : "micro-batch";
    how.micro_batch = number(own, 0);
    if (has("local-batch") && how.pipeline > 1) how.micro_batch = number("pipeline-micro-batch", 1);
    const std::int64_t said = number(own, 0) * number("micro-batches", 1);
    if (said == 0 && !has("global-batch"))
      fail(own, "lacks the batch", "give the arguments of both batches (docs/launch.md)");
    layout.batch = has("global-batch") ? quotient(number("global-batch", 1), layout.replicas, "global-batch",
                                                  "samples among {} replicas")
                                       : said;
    if (how.micro_batch == 0) how.micro_batch = layout.batch / number("micro-batches", 1);
    if (how.micro_batch == 0 || layout.batch % how.micro_batch != 0)
      fail(own, fmt::format("does not divide the {} samples of a replica", layout.batch), "a divisor of them");
    if (how.micro_batch == layout.batch && how.pipeline == 1) how.micro_batch = 0;
  }

  std::string file_;
  std::map<std::string, formats::LaunchFile::LaunchEntry> entries_;
  std::optional<std::int64_t> devices_;
  spec::TimedAsSpec timed_;
  Launch launch_;
};

}  // namespace

Launch launch_of(const scenario::Scenario& scenario, const std::string& run) {
  const spec::TimedAsSpec& timed = *scenario.timed_as;
  Launch launch;
  launch.layout.how = timed.parallelism;
  launch.layout.replicas = static_cast<std::int64_t>(scenario.workers.size());
  launch.layout.batch = timed.batch;
  launch.precision = timed.precision;
  launch.wide_gradients = timed.wide_gradients;
  const double bytes = spec::bytes_per_element(timed.wide_gradients ? spec::Precision::fp32 : timed.precision);
  const auto found = std::ranges::find(scenario.runs, run, &spec::RunSpec::label);
  if (found != scenario.runs.end()) launch.bucket = static_cast<std::int64_t>(found->bucket_bytes / bytes);
  launch.devices_per_node = devices_per_node(scenario);
  return launch;
}

WrittenLaunch write_launch(const std::string& framework, const Launch& launch) {
  const bool shards = formats::can_say(framework, {"sharding", to_string(launch.layout.how.sharding)});
  WrittenLaunch written;
  std::vector<formats::LaunchSetting> settings;
  std::map<std::string, bool> told;
  const std::vector<SaidSetting> all = launch_settings(launch, shards);
  for (const auto& [setting, said] : all) {
    told[said] = told[said] || formats::can_say(framework, setting);
    settings.push_back(setting);
  }
  for (const auto& [setting, said] : all) {
    if (!said.empty() && !told[said] && std::ranges::count(written.lacking, said) == 0) written.lacking.push_back(said);
  }
  std::vector<std::string> remarks;
  for (const std::string& one : written.lacking) remarks.push_back(fmt::format("no argument for {}", one));
  written.text = formats::to_launch_file(framework, settings, remarks);
  return written;
}

Launch read_launch(const std::string& file, const std::string& framework, const std::string& text,
                   std::optional<std::int64_t> devices) {
  return LaunchOf(file, framework, text, devices).read();
}

std::vector<std::string> assignments_of(const Launch& launch) {
  std::vector<std::string> set = assignments_of(launch.layout);
  // Removes layout attributes of the scenario that this layout does not set.
  for (const std::string& name : scenario::layout_attributes()) {
    const std::string path = fmt::format("timed-as.{}=", name);
    if (std::ranges::none_of(set, [&](const std::string& one) { return one.starts_with(path); })) set.push_back(path);
  }
  if (launch.precision) set.push_back(fmt::format("timed-as.precision={}", to_string(*launch.precision)));
  if (launch.wide_gradients.value_or(false)) set.emplace_back("timed-as.gradients=fp32");
  if (launch.bucket > 0 && launch.precision) {
    const auto wide = launch.wide_gradients.value_or(false) ? spec::Precision::fp32 : *launch.precision;
    set.push_back(
        fmt::format("run.bucket={:.0f}B", static_cast<double>(launch.bucket) * spec::bytes_per_element(wide)));
  }
  return set;
}

}  // namespace dadsim::study
