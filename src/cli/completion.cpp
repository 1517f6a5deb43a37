#include "cli/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string_view>

#include "cli/arguments.hpp"
#include "cli/collective_options.hpp"
#include "cli/commands.hpp"
#include "cli/listings.hpp"
#include "cli/options.hpp"
#include "scenario/language/rule.hpp"
#include "support/split.hpp"
#include "support/version.hpp"

namespace dadsim::cli {
namespace {

/// Escapes a text for groff: no escape sequences, and no requests at the start of lines.
std::string roff(const std::string& text) {
  std::string result;
  bool start = true;
  for (const char c : text) {
    if (start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    start = c == '\n';
  }
  return result;
}

std::string options_section(const std::string& usage) {
  std::string text;
  for (const OptionWords& option : options_in(usage)) {
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option.name),
                        option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR", roff(option.help));
  }
  return text;
}

/// Returns the text of a usage before its options, as paragraphs. Paragraphs with indented lines are unchanged.
std::string description_of(const std::string& usage) {
  const std::string words = before_options(usage);
  std::string text;
  bool verbatim = false;
  for (const std::string_view line : lines_of(words) | std::views::drop(1)) {  // skips the command itself
    const bool as_is = line.starts_with("  ") || (verbatim && !line.empty());
    if (as_is != verbatim && !line.empty()) {
      text += as_is ? ".PP\n.nf\n" : ".fi\n.PP\n";
      verbatim = as_is;
    }
    text += line.empty() ? (verbatim ? "" : ".PP\n") : roff(std::string(line)) + "\n";
  }
  return text + (verbatim ? ".fi\n" : "");
}

using Candidate = Completion::Candidate;

std::vector<std::string> words_of_line(const std::string& line) {
  std::vector<std::string> words(1);
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        words.back() += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ' ' || c == '\t') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

void offer(Completion& completion, const std::string& begun, const std::string& text, const std::string& help = {}) {
  if (text.starts_with(begun)) completion.candidates.push_back({text, help});
}

void offer_all(Completion& completion, const std::string& begun, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) offer(completion, begun, text);
}

/// Returns the values that the language lists for an attribute; empty if it lists none.
std::vector<std::string> values_of(const std::string& element, const std::string& attribute) {
  const scenario::ElementRule* rule = scenario::find_rule(element);
  const scenario::AttributeRule* found = rule == nullptr ? nullptr : rule->find(attribute);
  if (found == nullptr) return {};
  return found->kind.catalog.empty() ? found->kind.names : names_of(found->kind.catalog);
}

/// Returns the name without its selector: "run" for "run[rank-dad]".
std::string element_of_part(const std::string& part) { return part.substr(0, part.find('[')); }

/// Completes the PATH=VALUE of --set from the language of scenarios.
void complete_setting(Completion& completion, const std::string& begun) {
  const std::size_t equal = begun.find('=');
  const std::string path = begun.substr(0, equal);
  const std::size_t last = path.find_last_of('.');
  const std::string parents = last == std::string::npos ? "" : path.substr(0, last);
  const std::string element =
      parents.empty() ? "scenario" : element_of_part(parents.substr(parents.find_last_of('.') + 1));
  if (equal != std::string::npos) {
    const std::string attribute = last == std::string::npos ? path : path.substr(last + 1);
    for (const std::string& value : values_of(element, attribute)) offer(completion, begun, path + "=" + value);
    return;
  }
  const scenario::ElementRule* rule = scenario::find_rule(element);
  if (rule == nullptr) return;
  const std::string before = last == std::string::npos ? "" : path.substr(0, last + 1);
  for (const std::string& child : rule->children) offer(completion, begun, before + child + ".");
  for (const std::string& attribute : rule->attribute_names()) offer(completion, begun, before + attribute + "=");
}

/// Completes the value of an option from its name and the name of the value in its help.
void complete_value(Completion& completion, const std::string& command, const OptionWords& option,
                    const std::string& begun) {
  if (option.name == "--set") return complete_setting(completion, begun);
  if (option.name == "--like") return offer_all(completion, begun, names_of("devices"));
  if (command == "collective") {
    if (option.name == "--op") return offer_all(completion, begun, spec::all_names<report::Operation>());
    if (option.name == "--fidelity") return offer_all(completion, begun, spec::all_names<spec::Fidelity>());
    if (option.name == "--algorithm") {
      offer_all(completion, begun, {"auto", "best"});
      return offer_all(completion, begun, names_of("collectives"));
    }
  }
  if (option.name == "--transport") return offer_all(completion, begun, {"plain", "tcp", "rdma", "nvlink"});
  if (option.name == "--platform") completion.files = ".xml";
  if (option.value == "FILE" && completion.files.empty()) completion.files = "*";
  if (option.value == "DIR") completion.files = "/";
}

void offer_commands(Completion& completion, const std::string& begun) {
  for (const Command& command : commands()) offer(completion, begun, command.name, command.summary);
  for (const Listing& listing : listings()) offer(completion, begun, listing.name, listing.summary);
}

void complete_operand(Completion& completion, const Command* command, const std::string& begun, std::size_t before) {
  if (command == nullptr) {
    completion.files = ".xml";
    return;
  }
  using Operand = Command::Operand;
  switch (command->operand) {
    case Operand::scenario:
    case Operand::platform:
      completion.files = ".xml";
      return;
    case Operand::file:
      completion.files = "*";
      return;
    case Operand::none:
      return;
    case Operand::name_or_file:
      completion.files = ".csv";
      break;
    case Operand::name:
      if (before > 0 && command->name == "new") completion.files = ".xml";
      if (before > 0) return;
      break;
  }
  for (const auto& [name, words] : command->names()) offer(completion, begun, name, words);
}

}  // namespace

