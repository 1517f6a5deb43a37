#include "report/words/sentence_template.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "estimate/bands.hpp"
#include "estimate/verdict.hpp"
#include "report/text/amounts.hpp"
#include "report/text/path_name.hpp"
#include "report/words/phrases.hpp"
#include "report/words/statement.hpp"
#include "report/words/statement_rows.hpp"
#include "support/human.hpp"
#include "support/parse_whole.hpp"

// Units of a template's places, which format the values.
namespace dadsim::report::words {
namespace {

template <class Value>
using Units = std::map<std::string_view, std::string (*)(const Value&)>;

std::string bit_rate_in_words(double bits) {
  constexpr std::array kPrefixes{"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  for (; bits >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) bits /= 1000;
  return fmt::format("{:.3g} {}bit/s", bits, kPrefixes.at(prefix));
}

/// Returns "twice", "half" or "3 times".
std::string multiple_in_words(double factor) {
  if (factor == 2) return "twice";
  return factor == 0.5 ? "half" : fmt::format("{:.3g} times", factor);
}

std::string without_unit(std::string text) { return text.substr(0, text.find(' ')); }

const Units<double>& units_of_numbers() {
  using Number = const double&;
  static const Units<double> kUnits{
      {"s", [](Number x) { return human_seconds(x); }},
      {"B", [](Number x) { return human_bytes(x); }},
      {"%", [](Number x) { return human_percent(x); }},
      {"J", [](Number x) { return human_energy(x); }},
      {"W", [](Number x) { return x < 1e3 ? fmt::format("{:.3g} W", x) : fmt::format("{:.3g} kW", x / 1e3); }},
      {"gCO2e", [](Number x) { return carbon_in_words(x); }},
      {"B/s", [](Number x) { return human_link_rate(x); }},
      {"bit/s", [](Number x) { return bit_rate_in_words(x); }},
      {"share", [](Number x) { return share_in_words(x); }},
      {"accuracy", [](Number x) { return accuracy_in_words(x); }},
      {"count", [](Number x) { return human_count(std::llround(x)); }},
      {"rate", [](Number x) { return rate_in_words(x); }},
      {"large", [](Number x) { return large_number_in_words(x); }},
      {"price", [](Number x) { return without_unit(money_in_words(x, "")); }},
      {"times", [](Number x) { return times_in_words(x); }},
      {"multiple", [](Number x) { return multiple_in_words(x); }},
      {"fraction", [](Number x) { return multiple_in_words(1 / x); }},
  };
  return kUnits;
}

const Units<std::string>& units_of_texts() {
  using Text = const std::string&;
  static const Units<std::string> kUnits{
      {"cause", [](Text x) { return cause_in_words(x); }},
      {"category", [](Text x) { return estimate::error_category(x).meaning; }},
      {"path", [](Text x) { return path_in_words(x); }},
      {"rounded", [](Text x) { return rounded_in_words(x); }},
      {"would-tell", [](Text x) { return would_tell_in_words(estimate::would_tell_of(x)); }},
  };
  return kUnits;
}

const Units<std::vector<std::string>>& units_of_lists() {
  using List = const std::vector<std::string>&;
  static const Units<std::vector<std::string>> kUnits{
      {"", [](List x) { return fmt::format("{}", fmt::join(x, ", ")); }},
      {"and", [](List x) { return listed(x); }},
      {"rest",
       [](List x) {
         return listed({x.begin() + (x.empty() ? 0 : 1), x.end()});
       }},
      {"changes", [](List x) { return assignments_in_words(x); }},
  };
  return kUnits;
}

template <class Value>
std::string by(const Units<Value>& units, std::string_view unit, const Value& value) {
  const auto found = units.find(unit);
  if (found == units.end())
    throw std::logic_error(fmt::format("the unit '{}' does not fit the type of the value", unit));
  return found->second(value);
}

bool is_specification(std::string_view unit) { return unit.starts_with('.'); }

}  // namespace

/// Returns whether the unit shows an interval, with the values `name_low` and `name_high` as ends.
bool has_interval(std::string_view unit) { return unit == "band" || unit == "factor" || unit == "ratio"; }

/// Returns whether a place may have this unit.
bool is_unit(std::string_view unit) {
  return is_specification(unit) || has_interval(unit) || units_of_numbers().contains(unit) ||
         units_of_texts().contains(unit) || units_of_lists().contains(unit);
}

/// Formats a number by unit or by a specification of {fmt}. Throws std::logic_error if the unit is for another type.
std::string in_unit(std::string_view unit, double number) {
  if (unit.empty()) return fmt::format("{}", number);
  if (is_specification(unit)) return fmt::format(fmt::runtime(fmt::format("{{:{}}}", unit)), number);
  return by(units_of_numbers(), unit, number);
}

std::string in_unit(std::string_view unit, double number, std::optional<double> low, std::optional<double> high) {
  if (unit == "factor") return factor_in_words({number, low, high});
  if (unit == "ratio") return interval_in_words({number, low, high});
  return low && high ? seconds_with_interval(number, *low, *high) : human_seconds(number);
}

std::string in_unit(std::string_view unit, const std::string& text) {
  return unit.empty() ? text : by(units_of_texts(), unit, text);
}

std::string in_unit(std::string_view unit, const std::vector<std::string>& list) {
  return by(units_of_lists(), unit, list);
}

}  // namespace dadsim::report::words

namespace dadsim::report {
namespace {

/// A name, with the index of an element or the name of a part's value: "seconds", "seconds.0", "parts.gap".
struct FieldPath {
  std::string name, sub;
};

/// A value, combined with a number or another value: "share*100", "measured/expected".
struct TemplateOperand {
  FieldPath path;
  char change = 0;  ///< * / - or none
  std::string by;   ///< number, or name of a value
};

struct TemplatePlace {
  TemplateOperand value;
  std::string unit;
};

struct Phrase {
  std::string row;
};

/// The condition of an alternative: "name", "!name", or "name" compared with a number, a value or a text.
struct Test {
  bool negated = false;
  FieldPath path;
  std::string comparison, right;
};

struct Clause;
using Node = std::variant<std::string, TemplatePlace, Phrase, Clause>;

struct Clause {
  enum class Kind { first, all, each } kind = Kind::first;
  FieldPath list;         ///< the list that `each` iterates over
  std::string separator;  ///< text between alternatives, or repetitions, that are not empty
  struct ClauseAlternative {
    std::optional<Test> test;
    std::vector<Node> nodes;
  };
  std::vector<ClauseAlternative> alternatives = {};
};

using Found = std::variant<std::monostate, bool, double, std::string, std::vector<double>, std::vector<std::string>>;

FieldPath path_of(std::string_view text) {
  const std::size_t dot = text.find('.');
  FieldPath path{std::string(text.substr(0, dot)), dot == text.npos ? "" : std::string(text.substr(dot + 1))};
  if (const bool digits = parse_whole<std::size_t>(path.name).has_value(); digits && path.sub.empty())
    path = {"subjects", path.name};
  const bool known = path.name == "#" || std::ranges::all_of(path.name, [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                     });
  if (path.name.empty() || !known) throw std::invalid_argument(fmt::format("'{}' is not the name of a value", text));
  return path;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Node> all() {
    std::vector<Node> nodes = nodes_until("");
    if (!text_.empty()) throw std::invalid_argument(fmt::format("a bracket lacks its pair before '{}'", text_));
    return nodes;
  }

 private:
  std::string taken_until(char end) {
    const std::size_t at = text_.find(end);
    if (at == text_.npos) throw std::invalid_argument(fmt::format("'{}' without '{}'", text_, end));
    std::string taken(text_.substr(0, at));
    text_.remove_prefix(at + 1);
    return taken;
  }

  bool takes(std::string_view begin) {
    const bool there = text_.starts_with(begin);
    if (there) text_.remove_prefix(begin.size());
    return there;
  }

  /// Parses until one of `ends`, which is not consumed. Outside brackets, `|` is an ordinary character.
  std::vector<Node> nodes_until(std::string_view ends) {
    std::vector<Node> nodes;
    std::string plain;
    const auto end_plain = [&] {
      if (!plain.empty()) nodes.emplace_back(std::exchange(plain, {}));
    };
    while (!text_.empty() && text_[0] != ']' && ends.find(text_[0]) == ends.npos) {
      if (takes("{")) {
        end_plain();
        nodes.push_back(place_of(taken_until('}')));
      } else if (takes("[")) {
        end_plain();
        nodes.emplace_back(clause());
      } else {
        takes("\\");
        plain += text_.substr(0, 1);
        text_.remove_prefix(std::min<std::size_t>(1, text_.size()));
      }
    }
    end_plain();
    return nodes;
  }

  static Node place_of(std::string_view inside) {
    if (inside.starts_with('>')) return Phrase{std::string(inside)};
    const std::size_t colon = inside.find(':');
    const std::string unit(colon == inside.npos ? "" : inside.substr(colon + 1));
    if (!unit.empty() && !words::is_unit(unit)) throw std::invalid_argument(fmt::format("'{}' as unit", unit));
    const std::string_view value = inside.substr(0, colon);
    const std::size_t change = value.find_first_of("*/-");
    if (change == value.npos) return TemplatePlace{{path_of(value), 0, ""}, unit};
    return TemplatePlace{{path_of(value.substr(0, change)), value[change], std::string(value.substr(change + 1))},
                         unit};
  }

  Clause clause() {
    Clause clause;
    if (takes("each ")) {
      clause.kind = Clause::Kind::each;
      clause.list = path_of(taken_until('('));
      clause.separator = taken_until(')');
    } else if (takes("all(")) {
      clause.kind = Clause::Kind::all;
      clause.separator = taken_until(')');
    }
    do {
      std::optional<Test> test = test_here();
      clause.alternatives.push_back({std::move(test), nodes_until("|")});
    } while (takes("|"));
    if (!takes("]")) throw std::invalid_argument("a '[' without its ']'");
    return clause;
  }

  /// Parses a condition, if there is one here: a text without blanks, brackets, braces and `|`, followed by a question
  /// mark.
  std::optional<Test> test_here() {
    const std::size_t end = text_.find_first_of("?[]{}| ");
    if (end == text_.npos || text_[end] != '?') return std::nullopt;
    std::string_view inside = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    Test test;
    test.negated = inside.starts_with('!');
    if (test.negated) inside.remove_prefix(1);
    const std::size_t at = std::min(inside.find_first_of("<>=!"), inside.size());
    test.path = path_of(inside.substr(0, at));
    inside.remove_prefix(at);
    const std::size_t right = std::min(inside.find_first_not_of("<>=!"), inside.size());
    test.comparison = inside.substr(0, right);
    test.right = inside.substr(right);
    return test;
  }

  std::string_view text_;
};

bool is_there(const Found& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  return !std::holds_alternative<std::monostate>(value);
}

/// Writes a statement; within `each`, refers to the current element.
class Writer {
 public:
  explicit Writer(const Statement& statement) : statement_(statement) {}

