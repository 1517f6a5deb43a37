#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::spec {

/// Catalogue that a name belongs to.
enum class NameKind : std::uint8_t { device, link, workload, precision };

/// Interpretation of a typed name.
struct NameMeant {
  std::string name;                  ///< name in the catalogue; empty: no common meaning
  std::string why;                   ///< reason for choosing `name`; empty: it was typed literally
  std::vector<std::string> nearest;  ///< nearest names, or the several meanings of the text, if `name` is empty; empty:
                                     ///< no name is near
  bool same = false;                 ///< true: the typed text differs from `name` at most in case, punctuation, makers
                                     ///< and units
};

/// Looks up a typed text in a catalogue. Ignores case, punctuation, makers and units ("RTX3090", "NVIDIA H100 SXM").
/// Chooses a name if it is the only one with the typed words, or their beginnings, in the typed order; a workload must
/// not have a word of another family between them. Also chooses the common meaning of near_names.csv. `usual`: the
/// likely name given the rest of the question, chosen if it is among several possible names.
NameMeant name_meant(NameKind kind, std::string_view typed, std::span<const std::string> names,
                     std::string_view usual = {});

/// Returns the remedy for a name that is not in the catalogue: "did you mean 'h100-sxm5'?", or the command that lists
/// all names; for a precision, the list itself.
std::string remedy_for_name(NameKind kind, std::string_view typed, std::span<const std::string> names);
std::string remedy_for_name(NameKind kind, const NameMeant& meant);

}  // namespace dadsim::spec
