#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "scenario/compress_rules.hpp"
#include "scenario/quantity.hpp"
#include "scenario/read.hpp"
#include "scenario/read_parameter.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxRuns = 1000;
constexpr std::size_t kMaxLabel = 100;  // bytes

spec::ExchangeMode read_exchange(const Node& node, const Catalog::Algorithm& algorithm, bool has_aggregator) {
  static const std::array<std::string, 2> kExchanges = {"aggregator", "peer"};
  const spec::ExchangeMode fallback = has_aggregator ? spec::ExchangeMode::aggregator : spec::ExchangeMode::peer;
  if (!algorithm.communicates) {
    node.refuse("exchange", fmt::format("means nothing to '{}'", algorithm.name), "remove it: nothing is exchanged");
    return fallback;
  }
  if (algorithm.event_driven) {
    node.refuse("exchange", fmt::format("means nothing to '{}'", algorithm.name),
                "remove it: the algorithm itself says who exchanges what with whom");
    if (algorithm.needs_server && !has_aggregator) {
      node.fail_at("algorithm", fmt::format("'{}' needs an aggregator", algorithm.name),
                   "an <aggregator> in <workers>");
    }
    return has_aggregator ? spec::ExchangeMode::aggregator : spec::ExchangeMode::peer;
  }
  if (algorithm.decentralised) {
    node.refuse("exchange", fmt::format("means nothing to '{}'", algorithm.name),
                "remove it: sites exchange with their neighbours in a graph");
    return spec::ExchangeMode::peer;
  }
  const auto exchange =
      static_cast<spec::ExchangeMode>(node.choice("exchange", kExchanges, static_cast<std::size_t>(fallback)));
  if (exchange == spec::ExchangeMode::aggregator && !has_aggregator) {
    node.fail_at("exchange", "needs an aggregator", "an <aggregator> in <workers>, or exchange=\"peer\"");
  }
  return exchange;
}

/// How the collectives are carried out.
void read_collectives(const Node& node, const Catalog::Algorithm& algorithm, spec::RunSpec& run,
                      const ReadContext& context) {
  if (!algorithm.communicates || algorithm.event_driven) {
    for (const char* attribute : {"all-reduce", "all-gather", "reduce-scatter", "bucket", "first-bucket"}) {
      node.refuse(attribute, fmt::format("means nothing to '{}'", algorithm.name),
                  algorithm.communicates ? "remove it: there are no collectives" : "remove it: nothing is exchanged");
    }
    return;
  }
  const auto choose = [&](const char* attribute, const std::vector<std::string>& choices, std::string& chosen) {
    if (!node.has(attribute)) return;
    chosen = node.text(attribute, chosen);
    if (std::ranges::find(choices, chosen) != choices.end()) return;
    node.fail_at(attribute, "is unknown", context.findings.suggest(chosen, choices));
  };
  choose("all-reduce", context.catalog.all_reduces, run.all_reduce);
  choose("all-gather", context.catalog.all_gathers, run.all_gather);
  choose("reduce-scatter", context.catalog.reduce_scatters, run.reduce_scatter);
  // What a framework does where nobody says otherwise; an aggregator takes every gradient as it comes.
  if (algorithm.sums_in_buckets && run.exchange == spec::ExchangeMode::peer) run.bucket_bytes = spec::kBucketBytes;
  constexpr QuantityForm kBucket{
      Catalog::Unit::bytes, {.minimum = 0}, "bytes with their unit, e.g. 25MB, or 0 for no buckets"};
  run.bucket_bytes = quantity(node, "bucket", kBucket, run.bucket_bytes, context.catalog);
  if (run.bucket_bytes == 0) {
    node.refuse("first-bucket", "means nothing without buckets", "remove it, or give bucket=\"…\"");
    return;
  }
  constexpr QuantityForm kFirstBucket{Catalog::Unit::bytes, {.minimum = 0}, "bytes with their unit, e.g. 1MiB"};
  run.first_bucket_bytes = quantity(node, "first-bucket", kFirstBucket, run.first_bucket_bytes, context.catalog);
}

