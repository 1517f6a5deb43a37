#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "scenario/elements/conditions.hpp"
#include "scenario/elements/elements.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/elements/read_parameter.hpp"
#include "spec/islands.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxRuns = 1000;
constexpr std::size_t kMaxLabel = 100;  // longest label, bytes
constexpr QuantityForm kBucket{Unit::bytes, {.minimum = 0}, "bytes with their unit, e.g. 25MB, or 0 for no buckets"};
constexpr QuantityForm kFirstBucket{Unit::bytes, {.minimum = 0}, "bytes with their unit, e.g. 1MiB"};

bool has_collectives(const spec::RunSpec& run) { return run.communicates && !run.event_driven; }
/// Returns whether a library sums what workers send, or gathers it.
bool has_sums(const spec::RunSpec& run) { return has_collectives(run) || spec::sums_among_peers(run.parameters); }

std::optional<Fault> no_collectives(const Node&, const spec::RunSpec& run) {
  if (has_collectives(run)) return std::nullopt;
  return Fault{fmt::format("has no effect with '{}'", run.algorithm),
               run.communicates ? "remove it: there are no collectives" : "remove it: nothing is exchanged"};
}

std::optional<Fault> no_sums(const Node& node, const spec::RunSpec& run) {
  return has_sums(run) ? std::nullopt : no_collectives(node, run);
}

Row<spec::RunSpec> first_bucket() {
  return attribute("first-bucket", &spec::RunSpec::first_bucket_bytes, quantity(kFirstBucket))
      .refused_if([](const Node& node, const spec::RunSpec& run) -> std::optional<Fault> {
        if (!has_collectives(run) || run.bucket_bytes > 0) return no_collectives(node, run);
        return Fault{"needs buckets", "remove it, or set bucket=\"…\""};
      })
      .printed_if([](const spec::RunSpec& run) { return has_collectives(run) && run.bucket_bytes > 0; });
}

const Table<spec::RunSpec>& run_table() {
  using Spec = spec::RunSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "run", "One algorithm to compare.",
          {attribute("algorithm", &Spec::algorithm, name_in("algorithms")).must().by_reader(),
           attribute("label", &Spec::label, text())
               .by_reader()
               .if_left_out("the algorithm, with the differences from other runs of the same algorithm"),
           attribute("exchange", &Spec::exchange)
               .by_reader()
               .without_default()
               .printed_if([](const Spec& run) { return has_collectives(run) && !run.decentralised; })
               .if_left_out("`aggregator` if there is one, else `peer`"),
           attribute("all-reduce", &Spec::all_reduce, name_in("all-reduces"))
               .refused_if(no_sums)
               .printed_if(has_sums)
               .if_left_out("`auto`"),
           attribute("all-gather", &Spec::all_gather, name_in("all-gathers"))
               .refused_if(no_sums)
               .printed_if(has_sums)
               .if_left_out("`auto`"),
           attribute("reduce-scatter", &Spec::reduce_scatter, name_in("reduce-scatters"))
               .refused_if(no_collectives)
               .printed_if(has_collectives)
               .if_left_out("`auto`"),
           attribute("bucket", &Spec::bucket_bytes, quantity(kBucket))
               .refused_if(no_collectives)
               .printed_if(has_collectives)
               .without_default()
               .if_left_out("25MiB for gradient sharing and PowerSGD among peers (PyTorch's DistributedDataParallel); "
                            "40 million numbers, or one million per replica, with a divided optimizer or several "
                            "devices per worker in `<timed-as>` (Megatron-LM); 500 million with divided gradients "
                            "(DeepSpeed); 0, a block at a time, with divided parameters (FSDP); 0 otherwise"),
           first_bucket().if_left_out(
               "1MiB with buckets of 25MiB, as in PyTorch's DistributedDataParallel; else as `bucket`"),
           weights_row(), failures_row(), availability_row(), jitter_row(), absent_row(), absent_patience_row(),
           absent_weights_row()})
          .holds({"compress", "share", "average-deltas", "failures", "availability"})
          .repeats();
  return kTable;
}

}  // namespace

