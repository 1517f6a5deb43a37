#pragma once

#include <string>

#include "step/timing.hpp"

namespace dadsim::test {

/// "not-by-flow: nodes share links": the reason why a network was not simulated with the requested fidelity.
inline std::string notes_of(const step::NetworkUse& network) {
  std::string text;
  for (const Statement& note : network.fidelity_notes) {
    text += (text.empty() ? "" : "; ") + note.kind;
    if (note.has("fault")) text += ": " + note.text("fault");
  }
  return text;
}

}  // namespace dadsim::test