std::string manual_page() {
  std::string text = fmt::format(
      ".TH DADSIM 1 \"\" \"dadsim {0}\" \"User Commands\"\n.SH NAME\ndadsim \\- time to accuracy of distributed "
      "training, simulated\n.SH SYNOPSIS\n.B dadsim\n[\\fIoptions\\fR] \\fIscenario.xml\\fR\n",
      kVersion);
  for (const Command& command : commands()) {
    text +=
        fmt::format(".br\n.B dadsim {}\n[\\fIoptions\\fR] \\fI{}\\fR\n", roff(command.name), roff(command.synopsis));
  }
  for (const Listing& listing : listings()) text += fmt::format(".br\n.B dadsim {}\n[\\fIwords\\fR]\n", listing.name);
  const std::string all = usage();
  text += ".SH DESCRIPTION\n" + roff(all.substr(0, all.find("\n\n"))) + "\n";
  text += ".SH OPTIONS\n" + options_section(all);
  text += ".SH COMMANDS\n";
  for (const Command& command : commands()) {
    const std::string words = usage_of(command);
    text += fmt::format(".SS dadsim {}\n{}.\n.PP\n{}{}", roff(command.name), roff(command.summary),
                        description_of(words), options_section(words));
  }
  text += ".SS Lists\n";
  for (const Listing& listing : listings()) {
    text += fmt::format(".TP\n\\fBdadsim {}\\fR\n{}; with words, the entries that contain the words\n", listing.name,
                        roff(listing.summary));
  }
  const std::size_t codes = all.find("Exit codes:");
  text += ".SH EXIT STATUS\n" + roff(all.substr(codes, all.find("\n\n", codes) - codes)) + "\n";
  text +=
      ".SH FILES\nScenarios, platforms and documentation are in share/dadsim and share/doc/dadsim below the\n"
      "prefix of the installation. The schema of scenarios is share/dadsim/scenario.xsd.\n"
      ".SH ENVIRONMENT\n.TP\n.B DADSIM_DATA\nFolder in which data files are searched if they are not next to the "
      "scenario.\n";
  return text;
}

Completion complete(const std::string& line) {
  Completion completion;
  std::vector<std::string> words = words_of_line(line);
  const std::string begun = words.back();
  words.pop_back();
  if (words.empty()) return completion;
  const Command* command = words.size() > 1 ? find_command(words[1]) : nullptr;
  const Listing* listing = words.size() > 1 ? find_listing(words[1]) : nullptr;
  const std::vector<OptionWords> options = options_in(command != nullptr ? usage_of(*command) : usage());
  const auto find_option = [&](const std::string& name) {
    const auto found = std::ranges::find(options, name, &OptionWords::name);
    return found == options.end() ? nullptr : &*found;
  };
  const std::string name = command != nullptr ? command->name : "";
  if (const OptionWords* option = find_option(words.back()); option != nullptr && !option->value.empty()) {
    complete_value(completion, name, *option, begun);
    return completion;
  }
  if (begun.starts_with("-")) {
    if (const std::size_t equal = begun.find('='); equal != std::string::npos) {
      const OptionWords* option = find_option(begun.substr(0, equal));
      if (option == nullptr) return completion;
      complete_value(completion, name, *option, begun.substr(equal + 1));
      for (Candidate& one : completion.candidates) one.text = begun.substr(0, equal + 1) + one.text;
      return completion;
    }
    for (const OptionWords& option : options) offer(completion, begun, option.name, option.help);
    return completion;
  }
  if (listing != nullptr) {
    offer_all(completion, begun, names_of(listing->name));
    return completion;
  }
  std::size_t operands = 0;
  for (std::size_t i = command != nullptr ? 2 : 1; i < words.size(); ++i) {
    const OptionWords* option = find_option(words[i - 1]);
    if (!words[i].starts_with("-") && (option == nullptr || option->value.empty())) ++operands;
  }
  if (command == nullptr && words.size() == 1) offer_commands(completion, begun);
  complete_operand(completion, command, begun, operands);
  return completion;
}

std::string candidates_in_lines(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) throw UsageError("--complete takes one line, for completion in shells");
  const Completion completion = complete(arguments[0]);
  std::string text;
  for (const Candidate& one : completion.candidates) {
    text += one.text + (one.help.empty() ? "" : "\t" + one.help) + '\n';
  }
  if (!completion.files.empty()) text += ":files " + completion.files + '\n';
  return text;
}

}  // namespace dadsim::cli
