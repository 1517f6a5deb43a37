#pragma once

#include <string>
#include <string_view>

#include "world/history.hpp"

namespace dadsim::study {

/// What an operation gave as bytes, for a file or another process of the same build.
std::string to_bytes(const world::Datum& datum);
/// Null where the bytes are damaged.
world::DatumPtr datum_from_bytes(std::string_view bytes);

}  // namespace dadsim::study
