#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/language/rule.hpp"
#include "scenario/xml/element.hpp"
#include "spec/names.hpp"

namespace dadsim::scenario {

/// Fault of a text that is not a whole number.
inline constexpr const char* kNotWhole = "is not a whole number";

/// Returns the whole text as a number, or nullopt: no spaces, no nan, no infinity, nothing outside a double's range.
std::optional<double> parse_real(std::string_view text);
/// Reads one element and adds its errors to the findings; an element without a name holds command-line options. Every
/// getter returns its fallback if the attribute is missing or wrong, so that reading continues and finds further
/// errors.
class Node {
 public:
  /// Checks names, counts of elements, and text against the vocabulary.
  Node(const Element& element, Findings& findings);

  const Element& element() const { return element_; }
  Findings& findings() const { return findings_; }
  Origin origin() const { return element_.origin; }
  /// Returns the origin of an attribute; the element's if the attribute is absent.
  Origin origin(std::string_view attribute) const;
  bool has(std::string_view attribute) const { return element_.find(attribute) != nullptr; }

  /// Returns the text of a required attribute, which must not be empty.
  std::optional<std::string> required_text(std::string_view attribute, const std::string& remedy) const;
  std::string text(std::string_view attribute, const std::string& fallback) const;

  std::int64_t integer(std::string_view attribute, std::int64_t minimum, std::int64_t maximum,
                       std::int64_t fallback) const;
  /// Return the number of an attribute. Without a fallback the attribute is required; nullopt if it is missing or
  /// wrong.
  std::optional<std::int64_t> integer(std::string_view attribute, std::int64_t minimum, std::int64_t maximum) const;
  double real(std::string_view attribute, const Range& range, double fallback) const;
  std::optional<double> real(std::string_view attribute, const Range& range) const;
  std::vector<std::int64_t> integers(std::string_view attribute, std::int64_t minimum, std::int64_t maximum) const;
  bool boolean(std::string_view attribute, bool fallback) const;
  // Limits come from the attribute's rule.
  std::optional<std::int64_t> integer(std::string_view attribute) const;
  std::optional<double> real(std::string_view attribute) const;
  /// Returns an index into `choices`.
  std::size_t choice(std::string_view attribute, std::span<const std::string> choices, std::size_t fallback) const;
  /// Returns the index of the attribute's value among the names of its rule; 0 if it is missing or wrong.
  std::size_t chosen(std::string_view attribute) const;
  /// Returns the value of an enumeration whose name is the attribute's value.
  template <spec::Named Enum>
  Enum named(std::string_view attribute, Enum fallback) const {
    static const std::vector<std::string> kNames = spec::all_names<Enum>();
    const std::size_t chosen = choice(attribute, kNames, kNames.size());
    return chosen == kNames.size() ? fallback : names_of(Enum{})[chosen].value;
  }

  /// Returns the child of that name, or nullptr.
  const Element* child(std::string_view name) const;
  /// Returns the child with this name; nullptr, with an error, if it is missing.
  const Element* required_child(std::string_view name, const std::string& remedy) const;
  std::vector<const Element*> children(std::string_view name) const;
  /// Returns the first `most` children with this name, with an error if there are more.
  std::vector<const Element*> children(std::string_view name, std::size_t most) const;

  /// Adds an error if the attribute is given; `because`: why it has no effect or is not allowed.
  void refuse(std::string_view attribute, const std::string& because, const std::string& remedy) const;

  void fail(std::string what, std::string remedy) const { findings_.add(origin(), std::move(what), std::move(remedy)); }
  void fail(Fault fault) const { findings_.add(origin(), std::move(fault)); }
  /// Adds `attribute="value" of <element> what; remedy` at the attribute, or `--attribute 'value' what; remedy`.
  void fail_at(std::string_view attribute, std::string_view what, std::string remedy) const;
  void fail_at(std::string_view attribute, Fault fault) const;

 private:
  void check_attributes() const;
  void check_children() const;
  void missing(std::string_view attribute, const std::string& remedy) const;

  const Element& element_;
  const ElementRule& rule_;
  Findings& findings_;
};

}  // namespace dadsim::scenario
