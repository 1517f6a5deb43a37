#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocols/learning.hpp"

namespace dadsim::protocols {

/// A long operation of Learning as data that can be sent to another process: everything that the result depends on
/// except the inputs and the learning problem.
struct LearnedOperation {
  enum class Kind : std::uint8_t {
    train,                     ///< Learning::train(); a second input, if any, is the correction
    gradient,                  ///< gradient of batch `training.first`
    gradient_with_statistics,  ///< gradient of batch `training.first`, with running statistics after it
    evaluate,                  ///< evaluation on held-back data
  };
  Kind kind = Kind::train;
  LocalTraining training{};   ///< settings of the training; unused by evaluations
  std::uint64_t held_back{};  ///< held-back data to evaluate on (DriftedData::number_held_back_at()); 0: the test
                              ///< samples
};

std::string to_bytes(const LearnedOperation& operation);
/// Decodes the result of to_bytes. Throws std::out_of_range for any other bytes.
LearnedOperation learned_operation_from_bytes(std::string_view bytes);

/// Applies the operation to its inputs. Throws std::out_of_range if the operation belongs to another problem.
world::Datum carry_out(Learning& learning, const LearnedOperation& operation, world::History::Inputs inputs);

}  // namespace dadsim::protocols
