#include "cli/method_pages.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "cli/listings.hpp"
#include "compress/registry.hpp"
#include "methods/method_page.hpp"
#include "protocols/registry.hpp"
#include "scenario/elements/read.hpp"
#include "spec/parameter.hpp"
#include "study/setting/catalog.hpp"
#include "support/split.hpp"

namespace dadsim::cli {
namespace {

constexpr const char* kParameters = "Parameters";
constexpr const char* kWeights = "Weights of sites";
constexpr std::array kSections{"One step", methods::kSent, "What it computes", methods::kOnFailure,
                               kWeights,   kParameters,    "Checks",           "Source"};

std::string weights_of_sites(const methods::MethodInfo& info) {
  if (!info.communicates()) return {};
  const std::string why_not = why_no_weights(info);
  if (!why_not.empty()) return fmt::format("`weights` has no effect: {}.", why_not);
  switch (info.objective) {
    case methods::Objective::rows:
      return "The weight of a site is the number of rows in its batch, unless `weights` sets another.";
    case methods::Objective::samples:
      return "The weight of a site is its number of samples, unless `weights` sets another.";
    case methods::Objective::arrivals:
      return "The weight of a site is the number of its contributions, unless `weights` sets another.";
  }
  return {};
}

/// Escapes bars, which would end a table cell.
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

/// Makes a paragraph of a clause: it begins with a capital and ends with a full stop.
void make_paragraph(std::string& clause) {
  if (clause.empty()) return;
  clause.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(clause.front())));
  clause += '.';
}

/// Prints a page; `family` is the family with its remarks.
std::string print_page(const std::string& name, const methods::MethodPage& page, std::string_view family) {
  std::string text = fmt::format("# {}\n\n{}\n\n{}{}.\n", name, page.description, methods::kFamily, family);
  for (const char* title : kSections) {
    const std::string section = page.section(title);
    if (!section.empty()) text += fmt::format("\n## {}\n\n{}\n", title, section);
  }
  return text + fmt::format("\n{}\n", methods::kFooter);
}

std::string print_page(const methods::MethodInfo& info) {
  methods::MethodPage page = methods::method_page(info.name);
  std::string& sent = page.sections[methods::kSent];
  sent.insert(0, info.event_driven() ? methods::kBeginOfEvents : methods::kBeginOfSteps);
  sent += info.event_driven() ? methods::kOfEvents : methods::kOfSteps;
  if (info.event_driven())
    make_paragraph(page.sections[methods::kOnFailure]);
  else if (info.communicates())
    page.sections[methods::kOnFailure] =
        "`absent` decides whether a step waits for absent sites; see "
        "[failures.md](../failures.md#runs-that-take-steps).";
  page.sections[kWeights] = weights_of_sites(info);
  page.sections[kParameters] = parameter_table(info.parameters);
  return print_page(info.name, page,
                    fmt::format("{}{}{}", info.family,
                                info.event_driven() ? "; event-driven, see [event-driven.md](../event-driven.md)" : "",
                                info.exact(run_of(info)) ? "; exact: equals the pooled gradient up to rounding" : ""));
}

std::string family_of(const compress::CompressorInfo& info) { return info.lossless ? "reference" : info.family; }

std::string print_page(const compress::CompressorInfo& info) {
  methods::MethodPage page = methods::method_page("compress-" + info.name);
  std::string& sent = page.sections[methods::kSent];
  sent.insert(0, methods::kBeginOfCompressor);
  sent += methods::kOfCompressor;
  page.sections[kParameters] = parameter_table(info.parameters);
  return print_page(info.name, page, family_of(info));
}

/// Returns the table of combinations of algorithms and compressors that lose something, by the rules for scenarios.
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
    const spec::ParameterValues values = default_parameters(algorithm.parameters);
    text += fmt::format("| [{0}]({0}.md) |", algorithm.name);
    for (const scenario::Catalog::Compressor* compressor : columns) {
      text += scenario::refuse_compressor(algorithm, values, *compressor) ? " − |" : " + |";
    }
    text += "\n";
  }
  return text;
}

/// Returns the table of the methods of a family, algorithms first.
std::string family_table(std::string_view family) {
  std::string text = "| | |\n|---|---|\n";
  const auto add = [&](const std::string& name, const std::string& file, const char* kind) {
    text += fmt::format("| [{}]({}.md){} | {} |\n", name, file, kind, cell(methods::method_page(file).description));
  };
  for (const methods::MethodInfo* info : protocols::all_methods()) {
    if (info->family == family) add(info->name, info->name, "");
  }
  for (const compress::CompressorInfo& info : compress::compressors().all()) {
    if (family_of(info) == family) add(info.name, "compress-" + info.name, " (compressor)");
  }
  return text;
}

/// Returns README.md with new tables: one below each heading "## FAMILY: …", and one below the heading of the
/// combinations.
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

std::map<std::string, std::string> method_pages() {
  std::map<std::string, std::string> pages;
  for (const methods::MethodInfo* info : protocols::all_methods()) pages[info->name + ".md"] = print_page(*info);
  for (const compress::CompressorInfo& info : compress::compressors().all())
    pages["compress-" + info.name + ".md"] = print_page(info);
  pages["README.md"] = print_overview(methods::overview_page());
  return pages;
}

}  // namespace dadsim::cli
