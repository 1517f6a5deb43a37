#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// A command with options of its own. What is told of commands anywhere (--help, the manual page, completion, words
/// that are nearly a command) is told from this list.
struct Command {
  enum class Operand {
    scenario,
    platform,
    file,
    name,
    name_or_file,
    none
  };  ///< what stands beside its options, for completion
  std::string name;
  std::string synopsis;  ///< what stands behind the name
  std::string summary;   ///< for the usage text
  Operand operand;
  void (*run)(const std::vector<std::string>& arguments);
  std::string (*usage)();  ///< what its --help says; the options stand in lines that begin with two blanks
};

const std::vector<Command>& commands();

/// nullptr if there is none of that name.
const Command* find_command(const std::string& name);

}  // namespace dadsim::cli
