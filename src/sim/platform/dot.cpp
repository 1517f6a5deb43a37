// Writes a platform's picture in the language of Graphviz.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/platform.hpp"

namespace dadsim::sim {
namespace {

/// Quotes a text for Graphviz.
std::string graphviz_quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string style_of(Picture::Kind kind) {
  switch (kind) {
    case Picture::Kind::host:
      return "shape=box, style=\"rounded,filled\", fillcolor=\"#e8f0fe\"";
    case Picture::Kind::node:
      return "shape=box, style=filled, fillcolor=\"#e6f4ea\"";
    case Picture::Kind::network:
      return "shape=ellipse, style=filled, fillcolor=\"#f1f3f4\"";
  }
  return {};
}

/// Returns the style of an edge. Busy edges differ in lightness only, so that no colours have to be distinguished.
std::string style_of(const Picture::Edge& edge, const std::map<std::string, double>& busy_shares) {
  std::optional<double> busiest;
  for (const std::string& link : edge.links) {
    const auto found = busy_shares.find(link);
    if (found != busy_shares.end()) busiest = std::max(busiest.value_or(0), found->second);
  }
  if (!busiest) {
    const std::string style = "color=\"#c4c8cd\", penwidth=1";
    return edge.label.empty() ? style : fmt::format("label={}, {}", graphviz_quoted(edge.label), style);
  }
  constexpr std::array kIdle{0xa9, 0xbf, 0xd6};  // colour of idle edges: red, green, blue
  constexpr std::array kBusy{0x06, 0x2a, 0x5e};
  const double share = std::clamp(*busiest, 0.0, 1.0);
  const auto mixed = [&](std::size_t i) {
    return static_cast<int>(std::lround(kIdle.at(i) + share * (kBusy.at(i) - kIdle.at(i))));
  };
  const std::string words =
      *busiest > 0 && *busiest < 0.005 ? std::string("busy under 1 %") : fmt::format("busy {:.0f} %", 100 * *busiest);
  const std::string label = edge.label.empty() ? words : edge.label + "\n" + words;
  return fmt::format("label={}, tooltip={}, color=\"#{:02x}{:02x}{:02x}\", penwidth={:.1f}", graphviz_quoted(label),
                     graphviz_quoted(fmt::format("{} -- {}: {}", edge.from, edge.to, words)), mixed(0), mixed(1),
                     mixed(2), 1 + 5 * share);
}

}  // namespace

std::string to_dot(const PlatformReport& report, const std::map<std::string, double>& busy_shares) {
  const std::string title =
      report.description.empty() ? fmt::format("{}, {} hosts", report.kind, report.hosts) : report.description;
  std::string dot = fmt::format(
      "graph platform {{\n  graph [label={}, labelloc=t, fontname=\"Helvetica\", overlap=false];\n"
      "  node [fontname=\"Helvetica\", fontsize=10];\n  edge [fontname=\"Helvetica\", fontsize=8];\n",
      graphviz_quoted(title));
  std::vector<std::string> frames;
  for (const Picture::Box& box : report.picture.boxes) {
    if (std::ranges::count(frames, box.frame) == 0) frames.push_back(box.frame);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    // Names the subgraph "cluster…", for which Graphviz draws a frame.
    if (!frames[i].empty())
      dot += fmt::format("  subgraph cluster_{} {{\n    label={};\n", i, graphviz_quoted(frames[i]));
    for (const Picture::Box& box : report.picture.boxes) {
      if (box.frame != frames[i]) continue;
      dot += fmt::format("  {}{} [label={}, {}];\n", frames[i].empty() ? "" : "  ", graphviz_quoted(box.id),
                         graphviz_quoted(box.label), style_of(box.kind));
    }
    if (!frames[i].empty()) dot += "  }\n";
  }
  for (const Picture::Edge& edge : report.picture.edges) {
    dot += fmt::format("  {} -- {}", graphviz_quoted(edge.from), graphviz_quoted(edge.to));
    if (!busy_shares.empty()) {
      dot += fmt::format(" [{}];\n", style_of(edge, busy_shares));
    } else {
      dot += edge.label.empty() ? ";\n" : fmt::format(" [label={}];\n", graphviz_quoted(edge.label));
    }
  }
  return dot + "}\n";
}

}  // namespace dadsim::sim
