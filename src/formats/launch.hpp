#pragma once

#include <map>
#include <string>
#include <vector>

// Launch files of frameworks that train divided networks: command lines of Megatron-LM and Megatron Bridge, TOML of
// torchtitan, JSON of DeepSpeed. The rows of launch_arguments.csv say what each calls a quantity.

namespace dadsim::formats {

/// A quantity of launch_arguments.csv, e.g. "tensor", and its value in dadsim's words.
struct LaunchSetting {
  std::string quantity, value;
};

/// Names of the frameworks: "megatron", "torchtitan" …
std::vector<std::string> launch_frameworks();

/// Returns true if the framework has an argument for the setting, or always has it so.
bool can_say(const std::string& framework, const LaunchSetting& setting);

/// Writes the file of a framework from the settings that it can be told. `remarks` become comments if the format has
/// any.
std::string to_launch_file(const std::string& framework, const std::vector<LaunchSetting>& settings,
                           const std::vector<std::string>& remarks);

/// The framework whose arguments of batches, tensor parallelism or sharding a text holds; empty: none.
std::string framework_of_launch(const std::string& text);

/// Settings that were read.
struct LaunchFile {
  struct LaunchEntry {
    std::string value;
    std::string argument;  ///< which says it; empty: the framework's default
    int line = 0;
  };
  std::map<std::string, LaunchEntry> entries;  ///< by quantity
};

/// Reads the file of a framework. Throws InputError with everything that is wrong, each with its line.
LaunchFile read_launch_file(const std::string& file, const std::string& framework, const std::string& text);

}  // namespace dadsim::formats
