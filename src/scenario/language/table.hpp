#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/language/catalog.hpp"
#include "scenario/language/node.hpp"
#include "scenario/language/rule.hpp"
#include "scenario/language/value.hpp"
#include "scenario/xml/xml_writer.hpp"

// An element of the language and its struct, as one table: a row gives an attribute's name, the member it fills in, its
// kind and range, and when it has an effect. From the rows follow the schema, reader, printer and hash (of the printed
// form), ranges in docs/scenario.md, which has the meaning, and completion. EXAMPLE:
//
//   const Table<spec::JitterSpec>& jitter_table() {
//     static const Table<spec::JitterSpec> kTable(
//         "jitter", "How much the speed of computing scatters.",
//         {attribute("spatial", &spec::JitterSpec::spatial, real(kDeviation)),
//          attribute("temporal", &spec::JitterSpec::temporal, real(kDeviation))});
//     return kTable;
//   }

namespace dadsim::scenario {

/// An attribute, and the member that holds its value.
template <class Spec>
struct Row {
  AttributeRule rule;
  std::function<void(const Node&, const ReadContext&, Spec&)> read{};  ///< reads the value; empty: code next to the
                                                                       ///< table reads it
  std::function<std::string(const Spec&, const PathText&)> text{};     ///< returns the printed text; empty: the
                                                                       ///< attribute is not printed
  std::function<bool(const Spec&)> printed{};                          ///< returns whether the attribute is printed;
                                                                       ///< empty: always
  /// Returns the fault if the attribute would have no effect; otherwise nothing.
  std::function<std::optional<Fault>(const Node&, const Spec&)> refused{};
  bool default_is_printed = true;
  bool needed_where_printed = false;
  bool default_is_documented = true;

