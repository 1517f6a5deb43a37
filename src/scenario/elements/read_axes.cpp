#include "scenario/elements/read_axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "scenario/language/overrides.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {

std::vector<std::string> values_of(const std::string& text) {
  if (text.find(';') == std::string::npos) return words_of(text);
  std::vector<std::string> values;
  for (const std::string_view value : split_at(text, ';')) values.emplace_back(trimmed(value));
  while (!values.empty() && values.back().empty()) values.pop_back();
  return values;
}

std::string values_text(const std::vector<std::string>& values) {
  const bool plain = std::ranges::all_of(values, [](const std::string& value) {
    return !value.empty() && value.find_first_of(kWhiteSpace) == std::string::npos;
  });
  if (plain) return fmt::format("{}", fmt::join(values, " "));
  std::string text;
  for (const std::string& value : values) text += value + ";";
  return text;
}

void read_form(const Node& node, spec::VariedPath& varied) {
  constexpr const char* kForm = "write {} once in place of the value, e.g. site-[1-{}]";
  if (node.has("unit")) {
    node.refuse("form", "cannot be combined with unit=\"…\"",
                "remove it: form=\"{}Mbps\" is the same as unit=\"Mbps\"");
    const std::string unit = node.required_text("unit", "e.g. Mbps").value_or("");
    if (unit.find("{}") != std::string::npos) node.fail_at("unit", "holds {}", "use form=\"…\" instead");
    varied.form = "{}" + unit;
  } else if (node.has("form")) {
    varied.form = node.text("form", "");
    const std::size_t place = varied.form.find("{}");
    if (place == std::string::npos || varied.form.find("{}", place + 2) != std::string::npos)
      node.fail_at("form", "does not hold {} once", kForm);
  }
}

namespace {

bool has_range(const spec::VariedPath& varied) { return varied.values.empty(); }

const Table<spec::VariedPath>& vary_table() {
  using Spec = spec::VariedPath;
  static const Table<Spec> kTable =
      Table<Spec>("vary", "A scenario value to vary: by a list of values, or by a range of numbers.",
                  {attribute("path", &Spec::path, text("a path as in --set, e.g. training.batch")).must(),
                   by_code<Spec>(attribute("values", text()), {},
                                 [](const Spec& one, const PathText&) { return values_text(one.values); })
                       .printed_if([](const Spec& one) { return !has_range(one); }),
                   attribute("from", &Spec::from, real({.minimum = -kLargestWhole, .maximum = kLargestWhole}))
                       .printed_if(has_range)
                       .by_reader()
                       .without_default(),
                   attribute("to", &Spec::to, real({.minimum = -kLargestWhole, .maximum = kLargestWhole}))
                       .printed_if(has_range)
                       .by_reader()
                       .without_default(),
                   attribute("steps", &Spec::steps, integer(2, spec::kMostSweepPoints))
                       .printed_if([](const Spec& one) { return has_range(one) && one.steps > 0; })
                       .by_reader(),
                   attribute("scale", &Spec::logarithmic, one_of({"linear", "log"}))
                       .printed_if(has_range)
                       .by_reader()
                       .if_left_out("`linear`"),
                   attribute("whole", &Spec::whole).printed_if(has_range).by_reader(),
                   by_code<Spec>(attribute("unit", text())).if_left_out("none"),
                   attribute("form", &Spec::form, text()).if_given().by_reader().if_left_out("`{}`")})
          .repeats();
  return kTable;
}

class AxesReader {
 public:
  AxesReader(const Node& node, spec::SweepSpec& sweep, const ReadContext& context)
      : node_(node), context_(context), sweep_(sweep) {}

  void read() {
    const std::size_t before = context_.findings.added();
    read_axes();
    if (context_.findings.added() == before) check_counts();
  }

 private:
  void read_axes() {
    for (const Element& child : node_.element().children) {
      if (child.name == "vary") sweep_.axes.push_back({read_vary(child, false)});
      if (child.name != "linked") continue;
      const Node linked(child, context_.findings);
      spec::SweepAxis axis;
      for (const Element* one : linked.children("vary")) axis.push_back(read_vary(*one, true));
      if (axis.size() < 2) linked.fail("<linked> has fewer than two <vary>", "add the values that vary together");
      check_combinations(linked, axis);
      sweep_.axes.push_back(std::move(axis));
    }
    if (sweep_.axes.empty()) {
      node_.fail(fmt::format("<{}> lacks <vary>", name()),
                 "add a <vary>, e.g. <vary path=\"training.batch\" values=\"16 32 64\"/>");
    }
  }

  /// Checks that no combination of linked values repeats; single values may.
  void check_combinations(const Node& linked, const spec::SweepAxis& axis) const {
    if (sweep_.method != spec::SweepSpec::Method::grid || axis.empty()) return;
    std::set<std::vector<std::string>> seen;
    for (std::size_t i = 0; i < axis.front().count(); ++i) {
      std::vector<std::string> together;
      for (const spec::VariedPath& one : axis) {
        if (one.count() != axis.front().count()) return;  // different lengths are reported elsewhere
        together.push_back(one.at(i));
      }
      if (seen.insert(together).second) continue;
      linked.fail(fmt::format("<linked> has '{}' twice", printable(fmt::format("{}", fmt::join(together, ", ")))),
                  "each combination once");
      return;
    }
  }

  spec::VariedPath read_vary(const Element& element, bool linked) {
    const Node node(element, context_.findings);
    spec::VariedPath varied;
    varied.line = element.origin.line;
    varied.path = node.required_text("path", "a path as in --set, e.g. training.batch").value_or("");
    check_path(node, varied.path);
    if (node.has("values")) {
      read_values(node, varied, linked);
    } else if (node.has("from") || node.has("to")) {
      read_range(node, varied);
    } else {
      node.fail("<vary> lacks 'values'", "add values=\"16 32 64\", or from=\"1\" to=\"64\" with steps=\"7\"");
    }
    read_form(node, varied);
    return varied;
  }

