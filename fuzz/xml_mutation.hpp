#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dadsim::fuzz {

/// One change of an XML document that knows its structure: another value for an attribute, an attribute or an element
/// left out, doubled, or put elsewhere. The same `number` gives the same change.
std::string changed_xml(std::string document, std::uint32_t number);

}  // namespace dadsim::fuzz