  Row must() && {
    rule.required = true;
    rule.fallback.clear();
    return std::move(*this);
  }
  Row if_left_out(std::string what) && {
    rule.left_out = std::move(what);
    return std::move(*this);
  }
  Row of_layout(int place) && {
    rule.of_layout = place;
    return std::move(*this);
  }
  /// Prints the attribute only if it differs from its default.
  Row if_given() && {
    default_is_printed = false;
    return std::move(*this);
  }
  /// Makes the attribute required when it has an effect.
  Row needed() && {
    needed_where_printed = true;
    rule.fallback.clear();
    return std::move(*this);
  }
  /// Leaves reading of the value to code next to the table.
  Row by_reader() && {
    read = {};
    return std::move(*this);
  }
  /// Documents no default; if_left_out() says in words what applies without the attribute.
  Row without_default() && {
    default_is_documented = false;
    return std::move(*this);
  }
  Row printed_if(std::function<bool(const Spec&)> condition) && {
    printed = std::move(condition);
    return std::move(*this);
  }
  /// Refuses the attribute if `fault` returns a fault; printing is not affected.
  Row refused_if(std::function<std::optional<Fault>(const Node&, const Spec&)> fault) && {
    refused = std::move(fault);
    return std::move(*this);
  }
  /// Gives the attribute an effect only under a condition.
  Row only(std::function<bool(const Spec&)> condition, const char* because, const char* remedy) && {
    refused = [condition, because, remedy](const Node&, const Spec& spec) -> std::optional<Fault> {
      if (condition(spec)) return std::nullopt;
      return Fault{because, remedy};
    };
    return std::move(*this).printed_if(std::move(condition));
  }
  /// Gives the attribute an effect only with certain values of another attribute.
  template <spec::Named Enum>
  Row only_with(const char* other, Enum Spec::*member, std::vector<Enum> values, const char* remedy) && {
    const auto fits = [member, values](const Spec& spec) {
      return std::ranges::find(values, spec.*member) != values.end();
    };
    refused = [=](const Node& node, const Spec& spec) -> std::optional<Fault> {
      // An error in the other attribute has been reported already.
      if (fits(spec) || (node.has(other) && !spec::parse<Enum>(node.text(other, "")))) return std::nullopt;
      return Fault{fmt::format("has no effect with {}=\"{}\"", other, to_string(spec.*member)), remedy};
    };
    return std::move(*this).printed_if(fits);
  }
};

/// Returns whether a kind accepts the text, which may then be documented as default.
bool takes(const Kind& kind, const std::string& text);

template <class Spec, class Value>
Row<Spec> attribute(std::string name, Value Spec::*member, Kind kind) {
  Row<Spec> row{.rule = attribute(std::move(name), std::move(kind))};
  row.read = [member, rule = row.rule](const Node& node, const ReadContext&, Spec& spec) {
    if (std::optional<Value> value = read_value<Value>(node, rule)) spec.*member = std::move(*value);
  };
  row.text = [member, kind = row.rule.kind](const Spec& spec, const PathText&) {
    return value_text(kind, spec.*member);
  };
  return row;
}

/// Makes the row of an optional attribute without default.
template <class Spec, class Value>
Row<Spec> attribute(std::string name, std::optional<Value> Spec::*member, Kind kind) {
  Row<Spec> row{.rule = attribute(std::move(name), std::move(kind))};
  row.read = [member, rule = row.rule](const Node& node, const ReadContext&, Spec& spec) {
    spec.*member = read_value<Value>(node, rule);
  };
  row.text = [member, kind = row.rule.kind](const Spec& spec, const PathText&) {
    return spec.*member ? value_text(kind, *(spec.*member)) : std::string();
  };
  row.printed = [member](const Spec& spec) { return (spec.*member).has_value(); };
  return row;
}

template <class Spec>
Row<Spec> attribute(std::string name, bool Spec::*member) {
  return attribute(std::move(name), member, truth());
}

template <class Spec, spec::Named Enum>
Row<Spec> attribute(std::string name, Enum Spec::*member) {
  return attribute(std::move(name), member, one_of<Enum>());
}

/// Makes the row of an attribute that belongs to a struct, which is a member.
template <class Spec, class Part>
Row<Spec> within(Part Spec::*member, Row<Part> row) {
  Row<Spec> whole{.rule = std::move(row.rule),
                  .default_is_printed = row.default_is_printed,
                  .needed_where_printed = row.needed_where_printed,
                  .default_is_documented = row.default_is_documented};
  if (row.read)
    whole.read = [member, read = row.read](const Node& node, const ReadContext& context, Spec& spec) {
      read(node, context, spec.*member);
    };
  if (row.text)
    whole.text = [member, text = row.text](const Spec& spec, const PathText& file) { return text(spec.*member, file); };
  if (row.printed) whole.printed = [member, printed = row.printed](const Spec& spec) { return printed(spec.*member); };
  if (row.refused)
    whole.refused = [member, refused = row.refused](const Node& node, const Spec& spec) {
      return refused(node, spec.*member);
    };
  return whole;
}

/// Makes the row of an attribute that functions, or code next to the table, read and print.
template <class Spec>
Row<Spec> by_code(AttributeRule rule, std::function<void(const Node&, const ReadContext&, Spec&)> read = {},
                  std::function<std::string(const Spec&, const PathText&)> text = {}) {
  return {.rule = std::move(rule), .read = std::move(read), .text = std::move(text)};
}

/// An element as a table: its attributes, and inner elements that are tables themselves.
template <class Spec>
class Table {
 public:
  /// `initial`: values of the struct if no attribute is given.
  Table(std::string name, std::string words, std::vector<Row<Spec>> rows, Spec initial = {})
      : rule_{std::move(name), std::move(words)}, rows_(std::move(rows)), initial_(std::move(initial)) {
    for (const Row<Spec>& row : rows_) {
      AttributeRule& rule = rule_.attributes.emplace_back(row.rule);
      if (!row.text || !row.default_is_documented || rule.required || row.needed_where_printed ||
          !rule.fallback.empty())
        continue;
      if (std::string text = row.text(initial_, {}); takes(rule.kind, text)) rule.fallback = std::move(text);
    }
  }

