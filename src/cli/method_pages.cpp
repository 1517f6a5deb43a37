#include "cli/method_pages.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cli/listings.hpp"
#include "cli/method_pages_text.hpp"
#include "compress/registry.hpp"
#include "protocols/registry.hpp"
#include "scenario/elements/read.hpp"
#include "spec/parameter.hpp"
#include "study/setting/catalog.hpp"
#include "support/split.hpp"

namespace dadsim::cli {
namespace {

constexpr const char* kSent = "What is sent";
constexpr const char* kParameters = "Parameters";
constexpr const char* kWeights = "Weights of sites";
constexpr const char* kOnFailure = "On a failure";
constexpr std::array kSections{"One step", kSent,       "What it computes", kOnFailure,
                               kWeights,   kParameters, "Checks",           "Source"};

constexpr std::string_view kOfCompressor = " bytes for n numbers.";
constexpr std::string_view kOfEvents = "; d is the number of parameters.";
constexpr std::string_view kOfSteps =
    ": floats of a site per layer and step; N rows, p inputs, q outputs, r rank, S sites.";

constexpr std::string_view kFamily = "Family: ";
constexpr std::string_view kFooter = "[All algorithms](README.md)";

/// Removes empty lines around a text.
void trim(std::string& text) {
  text.erase(0, text.find_first_not_of('\n'));
  text.erase(text.find_last_not_of('\n') + 1);
}

MethodPage read_method_page(std::string_view text) {
  constexpr std::string_view kHeading = "## ";
  MethodPage page;
  std::string* into = &page.description;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with(kHeading)) {
      into = &page.sections[std::string(line.substr(kHeading.size()))];
    } else if (!line.starts_with("# ") && !line.starts_with(kFamily) && line != kFooter) {
      into->append(line) += '\n';
    }
  }
  trim(page.description);
  for (auto& [title, section] : page.sections) trim(section);
  std::string& sent = page.sections[kSent];
  for (const std::string_view unit : {kOfCompressor, kOfEvents, kOfSteps}) {
    if (sent.ends_with(unit)) sent.resize(sent.size() - unit.size());
  }
  return page;
}

std::string weights_of_sites(const methods::MethodInfo& info) {
  if (!info.communicates()) return {};
  const std::string why_not = why_no_weights(info);
  if (!why_not.empty()) return fmt::format("`weights` has no effect on it: {}.", why_not);
  switch (info.objective) {
    case methods::Objective::rows:
      return "By the rows of their batches, or as `weights` is set.";
    case methods::Objective::samples:
      return "By their samples, or as `weights` is set.";
    case methods::Objective::arrivals:
      return "By the number of their contributions, or as `weights` is set.";
  }
  return {};
}

/// Escapes bars, which would end the cell of a table.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
  return text;
}

std::string parameter_table(const std::vector<spec::ParameterSpec>& parameters) {
  if (parameters.empty()) return {};
  std::string text = "| name | default | values | meaning |\n|---|---|---|---|";
  for (const spec::ParameterSpec& parameter : parameters) {
    text += fmt::format("\n| `{}` | {} | {} | {} |", parameter.name, parameter.default_value, cell(range_of(parameter)),
                        cell(parameter.description));
  }
  return text;
}

/// Prints a page; `family`: with the remarks that follow it.
std::string print_page(const std::string& name, const MethodPage& page, std::string_view family) {
  std::string text = fmt::format("# {}\n\n{}\n\n{}{}.\n", name, page.description, kFamily, family);
  for (const char* title : kSections) {
    const std::string section = page.section(title);
    if (!section.empty()) text += fmt::format("\n## {}\n\n{}\n", title, section);
  }
  return text + fmt::format("\n{}\n", kFooter);
}

std::string print_page(const methods::MethodInfo& info) {
  MethodPage page = method_page(info.name);
  page.sections[kSent] += info.event_driven() ? kOfEvents : kOfSteps;
  if (!info.event_driven() && info.communicates())
    page.sections[kOnFailure] = "as `absent` is set: see [failures.md](../failures.md#runs-that-take-steps)";
  page.sections[kWeights] = weights_of_sites(info);
  page.sections[kParameters] = parameter_table(info.parameters);
  return print_page(info.name, page,
                    fmt::format("{}{}{}", info.family,
                                info.event_driven() ? "; event-driven, see [event-driven.md](../event-driven.md)" : "",
                                info.exact(run_of(info)) ? "; exact: equals the pooled gradient up to rounding" : ""));
}

std::string family_of(const compress::CompressorInfo& info) { return info.lossless ? "reference" : info.family; }

std::string print_page(const compress::CompressorInfo& info) {
  MethodPage page = method_page("compress-" + info.name);
  page.sections[kSent] += kOfCompressor;
  page.sections[kParameters] = parameter_table(info.parameters);
  return print_page(info.name, page, family_of(info));
}

/// Prints which algorithm goes with which compressor, by the rule that a scenario is read with.
std::string composition_table() {
  const scenario::Catalog catalog = study::make_catalog();
  std::string text = "| |";
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

/// Prints the methods of a family, algorithms first.
std::string family_table(std::string_view family) {
  std::string text = "| | |\n|---|---|\n";
  const auto add = [&](const std::string& name, const std::string& file, const char* kind) {
    text += fmt::format("| [{}]({}.md){} | {} |\n", name, file, kind, cell(method_page(file).description));
  };
  for (const methods::MethodInfo* info : protocols::all_methods()) {
    if (info->family == family) add(info->name, info->name, "");
  }
  for (const compress::CompressorInfo& info : compress::compressors().all()) {
    if (family_of(info) == family) add(info.name, "compress-" + info.name, " (compressor)");
  }
  return text;
}

/// Prints README.md with new tables: one below each heading, "## FAMILY: …" or that of the composition.
std::string print_overview(std::string_view readme) {
  std::string text;
  std::string_view heading;
  for (const std::string_view line : lines_of(readme)) {
    if (line.starts_with("## ")) heading = line.substr(3);
    if (!line.starts_with('|')) {
      text.append(line) += '\n';
    } else if (!heading.empty()) {
      const std::size_t colon = heading.find(':');
      text += colon == std::string_view::npos ? composition_table() : family_table(heading.substr(0, colon));
      heading = {};
    }
  }
  return text;
}

}  // namespace

std::string MethodPage::section(std::string_view title) const {
  const auto found = sections.find(title);
  return found == sections.end() ? "" : found->second;
}

const MethodPage& method_page(const std::string& file) {
  static const std::map<std::string, MethodPage> kPages = [] {
    std::map<std::string, MethodPage> pages;
    for (const auto& [name, text] : kMethodPages) pages[std::string(name)] = read_method_page(text);
    return pages;
  }();
  static const MethodPage kNone;
  const auto found = kPages.find(file + ".md");
  return found == kPages.end() ? kNone : found->second;
}

std::map<std::string, std::string> method_pages() {
  std::map<std::string, std::string> pages;
  for (const methods::MethodInfo* info : protocols::all_methods()) pages[info->name + ".md"] = print_page(*info);
  for (const compress::CompressorInfo& info : compress::compressors().all())
    pages["compress-" + info.name + ".md"] = print_page(info);
  for (const auto& [name, text] : kMethodPages) {
    if (name == "README.md") pages["README.md"] = print_overview(text);
  }
  return pages;
}

}  // namespace dadsim::cli
