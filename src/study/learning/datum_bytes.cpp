#include "study/learning/datum_bytes.hpp"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "support/wire.hpp"

namespace dadsim::study {

std::string to_bytes(const world::Datum& datum) {
  WireWriter wire;
  wire << std::string_view(reinterpret_cast<const char*>(datum.numbers.data()), datum.numbers.size() * sizeof(float))
       << datum.scalars;
  return wire.bytes();
}

world::DatumPtr datum_from_bytes(std::string_view bytes) {
  try {
    WireReader wire(bytes);
    std::string numbers;
    world::Datum datum;
    wire >> numbers >> datum.scalars;
    if (numbers.size() % sizeof(float) != 0) throw std::out_of_range("no whole number of numbers");
    datum.numbers.resize(numbers.size() / sizeof(float));
    if (!numbers.empty()) std::memcpy(datum.numbers.data(), numbers.data(), numbers.size());
    return std::make_shared<const world::Datum>(std::move(datum));
  } catch (const std::out_of_range&) {
    return nullptr;
  }
}

}  // namespace dadsim::study
