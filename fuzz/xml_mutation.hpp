#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dadsim::fuzz {

/// Makes one change that respects the structure of an XML document: replaces an attribute's value, or removes, doubles
/// or moves an attribute or an element. Equal `number` makes the same change.
std::string changed_xml(std::string document, std::uint32_t number);

}  // namespace dadsim::fuzz
