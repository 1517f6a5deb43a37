#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/elements/read_parameter.hpp"

namespace dadsim::scenario {
namespace {

const Table<spec::CompressSpec>& compress_table() {
  using Spec = spec::CompressSpec;
  static const Table<Spec> kTable =
      Table<Spec>("compress",
                  "Encoding of the run's matrices as bytes: gradients, activations and deltas, factors, weights. "
                  "Integers and other learned parameters are sent unchanged.",
                  {attribute("method", &Spec::method, name_in("compressors")).must().by_reader(),
                   attribute("memory", &Spec::memory)
                       .printed_if([](const Spec& spec) { return spec.method != "none"; })
                       .by_reader()
                       .without_default()
                       .if_left_out("`true` if the method loses entries permanently (`top-k`, `sign` …) and the "
                                    "algorithm sends gradients or differences of models; `false` otherwise"),
                   attribute("scope", &Spec::scope).if_given()});
  return kTable;
}

}  // namespace

std::optional<Fault> refuse_compressor(const Catalog::Algorithm& algorithm, const spec::ParameterValues& parameters,
                                       const Catalog::Compressor& compressor) {
  if (!algorithm.communicates()) {
    return Fault{fmt::format("<compress> has no effect with '{}'", algorithm.name), "remove it: nothing is exchanged"};
  }
  if (!algorithm.compresses(parameters)) {
    return Fault{fmt::format("<compress> has no effect with '{}' and these parameters", algorithm.name),
                 "remove it, or choose parameters with which the method compresses"};
  }
  if (compressor.adapts && algorithm.event_driven()) {
    return not_built(
        fmt::format("'{}' has messages whose size depends on values, but '{}' is simulated before values exist",
                    compressor.name, algorithm.name),
        "use a method with a known size, e.g. top-k");
  }
  if (compressor.has_momentum && !algorithm.sends_gradients) {
    return Fault{fmt::format("'{}' needs gradients for its momentum, but '{}' sends no gradients", compressor.name,
                             algorithm.name),
                 "use gradient-sharing, or a method without momentum, e.g. top-k"};
  }
  return std::nullopt;
}

/// Reads <compress>: the run's compressor and its parameters.
spec::CompressSpec read_compress(const Node& run, const Catalog::Algorithm& algorithm, const ReadContext& context) {
  spec::CompressSpec spec;
  const Element* element = run.child("compress");
  if (element == nullptr) return spec;
  const Node node(*element, context.findings);
  if (!algorithm.communicates()) {
    node.fail(fmt::format("<compress> has no effect with '{}'", algorithm.name), "remove it: nothing is exchanged");
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
  // Biased methods lose the omitted numbers unless they keep the error; the methods' authors keep it.
  spec.memory = node.boolean("memory", compressor->biased(spec.parameters) && algorithm.remembers() &&
                                           (algorithm.sends_gradients || algorithm.event_driven()));
  if (spec.memory && compressor->lossless) {
    node.fail_at("memory", fmt::format("has no effect with '{}'", *name), "remove it: the method is lossless here");
    spec.memory = false;
  }
  compress_table().read(node, context, spec);
  if (spec.scope != spec::CompressSpec::Scope::layer && !algorithm.sends_gradients) {
    node.fail_at("scope", fmt::format("has no effect with '{}'", algorithm.name),
                 "remove it: only gradient sharing can send all gradients in one message");
  }
  check_parameter_names(node, {compressor->name, compressor->parameters}, owners, context);
  return spec;
}

void write_compress(XmlWriter& xml, const spec::CompressSpec& spec) {
  if (spec == spec::CompressSpec{}) return;
  XmlWriter::Open element(xml, "compress");
  compress_table().print_attributes(element, spec, {});
  for (const auto& [name, value] : spec.parameters) element.set(name.c_str(), value);
}

std::vector<ElementRule> compress_rules() {
  return {ElementRule(compress_table().rule())
              .takes_parameters(
                  "Parameters of the compressor; `dadsim compressors` lists them with their ranges and defaults.")};
}

}  // namespace dadsim::scenario
