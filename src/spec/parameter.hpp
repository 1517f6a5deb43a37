#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dadsim::spec {

/// A parameter of an algorithm, with everything needed to check, list and document it.
struct ParameterSpec {
  enum class Type { integer, real, choice, file };  ///< file: a path; the file's contents are part of the value
  std::string name;
  Type type = Type::real;
  double minimum = 0;  ///< least number, inclusive
  double maximum = 0;  ///< largest number, inclusive
  std::string default_value;
  std::vector<std::string> choices;  ///< names of a choice
  std::string description;
};

inline ParameterSpec integer_parameter(std::string name, double minimum, double maximum, std::string default_value,
                                       std::string description) {
  return {std::move(name),       ParameterSpec::Type::integer, minimum, maximum, std::move(default_value), {},
          std::move(description)};
}

inline ParameterSpec real_parameter(std::string name, double minimum, double maximum, std::string default_value,
                                    std::string description) {
  return {std::move(name),       ParameterSpec::Type::real, minimum, maximum, std::move(default_value), {},
          std::move(description)};
}

inline ParameterSpec choice_parameter(std::string name, std::string default_value, std::vector<std::string> choices,
                                      std::string description) {
  return {std::move(name),    ParameterSpec::Type::choice, 0, 0, std::move(default_value),
          std::move(choices), std::move(description)};
}

/// Returns a choice whose first value is the default.
inline ParameterSpec choice_parameter(std::string name, const std::vector<std::string>& choices,
                                      std::string description) {
  return choice_parameter(std::move(name), choices.front(), choices, std::move(description));
}

/// Returns the value of a size in the form of the scenario language.
inline std::string size_text(const ParameterSpec& size, std::int64_t value) {
  return size.type == ParameterSpec::Type::choice ? size.choices.at(static_cast<std::size_t>(value))
                                                  : std::to_string(value);
}

/// Values of parameters by name, as texts that were checked against the specification.
using ParameterValues = std::map<std::string, std::string>;

inline ParameterValues default_parameters(const std::vector<ParameterSpec>& parameters) {
  ParameterValues values;
  for (const ParameterSpec& parameter : parameters) values[parameter.name] = parameter.default_value;
  return values;
}

/// A numeric parameter of a method, declared once; of() reads its value. Instances are compile-time constants, and are
/// converted to a ParameterSpec for a description.
template <class Number>
struct NumberParameter {
  const char* name;
  double minimum;             ///< least number, inclusive
  double maximum;             ///< largest number, inclusive
  const char* default_value;  ///< default value, in the printed form
  const char* description;

  /// Returns the value. *Requires* a checked value under its name.
  Number of(const ParameterValues& values) const {
    const std::string& text = values.at(name);
    if constexpr (std::is_integral_v<Number>) return static_cast<Number>(std::stoll(text));
    if constexpr (std::is_same_v<Number, float>) return std::stof(text);
    return static_cast<Number>(std::stod(text));
  }
  constexpr NumberParameter with_default(const char* other) const {
    return {name, minimum, maximum, other, description};
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a description lists parameters as they are
  operator ParameterSpec() const {
    constexpr auto kType = std::is_integral_v<Number> ? ParameterSpec::Type::integer : ParameterSpec::Type::real;
    return {name, kType, minimum, maximum, default_value, {}, description};
  }
};
using IntegerParameter = NumberParameter<std::int64_t>;
using RealParameter = NumberParameter<double>;
using FloatParameter = NumberParameter<float>;

/// A parameter with named choices, declared once.
template <class Value, std::size_t count>
struct ChoiceParameter {
  const char* name;
  std::array<std::pair<const char*, Value>, count> choices;
  const char* description;
  std::size_t by_default = 0;  ///< index into `choices`

  /// Returns the value. *Requires* a checked value under its name.
  Value of(const ParameterValues& values) const {
    const std::string& text = values.at(name);
    for (const auto& [word, value] : choices) {
      if (text == word) return value;
    }
    throw std::logic_error("'" + text + "' is no choice of " + name);
  }
  constexpr ChoiceParameter with_default(std::size_t other) const { return {name, choices, description, other}; }
  // NOLINTNEXTLINE(google-explicit-constructor): a description lists parameters as they are
  operator ParameterSpec() const {
    std::vector<std::string> words;
    for (const auto& choice : choices) words.emplace_back(choice.first);
    return {name, ParameterSpec::Type::choice, 0, 0, choices[by_default].first, std::move(words), description};
  }
};

template <class Value, std::size_t count>
constexpr ChoiceParameter<Value, count> choice(const char* name,
                                               const std::pair<const char*, Value> (&choices)[count],  // NOLINT
                                               const char* description, std::size_t by_default = 0) {
  return {name, std::to_array(choices), description, by_default};
}

/// A parameter whose values are known only at run time, such as a graph of a registry, or a path.
struct TextParameter {
  const char* name;
  const std::string& of(const ParameterValues& values) const { return values.at(name); }
};

}  // namespace dadsim::spec