/// How matrices become bytes.
spec::CompressSpec read_compress(const Node& run, const Catalog::Algorithm& algorithm, const ReadContext& context) {
  spec::CompressSpec spec;
  const Element* element = run.child("compress");
  if (element == nullptr) return spec;
  const Node node(*element, context.findings);
  if (!algorithm.communicates) {
    node.fail(fmt::format("<compress> means nothing to '{}'", algorithm.name), "remove it: nothing is exchanged");
    return spec;
  }
  std::vector<std::string> names;
  std::vector<ParameterOwner> owners;
  for (const Catalog::Compressor& compressor : context.catalog.compressors) {
    names.push_back(compressor.name);
    owners.push_back({compressor.name, compressor.parameters});
  }
  const std::optional<std::string> name = node.required_text("method", context.findings.suggest("", names));
  if (!name) return spec;
  const auto compressor = std::ranges::find(context.catalog.compressors, *name, &Catalog::Compressor::name);
  if (compressor == context.catalog.compressors.end()) {
    node.fail_at("method", "is unknown", context.findings.suggest(*name, names));
    return spec;
  }
  spec.method = *name;
  for (const spec::ParameterSpec& parameter : compressor->parameters) {
    spec.parameters[parameter.name] = read_parameter(node, parameter, context);
  }
  // What a biased method leaves out is missed for good unless it is kept: its authors keep it.
  spec.memory = node.boolean("memory", compressor->biased(spec.parameters) && algorithm.remembers &&
                                           (algorithm.sends_gradients || algorithm.event_driven));
  if (spec.memory && compressor->lossless) {
    node.fail_at("memory", fmt::format("means nothing to '{}'", *name), "remove it: nothing is lost");
  }
  static const std::array<std::string, 3> kScopes = {"layer", "tensor", "model"};
  spec.scope = static_cast<spec::CompressSpec::Scope>(node.choice("scope", kScopes, 0));
  if (spec.scope != spec::CompressSpec::Scope::layer && !algorithm.sends_gradients) {
    node.fail_at("scope", fmt::format("means nothing to '{}'", algorithm.name),
                 "remove it: only the gradients of gradient sharing can be one message");
  }
  check_parameter_names(node, {compressor->name, compressor->parameters}, owners, context);
  return spec;
}

/// "fp16", "int8, rounding nearest, with a memory".
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

