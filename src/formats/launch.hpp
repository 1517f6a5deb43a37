#pragma once

#include <map>
#include <string>
#include <vector>

// Launch files of frameworks that train divided networks: command lines of Megatron-LM and Megatron Bridge, TOML of
// torchtitan, JSON of DeepSpeed. launch_arguments.csv lists each framework's argument for a quantity.

namespace dadsim::formats {

/// A quantity of launch_arguments.csv, e.g. "tensor", and its value in dadsim's words.
struct LaunchSetting {
  std::string quantity, value;
};

/// Returns the names of the frameworks: "megatron", "torchtitan" …
std::vector<std::string> launch_frameworks();

/// Returns true if the framework has an argument for the setting, or always uses this setting.
bool can_say(const std::string& framework, const LaunchSetting& setting);

/// Writes a framework's file with the settings that it can express. `remarks` become comments if the format has any.
std::string to_launch_file(const std::string& framework, const std::vector<LaunchSetting>& settings,
                           const std::vector<std::string>& remarks);

/// Returns the framework whose arguments (batches, tensor parallelism or sharding) occur in a text; empty: none.
std::string framework_of_launch(const std::string& text);

/// Settings read from a file.
struct LaunchFile {
  struct LaunchEntry {
    std::string value;
    std::string argument;  ///< argument that sets it; empty: the framework's default
    int line = 0;
  };
  std::map<std::string, LaunchEntry> entries;  ///< settings by quantity
};

/// Reads the file of a framework. Throws InputError with all faults, each with its line.
LaunchFile read_launch_file(const std::string& file, const std::string& framework, const std::string& text);

}  // namespace dadsim::formats
