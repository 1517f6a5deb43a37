#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "support/statement.hpp"
#include "support/wire.hpp"

// Serialisation of a statement, between processes of one build and in their files.

namespace dadsim {

inline void fields(WireWriter& bytes, const Statement& statement) {
  bytes(statement.kind, statement.subjects, std::uint64_t{statement.values.size()});
  for (const auto& [name, value] : statement.values) bytes(name, value);
  bytes(statement.parts);
}

/// Reads a statement. Limits the nesting, because deeper nesting would exhaust the stack.
inline void read_statement(WireReader& bytes, Statement& statement, int depth) {
  constexpr int kDeepest = 4;
  if (depth > kDeepest) throw std::out_of_range("a statement has too many parts");
  statement = {};
  bytes(statement.kind, statement.subjects);
  for (auto count = bytes.read<std::uint64_t>(); count > 0; --count) {
    const auto name = bytes.read<std::string>();
    if (!statement.values.empty() && name <= statement.values.rbegin()->first)
      throw std::out_of_range("values out of order");
    bytes(statement.values[name]);
  }
  for (auto count = bytes.read<std::uint64_t>(); count > 0; --count)
    read_statement(bytes, statement.parts.emplace_back(), depth + 1);
}
inline void fields(WireReader& bytes, Statement& statement) { read_statement(bytes, statement, 0); }

}  // namespace dadsim
