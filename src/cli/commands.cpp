#include "cli/commands.hpp"

#include <algorithm>

#include "cli/arguments.hpp"
#include "cli/print.hpp"
#include "cli/usage_words.hpp"

namespace dadsim::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      train_command(),    sites_command(),      new_command(),         sweep_command(),   merge_command(),
      platform_command(), collective_command(), kernel_command(),      explain_command(), export_command(),
      import_command(),   compare_command(),    calibrate_command(),   plan_command(),    diagnose_command(),
      validate_command(), layout_command(),     scale_study_command(), lesson_command(),  support_command(),
  };
  return all;
}

const Command* find_command(const std::string& name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

std::string usage_of(const Command& command) { return command.about + words_of_options(command.options()); }

void run(const Command& command, const std::vector<std::string>& arguments) {
  const boost::program_options::variables_map values = read_arguments(arguments, command.options());
  if (values.contains("help")) return print(usage_of(command));
  command.run(values);
}

}  // namespace dadsim::cli
