#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenario/xml/element.hpp"
#include "scenario/xml/findings.hpp"

namespace dadsim::scenario {

/// Largest size in bytes of a document, which is read whole; handwritten ones are far smaller.
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{16} << 20U;

/// Returns the bytes of a scenario or platform. Returns nullopt, with a finding, if the path is missing, a folder, not
/// a regular file, unreadable, or too large.
std::optional<std::string> read_document(const std::string& path, const DocumentKind& kind, Findings& findings);

/// Returns the first bytes of a file, at most `most`; nullopt with a finding if it cannot be read.
std::optional<std::string> read_beginning(const std::string& path, std::size_t most, const DocumentKind& kind,
                                          Findings& findings);

/// Returns `name` relative to the folder of `scenario`, absolute and without dots.
std::string beside(const std::string& scenario, const std::string& name);

/// Location of a data file: in the scenario's folder, then in the folder of the environment variable DADSIM_DATA; with
/// or without .gz. If it is not found, `path` is empty and the other members describe the fault; `form` describes a
/// valid value, e.g. "the path of an IDX file".
struct DataFile {
  std::string path;  ///< absolute path; empty: not found
  std::string what, remedy;
};
DataFile find_data_file(const std::string& scenario, const std::string& name, const std::string& form);

/// Returns the fingerprint of a file's bytes. Throws InputError if it cannot be read.
std::uint64_t fingerprint_file(const std::string& path);

}  // namespace dadsim::scenario
