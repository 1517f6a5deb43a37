#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "spec/names.hpp"

// What the language says of its elements and attributes: data, from which the schema, what a reader accepts, the tables
// of docs/scenario.md and completion follow.

namespace dadsim::scenario {

/// An interval of numbers; its bounds belong to it unless they are open.
struct Range {
  double minimum = 0;
  double maximum = std::numeric_limits<double>::infinity();
  bool open_minimum = false;
  bool open_maximum = false;

  bool contains(double value) const;
  std::string to_string() const;  ///< "from 0 to 1", "above 0", "from 0 to below 1"
};

inline constexpr Range kShare{.minimum = 0, .maximum = 1};
inline constexpr Range kPositiveShare{.minimum = 0, .maximum = 1, .open_minimum = true};
inline constexpr Range kDeviation{.minimum = 0, .maximum = 3};  ///< standard deviation of a logarithm

/// A number with a unit: of what, which numbers, and how to say so.
enum class Unit { seconds, bytes, bytes_per_second, flops };
struct QuantityForm {
  Unit unit;
  Range range;
  const char* remedy;
};

/// What the text of an attribute may be.
struct Kind {
  enum class Of {
    text,      ///< at least one visible character
    any_text,  ///< any, none too
    integer,
    integers,  ///< with spaces between them
    real,
    reals,  ///< with spaces between them
    quantity,
    truth,
    name,          ///< one of `names`
    seed,          ///< a whole number of 64 bits without sign
    word_or_count  ///< the one of `names`, or a whole number
  };
  Of of = Of::text;
  Range range{};
  Unit unit = Unit::seconds;  ///< quantity
  std::string form{};         ///< text, quantity: what would be right
  std::vector<std::string> names{};
  std::string catalog{};  ///< text: of which catalogue it may be a name (`dadsim devices` …)
  std::string pattern{};  ///< text: a regular expression of XML Schema
};

/// Text that may not be empty; `form` describes what is expected.
Kind text(std::string form = "", std::string pattern = "");
Kind any_text();
/// A name of a catalogue, as `dadsim <catalog>` lists them.
Kind name_in(std::string catalog, std::string form = "");
Kind integer(std::int64_t minimum, std::int64_t maximum);
Kind integers(std::int64_t minimum, std::int64_t maximum);
Kind real(const Range& range);
Kind reals(const Range& range);
Kind quantity(const QuantityForm& form);
Kind truth();
Kind seed();
Kind word_or_count(std::string word, std::int64_t maximum);
/// One of the names.
Kind one_of(std::vector<std::string> names);
template <spec::Named Enum>
Kind one_of() {
  return one_of(spec::all_names<Enum>());
}

/// An attribute as the language declares it.
struct AttributeRule {
  std::string name;
  Kind kind;
  std::string words;  ///< what it means, in sentences
  bool required = false;
  std::string fallback{};  ///< what stands for it where it is left out; empty: no value does
  std::string left_out{};  ///< what counts then, in words, where no value says it

  AttributeRule must() &&;
  AttributeRule otherwise(std::string text) &&;
  AttributeRule if_left_out(std::string what) &&;
};

inline AttributeRule attribute(std::string name, Kind kind, std::string words) {
  return {std::move(name), std::move(kind), std::move(words)};
}

/// An element as the language declares it; how often it stands is said where it is read. Names are unique over the
/// whole language.
struct ElementRule {
  std::string name;
  std::string words;
  std::vector<AttributeRule> attributes{};
  std::vector<std::string> children{};
  bool root = false;         ///< of a document: no element holds it
  bool repeatable = false;   ///< may stand several times in its parent; --set names one of them, as run[2]
  std::string parameters{};  ///< whose parameters further attributes are, in words; empty: there are none
  bool text = false;         ///< holds text

  const AttributeRule* find(std::string_view attribute) const;
  std::vector<std::string> attribute_names() const;

  ElementRule holds(const std::vector<std::string>& names) &&;
  ElementRule repeats() &&;
  ElementRule holds_text() &&;
  ElementRule takes_parameters(std::string whose) &&;
};

inline ElementRule element(std::string name, std::string words, std::vector<AttributeRule> attributes = {}) {
  return {std::move(name), std::move(words), std::move(attributes)};
}

/// Every element, in the order of the schema.
const std::vector<ElementRule>& vocabulary();

/// The rule of that element, or nullptr.
const ElementRule* find_rule(std::string_view name);

}  // namespace dadsim::scenario