  std::string written(const std::vector<Node>& nodes) {
    std::string text;
    for (const Node& node : nodes) text += std::visit([&](const auto& one) { return written(one); }, node);
    return text;
  }

 private:
  [[noreturn]] void missing(const FieldPath& path) const {
    throw std::logic_error(fmt::format("'{}' says nothing of '{}'", statement_.kind, path.name));
  }

  template <class Type>
  Found element(const std::vector<Type>& list, const std::string& sub) const {
    const std::optional<std::size_t> index = sub.empty() ? item_ : parse_whole<std::size_t>(sub);
    if (!index) return list;
    if (*index >= list.size()) return {};
    return list[*index];
  }

  Found found(const FieldPath& path) const {
    if (path.name == "#") return static_cast<double>(item_.value_or(0));
    const auto at = statement_.values.find(path.name);
    if (at == statement_.values.end()) {
      if (path.name == "subjects") return element(statement_.subjects, path.sub);
      return path.name == "parts" ? part(path.sub) : Found();
    }
    if (const auto* numbers = std::get_if<std::vector<double>>(&at->second)) return element(*numbers, path.sub);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&at->second)) return element(*texts, path.sub);
    return std::visit([](const auto& value) -> Found { return value; }, at->second);
  }

  /// Returns parts in words, or a value of the current part of `each`.
  Found part(const std::string& sub) const {
    const std::optional<std::size_t> index = sub.empty() ? item_ : parse_whole<std::size_t>(sub);
    if (index) return *index < statement_.parts.size() ? Found(in_words(statement_.parts[*index])) : Found();
    if (sub.empty()) return in_words(statement_.parts);
    return Writer(statement_.part(item_.value_or(0))).found({sub, ""});
  }