  /// Adds an element that may occur once; it is printed always, or under the condition.
  template <class Part>
  Table with(const Table<Part>& part, Part Spec::*member, std::function<bool(const Spec&)> printed = {}) && {
    rule_.children.push_back(part.rule().name);
    parts_.push_back({[&part, member](const Node& node, const ReadContext& context, Spec& spec) {
                        if (const Element* child = node.child(part.rule().name))
                          part.read(Node(*child, context.findings), context, spec.*member);
                      },
                      [&part, member, printed](XmlWriter& xml, const Spec& spec, const PathText& file) {
                        if (!printed || printed(spec)) part.print(xml, spec.*member, file);
                      }});
    return std::move(*this);
  }
  /// Adds an element that may occur up to `most` times.
  template <class Part>
  Table with(const Table<Part>& part, std::vector<Part> Spec::*member, std::size_t most = kAny) && {
    rule_.children.push_back(part.rule().name);
    parts_.push_back({[&part, member, most](const Node& node, const ReadContext& context, Spec& spec) {
                        for (const Element* child : node.children(part.rule().name, most))
                          part.read(Node(*child, context.findings), context,
                                    (spec.*member).emplace_back(part.initial()));
                      },
                      [&part, member](XmlWriter& xml, const Spec& spec, const PathText& file) {
                        for (const Part& one : spec.*member) part.print(xml, one, file);
                      }});
    return std::move(*this);
  }
  /// Adds an element that may occur once and fills in the same struct.
  Table with(const Table& part, std::function<bool(const Spec&)> printed) && {
    rule_.children.push_back(part.rule().name);
    parts_.push_back({[&part](const Node& node, const ReadContext& context, Spec& spec) {
                        if (const Element* child = node.child(part.rule().name))
                          part.read(Node(*child, context.findings), context, spec);
                      },
                      [&part, printed](XmlWriter& xml, const Spec& spec, const PathText& file) {
                        if (printed(spec)) part.print(xml, spec, file);
                      }});
    return std::move(*this);
  }
  /// Adds elements, by name, that functions next to the table read and print.
  Table holds(const std::vector<std::string>& names) && {
    rule_ = std::move(rule_).holds(names);
    return std::move(*this);
  }
  Table repeats() && {
    rule_.repeatable = true;
    return std::move(*this);
  }
  /// Adds a check that runs after the whole element has been read.
  Table check(std::function<void(const Node&, const ReadContext&, Spec&)> rule) && {
    checks_.push_back(std::move(rule));
    return std::move(*this);
  }

  const ElementRule& rule() const { return rule_; }
  const Spec& initial() const { return initial_; }

  Spec read(const Element& element, const ReadContext& context) const {
    return read(Node(element, context.findings), context);
  }
  Spec read(const Node& node, const ReadContext& context) const {
    Spec spec = initial_;
    read(node, context, spec);
    return spec;
  }
  /// Reads the given attributes; members of missing ones keep their values.
  void read(const Node& node, const ReadContext& context, Spec& spec) const {
    for (const Row<Spec>& row : rows_) {
      const bool given = node.has(row.rule.name);
      const std::optional<Fault> refused = given && row.refused ? row.refused(node, spec) : std::nullopt;
      if (refused) {
        node.fail_at(row.rule.name, refused->what, refused->remedy);
      } else if (row.read && (given || row.rule.required || (row.needed_where_printed && row.printed(spec)))) {
        row.read(node, context, spec);
      }
    }
    for (const Part& part : parts_) part.read(node, context, spec);
    for (const auto& check : checks_) check(node, context, spec);
  }

  void print(XmlWriter& xml, const Spec& spec, const PathText& file) const {
    XmlWriter::Open element(xml, rule_.name.c_str());
    print_attributes(element, spec, file);
    print_parts(xml, spec, file);
  }
  /// Prints the inner elements that are tables themselves.
  void print_parts(XmlWriter& xml, const Spec& spec, const PathText& file) const {
    for (const Part& part : parts_) part.print(xml, spec, file);
  }
  void print_attributes(XmlWriter::Open& element, const Spec& spec, const PathText& file) const {
    for (const Row<Spec>& row : rows_) {
      if (!row.text || (row.printed && !row.printed(spec))) continue;
      if (!row.default_is_printed && row.text(spec, {}) == row.text(initial_, {})) continue;
      element.set(row.rule.name.c_str(), row.text(spec, file));
    }
  }

 private:
  struct Part {
    std::function<void(const Node&, const ReadContext&, Spec&)> read;
    std::function<void(XmlWriter&, const Spec&, const PathText&)> print;
  };

  static constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

  ElementRule rule_;
  std::vector<Row<Spec>> rows_;
  Spec initial_;
  std::vector<Part> parts_;
  std::vector<std::function<void(const Node&, const ReadContext&, Spec&)>> checks_;
};

}  // namespace dadsim::scenario
