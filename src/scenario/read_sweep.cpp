#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "scenario/overrides.hpp"
#include "scenario/read.hpp"
#include "scenario/read_varied.hpp"

namespace dadsim::scenario {
namespace {

class SweepReader {
 public:
  SweepReader(const Element& element, const ReadContext& context)
      : node_(element, context.findings), context_(context) {}

  spec::SweepSpec read() {
    static const std::array<std::string, 4> kMethods = {"grid", "list", "random", "latin-hypercube"};
    sweep_.method = static_cast<spec::SweepSpec::Method>(node_.choice("method", kMethods, 0));
    if (sweep_.drawn()) {
      sweep_.points = node_.integer("points", 1, spec::kMostSweepPoints).value_or(1);
      if (const Attribute* seed = node_.element().find("seed")) {
        const std::optional<std::uint64_t> value = parse_unsigned(seed->value);
        if (!value) node_.fail_at("seed", "is no seed", "a whole number from 0 to 18446744073709551615");
        sweep_.seed = value.value_or(sweep_.seed);
      }
    } else {
      const std::string because = fmt::format("means nothing with method=\"{}\"", to_string(sweep_.method));
      node_.refuse("points", because, "what is varied says how many points there are");
      node_.refuse("seed", because, "nothing is drawn; the seeds of points are those of the scenario");
    }
    sweep_.seeds = node_.integer("seeds", 1, spec::kMostSweepSeeds, 1);
    const std::size_t before = context_.findings.added();
    read_axes();
    if (context_.findings.added() == before) check_counts();
    return std::move(sweep_);
  }

 private:
  void read_axes() {
    for (const Element& child : node_.element().children) {
      if (child.name == "vary") sweep_.axes.push_back({read_vary(child)});
      if (child.name != "linked") continue;
      const Node linked(child, context_.findings);
      spec::SweepAxis axis;
      for (const Element* one : linked.children("vary")) axis.push_back(read_vary(*one));
      if (axis.size() < 2) linked.fail("<linked> has fewer than two <vary>", "those that vary together");
      sweep_.axes.push_back(std::move(axis));
    }
    if (sweep_.axes.empty())
      node_.fail("<sweep> lacks <vary>", "what is varied, e.g. <vary path=\"training.batch\" values=\"16 32 64\"/>");
  }

  spec::VariedPath read_vary(const Element& element) {
    const Node node(element, context_.findings);
    spec::VariedPath varied;
    varied.line = element.origin.line;
    varied.path = node.required_text("path", "a path as in --set, e.g. training.batch").value_or("");
    check_path(node, varied.path);
    if (node.has("values")) {
      read_values(node, varied);
    } else if (node.has("from") || node.has("to")) {
      read_range(node, varied);
    } else {
      node.fail("<vary> lacks 'values'", "values=\"16 32 64\", or from=\"1\" to=\"64\" with steps=\"7\"");
    }
    read_form(node, varied);
    return varied;
  }

  void check_path(const Node& node, const std::string& path) {
    if (path.empty()) return;
    if (!is_override_path(path)) {
      node.fail_at("path", "is no path",
                   "names with dots between them and selectors in brackets, as in --set, e.g. run[2].cap");
    } else if (path.starts_with("sweep.")) {
      node.fail_at("path", "is of the sweep itself", "a path of the scenario");
    } else if (path == "seed" && sweep_.seeds > 1) {
      node.fail_at("path", fmt::format("beside seeds=\"{}\"", sweep_.seeds), "either of the two");
    } else if (!paths_.insert(path).second) {
      node.fail_at("path", "is varied already", "each path once");
    }
  }

  void read_values(const Node& node, spec::VariedPath& varied) {
    for (const char* other : {"from", "to", "steps", "scale", "whole"}) {
      node.refuse(other, "stands beside values=\"…\"", "a list of values, or a range");
    }
    varied.values = values_of(node.text("values", ""));
    if (varied.values.empty()) {
      node.fail_at("values", "is empty", "values with spaces between them");
      return;
    }
    std::set<std::string> seen;
    for (const std::string& value : varied.values) {
      if (!seen.insert(value).second && sweep_.method == spec::SweepSpec::Method::grid) {
        node.fail_at("values", fmt::format("holds '{}' twice", printable(value)), "each value once");
        return;
      }
    }
  }

  void read_range(const Node& node, spec::VariedPath& varied) {
    const std::size_t before = context_.findings.added();
    varied.logarithmic = node.choice("scale", std::array<std::string, 2>{"linear", "log"}, 0) == 1;
    varied.whole = node.boolean("whole", false);
    const Range range{.minimum = varied.logarithmic ? 0 : -kLargestWhole,
                      .maximum = kLargestWhole,
                      .open_minimum = varied.logarithmic};
    varied.from = node.real("from", range).value_or(1);
    varied.to = node.real("to", range).value_or(1);
    if (context_.findings.added() == before && varied.from == varied.to)
      node.fail_at("to", "is where the range begins", "another number, or a single one by values=\"…\"");
    if (sweep_.drawn()) {
      node.refuse("steps", fmt::format("means nothing with method=\"{}\"", to_string(sweep_.method)),
                  "numbers are drawn from the range, as many as there are points");
      return;
    }
    varied.steps = node.integer("steps", 2, spec::kMostSweepPoints).value_or(2);
    if (context_.findings.added() > before) return;
    for (std::size_t i = 1; i < varied.count(); ++i) {
      if (varied.at(i) != varied.at(i - 1)) continue;
      node.fail_at("steps", fmt::format("takes '{}' from the range twice", varied.at(i)), "fewer steps");
      return;
    }
  }

  void check_counts() {
    std::vector<std::size_t> counts;
    for (const spec::SweepAxis& axis : sweep_.axes) {
      for (const spec::VariedPath& varied : axis) {
        if (!sweep_.drawn() && varied.count() != axis.front().count()) {
          context_.findings.add({"", varied.line},
                                fmt::format("{} values of '{}' are linked with {} of '{}'", varied.count(),
                                            printable(varied.path), axis.front().count(), printable(axis.front().path)),
                                "as many of each");
        }
      }
      counts.push_back(axis.front().count());
    }
    if (sweep_.method == spec::SweepSpec::Method::list &&
        std::ranges::any_of(counts, [&](std::size_t count) { return count != counts.front(); })) {
      node_.fail(fmt::format("a list takes as many values of each, not {}", fmt::join(counts, ", ")),
                 "as many of each, or method=\"grid\"");
    }
    if (count_points(sweep_) * sweep_.seeds > spec::kMostSweepTrials &&
        count_points(sweep_) <= spec::kMostSweepPoints) {
      node_.fail(fmt::format("<sweep> has {} points with {} seeds each", count_points(sweep_), sweep_.seeds),
                 fmt::format("at most {} altogether", spec::kMostSweepTrials));
    }
    if (count_points(sweep_) > spec::kMostSweepPoints) {
      node_.fail(fmt::format("<sweep> has {} points", fmt::join(counts, " × ")),
                 fmt::format("at most {}; method=\"latin-hypercube\" covers many axes with few points",
                             spec::kMostSweepPoints));
    }
  }

  Node node_;
  const ReadContext& context_;
  spec::SweepSpec sweep_;
  std::set<std::string> paths_;
};

}  // namespace

spec::SweepSpec read_sweep(const Element& element, const ReadContext& context) {
  return SweepReader(element, context).read();
}

}  // namespace dadsim::scenario