  /// Returns a number, or the number of elements of a list.
  std::optional<double> number(const FieldPath& path) const {
    if (path.name == "parts" && path.sub.empty() && !statement_.has("parts"))
      return static_cast<double>(statement_.parts.size());
    return std::visit(
        [](const auto& value) -> std::optional<double> {
          if constexpr (
              requires { value.size(); } && !requires { value.c_str(); })
            return static_cast<double>(value.size());
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) return value;
          return std::nullopt;
        },
        found(path));
  }

  /// Returns the number that "2", "name" or "0.9*name" stands for.
  std::optional<double> right_number(const std::string& right) const {
    if (const auto literal = parse_whole<double>(right)) return literal;
    const std::size_t times = right.find('*');
    if (times == right.npos) return number({right, ""});
    const auto factor = parse_whole<double>(right.substr(0, times));
    const auto value = number({right.substr(times + 1), ""});
    return factor && value ? std::optional(*factor * *value) : std::nullopt;
  }

  template <class Value>
  static bool compared(const Value& left, const std::string& comparison, const Value& right) {
    if (comparison == "=") return left == right;
    if (comparison == "!=") return left != right;
    if (comparison == "<") return left < right;
    if (comparison == ">") return left > right;
    return comparison == "<=" ? left <= right : left >= right;
  }

