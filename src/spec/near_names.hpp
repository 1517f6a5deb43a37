#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::spec {

/// Catalogue to which a name belongs.
enum class NameKind : std::uint8_t { device, link, workload, precision };

/// Meaning of a typed name.
struct NameMeant {
  std::string name;                  ///< name in the catalogue; empty: no common meaning
  std::string why;                   ///< reason why `name` was meant; empty: it was typed literally
  std::vector<std::string> nearest;  ///< the nearest names, at most three, if `name` is empty; empty: no name is near
  bool same = false;                 ///< true: the typed text differs from `name` at most in case, punctuation, makers
                                     ///< and unit words
};

/// Looks up a typed text among the names of a catalogue. Case, punctuation, makers and unit words make no difference
/// ("RTX3090", "NVIDIA H100 SXM"). A name is taken if it is the only one that begins with or contains the typed words,
/// or if near_names.csv gives it as the common meaning. `usual`: the likely name given the rest of the question, taken
/// if it is one of several possible names.
NameMeant name_meant(NameKind kind, std::string_view typed, std::span<const std::string> names,
                     std::string_view usual = {});

/// Returns the remedy for a name that the catalogue lacks: "did you mean 'h100-sxm5'?", or the command that lists all
/// names.
std::string remedy_for_name(NameKind kind, std::string_view typed, std::span<const std::string> names);
std::string remedy_for_name(NameKind kind, const NameMeant& meant);

}  // namespace dadsim::spec