void take_default_buckets(const spec::TimedAsSpec& timed, std::size_t replicas, spec::RunSpec& run) {
  constexpr double kDeepSpeed = 5e8;  // numbers per bucket: reduce_bucket_size of ZeRO
  // Numbers per bucket: 40e6, or 1e6 for each replica if that is more (DistributedDataParallelConfig.bucket_size).
  constexpr double kMegatron = 40e6;
  constexpr double kMegatronEach = 1e6;
  const spec::ParallelismSpec& how = timed.parallelism;
  if (how.sharding == spec::Sharding::none && how.devices() == 1) return;
  const double number = bytes_per_element(timed.wide_gradients ? spec::Precision::fp32 : timed.precision);
  const double megatron = std::max(kMegatron, kMegatronEach * static_cast<double>(replicas) * how.context);
  run.bucket_bytes = number * (how.sharding == spec::Sharding::parameters  ? 0
                               : how.sharding == spec::Sharding::gradients ? kDeepSpeed
                                                                           : megatron);
  run.first_bucket_bytes = run.bucket_bytes;
}

namespace {

spec::ExchangeMode read_exchange(const Node& node, const Catalog::Algorithm& algorithm, bool has_aggregator) {
  const spec::ExchangeMode fallback = has_aggregator ? spec::ExchangeMode::aggregator : spec::ExchangeMode::peer;
  if (!algorithm.communicates()) {
    node.refuse("exchange", fmt::format("has no effect with '{}'", algorithm.name), "remove it: nothing is exchanged");
    return fallback;
  }
  if (algorithm.event_driven()) {
    node.refuse("exchange", fmt::format("has no effect with '{}'", algorithm.name),
                "remove it: the algorithm defines its own exchange");
    return has_aggregator ? spec::ExchangeMode::aggregator : spec::ExchangeMode::peer;
  }
  if (algorithm.decentralised()) {
    node.refuse("exchange", fmt::format("has no effect with '{}'", algorithm.name),
                "remove it: sites of this algorithm exchange with their neighbours in a graph");
    return spec::ExchangeMode::peer;
  }
  const spec::ExchangeMode exchange = node.named("exchange", fallback);
  if (exchange == spec::ExchangeMode::aggregator && !has_aggregator) {
    node.fail_at("exchange", "needs an aggregator", "add an <aggregator> to <workers>, or set exchange=\"peer\"");
  }
  return exchange;
}

/// Checks that the scenario has an aggregator if the event-driven run needs one. Otherwise sets the exchange to peer,
/// for a method that needs one only with some parameters.
void take_server(const Node& node, const Catalog::Algorithm& algorithm, bool has_aggregator, spec::RunSpec& run) {
  if (!algorithm.needs_server(run.parameters)) {
    if (algorithm.needs_server.depends()) run.exchange = spec::ExchangeMode::peer;
  } else if (!has_aggregator) {
    node.fail_at("algorithm",
                 fmt::format("'{}' needs an aggregator{}", algorithm.name,
                             algorithm.needs_server.depends() ? " with these parameters" : ""),
                 algorithm.needs_server.depends() ? "add an <aggregator> to <workers>, or set to=\"peers\""
                                                  : "add an <aggregator> to <workers>");
  }
}

/// Checks that the named collective algorithms exist.
void check_collectives(const Node& node, const spec::RunSpec& run, const ReadContext& context) {
  if (!has_sums(run)) return;
  const bool by_aggregator = !run.decentralised && run.exchange == spec::ExchangeMode::aggregator;
  const auto check = [&](const char* attribute, const std::vector<std::string>& choices, const std::string& chosen) {
    if (!node.has(attribute)) return;
    if (std::ranges::find(choices, chosen) == choices.end()) {
      node.fail_at(attribute, "is unknown", context.findings.suggest(chosen, choices));
    } else if (by_aggregator && chosen != "auto") {
      node.fail_at(attribute, "has no effect with exchange=\"aggregator\"", "set exchange=\"peer\", or remove it");
    }
  };
  check("all-reduce", context.catalog.all_reduces, run.all_reduce);
  check("all-gather", context.catalog.all_gathers, run.all_gather);
  check("reduce-scatter", context.catalog.reduce_scatters, run.reduce_scatter);
}

/// Returns for example "fp16", "int8, rounding nearest, with a memory".
std::string compress_label(const spec::CompressSpec& spec, const ReadContext& context) {
  if (spec.method == "none") return "not compressed";
  std::string label = spec.method;
  const auto compressor = std::ranges::find(context.catalog.compressors, spec.method, &Catalog::Compressor::name);
  for (const spec::ParameterSpec& parameter : compressor->parameters) {
    const std::string& value = spec.parameters.at(parameter.name);
    if (value != parameter.default_value) label += fmt::format(", {} {}", parameter.name, value);
  }
  if (spec.scope == spec::CompressSpec::Scope::model) label += ", all layers as one";
  if (spec.scope == spec::CompressSpec::Scope::tensor) label += ", tensors in one message";
  const bool by_default = compressor->biased(spec.parameters);
  if (spec.memory == by_default) return label;
  return label + (spec.memory ? ", with a memory" : ", without a memory");
}

std::string bucket_label(double bytes) {
  return bytes > 0 ? fmt::format("buckets of {:g} MB", bytes / 1e6) : "no buckets";
}

/// Completes missing labels: the algorithm, then the differences between its runs, then a number.
void complete_labels(std::vector<spec::RunSpec>& runs, const ReadContext& context) {
  std::set<std::string> taken;
  for (const spec::RunSpec& run : runs) taken.insert(run.label);
  for (spec::RunSpec& run : runs) {
    if (!run.label.empty()) continue;
    std::string label = run.algorithm;
    const auto differs = [&](auto&& value) {
      return std::ranges::any_of(runs, [&](const spec::RunSpec& other) {
        return other.algorithm == run.algorithm && value(other) != value(run);
      });
    };
    for (const auto& parameter : run.parameters) {
      const std::string& name = parameter.first;
      if (differs([&](const spec::RunSpec& other) { return other.parameters.at(name); }))
        label += fmt::format(", {} {}", name, parameter.second);
    }
    if (!run.event_driven && differs([](const spec::RunSpec& other) { return other.exchange; }))
      label += fmt::format(", {}", to_string(run.exchange));
    if (differs([](const spec::RunSpec& other) { return other.compress; })) {
      label += ", " + compress_label(run.compress, context);
    }
    if (differs([](const spec::RunSpec& other) { return other.all_reduce; })) {
      label += fmt::format(", all-reduce {}", run.all_reduce);
    }
    if (differs([](const spec::RunSpec& other) { return other.all_gather; })) {
      label += fmt::format(", all-gather {}", run.all_gather);
    }
    if (differs([](const spec::RunSpec& other) { return other.reduce_scatter; })) {
      label += fmt::format(", reduce-scatter {}", run.reduce_scatter);
    }
    if (differs([](const spec::RunSpec& other) { return other.bucket_bytes; })) {
      label += ", " + bucket_label(run.bucket_bytes);
    }
    if (run.bucket_bytes > 0 && differs([](const spec::RunSpec& other) { return other.first_bucket_bytes; })) {
      label += fmt::format(", the first of {:g} MB", run.first_bucket_bytes / 1e6);
    }
    if (differs([](const spec::RunSpec& other) { return other.weights; })) {
      label += fmt::format(", weights {}", to_string(run.weights));
    }
    if (differs([](const spec::RunSpec& other) { return other.conditions; })) label += conditions_label(run);
    if (differs([](const spec::RunSpec& other) { return other.absence; })) {
      label += fmt::format(", absent {}", to_string(run.absence.does));
      if (run.absence.goes_without()) label += fmt::format(", {}", to_string(run.absence.estimate));
    }
    // Leaves room for " (1000)". Cutting at a byte is safe, because names and values of registries are ASCII.
    constexpr std::size_t kMaxStem = kMaxLabel - 7;
    const std::string mark = "…";
    const std::string stem = label.size() <= kMaxStem ? label : label.substr(0, kMaxStem - mark.size()) + mark;
    if (label.size() > kMaxLabel) label = stem;
    for (int number = 2; !taken.insert(label).second; ++number) label = fmt::format("{} ({})", stem, number);
    run.label = label;
  }
}

}  // namespace

