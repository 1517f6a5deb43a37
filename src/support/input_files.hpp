#pragma once

#include <string>
#include <vector>

namespace dadsim {

/// Remembers that this process reads `path`, so that no output of it is written there. Who opens a file that a user
/// named calls this, whatever the format. Safe to call from several threads.
void note_input(const std::string& path);

/// All of them, each once.
std::vector<std::string> noted_inputs();

}  // namespace dadsim
