#include "cli/question_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/study_options.hpp"
#include "support/diagnostics.hpp"
#include "support/shell_word.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {
namespace {

/// Returns the command line, restricted to options that the answer depends on.
std::string command_typed(const std::string& command, const po::variables_map& values) {
  constexpr std::array<std::string_view, 6> kElse{"write", "json", "report", "plots", "threads", "color"};
  std::string line = "dadsim " + command;
  for (const std::string& operand : operands_of(values)) line += ' ' + shell_word(operand);
  for (const auto& [name, value] : values) {
    const auto* text = boost::any_cast<std::string>(&value.value());
    if (text != nullptr && std::ranges::find(kElse, name) == kElse.end())
      line += " --" + name + ' ' + shell_word(*text);
  }
  return line;
}

}  // namespace

void answer_question(const po::variables_map& values, const std::string& read, const std::string& command,
                     const std::function<Answered(bool)>& answer) {
  const std::string written = text_of(values, "write");
  const StudyFiles files(values, {{"the scenario", read}}, {{"--write", written}});
  if (!written.empty()) check_is_new(written);
  const ThreadLimit limit(threads_to_use(threads_of(values)));
  Answered found = answer(!values.contains("quiet"));
  found.document.print(written.empty() || written == "-"
                           ? fmt::format("To keep its scenario: {} --write my.xml\n", command_typed(command, values))
                           : fmt::format("What would each change save? dadsim explain {}\n", written));
  if (!written.empty()) write_new(written, found.scenario);
  files.write(found.document, report::About{.scenario = found.scenario});
}

}  // namespace dadsim::cli
