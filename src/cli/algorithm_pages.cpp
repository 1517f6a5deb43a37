#include "cli/algorithm_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "cli/listings.hpp"
#include "compress/registry.hpp"
#include "protocols/registry.hpp"
#include "scenario/elements/read.hpp"
#include "study/setting/catalog.hpp"

namespace dadsim::cli {
namespace {

/// Families in the order in which they are presented, and what makes one.
constexpr std::array<std::pair<const char*, const char*>, 12> kFamilies{{
    {"reference", "what the others are measured against"},
    {"exact", "the gradient of all samples, to rounding, whatever is sent for it"},
    {"low-rank", "matrices of few components in place of gradients"},
    {"sparsification", "few entries in place of all"},
    {"quantisation", "few bits in place of 32"},
    {"layer-wise", "layers that differ in what is shared of them"},
    {"local-steps", "sites train alone for some steps before they exchange"},
    {"federated", "a server and clients, of whom not all take part"},
    {"asynchronous", "nobody waits for all"},
    {"decentralised", "sites with weights of their own, and neighbours in a graph"},
    {"private", "noise, so that what is learned does not betray a sample"},
    {"backward-free", "gradients without a backward pass"},
}};

/// What both kinds of methods have on their page.
struct Method {
  std::string name, family, description, source, payload;
  std::string formula = {}, compute = {}, checks = {}, on_failure = {}, weights = {};
  bool exact = false, event_driven = false, compressor = false;
  std::vector<spec::ParameterSpec> parameters = {};
};

std::string on_failure(const methods::MethodInfo& info) {
  if (info.event_driven() || !info.communicates()) return info.on_failure;
  return "what `absent` says: see [failures.md](../failures.md#runs-that-take-steps)";
}

std::string weights_of_sites(const methods::MethodInfo& info) {
  if (!info.communicates()) return {};
  const std::string why_not = why_no_weights(info);
  if (!why_not.empty()) return fmt::format("`weights` means nothing to it: {}.", why_not);
  switch (info.objective) {
    case methods::Objective::rows:
      return "By the rows of their batches, or as `weights` says.";
    case methods::Objective::samples:
      return "By their samples, or as `weights` says.";
    case methods::Objective::arrivals:
      return "By how often something comes from them, or as `weights` says.";
  }
  return {};
}

std::vector<Method> all_methods() {
  std::vector<Method> all;
  for (const methods::MethodInfo* info : protocols::all_methods()) {
    all.push_back({.name = info->name,
                   .family = info->family,
                   .description = info->description,
                   .source = info->source,
                   .payload = info->payload,
                   .formula = info->formula,
                   .compute = info->compute,
                   .checks = info->checks,
                   .on_failure = on_failure(*info),
                   .weights = weights_of_sites(*info),
                   .exact = info->exact(run_of(*info)),
                   .event_driven = info->event_driven(),
                   .parameters = info->parameters});
  }
  return all;
}

/// A bar would end the cell of a table.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
  return text;
}

std::string parameter_table(const std::vector<spec::ParameterSpec>& parameters) {
  if (parameters.empty()) return {};
  std::string text = "\n## Parameters\n\n| name | default | values | meaning |\n|---|---|---|---|\n";
  for (const spec::ParameterSpec& parameter : parameters) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", parameter.name, parameter.default_value, cell(range_of(parameter)),
                        cell(parameter.description));
  }
  return text;
}

std::string section(const char* title, const std::string& text) {
  return text.empty() ? std::string() : fmt::format("\n## {}\n\n{}\n", title, text);
}

std::string bullets(const std::string& lines) {
  if (lines.empty()) return {};
  std::string text = "- ";
  for (const char c : lines) text += c == '\n' ? std::string("\n- ") : std::string(1, c);
  return text;
}

