#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "world/history.hpp"

namespace dadsim::world {

/// Has operations of a History carried out by other processes, perhaps on other machines.
///
/// *Requires* of those processes that they make the same bits of the same operation and inputs.
class RemoteOperations {
 public:
  struct Operation {
    ValueKey key{};
    std::string description;  ///< as History::make() got it
    std::vector<ValueKey> input_keys;
    std::vector<DatumPtr> inputs;  ///< as many
  };
  struct Result {
    ValueKey key{};
    DatumPtr datum;
  };

  virtual ~RemoteOperations() = default;
  /// Of what History they can carry out operations: its `problem`.
  virtual std::uint64_t problem() const = 0;
  /// For several threads.
  virtual void hand(Operation operation) = 0;
  /// What has been carried out since the last call, each operation once, in any order; waits for a moment where there
  /// is nothing yet. Throws where an operation can be carried out by nobody.
  virtual std::vector<Result> wait() = 0;
  /// What is in other hands is wanted no more: wait() will not return it.
  virtual void forget() = 0;
};

}  // namespace dadsim::world