std::vector<spec::RunSpec> read_runs(const Node& scenario, bool has_aggregator, std::size_t workers,
                                     const spec::TrainingSpec& training, const std::optional<spec::TimedAsSpec>& timed,
                                     const LearningNetwork& network, const PlacedHosts& placed,
                                     const ReadContext& context) {
  const std::vector<const Element*> elements = scenario.children("run");
  std::vector<spec::RunSpec> runs;
  if (elements.empty()) {
    const auto usual = std::ranges::find(context.catalog.algorithms, true, &Catalog::Algorithm::is_baseline);
    scenario.fail("<scenario> lacks <run>", fmt::format("add at least one, e.g. <run algorithm=\"{}\"/>",
                                                        usual == context.catalog.algorithms.end() ? "…" : usual->name));
  }
  if (elements.size() > kMaxRuns) scenario.children("run", kMaxRuns);
  std::vector<std::string> names;
  std::vector<ParameterOwner> owners;
  for (const Catalog::Algorithm& algorithm : context.catalog.algorithms) {
    names.push_back(algorithm.name);
    owners.push_back({algorithm.name, algorithm.parameters});
  }

  std::set<std::string> labels;
  for (const Element* element : elements) {
    const Node node(*element, context.findings);
    spec::RunSpec run;
    if (node.has("label")) {
      run.label = node.required_text("label", "a name for the run").value_or("");
      if (run.label.size() > kMaxLabel)
        node.fail_at("label", fmt::format("has {} bytes", run.label.size()), fmt::format("at most {}", kMaxLabel));
      if (!run.label.empty() && !labels.insert(run.label).second)
        node.fail_at("label", "is the label of another run", "labels are unique");
    }
    const std::optional<std::string> name = node.required_text("algorithm", context.findings.suggest("", names));
    if (!name) continue;
    const auto algorithm = std::ranges::find(context.catalog.algorithms, *name, &Catalog::Algorithm::name);
    if (algorithm == context.catalog.algorithms.end()) {
      node.fail_at("algorithm", "is unknown", context.findings.suggest(*name, names));
      continue;
    }
    run.algorithm = *name;
    run.communicates = algorithm->communicates();
    run.decentralised = algorithm->decentralised();
    run.event_driven = algorithm->event_driven();
    run.exchange = read_exchange(node, *algorithm, has_aggregator);
    run.exchange_named = node.has("exchange");
    const std::size_t before = context.findings.added();
    for (const spec::ParameterSpec& parameter : algorithm->parameters) {
      run.parameters[parameter.name] = read_parameter(node, parameter, context);
      if (parameter.type == spec::ParameterSpec::Type::file && !run.parameters[parameter.name].empty()) {
        run.files.push_back(parameter.name);
      }
    }
    // If a value could not be read, the default of that value does not decide whether the run needs a server.
    if (algorithm->event_driven() && context.findings.added() == before)
      take_server(node, *algorithm, has_aggregator, run);
    // An aggregator receives every gradient separately.
    if (run.communicates && !run.event_driven && algorithm->sums_in_buckets && run.exchange == spec::ExchangeMode::peer)
      run.bucket_bytes = spec::kBucketBytes;
    run_table().read(node, context, run);
    check_collectives(node, run, context);
    run.compress = read_compress(node, *algorithm, context);
    read_share(node, *algorithm, run, context);
    read_conditions(node, placed, context, run);
    if (timed && run.bucket_bytes > 0 && !node.has("bucket") && !node.has("first-bucket") &&
        algorithm->sums_gradients(run))
      take_default_buckets(*timed, workers, run);
    check_parameter_names(node, {algorithm->name, algorithm->parameters}, owners, context);
    if (run.compress.memory && !algorithm->remembers()) {
      node.fail(fmt::format("<compress memory=\"true\"> has no effect with '{}'", algorithm->name),
                fmt::format("remove the memory: {}", algorithm->forgets));
    }
    if (const auto compressor =
            std::ranges::find(context.catalog.compressors, run.compress.method, &Catalog::Compressor::name);
        node.child("compress") != nullptr && algorithm->communicates() &&
        compressor != context.catalog.compressors.end()) {
      if (auto refusal = refuse_compressor(*algorithm, run.parameters, *compressor)) node.fail(*std::move(refusal));
    }
    const auto islands = static_cast<std::size_t>(spec::islands_of(run.parameters));
    if (islands > 0 && workers % islands != 0)
      node.fail_at("islands", infeasible(fmt::format("does not divide the {} workers", workers), "set islands=\"1\""));
    check_run(node, *algorithm, run, islands > 0 ? islands : workers, network, context);
    if (algorithm->event_driven() && algorithm->draws_samples &&
        training.batches == spec::TrainingSpec::Batches::poisson) {
      node.fail_at("algorithm",
                   not_built(fmt::format("'{}' draws its own samples and cannot use <training batches=\"poisson\">",
                                         algorithm->name),
                             "set batches=\"proportional\" or \"equal\""));
    }
    if (algorithm->draws_samples && training.in_order) {
      node.fail_at("algorithm", fmt::format("'{}' draws its samples at random", algorithm->name),
                   "use <training> without shuffle=\"no\"");
    }
    const spec::OptimizerSpec& optimizer = training.optimizer;
    if (const auto compressor =
            std::ranges::find(context.catalog.compressors, run.compress.method, &Catalog::Compressor::name);
        compressor != context.catalog.compressors.end() && compressor->has_momentum && run.compress.memory &&
        (optimizer.kind != spec::OptimizerSpec::Kind::sgd || optimizer.momentum != 0)) {
      node.fail(fmt::format("<compress method=\"{}\"> has its own momentum and needs <sgd/> without momentum",
                            compressor->name),
                "use <sgd/> without a momentum in <training>");
    }
    if (algorithm->optimizer == methods::Needs::plain_sgd &&
        (optimizer.kind != spec::OptimizerSpec::Kind::sgd || optimizer.momentum != 0)) {
      node.fail_at("algorithm", fmt::format("'{}' needs plain SGD", algorithm->name),
                   "use <sgd/> without a momentum in <training>");
    }
    if (algorithm->optimizer == methods::Needs::adam && optimizer.kind != spec::OptimizerSpec::Kind::adam &&
        optimizer.kind != spec::OptimizerSpec::Kind::adamw) {
      node.fail_at("algorithm", fmt::format("'{}' needs Adam", algorithm->name),
                   "use <adam/> or <adamw/> in <training>");
    }
    if (algorithm->optimizer == methods::Needs::muon && optimizer.kind != spec::OptimizerSpec::Kind::muon) {
      node.fail_at("algorithm", fmt::format("'{}' needs Muon", algorithm->name), "use <muon/> in <training>");
    }
    runs.push_back(std::move(run));
  }
  if (runs.size() <= kMaxRuns) complete_labels(runs, context);
  return runs;
}

void write_parameters(XmlWriter::Open& element, const spec::RunSpec& run, const PathText& file) {
  for (const auto& [name, value] : run.parameters) {
    const bool path = std::ranges::find(run.files, name) != run.files.end();
    if (!value.empty()) element.set(name.c_str(), path ? file(value) : value);
  }
}

void write_runs(XmlWriter& xml, const std::vector<spec::RunSpec>& runs, const PathText& file) {
  for (const spec::RunSpec& run : runs) {
    XmlWriter::Open element(xml, "run");
    run_table().print_attributes(element, run, file);
    write_parameters(element, run, file);
    write_compress(xml, run.compress);
    write_share(xml, run);
    if (run.conditions.own) write_failures(xml, *run.conditions.own, file);
  }
}

std::vector<ElementRule> runs_rules() {
  return {ElementRule(run_table().rule())
              .takes_parameters(
                  "Parameters of the algorithm; `dadsim algorithms` lists them with their ranges and defaults.",
                  {"share"})};
}

}  // namespace dadsim::scenario
