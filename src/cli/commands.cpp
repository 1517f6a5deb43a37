#include "cli/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

#include "cli/arguments.hpp"
#include "cli/commands_text.hpp"
#include "cli/output.hpp"
#include "cli/study_options.hpp"
#include "formats/launch.hpp"
#include "study/planning/plan_scenario.hpp"
#include "study/scale_study/scale_study.hpp"
#include "support/split.hpp"

namespace dadsim::cli {
namespace {

constexpr std::string_view kEndOfName = ": ";  // separates the name of an option from its description

/// Returns a section of commands.txt: the words after its name, and the lines below.
std::string_view section_of(std::string_view name) {
  const std::string head = fmt::format("\n[{}]", name);
  const std::size_t found = kCommandsText.find(head);
  if (found == std::string_view::npos) throw std::logic_error(fmt::format("commands.txt lacks [{}]", name));
  const std::size_t begin = found + head.size();
  return kCommandsText.substr(begin, kCommandsText.find("\n\n[", begin) - begin);
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// Adds the options of a section; `parts` replace its {0}, {1} …
void add_options(std::string_view section, const std::vector<std::string_view>& parts, const std::string& more,
                 po::options_description& options) {
  for (const std::string_view said : lines_of(section_of(section))) {
    std::string line = replaced(std::string(said), "{more}", more);
    for (std::size_t i = 0; i < parts.size(); ++i) line = replaced(line, fmt::format("{{{}}}", i), parts[i]);
    const std::size_t blank = std::min(line.find(' '), line.size());
    if (line.starts_with('+')) {
      const std::string rest = line.substr(std::min(blank + 1, line.size()));
      add_options(line.substr(0, blank), split_at(rest, '|'), more, options);
    } else if (line.starts_with("--")) {
      const std::size_t colon = line.find(kEndOfName);
      const std::string name = line.substr(2, std::min(blank, colon) - 2);
      const std::string words = line.substr(colon + kEndOfName.size());
      std::string value = blank < colon ? line.substr(blank + 1, colon - blank - 1) : std::string();
      if (value.empty()) {
        options.add_options()(name.c_str(), words.c_str());
      } else if (value.ends_with("...")) {
        value.resize(value.size() - 3);
        auto* several = po::value<std::vector<std::string>>()->value_name(value)->composing();
        options.add_options()(name.c_str(), several, words.c_str());
      } else {
        options.add_options()(name.c_str(), po::value<std::string>()->value_name(value), words.c_str());
      }
    }
  }
}

std::string list_frameworks() { return fmt::format("{}", fmt::join(formats::launch_frameworks(), ", ")); }

void run_plan(const po::variables_map& values) {
  run_learning_study(
      values, "plan", [](const auto& source, const StudyOptions& options, const auto& on_read, auto* queue) {
        return document_of(study::plan_scenario(source, options.overrides, !options.quiet, on_read, queue));
      });
}

void run_scale_study(const po::variables_map& values) {
  run_learning_study(
      values, "scale-study", [](const auto& source, const StudyOptions& options, const auto& on_read, auto* queue) {
        return document_of(study::scale_study(source, options.overrides, !options.quiet, on_read, queue));
      });
}

/// Fills in the texts of a command from commands.txt.
Command worded(Command command) {
  std::string_view words = section_of(command.name);
  const auto line = [&] {
    const std::string first(words.substr(0, words.find('\n')));
    words.remove_prefix(first.size() + 1);
    return first;
  };
  command.synopsis = line().substr(1);
  command.summary = line();
  words.remove_prefix(1);
  const std::string about(words.substr(0, std::min(words.find("\n--"), words.find("\n+")) + 1));
  command.about = replaced(about, "{more}\n", command.more == nullptr ? std::string() : command.more());
  return command;
}

std::string without_blanks_around(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Returns whether a word after an option is the name of its value, which has no lower-case letters: "PATH=VALUE",
/// "I/N".
bool is_name_of_value(const std::string& word) {
  return !word.empty() && std::ranges::none_of(word, [](unsigned char c) { return std::islower(c) != 0; });
}

}  // namespace

const std::vector<Command>& commands() {
  using enum Command::Operand;
  static const std::vector<Command> all = [] {
    std::vector<Command> rows{
        {"train", name_or_file, run_train, names_of_models},
        {"sites", none, run_sites},
        {"new", name, run_new, names_of_templates, list_templates},
        {"sweep", scenario, run_sweep},
        {"merge", file, run_merge},
        {"platform", platform, run_platform},
        {"collective", none, run_collective},
        {"kernel", none, run_kernel},
        {"explain", scenario, run_explain},
        {"export", scenario, run_export},
        {"import", file, run_import},
        {"compare", scenario, run_compare},
        {"calibrate", file, run_calibrate},
        {"plan", scenario, run_plan},
        {"diagnose", scenario, run_diagnose},
        {"validate", name_or_file, run_validate, names_of_tables},
        {"layout", scenario, run_layout, nullptr, list_frameworks},
        {"scale-study", scenario, run_scale_study},
        {"lesson", none, run_lesson},
        {"support", name, run_support, names_of_files, list_support_files},
    };
    std::ranges::transform(rows, rows.begin(), worded);
    return rows;
  }();
  return all;
}

const Command* find_command(const std::string& name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

po::options_description options_of(std::string_view section, const std::string& more) {
  po::options_description options("Options");
  add_options(section, {}, more, options);
  return options;
}

namespace {

po::options_description options_of(const Command& command) {
  return cli::options_of(command.name, command.more == nullptr ? std::string() : command.more());
}

}  // namespace

std::string usage_of(const Command& command) { return command.about + words_of_options(options_of(command)); }

void run(const Command& command, const std::vector<std::string>& arguments) {
  const po::variables_map values = read_arguments(arguments, options_of(command));
  if (values.contains("help")) return print(usage_of(command));
  command.run(values);
}

std::string words_of_options(const boost::program_options::options_description& options) {
  std::ostringstream text;
  text.exceptions(std::ios::badbit);  // rethrows a bad_alloc, which streams otherwise swallow
  text << options;
  return text.str();
}

std::vector<OptionWords> options_in(const std::string& usage) {
  std::vector<OptionWords> options;
  bool inside = false;
  for (const std::string_view said : lines_of(usage)) {
    const std::string line(said);
    if (line.starts_with("  --")) {
      OptionWords option;
      std::size_t end = std::min(line.find(' ', 2), line.size());
      option.name = line.substr(2, end - 2);
      const std::size_t next = std::min(line.find(' ', std::min(end + 1, line.size())), line.size());
      if (end < line.size() && is_name_of_value(line.substr(end + 1, next - end - 1))) {
        option.value = line.substr(end + 1, next - end - 1);
        end = next;
      }
      option.help = without_blanks_around(line.substr(end));
      options.push_back(std::move(option));
      inside = true;
    } else if (inside && line.starts_with("    ")) {
      std::string& help = options.back().help;
      help += (help.empty() ? "" : " ") + without_blanks_around(line);
    } else {
      inside = false;
    }
  }
  return options;
}

std::string before_options(const std::string& usage) {
  const std::size_t title = usage.find("\nOptions:");
  return usage.substr(0, title == std::string::npos ? title : title + 1);
}

}  // namespace dadsim::cli
