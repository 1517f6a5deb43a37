#pragma once

#include <fmt/format.h>

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "support/kernel_set.hpp"

// Runs documented commands as other processors would: with each set of kernels (support/kernel_set.hpp), and with a C
// library that does not use AVX2 or FMA for exponentials and logarithms.
namespace dadsim::test {

/// A reader's processor, as far as this machine can emulate it.
struct Processor {
  std::string name;
  KernelSet kernels = KernelSet::portable;
  bool old_library = false;

  std::map<std::string, std::string> environment() const {
    std::map<std::string, std::string> variables{{"DADSIM_KERNELS", std::string(name_of(kernels))}};
    if (old_library) variables["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F";
    return variables;
  }
  /// Returns the features that this machine lacks to emulate the processor; "" if none.
  std::string missing() const {
    return runs_here(kernels) ? "" : fmt::format("this processor lacks what the kernels {} need", name_of(kernels));
  }

  friend void PrintTo(const Processor& processor, std::ostream* out) { *out << processor.name; }
};

/// Returns one processor for each set of kernels, the portable set first, and an old processor.
inline std::vector<Processor> processors() {
  std::vector<Processor> all;
  for (const KernelSet set : kKernelSets) all.push_back({.name = std::string(name_of(set)), .kernels = set});
  all.push_back({.name = "old", .old_library = true});
  return all;
}

/// Returns the processors without the portable kernels.
inline std::vector<Processor> with_other_kernels() {
  std::vector<Processor> others = processors();
  std::erase_if(others, [](const Processor& processor) { return processor.kernels == KernelSet::portable; });
  return others;
}

}  // namespace dadsim::test