/// Labels for the runs that have none: the algorithm, told apart by what differs between its runs, then by a number.
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
    if (differs([](const spec::RunSpec& other) { return other.exchange; }))
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
    // Room for " (1000)"; the registries' names and values are ASCII.
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
                                     const spec::TrainingSpec& training, const LearningNetwork& network,
                                     const ReadContext& context) {
  const std::vector<const Element*> elements = scenario.children("run");
  std::vector<spec::RunSpec> runs;
  if (elements.empty()) {
    const auto usual = std::ranges::find(context.catalog.algorithms, true, &Catalog::Algorithm::is_baseline);
    scenario.fail("<scenario> lacks <run>", fmt::format("at least one, e.g. <run algorithm=\"{}\"/>",
                                                        usual == context.catalog.algorithms.end() ? "…" : usual->name));
  }
  if (elements.size() > kMaxRuns) {
    scenario.fail(fmt::format("{} <run>", elements.size()), fmt::format("at most {}", kMaxRuns));
  }
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
        node.fail_at("label", "is taken by another run", "labels are unique");
    }
    const std::optional<std::string> name = node.required_text("algorithm", context.findings.suggest("", names));
    if (!name) continue;
    const auto algorithm = std::ranges::find(context.catalog.algorithms, *name, &Catalog::Algorithm::name);
    if (algorithm == context.catalog.algorithms.end()) {
      node.fail_at("algorithm", "is unknown", context.findings.suggest(*name, names));
      continue;
    }
    run.algorithm = *name;
    run.communicates = algorithm->communicates;
    run.decentralised = algorithm->decentralised;
    run.event_driven = algorithm->event_driven;
    run.exchange = read_exchange(node, *algorithm, has_aggregator);
    read_collectives(node, *algorithm, run, context);
    run.compress = read_compress(node, *algorithm, context);
    read_share(node, *algorithm, run, context);
    for (const spec::ParameterSpec& parameter : algorithm->parameters) {
      run.parameters[parameter.name] = read_parameter(node, parameter, context);
      if (parameter.type == spec::ParameterSpec::Type::file && !run.parameters[parameter.name].empty()) {
        run.files.push_back(parameter.name);
      }
    }
    check_parameter_names(node, {algorithm->name, algorithm->parameters}, owners, context);
    check_share(node, *algorithm, run, network, context);
    if (run.compress.memory && !algorithm->remembers) {
      node.fail(fmt::format("<compress memory=\"true\"> means nothing to '{}'", algorithm->name),
                algorithm->decentralised ? "remove the memory: sites send their weights, and what is lost of those "
                                           "does not add up over steps"
                                         : "remove the memory: who takes part changes from step to step");
    }
    if (const auto compressor =
            std::ranges::find(context.catalog.compressors, run.compress.method, &Catalog::Compressor::name);
        node.child("compress") != nullptr && algorithm->communicates &&
        compressor != context.catalog.compressors.end()) {
      if (const auto refusal = refuse_compressor(*algorithm, run.parameters, *compressor)) {
        node.fail(refusal->what, refusal->remedy);
      }
    }
    const auto report = [&](const std::optional<Fault>& fault) {
      if (fault) node.fail(fault->what, fault->remedy);
    };
    if (algorithm->check && workers > 0) {
      try {
        report(algorithm->check(run.parameters, workers));
      } catch (const InputError& faults) {
        for (const Diagnostic& fault : faults.diagnostics()) context.findings.add(fault);
      }
    }
    if (algorithm->check_exchange) report(algorithm->check_exchange(run.parameters, run.exchange));
    if (algorithm->event_driven && training.batches == spec::TrainingSpec::Batches::poisson) {
      node.fail_at("algorithm", fmt::format("'{}' knows no <training batches=\"poisson\">", algorithm->name),
                   "proportional or equal");
    }
    const spec::OptimizerSpec& optimizer = training.optimizer;
    if (const auto compressor =
            std::ranges::find(context.catalog.compressors, run.compress.method, &Catalog::Compressor::name);
        compressor != context.catalog.compressors.end() && compressor->has_momentum && run.compress.memory &&
        (optimizer.kind != spec::OptimizerSpec::Kind::sgd || optimizer.momentum != 0)) {
      node.fail(fmt::format("<compress method=\"{}\"> has a momentum of its own", compressor->name),
                "<sgd/> without a momentum in <training>");
    }
    if (algorithm->check_model && network.model != nullptr) {
      if (std::optional<Fault> fault = algorithm->check_model(*network.model, network.sample, run.parameters)) {
        fault->what = fmt::format("'{}': {}", algorithm->name, fault->what);
        report(fault);
      }
    }
    if (algorithm->plain_sgd && (optimizer.kind != spec::OptimizerSpec::Kind::sgd || optimizer.momentum != 0)) {
      node.fail_at("algorithm", fmt::format("'{}' needs plain SGD", algorithm->name),
                   "<sgd/> without a momentum in <training>");
    }
    if (algorithm->adam && optimizer.kind != spec::OptimizerSpec::Kind::adam &&
        optimizer.kind != spec::OptimizerSpec::Kind::adamw) {
      node.fail_at("algorithm", fmt::format("'{}' is a form of Adam", algorithm->name),
                   "<adam/> or <adamw/> in <training>");
    }
    runs.push_back(std::move(run));
  }
  if (runs.size() <= kMaxRuns) complete_labels(runs, context);
  return runs;
}

}  // namespace dadsim::scenario
