#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dadsim::fuzz {

/// Makes one change of an XML document that respects its structure: replaces an attribute's value, or removes, doubles
/// or moves an attribute or element. The same `number` gives the same change.
std::string changed_xml(std::string document, std::uint32_t number);

}  // namespace dadsim::fuzz
