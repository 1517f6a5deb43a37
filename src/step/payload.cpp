#include <cmath>

#include "step/expression.hpp"

namespace dadsim::step {

int bits(ElementType type) {
  using enum ElementType;
  return type == bit ? 1 : type == int8 ? 8 : type == float16 || type == bfloat16 ? 16 : 32;
}

double Payload::bytes(const Scope& scope) const {
  // Rounds bits up to whole bytes.
  return std::ceil(elements.evaluate(scope) * bits(type) / 8.0);
}

}  // namespace dadsim::step
