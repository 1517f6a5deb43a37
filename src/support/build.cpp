#include "support/build.hpp"

#include "support/kernel_set.hpp"

namespace dadsim {

const std::string& build() {
  static const std::string identity = [] {
    std::string sources = source_identity();
    if (kernel_set() != KernelSet::portable) sources.append("+").append(name_of(kernel_set()));
    return sources;
  }();
  return identity;
}

}  // namespace dadsim
