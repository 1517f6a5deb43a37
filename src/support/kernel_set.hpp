#pragma once

#include <array>
#include <string_view>

namespace dadsim {

/// Instruction sets for which the inner loops of learning are compiled, from the common one to the fastest. They round
/// differently: learning results differ between sets in the last digits.
enum class KernelSet { portable, avx2, avx512 };

inline constexpr std::array kKernelSets{KernelSet::portable, KernelSet::avx2, KernelSet::avx512};

std::string_view name_of(KernelSet set);

/// Returns whether this processor supports the set.
bool runs_here(KernelSet set);

/// Returns the set of that name, or for an empty name the fastest that runs here. Throws InputError for an unknown set,
/// or one that this processor lacks.
KernelSet kernel_set_named(std::string_view name);

/// Returns the set of this process, constant during its life: the one in the environment variable DADSIM_KERNELS, else
/// the fastest that runs here. Throws InputError like kernel_set_named().
KernelSet kernel_set();

}  // namespace dadsim
