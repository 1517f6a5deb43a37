// Custom mutator for libFuzzer: half of its changes respect the structure of XML, and half are libFuzzer's own.
#include <cstdint>
#include <cstring>
#include <string>

#include "xml_mutation.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string changed =
      dadsim::fuzz::changed_xml(std::string(reinterpret_cast<const char*>(data), size), seed / 2);
  if (changed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
