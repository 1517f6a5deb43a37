#pragma once

#include <string>

#include "step/timing.hpp"

namespace dadsim::test {

/// Returns a run's notes on fidelity, such as "not-by-flow: nodes share links".
inline std::string notes_of(const step::NetworkUse& network) {
  std::string text;
  for (const Statement& note : network.fidelity_notes) {
    text += (text.empty() ? "" : "; ") + note.kind;
    if (note.has("fault")) text += ": " + note.text("fault");
  }
  return text;
}

}  // namespace dadsim::test