  void check_path(const Node& node, const std::string& path) {
    if (path.empty()) return;
    if (!is_override_path(path)) {
      node.fail_at("path", "is not a path",
                   "use names with dots between them and selectors in brackets, as in --set, e.g. run[2].cap");
    } else if (path.starts_with("sweep.") || path.starts_with("scale-study.")) {
      node.fail_at("path", fmt::format("belongs to the {} itself", name() == "sweep" ? "sweep" : "study"),
                   "use a path of the scenario");
    } else if (path == "seed" && sweep_.seeds > 1) {
      node.fail_at("path", fmt::format("cannot be combined with seeds=\"{}\"", sweep_.seeds), "remove one of the two");
    } else if (!paths_.insert(path).second) {
      node.fail_at("path", "is varied already", "use each path once");
    }
  }

  void read_values(const Node& node, spec::VariedPath& varied, bool linked) {
    for (const char* other : {"from", "to", "steps", "scale", "whole"}) {
      node.refuse(other, "cannot be combined with values=\"…\"", "give a list of values, or a range");
    }
    varied.values = values_of(node.text("values", ""));
    if (varied.values.empty()) {
      node.fail_at("values", "is empty", "list values with spaces between them");
      return;
    }
    if (linked || sweep_.method != spec::SweepSpec::Method::grid) return;
    std::set<std::string> seen;
    for (const std::string& value : varied.values) {
      if (!seen.insert(value).second) {
        node.fail_at("values", fmt::format("holds '{}' twice", printable(value)), "use each value once");
        return;
      }
    }
  }

  void read_range(const Node& node, spec::VariedPath& varied) {
    const std::size_t before = context_.findings.added();
    varied.logarithmic = node.chosen("scale") == 1;
    varied.whole = node.boolean("whole", false);
    const Range range{.minimum = varied.logarithmic ? 0 : -kLargestWhole,
                      .maximum = kLargestWhole,
                      .open_minimum = varied.logarithmic};
    varied.from = node.real("from", range).value_or(1);
    varied.to = node.real("to", range).value_or(1);
    if (context_.findings.added() == before && varied.from == varied.to)
      node.fail_at("to", "is equal to 'from'", "use another number, or a single value in values=\"…\"");
    if (sweep_.drawn()) {
      node.refuse("steps", fmt::format("has no effect with method=\"{}\"", to_string(sweep_.method)),
                  "remove it: one number per point is drawn from the range");
      return;
    }
    varied.steps = node.integer("steps").value_or(2);
    if (context_.findings.added() > before) return;
    for (std::size_t i = 1; i < varied.count(); ++i) {
      if (varied.at(i) != varied.at(i - 1)) continue;
      node.fail_at("steps", fmt::format("repeats '{}' in its range", varied.at(i)), "fewer steps");
      return;
    }
  }

  void check_counts() {
    std::vector<std::size_t> counts;
    for (const spec::SweepAxis& axis : sweep_.axes) {
      for (const spec::VariedPath& varied : axis) {
        if (!sweep_.drawn() && varied.count() != axis.front().count()) {
          context_.findings.add({"", varied.line},
                                fmt::format("<linked> has {} values of '{}' and {} of '{}'", varied.count(),
                                            printable(varied.path), axis.front().count(), printable(axis.front().path)),
                                "give the same number of values for each");
        }
      }
      counts.push_back(axis.front().count());
    }
    if (sweep_.method == spec::SweepSpec::Method::list &&
        std::ranges::any_of(counts, [&](std::size_t count) { return count != counts.front(); })) {
      node_.fail(
          fmt::format("method=\"list\" needs the same number of values on each axis, not {}", fmt::join(counts, ", ")),
          "give the same number of values on each axis, or use method=\"grid\"");
    }
    if (count_points(sweep_) * sweep_.seeds > spec::kMostSweepTrials &&
        count_points(sweep_) <= spec::kMostSweepPoints) {
      node_.fail(fmt::format("<{}> has {} points with {} seeds each", name(), count_points(sweep_), sweep_.seeds),
                 fmt::format("at most {} altogether", spec::kMostSweepTrials));
    }
    if (count_points(sweep_) > spec::kMostSweepPoints) {
      node_.fail(fmt::format("<{}> has {} points", name(), fmt::join(counts, " × ")),
                 fmt::format("use at most {}; method=\"latin-hypercube\" covers many axes with few points",
                             spec::kMostSweepPoints));
    }
  }

  const std::string& name() const { return node_.element().name; }

  const Node& node_;
  const ReadContext& context_;
  spec::SweepSpec& sweep_;
  std::set<std::string> paths_;
};

}  // namespace

void read_axes(const Node& node, spec::SweepSpec& sweep, const ReadContext& context) {
  AxesReader(node, sweep, context).read();
}

void write_axes(XmlWriter& xml, const spec::SweepSpec& sweep) {
  for (const spec::SweepAxis& axis : sweep.axes) {
    std::optional<XmlWriter::Open> linked;
    if (axis.size() > 1) linked.emplace(xml, "linked");
    for (const spec::VariedPath& varied : axis) vary_table().print(xml, varied, {});
  }
}

std::vector<ElementRule> axes_rules() {
  return {vary_table().rule(),
          element("linked", "Values that vary together: the first of each, the second of each and so on.")
              .holds({"vary"})
              .repeats()};
}

}  // namespace dadsim::scenario