std::string page_of(const Method& method) {
  std::string text = fmt::format("# {}\n\n{}\n\nFamily: {}{}{}.\n", method.name, method.description, method.family,
                                 method.event_driven ? "; event-driven, see [event-driven.md](../event-driven.md)" : "",
                                 method.exact ? "; exact: equals the pooled gradient up to rounding" : "");
  if (!method.formula.empty()) text += section("One step", "```\n" + method.formula + "\n```");
  text +=
      section("What is sent", method.compressor ? method.payload + " bytes for n numbers."
                              : method.event_driven
                                  ? method.payload + "; d is the number of parameters."
                                  : method.payload +
                                        ": floats of a site per layer and step; N rows, p inputs, q outputs, r rank, "
                                        "S sites.");
  text += section("What it computes", method.compute);
  text += section("On a failure", method.on_failure);
  text += section("What sites are worth", method.weights);
  text += parameter_table(method.parameters);
  text += section("Checks", bullets(method.checks));
  text += section("Source", method.source);
  return text + "\n[All algorithms](README.md)\n";
}

Method method_of(const compress::CompressorInfo& info) {
  Method method{.name = info.name,
                .family = info.lossless ? "reference" : info.family,
                .description = info.description,
                .source = info.source,
                .payload = info.size,
                .formula = info.formula,
                .checks = info.checks,
                .compressor = true,
                .parameters = info.parameters};
  return method;
}

/// Which algorithm goes with which compressor, by the rule that a scenario is read with.
std::string composition() {
  const scenario::Catalog catalog = study::make_catalog();
  std::string text =
      "\n## What goes with what\n\n"
      "`<compress method=\"…\"/>` in a `<run>`, everything else at its defaults: + goes, − is refused before learning, "
      "with the reason.\n\n| |";
  std::string line = "\n|---|";
  std::vector<const scenario::Catalog::Compressor*> columns;
  for (const scenario::Catalog::Compressor& compressor : catalog.compressors) {
    if (compressor.lossless) continue;
    columns.push_back(&compressor);
    text += fmt::format(" [{0}](compress-{0}.md) |", compressor.name);
    line += "---|";
  }
  text += line + "\n";
  for (const scenario::Catalog::Algorithm& algorithm : catalog.algorithms) {
    const spec::ParameterValues values = default_parameters(algorithm);
    text += fmt::format("| [{0}]({0}.md) |", algorithm.name);
    for (const scenario::Catalog::Compressor* compressor : columns) {
      text += scenario::refuse_compressor(algorithm, values, *compressor) ? " − |" : " + |";
    }
    text += "\n";
  }
  return text;
}

std::string overview(const std::vector<Method>& methods) {
  std::string text =
      "# Algorithms and compressors\n\n"
      "What the program itself knows of them (`dadsim algorithms --pages docs/algorithms` writes these pages; "
      "`dadsim algorithms WORD …` searches them). [../algorithms.md](../algorithms.md) derives what the main ones "
      "cost.\n";
  for (const auto& [family, what] : kFamilies) {
    std::string rows;
    for (const Method& method : methods) {
      if (method.family != family) continue;
      const std::string file = (method.compressor ? "compress-" : "") + method.name;
      rows += fmt::format("| [{}]({}.md){} | {} |\n", method.name, file, method.compressor ? " (compressor)" : "",
                          cell(method.description));
    }
    if (!rows.empty()) text += fmt::format("\n## {}: {}\n\n| | |\n|---|---|\n{}", family, what, rows);
  }
  return text + composition();
}

}  // namespace

std::map<std::string, std::string> algorithm_pages() {
  std::map<std::string, std::string> pages;
  std::vector<Method> methods = all_methods();
  for (const Method& method : methods) pages[method.name + ".md"] = page_of(method);
  for (const compress::CompressorInfo& info : compress::compressors().all()) {
    const Method method = method_of(info);
    pages["compress-" + method.name + ".md"] = page_of(method);
    methods.push_back(method);
  }
  pages["README.md"] = overview(methods);
  return pages;
}

}  // namespace dadsim::cli