  bool holds(const Test& test) const {
    if (!test.comparison.empty()) {
      const Found left = found(test.path);
      if (const auto* text = std::get_if<std::string>(&left)) {
        const Found other = found({test.right, ""});
        const auto* value = std::get_if<std::string>(&other);
        return compared(*text, test.comparison, value != nullptr ? *value : test.right);
      }
      const std::optional<double> value = number(test.path);
      const std::optional<double> right = right_number(test.right);
      return value && right && compared(*value, test.comparison, *right);
    }
    const Found value = found(test.path);
    const auto* yes = std::get_if<bool>(&value);
    return (yes != nullptr ? *yes : is_there(value)) != test.negated;
  }

  bool holds(const Clause::ClauseAlternative& alternative) const {
    if (alternative.test && !holds(*alternative.test)) return false;
    return std::ranges::all_of(alternative.nodes, [&](const Node& node) {
      const auto* place = std::get_if<TemplatePlace>(&node);
      return place == nullptr || is_there(found(place->value.path));
    });
  }

  static std::string written(const std::string& text) { return text; }
  std::string written(const Phrase& phrase);

  std::string written(const TemplatePlace& place) const {
    const auto& [path, change, by] = place.value;
    if (change != 0) {
      const auto value = number(path);
      const auto other = right_number(by);
      if (!value || !other) missing(path);
      return words::in_unit(place.unit, change == '*'   ? *value * *other
                                        : change == '/' ? *value / *other
                                                        : *value - *other);
    }
    const Found value = found(path);
    if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
      if (words::has_interval(place.unit) && numbers->size() == 3)
        return words::in_unit(place.unit, numbers->at(0), known(numbers->at(1)), known(numbers->at(2)));
      std::vector<std::string> texts;
      for (const double one : *numbers) texts.push_back(words::in_unit("count", one));
      return words::in_unit(place.unit, texts);
    }
    if (const auto* number = std::get_if<double>(&value)) {
      if (!words::has_interval(place.unit)) return words::in_unit(place.unit, *number);
      return words::in_unit(place.unit, *number, end_of(path, "_low"), end_of(path, "_high"));
    }
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return words::in_unit(place.unit, *list);
    if (const auto* text = std::get_if<std::string>(&value)) return words::in_unit(place.unit, *text);
    missing(path);
  }

  static std::optional<double> known(double number) {
    return std::isnan(number) ? std::nullopt : std::optional(number);
  }
  std::optional<double> end_of(const FieldPath& path, const char* end) const {
    const auto number = this->number({path.name + end, path.sub});
    return number ? known(*number) : std::nullopt;
  }

  std::string written(const Clause& clause) {
    std::vector<std::string> texts;
    const auto add = [&](bool one) {
      for (const Clause::ClauseAlternative& alternative : clause.alternatives) {
        if (!holds(alternative)) continue;
        if (std::string text = written(alternative.nodes); !text.empty()) texts.push_back(std::move(text));
        if (one) return;
      }
    };
    if (clause.kind != Clause::Kind::each) {
      add(clause.kind == Clause::Kind::first);
    } else {
      const std::optional<double> count = number(clause.list);
      if (!count) missing(clause.list);
      for (std::size_t i = 0; i < static_cast<std::size_t>(*count); ++i) {
        item_ = i;
        add(true);
      }
      item_.reset();
    }
    return fmt::format("{}", fmt::join(texts, clause.separator));
  }

  const Statement& statement_;
  std::optional<std::size_t> item_;
};

