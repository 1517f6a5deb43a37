#pragma once

#include <array>
#include <string_view>

namespace dadsim {

/// The instructions that the inner loops of learning are compiled for, from what every processor has to the quickest.
/// They round differently: what is learned with one set is not what is learned with another, to the last digits.
enum class KernelSet { portable, avx2, avx512 };

inline constexpr std::array kKernelSets{KernelSet::portable, KernelSet::avx2, KernelSet::avx512};

std::string_view name_of(KernelSet set);

/// Whether this processor has its instructions.
bool runs_here(KernelSet set);

/// The set of that name, or for no name the quickest that runs here. Throws InputError where there is no such set, and
/// where this processor lacks it.
KernelSet kernel_set_named(std::string_view name);

/// The set of this process, the same as long as it lives: what the environment variable DADSIM_KERNELS names, else the
/// quickest that runs here. Throws InputError as kernel_set_named() does.
KernelSet kernel_set();

}  // namespace dadsim
