#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/diagnostics.hpp"

namespace dadsim::test {

/// Returns the message of the InputError that `call` throws, with one line per error. Expects that every error has a
/// remedy.
template <class Call>
std::string refused(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) EXPECT_FALSE(diagnostic.remedy.empty()) << error.what();
    return error.what();
  }
  return "";
}

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace dadsim::test
