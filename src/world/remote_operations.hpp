#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "world/history.hpp"

namespace dadsim::world {

/// Carries out operations of a History in other processes, perhaps on other machines.
///
/// *Requires* that these processes compute the same bits for the same operation and inputs.
class RemoteOperations {
 public:
  struct Operation {
    ValueKey key{};
    std::string description;  ///< description given to History::make()
    std::vector<ValueKey> input_keys;
    std::vector<DatumPtr> inputs;  ///< one datum per key
  };
  struct Result {
    ValueKey key{};
    DatumPtr datum;
  };

  virtual ~RemoteOperations() = default;
  /// Returns the `problem` of the History whose operations the processes can carry out.
  virtual std::uint64_t problem() const = 0;
  /// Submits an operation. Several threads may call it.
  virtual void hand(Operation operation) = 0;
  /// Returns the operations completed since the last call, each once, in any order; waits a moment if there are none
  /// yet. Throws if no process can carry out an operation.
  virtual std::vector<Result> wait() = 0;
  /// Drops all submitted operations: wait() will not return them.
  virtual void forget() = 0;
};

}  // namespace dadsim::world
