#pragma once

#include <array>
#include <string_view>

namespace dadsim {

/// Instruction sets for which the kernels of learning are compiled, from the common one to the fastest. They round
/// differently, so results of learning differ in the last digits.
enum class KernelSet { portable, avx2, avx512 };

inline constexpr std::array kKernelSets{KernelSet::portable, KernelSet::avx2, KernelSet::avx512};

std::string_view name_of(KernelSet set);

/// Returns whether this processor supports the set.
bool runs_here(KernelSet set);

/// Returns the set with this name; for an empty name, the fastest set that this processor supports. Throws InputError
/// for an unknown set, or one that this processor lacks.
KernelSet kernel_set_named(std::string_view name);

/// Returns the set of this process, which never changes: the one in the environment variable DADSIM_KERNELS, otherwise
/// the fastest that this processor supports. Throws InputError like kernel_set_named().
KernelSet kernel_set();

}  // namespace dadsim
