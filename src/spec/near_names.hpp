#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::spec {

/// The catalogue that a name is of.
enum class NameKind : std::uint8_t { device, link, workload };

/// Meaning of a typed name.
struct NameMeant {
  std::string name;                  ///< name in the catalogue; empty: no common meaning
  std::string why;                   ///< reason why `name` was meant; empty: it was typed literally
  std::vector<std::string> nearest;  ///< without `name`: the nearest names, at most three; empty: none is near
  bool same = false;                 ///< `name` differs at most in case, punctuation, makers and unit words
};

/// Looks up what somebody typed among the names of a catalogue. Case, punctuation, makers and unit words make no
/// difference ("RTX3090", "NVIDIA H100 SXM"). A name is taken where it alone begins with the words that were typed or
/// holds them, or where near_names.csv has what is commonly meant. `usual`: the name that the rest of a question makes
/// likely, taken where it is one of several that may be meant.
NameMeant name_meant(NameKind kind, std::string_view typed, std::span<const std::string> names,
                     std::string_view usual = {});

/// Returns the remedy for a name that the catalogue does not have: "did you mean 'h100-sxm5'?", or the command that
/// lists all names.
std::string remedy_for_name(NameKind kind, std::string_view typed, std::span<const std::string> names);
std::string remedy_for_name(NameKind kind, const NameMeant& meant);

}  // namespace dadsim::spec
