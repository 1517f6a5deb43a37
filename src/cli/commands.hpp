#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <utility>
#include <vector>

namespace dadsim::cli {

namespace po = boost::program_options;

/// A command with options of its own. --help, the manual page, completion, and words that are nearly a command are all
/// printed from its row.
struct Command {
  /// The operands, for completion.
  enum class Operand { scenario, platform, file, name, name_or_file, none };
  /// Names that the first operand may be, each with its description.
  using Names = std::vector<std::pair<std::string, std::string>>;

  std::string name;
  std::string synopsis;  ///< operands, after the name
  std::string summary;   ///< for the list of all commands
  Operand operand;
  std::string about;  ///< --help, above the options
  po::options_description (*options)();
  void (*run)(const po::variables_map& values);
  Names (*names)() = nullptr;  ///< names to complete, with Operand::name and name_or_file
};

// A command's row stands in its own file, `<name>_command.cpp`. Each may throw as the whole program does.
Command calibrate_command();
Command collective_command();
Command compare_command();
Command diagnose_command();
Command explain_command();
Command export_command();
Command import_command();
Command kernel_command();
Command layout_command();
Command lesson_command();
Command merge_command();
Command new_command();
Command plan_command();
Command platform_command();
Command scale_study_command();
Command sites_command();
Command support_command();
Command sweep_command();
Command train_command();
Command validate_command();

const std::vector<Command>& commands();

/// Returns nullptr if there is none of that name.
const Command* find_command(const std::string& name);

/// The text of --help; options stand in lines that begin with two blanks.
std::string usage_of(const Command& command);

/// Reads the arguments after the command's name and runs it, or prints its usage for --help.
void run(const Command& command, const std::vector<std::string>& arguments);

}  // namespace dadsim::cli
