#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "scenario/language/catalog.hpp"
#include "scenario/language/node.hpp"
#include "scenario/language/rule.hpp"
#include "scenario/xml/element.hpp"
#include "spec/parameter.hpp"

namespace dadsim::test {

using scenario::Element;
using Texts = std::vector<std::string>;

/// Draws elements of the language from its own rules: an attribute that the language gets is drawn without a line here.
/// What has to fit something else (names of hosts, files) is told by who draws the element.
class Drawing {
 public:
  Drawing(std::uint64_t seed, const scenario::Catalog& catalog)
      : random_(seed * 0x9E3779B97F4A7C15ULL + 1), catalog_(catalog) {}

  const scenario::Catalog& catalog() const { return catalog_; }
  bool chance(double share) { return static_cast<double>(random_() >> 11U) * 0x1p-53 < share; }
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(last - first + 1));
  }
  std::string one_of(const Texts& texts) { return texts[random_() % texts.size()]; }

  /// Small values that such an attribute may have; none: only who draws its element can say.
  Texts values_of(const std::string& element, const scenario::AttributeRule& rule) const {
    const auto told = own_values().find(element + "." + rule.name);
    if (told != own_values().end()) return told->second;
    const scenario::Kind& kind = rule.kind;
    using Of = scenario::Kind::Of;
    switch (kind.of) {
      case Of::text:
        return of_catalog(kind.catalog);
      case Of::any_text:
        return {"some words"};
      case Of::integer:
      case Of::integers:
        return within(kind.range, {kind.range.minimum, 1, 2, 3, 4, 6, 9}, true);
      case Of::real:
      case Of::reals:
        return within(kind.range, {0, 0.05, 0.3, 0.5, 0.9, 1, 2, 10}, false);
      case Of::quantity:
        return quantities(kind);
      case Of::truth:
      case Of::name:
        return kind.names;
      case Of::seed:
        return {"1", "7", "12345678901234567890"};
      case Of::word_or_count:
        return {kind.names.front(), "1", "2", "5"};
    }
    return {};
  }

  /// The same of a parameter of a method, compressor or preset.
  static Texts values_of(const spec::ParameterSpec& parameter) {
    if (parameter.type == spec::ParameterSpec::Type::choice) return parameter.choices;
    const auto told = own_values().find("parameter." + parameter.name);
    if (told != own_values().end()) return told->second;
    if (parameter.type == spec::ParameterSpec::Type::file) return {};
    const bool whole = parameter.type == spec::ParameterSpec::Type::integer;
    Texts values = within({.minimum = parameter.minimum, .maximum = parameter.maximum},
                          whole ? std::vector<double>{parameter.minimum, 1, 2, 3, 4, 8}
                                : std::vector<double>{parameter.minimum, 0.1, 0.3, 0.5, 0.8, 1, 2},
                          whole);
    values.push_back(parameter.default_value);
    return values;
  }

  /// An element with `own` as it is told (an empty text leaves the attribute out), what is required, and of the others
  /// each by chance.
  Element element(const std::string& name, const std::map<std::string, std::string>& own = {}, double share = 0.15) {
    const scenario::ElementRule* rule = scenario::find_rule(name);
    Element drawn{.name = name, .origin = {}};
    for (const scenario::AttributeRule& attribute : rule->attributes) {
      if (const auto told = own.find(attribute.name); told != own.end()) {
        if (!told->second.empty()) set(drawn, attribute.name, told->second);
        continue;
      }
      if (!attribute.required && !chance(share)) continue;
      const Texts values = values_of(name, attribute);
      if (!values.empty()) set(drawn, attribute.name, one_of(values));
    }
    return drawn;
  }

  static void set(Element& element, const std::string& name, const std::string& value) {
    element.attributes.push_back({name, value, {}});
  }

 private:
  static Texts within(const scenario::Range& range, const std::vector<double>& numbers, bool whole) {
    Texts texts;
    for (const double number : numbers) {
      if (!range.contains(number) || (whole && number != static_cast<double>(static_cast<std::int64_t>(number))))
        continue;
      std::string text = fmt::format("{}", number);
      if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
    }
    return texts;
  }

  Texts quantities(const scenario::Kind& kind) const {
    static const std::map<scenario::Unit, Texts> kAll{
        {scenario::Unit::seconds, {"0s", "50us", "1ms", "20ms", "300ms", "2s", "9s"}},
        {scenario::Unit::bytes, {"0B", "900B", "20kB", "1MB", "25MB"}},
        {scenario::Unit::bytes_per_second, {"2Mbps", "20Mbps", "1Gbps", "25Gbps"}},
        {scenario::Unit::flops, {"50Gf", "2Tf", "30Tf"}}};
    Texts texts;
    for (const std::string& text : kAll.at(kind.unit)) {
      const auto value = catalog_.parse_unit(kind.unit, text);
      if (value && kind.range.contains(*value)) texts.push_back(text);
    }
    return texts;
  }

  Texts of_catalog(const std::string& name) const {
    if (name == "devices") return {"rtx-3090", "v100-sxm2", "a100-sxm4-80", "xeon-8380"};
    if (name == "links") return {"ethernet-1g", "ethernet-10g", "ib-edr", "nvlink-3", "pcie-3"};
    if (name == "all-reduces") return catalog_.all_reduces;
    if (name == "all-gathers") return catalog_.all_gathers;
    if (name == "reduce-scatters") return catalog_.reduce_scatters;
    if (name == "workloads") return {"resnet-18", "resnet-18-cifar10", "vit-b-16", "bert-base", "gpt-2-small"};
    return {};
  }

  /// Attributes whose values have to be small, or mean something.
  static const std::map<std::string, Texts>& own_values() {
    static const Texts kLines{"2Mbps", "20Mbps", "1Gbps", "cable-up", "ethernet-1g"};
    static const Texts kLayers{"2", "3", "5"};
    static const Texts kDeviations{"0", "0.3", "1"};
    static const std::map<std::string, Texts> kValues{
        {"sites.up", kLines},
        {"sites.down", kLines},
        {"hub.up", kLines},
        {"hub.down", kLines},
        {"sites.latency", {"1ms", "20ms", "200ms"}},
        {"hub.latency", {"0s", "5ms"}},
        {"sites.bandwidth-spread", kDeviations},
        {"sites.latency-spread", kDeviations},
        {"sites.queue", {"20kB", "300kB", "2MB"}},
        {"sites.per-connection", {"2Mbps", "9Mbps"}},
        {"hub.per-connection", {"3Mbps", "20Mbps"}},
        {"pair.per-connection", {"3Mbps", "20Mbps"}},
        {"network.window", {"20kB", "300kB"}},
        {"framework.serialise", {"50kBps", "2MBps"}},
        {"framework.deserialise", {"60kBps", "3MBps"}},
        {"framework.server-serialise", {"90kBps", "3MBps"}},
        {"framework.server-deserialise", {"80kBps", "2MBps"}},
        {"framework.aggregate", {"70kBps", "4MBps"}},
        {"framework.copy", {"100kBps", "9MBps"}},
        {"framework.server-cores", {"1", "2", "8"}},
        {"framework.round", {"200ms", "2s"}},
        {"framework.per-client", {"10ms", "200ms"}},
        {"framework.polling", {"100ms", "1s"}},
        {"framework.idle-cut", {"30ms", "1h"}},
        {"framework.version", {"1.19", "1.20"}},
        {"network.streams", {"2", "5"}},
        {"gpu-cluster.bridge", {"pcie-3", "8GBps"}},
        {"gpu-cluster.slot", {"pcie-3", "3Gbps"}},
        {"gpu-cluster.slot-gpus", {"1", "2"}},
        {"more-nodes.bridge", {"pcie-3", "3GBps"}},
        {"more-nodes.slot", {"pcie-3", "2Gbps"}},
        {"more-nodes.slot-gpus", {"1", "2"}},
        {"gpu-cluster.nic", {"ib-edr", "ethernet-10g", "5Gbps"}},
        {"gpu-cluster.inside", {"nvlink-3", "pcie-3", "100GBps"}},
        {"more-nodes.inside", {"nvlink-3", "pcie-3", "100GBps"}},
        {"more-nodes.nic", {"25Gbps", "1Gbps"}},
        {"wan.host", {"ethernet-1g", "ethernet-10g"}},
        {"wan.queue", {"40kB", "300kB"}},
        {"pair.round-trip", {"10ms", "80ms"}},
        {"change.bandwidth-factor", {"0.5", "2", "1"}},
        {"change.latency-factor", {"0", "1", "3"}},
        {"background.every", {"5ms", "50ms"}},
        {"background.bytes", {"20kB", "200kB"}},
        {"network.message-budget", {"1", "100", "500000"}},
        {"network.timed-steps", {"8", "9", "20"}},
        {"jitter.spatial", kDeviations},
        {"jitter.temporal", kDeviations},
        {"worker.speed-spread", kDeviations},
        {"worker.speed", {"1", "0.5", "2"}},
        {"worker.device", {"rtx-3090", "v100-sxm2", "a100-sxm4-80", "xeon-8380"}},
        {"fails.mtbf", {"200ms", "5s", "100s"}},
        {"fails.mttr", {"20ms", "200ms", "1s"}},
        {"outage.from", {"0s", "100ms", "1s"}},
        {"outage.for", {"50ms", "500ms", "3s"}},
        {"outage.every", {"5s", "9s"}},
        {"outage.stagger", {"0s", "200ms"}},
        {"joins.at", {"100ms", "2s"}},
        {"leaves.at", {"500ms", "5s", "300s"}},
        {"checkpoint.every", {"1ms", "50ms"}},
        {"checkpoint.size", {"20kB", "1MB"}},
        {"checkpoint.storage", {"100MBps", "1GBps"}},
        {"checkpoint.restore", {"10ms", "1s"}},
        {"availability.from", {"0s", "1s", "3s"}},
        {"availability.until", {"2s", "4s"}},
        {"availability.period", {"5s", "9s"}},
        {"availability.spread", {"1s", "2s"}},
        {"availability.chance", {"0.5", "0.9"}},
        {"availability.on", {"500ms", "5s"}},
        {"availability.off", {"100ms", "1s"}},
        {"availability.drop-out", {"0.1", "0.4"}},
        {"availability.returns", {"100ms", "2s"}},
        {"device.name", {"mine"}},
        {"device.memory", {"1GB", "24GB"}},
        {"device.watts", {"100", "300"}},
        {"device.memory-bandwidth", {"20GBps", "900GBps"}},
        {"device.launch-overhead", {"2us", "50us"}},
        {"device.ramp-time", {"5us", "200us"}},
        {"device.step-time", {"2ms", "50ms"}},
        {"device.tile-rows", {"1", "64"}},
        {"drift.at", {"50ms", "500ms", "3s"}},
        {"drift.severity", {"1", "3", "5"}},
        {"drift.label-alpha", {"0.1", "10"}},
        {"evaluation.batch", {"4", "8 2"}},
        {"evaluation.quantiles", {"2", "8", "64"}},
        {"evaluation.label-alpha", {"0.1", "5"}},
        {"site-shift.severity", {"1", "3", "1 5"}},
        {"dense.units", kLayers},
        {"convolution.filters", {"2", "3"}},
        {"convolution.kernel", {"1", "3", "5"}},
        {"convolution.stride", {"1", "2"}},
        {"convolution.padding", {"0", "1", "2"}},
        {"max-pool.size", {"2", "3"}},
        {"mean-pool.size", {"2", "3"}},
        {"max-pool.stride", {"1", "2"}},
        {"mean-pool.stride", {"1", "2"}},
        {"gru.units", kLayers},
        {"lstm.units", kLayers},
        {"embedding.units", {"2", "4"}},
        {"attention.heads", {"1", "2"}},
        {"layer-norm.epsilon", {"0.00001", "0.1"}},
        {"batch-norm.epsilon", {"0.00001", "0.1"}},
        {"training.batch", {"2", "3", "5"}},
        {"training.epochs", {"0.5", "1", "2"}},
        {"training.target-accuracy", {"0.05", "0.15", "0.9", "0.1 0.3"}},
        {"training.seeds", {"1", "2"}},
        {"training.evaluate-every", {"epoch", "1", "3"}},
        {"training.clip-norm", {"0.1", "1"}},
        {"schedule.milestones", {"1", "1 2"}},
        {"schedule.warm-up-epochs", {"0", "0.5", "1"}},
        {"sgd.learning-rate", {"0.01", "0.1", "0.5"}},
        {"lars.learning-rate", {"0.5", "1"}},
        {"adam.learning-rate", {"0.001", "0.01"}},
        {"adamw.learning-rate", {"0.001", "0.01"}},
        {"lamb.learning-rate", {"0.001", "0.01"}},
        {"shift.offset", {"0", "0.2", "1"}},
        {"shift.noise", {"0", "0.2", "1"}},
        {"shift.gain", kDeviations},
        {"split.alpha", {"0.1", "0.5", "5"}},
        {"split.shards", {"1", "2", "3"}},
        {"split.sizes", {}},
        {"digits.train", {"24", "40"}},
        {"digits.test", {"10", "20"}},
        {"shapes.train", {"24", "32"}},
        {"shapes.test", {"10", "12"}},
        {"utterances.train", {"24", "32"}},
        {"utterances.test", {"10", "12"}},
        {"utterances.length", {"8", "12"}},
        {"grammar.train", {"24", "32"}},
        {"grammar.test", {"10", "12"}},
        {"grammar.length", {"4", "8"}},
        {"tabular.train", {"24", "60"}},
        {"tabular.test", {"10", "20"}},
        {"tabular.features", {"2", "6"}},
        {"tabular.classes", {"2", "4"}},
        {"idx.train", {"20", "30"}},
        {"idx.test", {"8", "10"}},
        {"cifar10.train", {"16", "20"}},
        {"cifar10.test", {"6", "8"}},
        {"ts.train", {"16", "20"}},
        {"ts.test", {"6", "8"}},
        {"csv.train", {"20", "30"}},
        {"csv.test", {"6", "8"}},
        {"csv.test-share", {"0.2", "0.3"}},
        {"text.train", {"20", "30"}},
        {"text.test", {"5", "8"}},
        {"text.length", {"4", "8"}},
        {"text.test-share", {"0.1", "0.3"}},
        {"timed-as.batch", {"1", "4", "16"}},
        {"timed-as.steps", {"100", "5000"}},
        {"timed-as.epochs", {"1", "90"}},
        {"timed-as.evaluation-every", {"10", "1000"}},
        {"timed-as.evaluation-seconds", {"1", "100"}},
        {"timed-as.start-up", {"1s", "100s"}},
        {"timed-as.input-rate", {"1", "1000"}},
        {"timed-as.tensor", {"1", "2"}},
        {"timed-as.pipeline", {"1", "2"}},
        {"timed-as.interleave", {"1", "2"}},
        {"timed-as.micro-batch", {"1", "2"}},
        {"timed-as.prefetch", {"0", "1", "3"}},
        {"timed-as.adapters", {"2", "8"}},
        {"timed-as.context", {"1", "2"}},
        {"timed-as.expert-parallel", {"1", "2"}},
        {"timed-as.expert-imbalance", {"1", "1.5"}},
        {"timed-as.expert-tensor", {"1", "2"}},
        {"timed-as.expert-capacity", {"0.75", "1.25"}},
        {"timed-as.offload-rate", {"10GBps", "25GBps"}},
        {"timed-as.host-rate", {"10GBps", "50GBps"}},
        {"timed-as.sharding-group", {"1", "2"}},
        {"timed-as.head-size", {"32", "64"}},
        {"timed-as.experts", {"2", "4"}},
        {"timed-as.experts-per-token", {"1", "2"}},
        {"timed-as.experts-every", {"1", "2"}},
        {"timed-as.expert-feed-forward", {"64", "128"}},
        {"timed-as.shared-feed-forward", {"0", "64"}},
        {"timed-as.dense-layers", {"0", "1"}},
        {"timed-as.window", {"0", "32"}},
        {"timed-as.full-every", {"0", "2"}},
        {"timed-as.positions", {"0", "256"}},
        {"timed-as.norms", {"1", "2", "4"}},
        {"timed-as.classes", {"10", "100"}},
        {"timed-as.feed-forward", {"256", "3072"}},
        {"timed-as.heads", {"2", "12"}},
        {"timed-as.hidden", {"192", "768"}},
        {"timed-as.image", {"64", "224"}},
        {"timed-as.kv-heads", {"2", "4"}},
        {"timed-as.layers", {"2", "4"}},
        {"timed-as.masked", {"5", "20"}},
        {"timed-as.patch", {"8", "16"}},
        {"timed-as.sequence", {"64", "128"}},
        {"timed-as.vocabulary", {"500", "30000"}},
        {"run.bucket", {"0B", "900B", "20kB", "25MB"}},
        {"run.first-bucket", {"500B", "1MB"}},
        {"run.label", {}},
        {"share.every", {"1", "2"}},
        {"costs.currency", {"USD", "EUR"}},
        {"costs.provider", {"specialists", "hyperscalers"}},
        {"costs.price-date", {"2025", "2026-05"}},
        {"costs.electricity", {"0", "0.3"}},
        {"costs.carbon", {"0", "300"}},
        {"costs.overhead", {"1", "1.5"}},
        {"costs.network-energy", {"0", "5"}},
        {"costs.purchase", {"0", "5000"}},
        {"costs.rent", {"0", "300"}},
        {"timed-as.samples", {"2000", "90k"}},
        {"timed-as.tokens", {"500k", "2M"}},
        {"price.per-hour", {"0.5", "2"}},
        {"price.idle-power", {"10", "80"}},
        {"egress.per-gb", {"0", "0.1"}},
        {"line.per-mbps-month", {"0.1", "3"}},
        {"goal.within", {"1ms", "1s", "100s"}},
        {"goal.accuracy", {"0.05", "0.2"}},
        {"goal.cost", {"0.001", "1"}},
        {"goal.energy-kwh", {"0.00001", "1"}},
        {"goal.carbon-kg", {"0.00001", "1"}},
        {"goal.memory", {"1MB", "10GB"}},
        {"goal.power-kw", {"0.1", "5"}},
        {"goal.gpus", {"2", "50"}},
        {"goal.throughput", {"10", "100000"}},
        {"goal.scaling", {"0.5", "0.9"}},
        {"sweep.points", {"2", "3"}},
        {"sweep.seeds", {"1", "2"}},
        {"vary.steps", {"2", "3"}},
        {"scenario.seed", {"1", "2", "3"}},
        // Of methods and compressors.
        {"parameter.rounds", {"1", "2", "3"}},
        {"parameter.updates", {"3", "6"}},
        {"parameter.local-epochs", {"0.5", "1"}},
        {"parameter.local-steps", {"1", "2"}},
        {"parameter.deadline", {"0", "0.05", "5"}},
        {"parameter.period", {"1", "2", "3"}},
        {"parameter.post-local", {"0", "1"}},
        {"parameter.duration", {"5", "20"}},
        {"parameter.interval", {"0.5", "1"}},
        {"parameter.samples", {"10", "12"}},
        {"parameter.quantiles", {"10", "20"}},
        {"parameter.upload-every", {"2", "4"}},
        {"parameter.deploy-every", {"2", "4"}},
        {"parameter.window", {"2", "3"}},
        {"parameter.patience", {"2", "5"}},
        {"parameter.sample-bytes", {"0", "500"}},
        {"parameter.warm-up-steps", {"0", "1", "3"}},
        {"parameter.warm-up", {"0", "1"}},
        {"parameter.uncompressed-steps", {"0", "1", "2"}},
        {"parameter.clip", {"0.1", "1", "5"}},
        {"parameter.epsilon", {"0", "3", "20"}},
        {"parameter.delta", {"1e-5", "1e-3"}},
        {"parameter.noise-multiplier", {"0", "0.5", "2"}},
        {"parameter.gamma", {"0.2", "0.5", "1"}},
        {"parameter.concurrency", {"0", "1", "2"}},
        {"parameter.retries", {"0", "2"}},
        {"parameter.width", {"2", "4"}},
        {"parameter.hidden", {"4", "6"}},
        {"parameter.blocks", {"0", "1", "2"}},
        {"parameter.groups", {"1", "2"}},
        {"parameter.fragments", {"1", "2"}},
        {"parameter.delay", {"0", "1"}},
        {"parameter.slack", {"0", "1"}},
        {"parameter.rank", {"1", "2", "4"}},
        {"parameter.cap", {"1", "2", "8"}},
        {"parameter.iterations", {"1", "3", "10"}},
        {"parameter.directions", {"1", "2"}},
        {"parameter.kept", {"1", "4"}},
        {"parameter.chunk", {"4", "8"}},
        {"parameter.dense-steps", {"0", "2"}},
        {"parameter.buffer", {"1", "2"}},
        {"parameter.heads", {"1", "2"}},
        {"parameter.patch", {"4", "7"}},
        {"parameter.fraction", {"0.05", "0.3", "1"}}};
    return kValues;
  }

  std::mt19937_64 random_;
  const scenario::Catalog& catalog_;
};

/// As XML, on lines of their own.
inline std::string text_of(const Element& element, int depth = 0) {
  const auto escaped = [](const std::string& text) {
    std::string result;
    for (const char c : text) {
      if (c == '&')
        result += "&amp;";
      else if (c == '<')
        result += "&lt;";
      else if (c == '"')
        result += "&quot;";
      else
        result += c;
    }
    return result;
  };
  std::string text = std::string(static_cast<std::size_t>(2 * depth), ' ') + "<" + element.name;
  for (const scenario::Attribute& one : element.attributes)
    text += fmt::format(" {}=\"{}\"", one.name, escaped(one.value));
  if (element.children.empty() && element.text.empty()) return text + "/>\n";
  text += ">" + escaped(element.text);
  if (element.children.empty()) return text + "</" + element.name + ">\n";
  text += "\n";
  for (const Element& child : element.children) text += text_of(child, depth + 1);
  return text + std::string(static_cast<std::size_t>(2 * depth), ' ') + "</" + element.name + ">\n";
}

}  // namespace dadsim::test
