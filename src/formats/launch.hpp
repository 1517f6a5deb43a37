#pragma once

#include <map>
#include <string>
#include <vector>

// Launch files of frameworks for parallel training: command lines of Megatron-LM and Megatron Bridge, TOML of
// torchtitan, JSON of DeepSpeed. launch_arguments.csv lists each framework's argument for a quantity.

namespace dadsim::formats {

/// A quantity of launch_arguments.csv, e.g. "tensor", with its value in dadsim's words.
struct LaunchSetting {
  std::string quantity, value;
};

/// Returns the names of the frameworks: "megatron", "torchtitan" …
std::vector<std::string> launch_frameworks();

/// Returns true if the framework has an argument for the setting, or always has this setting.
bool can_say(const std::string& framework, const LaunchSetting& setting);

/// Returns a framework's file with the settings that it can express. `remarks`: written as comments if the format has
/// any.
std::string to_launch_file(const std::string& framework, const std::vector<LaunchSetting>& settings,
                           const std::vector<std::string>& remarks);

/// Returns the framework with the largest number of its arguments (for batches, tensor parallelism or sharding) in the
/// text; empty: no framework has any, or the text is longer than 256 KiB.
std::string framework_of_launch(const std::string& text);

/// Settings read from a file.
struct LaunchFile {
  struct LaunchEntry {
    std::string value;
    std::string argument;  ///< argument that set it; empty: default of the framework
    int line = 0;
  };
  std::map<std::string, LaunchEntry> entries;  ///< settings by quantity
};

/// Reads a framework's file. Throws InputError for a syntax error, or for all wrong values at once.
LaunchFile read_launch_file(const std::string& file, const std::string& framework, const std::string& text);

}  // namespace dadsim::formats
