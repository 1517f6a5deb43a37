#pragma once

#include <string>
#include <vector>

namespace dadsim {

/// Records that this process reads `path`, so that no output is written there. Every opener of a user's file calls it,
/// whatever the format. Safe to call from several threads.
void note_input(const std::string& path);

/// Returns the recorded paths, each once.
std::vector<std::string> noted_inputs();

}  // namespace dadsim