template <class Visit>
void visit_nodes(const std::vector<Node>& nodes, const Visit& visit) {
  for (const Node& node : nodes) {
    visit(node);
    if (const auto* clause = std::get_if<Clause>(&node)) {
      for (const Clause::ClauseAlternative& one : clause->alternatives) visit_nodes(one.nodes, visit);
    }
  }
}

}  // namespace

struct SentenceTemplate::Text {
  std::vector<Node> nodes;
};

namespace {
std::string Writer::written(const Phrase& phrase) { return written(template_of(phrase.row).text().nodes); }
}  // namespace

SentenceTemplate::SentenceTemplate(std::string_view text)
    : text_(std::make_shared<const Text>(Text{Parser(text).all()})) {}

std::string SentenceTemplate::words(const Statement& statement) const {
  return Writer(statement).written(text_->nodes);
}

std::vector<std::string> SentenceTemplate::names() const {
  std::vector<std::string> names;
  const auto add = [&](const FieldPath& path) { names.push_back(path.name); };
  visit_nodes(text_->nodes, [&](const Node& node) {
    if (const auto* place = std::get_if<TemplatePlace>(&node)) add(place->value.path);
    const auto* clause = std::get_if<Clause>(&node);
    if (clause == nullptr) return;
    if (clause->kind == Clause::Kind::each) add(clause->list);
    for (const Clause::ClauseAlternative& one : clause->alternatives) {
      if (one.test) add(one.test->path);
    }
  });
  return names;
}

std::vector<std::string> SentenceTemplate::phrases() const {
  std::vector<std::string> rows;
  visit_nodes(text_->nodes, [&](const Node& node) {
    if (const auto* phrase = std::get_if<Phrase>(&node)) rows.push_back(phrase->row);
  });
  return rows;
}

}  // namespace dadsim::report
