#pragma once

#include <boost/program_options.hpp>
#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/language/value.hpp"

namespace dadsim::cli {

/// Thrown for a wrong command line; the message states the fault and the remedy.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace po = boost::program_options;

/// Reads `arguments` as options of `options` and as operands, which are stored under "positional". Only --help has an
/// abbreviation, -h. --color applies to the whole process. Throws UsageError, which suggests a similar option if there
/// is one.
po::variables_map read_arguments(const std::vector<std::string>& arguments, const po::options_description& options);

/// Returns the operands (as defined by POSIX). Throws UsageError if one is empty, or, with `remedy`, if there are more
/// than `most`.
std::vector<std::string> operands_of(const po::variables_map& values,
                                     std::size_t most = std::numeric_limits<std::size_t>::max(),
                                     const char* remedy = "");

/// Returns the only operand. Throws UsageError if there is none, or a second one. `none`: message without an operand,
/// e.g. "no scenario is named"; `what`: remedy for a second one, e.g. "one scenario".
std::string only_operand(const po::variables_map& values, const char* none, const char* what, const char* command);

/// Returns the text of an option; empty if it is not given. Throws UsageError for an option with an empty text.
std::string text_of(const po::variables_map& values, const std::string& option);

/// Throws UsageError if one of these options is given: "--json needs a result; remove it". `why`: its middle.
void refuse_given(const po::variables_map& values, const std::vector<std::string>& options, const std::string& why);

/// Throws UsageError if there are findings.
void refuse(const scenario::Findings& findings);

/// Reads a text as the language reads an attribute of that kind. `name`: name of the operand, or of the option with its
/// dashes. Throws UsageError: "--threads '0' is out of range; a whole number from 1 to 1024".
template <class Value>
Value read_operand(const std::string& name, std::string_view text, const scenario::Kind& kind) {
  scenario::Findings findings("");
  const scenario::Element element{"", false, {}, {{name, std::string(text), {}}}};
  const std::optional<Value> value = scenario::read_value<Value>(scenario::Node(element, findings), {name, kind, ""});
  if (!value) refuse(findings);
  return *value;
}
template <class Value>
Value read_option(const std::string& option, std::string_view text, const scenario::Kind& kind) {
  return read_operand<Value>("--" + option, text, kind);
}

/// Returns the value of an option; nullopt if it is not given. Throws UsageError.
template <class Value>
std::optional<Value> value_of(const po::variables_map& values, const std::string& option, const scenario::Kind& kind) {
  const std::string text = text_of(values, option);
  return text.empty() ? std::nullopt : std::optional(read_option<Value>(option, text, kind));
}
template <spec::Named Enum>
std::optional<Enum> value_of(const po::variables_map& values, const std::string& option) {
  return value_of<Enum>(values, option, scenario::one_of<Enum>());
}

}  // namespace dadsim::cli
