#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "spec/names.hpp"

// The language's rules of its elements and attributes. The schema, the reader's checks, the tables of docs/scenario.md
// and completion are derived from them.

namespace dadsim::scenario {

/// An interval of numbers; each bound is included unless it is open.
struct Range {
  double minimum = 0;
  double maximum = std::numeric_limits<double>::infinity();
  bool open_minimum = false;
  bool open_maximum = false;

  bool contains(double value) const;
  std::string to_string() const;  ///< Returns for example "from 0 to 1", "above 0", "from 0 to below 1".
};

inline constexpr Range kShare{.minimum = 0, .maximum = 1};
inline constexpr Range kPositiveShare{.minimum = 0, .maximum = 1, .open_minimum = true};
inline constexpr Range kDeviation{.minimum = 0, .maximum = 3};  ///< standard deviation of a logarithm

/// A quantity: its unit, its range, and its description.
enum class Unit { seconds, bytes, bytes_per_second, flops };
struct QuantityForm {
  Unit unit;
  Range range;
  const char* remedy;
};

/// Permitted texts of an attribute.
struct Kind {
  enum class Of {
    text,      ///< text with at least one visible character
    any_text,  ///< any text, including an empty one
    integer,
    integers,  ///< whole numbers, separated by spaces
    real,
    reals,  ///< numbers, separated by spaces
    quantity,
    truth,
    name,          ///< one of `names`
    seed,          ///< an unsigned whole number of 64 bits
    word_or_count  ///< the single entry of `names`, or a whole number
  };
  Of of = Of::text;
  Range range{};
  Unit unit = Unit::seconds;  ///< quantity: its unit
  std::string form{};         ///< text, quantity: description of valid values
  std::vector<std::string> names{};
  std::string catalog{};  ///< text: catalogue with the possible names (`dadsim devices` …)
  std::string pattern{};  ///< text: a regular expression of XML Schema
};

/// Text that must not be empty; `form` describes valid values.
Kind text(std::string form = "", std::string pattern = "");
Kind any_text();
/// A name in a catalogue, as listed by `dadsim <catalog>`.
Kind name_in(std::string catalog, std::string form = "");
Kind integer(std::int64_t minimum, std::int64_t maximum);
Kind integers(std::int64_t minimum, std::int64_t maximum);
Kind real(const Range& range);
Kind reals(const Range& range);
Kind quantity(const QuantityForm& form);
Kind truth();
Kind seed();
Kind word_or_count(std::string word, std::int64_t maximum);
/// Returns the kind of attributes whose value is one of these names.
Kind one_of(std::vector<std::string> names);
template <spec::Named Enum>
Kind one_of() {
  return one_of(spec::all_names<Enum>());
}

/// Declaration of an attribute in the language.
struct AttributeRule {
  std::string name;
  Kind kind;
  std::string words{};  ///< meaning, for attributes that are not in docs/scenario.md; empty: see attribute_words()
  bool required = false;
  std::string fallback{};  ///< default value; empty: none
  std::string left_out{};  ///< behaviour without the attribute, in words, if it has no default value
  int of_layout = 0;       ///< place in lists of a layout's attributes, which a search sets, from 1; 0: in none

  AttributeRule must() &&;
  AttributeRule otherwise(std::string text) &&;
  AttributeRule if_left_out(std::string what) &&;
};

inline AttributeRule attribute(std::string name, Kind kind, std::string words = {}) {
  return {std::move(name), std::move(kind), std::move(words)};
}

/// Declaration of an element in the language. Names are unique over the whole language. The reader checks how often an
/// element occurs.
struct ElementRule {
  std::string name;
  std::string words;
  std::vector<AttributeRule> attributes{};
  std::vector<std::string> children{};
  bool root = false;         ///< true: root of a document, inside no other element
  bool repeatable = false;   ///< true: may occur several times in its parent; --set selects one, as in run[2]
  std::string parameters{};  ///< owner of the element's further attributes (parameters), in words; empty: there are
                             ///< none
  std::vector<std::string> shared_names{};  ///< names of elements in it that are also names of such parameters
  bool text = false;                        ///< true: the element contains text

  const AttributeRule* find(std::string_view attribute) const;
  std::vector<std::string> attribute_names() const;

  ElementRule holds(const std::vector<std::string>& names) &&;
  ElementRule repeats() &&;
  ElementRule holds_text() &&;
  ElementRule takes_parameters(std::string whose, std::vector<std::string> shared = {}) &&;
};

inline ElementRule element(std::string name, std::string words, std::vector<AttributeRule> attributes = {}) {
  return {std::move(name), std::move(words), std::move(attributes)};
}

/// Returns every element, in the order of the schema.
const std::vector<ElementRule>& vocabulary();

/// Returns the rule of the element with that name; nullptr if there is none.
const ElementRule* find_rule(std::string_view name);

}  // namespace dadsim::scenario
