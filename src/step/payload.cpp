#include <cmath>
#include <stdexcept>

#include "step/expression.hpp"

namespace dadsim::step {

int bits(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return 32;
    case ElementType::float16:
      return 16;
    case ElementType::int32:
      return 32;
    case ElementType::bit:
      return 1;
    case ElementType::bfloat16:
      return 16;
    case ElementType::int8:
      return 8;
  }
  throw std::logic_error("unknown element type");
}

double Payload::bytes(const Scope& scope) const {
  // Bits fill whole bytes.
  return std::ceil(elements.evaluate(scope) * bits(type) / 8.0);
}

}  // namespace dadsim::step
