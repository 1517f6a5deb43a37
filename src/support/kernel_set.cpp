#include "support/kernel_set.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "support/diagnostics.hpp"

namespace dadsim {
namespace {

constexpr const char* kVariable = "DADSIM_KERNELS";

std::string those_that_run_here() {
  std::string names;
  for (const KernelSet set : kKernelSets) {
    if (runs_here(set)) names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(set));
  }
  return names;
}

[[noreturn]] void refuse(std::string_view name, std::string what) {
  throw InputError(
      Diagnostic{.file = fmt::format("{}={}", kVariable, name),
                 .what = std::move(what),
                 .remedy = fmt::format("use one of {}, or unset the variable for the fastest", those_that_run_here())});
}

}  // namespace

std::string_view name_of(KernelSet set) {
  return set == KernelSet::portable ? "portable" : set == KernelSet::avx2 ? "avx2" : "avx512";
}

bool runs_here(KernelSet set) {
#ifdef __x86_64__
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (set == KernelSet::avx2) return avx2;
  if (set == KernelSet::avx512) return avx2 && avx512;
#endif
  return set == KernelSet::portable;
}

KernelSet kernel_set_named(std::string_view name) {
  KernelSet quickest = KernelSet::portable;
  for (const KernelSet set : kKernelSets) {
    if (name == name_of(set)) {
      if (!runs_here(set)) refuse(name, "this processor does not have these instructions");
      return set;
    }
    if (runs_here(set)) quickest = set;
  }
  if (!name.empty()) refuse(name, "there are no kernels of this name");
  return quickest;
}

KernelSet kernel_set() {
  static const KernelSet chosen = [] {
    const char* named = std::getenv(kVariable);
    return kernel_set_named(named == nullptr ? "" : named);
  }();
  return chosen;
}

}  // namespace dadsim
