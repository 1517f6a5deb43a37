#pragma once

#include <boost/program_options.hpp>
#include <boost/program_options/options_description.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dadsim::cli {

namespace po = boost::program_options;

/// A command with its own options. commands.txt has a section with its words and options; --help, the manual page,
/// completion and suggestions for misspelt commands are derived from both.
struct Command {
  /// Kind of the operands, for completion.
  enum class Operand { scenario, platform, file, name, name_or_file, none };
  /// Possible names of the first operand, with descriptions.
  using Names = std::vector<std::pair<std::string, std::string>>;

  std::string name;
  Operand operand;
  void (*run)(const po::variables_map& values);
  Names (*names)() = nullptr;       ///< returns the names to complete, for Operand::name and name_or_file
  std::string (*more)() = nullptr;  ///< returns the text that replaces {more}
  std::string synopsis = {};        ///< operands, as shown after the name
  std::string summary = {};         ///< description in the list of all commands
  std::string about = {};           ///< text of --help above the options
};

// Functions of the commands with a file of their own, `<name>_command.cpp`. Each may throw as the whole program does.
void run_calibrate(const po::variables_map& values);
void run_collective(const po::variables_map& values);
void run_compare(const po::variables_map& values);
void run_diagnose(const po::variables_map& values);
void run_explain(const po::variables_map& values);
void run_export(const po::variables_map& values);
void run_import(const po::variables_map& values);
void run_kernel(const po::variables_map& values);
void run_layout(const po::variables_map& values);
void run_lesson(const po::variables_map& values);
void run_merge(const po::variables_map& values);
void run_new(const po::variables_map& values);
void run_platform(const po::variables_map& values);
void run_sites(const po::variables_map& values);
void run_support(const po::variables_map& values);
void run_sweep(const po::variables_map& values);
void run_train(const po::variables_map& values);
void run_validate(const po::variables_map& values);

Command::Names names_of_files();
Command::Names names_of_models();
Command::Names names_of_tables();
Command::Names names_of_templates();
std::string list_support_files();
std::string list_templates();

const std::vector<Command>& commands();

/// Returns the command with this name; nullptr if there is none.
const Command* find_command(const std::string& name);

/// Returns the options of a section of commands.txt, "dadsim" or a command; `more` replaces {more}.
po::options_description options_of(std::string_view section, const std::string& more = {});

/// Returns the text of --help; lines of options begin with two blanks.
std::string usage_of(const Command& command);

/// Parses the arguments after the command's name, and runs the command; for --help, prints its usage.
void run(const Command& command, const std::vector<std::string>& arguments);

/// Returns the options as text for a usage message.
std::string words_of_options(const boost::program_options::options_description& options);

/// An option in a usage text.
struct OptionWords {
  std::string name;   ///< name with dashes, e.g. "--json"
  std::string value;  ///< "FILE"; empty: the option takes no value
  std::string help;
};

/// Returns the options of a usage text: lines that begin with two blanks and "--", and lines indented below them.
std::vector<OptionWords> options_in(const std::string& usage);

/// Returns the text before the options, without the title of the options.
std::string before_options(const std::string& usage);

}  // namespace dadsim::cli
