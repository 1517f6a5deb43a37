#include "cli/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/diagnostics.hpp"
#include "support/terminal.hpp"
#include "support/text_encoding.hpp"

namespace dadsim::cli {

po::variables_map read_arguments(const std::vector<std::string>& given, const po::options_description& options) {
  std::vector<std::string> arguments = given;
  std::ranges::replace(arguments, std::string("-h"), std::string("--help"));
  for (const std::string& one : arguments) {
    const std::string plain = with_plain_characters(one);
    const std::string name = plain.substr(std::min(plain.find_first_not_of('-'), plain.size()));
    if (name.empty()) continue;  // "-" is standard output
    if (plain.starts_with('-') && !one.starts_with("--") && options.find_nothrow(name.substr(0, name.find('=')), false))
      throw UsageError(fmt::format("'{}' begins with a dash; write --{}", one, name));
  }
  po::options_description all = options;
  all.add_options()("positional", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("positional", -1);
  po::variables_map values;
  try {
    po::store(po::command_line_parser(arguments)
                  .options(all)
                  .positional(positional)
                  .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                  .run(),
              values);
    po::notify(values);
  } catch (const po::unknown_option& error) {
    std::vector<std::string> names;
    for (const auto& option : options.options()) names.push_back("--" + option->long_name());
    throw UsageError(
        fmt::format("unknown option '{}'; {}", error.get_option_name(), suggestion(error.get_option_name(), names)));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{}; see dadsim --help", error.what()));
  }
  if (const auto when = value_of<std::string>(values, "color", scenario::one_of({"auto", "always", "never"})))
    choose_colour(*when == "auto" ? Colour::automatic : *when == "always" ? Colour::always : Colour::never);
  return values;
}

std::vector<std::string> operands_of(const po::variables_map& values, std::size_t most, const char* remedy) {
  if (!values.contains("positional")) return {};
  const auto& operands = values["positional"].as<std::vector<std::string>>();
  if (std::ranges::any_of(operands, &std::string::empty))
    throw UsageError("an argument is empty; remove it, or see dadsim --help");
  if (operands.size() > most)
    throw UsageError(fmt::format("'{}' is one argument too many; {}", operands[most], remedy));
  return operands;
}

std::string only_operand(const po::variables_map& values, const char* none, const char* what, const char* command) {
  const std::vector<std::string> operands = operands_of(values, 1, what);
  if (operands.empty()) throw UsageError(fmt::format("{}; see dadsim {} --help", none, command));
  return operands.front();
}

std::string text_of(const po::variables_map& values, const std::string& option) {
  if (!values.contains(option)) return {};
  const auto& text = values[option].as<std::string>();
  if (text.empty()) throw UsageError(fmt::format("--{} has an empty value; see dadsim --help", option));
  return text;
}

void refuse_given(const po::variables_map& values, const std::vector<std::string>& options, const std::string& why) {
  for (const std::string& option : options)
    if (values.contains(option)) throw UsageError(fmt::format("--{} {}; remove it", option, why));
}

void refuse(const scenario::Findings& findings) {
  try {
    findings.throw_if_any();
  } catch (const InputError& wrong) {
    throw UsageError(wrong.what());
  }
}

}  // namespace dadsim::cli
