#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocols/learning.hpp"

namespace dadsim::protocols {

/// An operation of Learning that takes long, as what it depends on beside its inputs and the learning problem: data,
/// which another process can be sent.
struct LearnedOperation {
  enum class Kind : std::uint8_t {
    train,                     ///< Learning::train(); a second input is the correction
    gradient,                  ///< of batch `training.first`
    gradient_with_statistics,  ///< the same, with running statistics behind it
    evaluate,                  ///< on held-back data
  };
  Kind kind = Kind::train;
  LocalTraining training{};   ///< of an evaluation nothing
  std::uint64_t held_back{};  ///< of an evaluation: DriftedData::number_held_back_at()
};

std::string to_bytes(const LearnedOperation& operation);
/// Throws std::out_of_range where the bytes are none of to_bytes.
LearnedOperation learned_operation_from_bytes(std::string_view bytes);

/// What the operation makes of its inputs. Throws std::out_of_range where it is of another problem.
world::Datum carry_out(Learning& learning, const LearnedOperation& operation, world::History::Inputs inputs);

}  // namespace dadsim::protocols
