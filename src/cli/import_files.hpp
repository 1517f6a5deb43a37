#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace dadsim::cli {

/// Throws UsageError if a given option is not in `allowed`: other options have no effect on `what`.
void refuse_other_options(const boost::program_options::variables_map& values, const std::vector<std::string>& allowed,
                          const char* what);

/// Returns the file of `option` as a path relative to the document of --out. Throws UsageError if the option is
/// missing, is standard output, or has a name that XML does not allow.
std::string name_in_document(const boost::program_options::variables_map& values, const std::string& option);

/// Writes `text` to --out, or to standard output. Unless --quiet, prints `words`: to standard output after a file,
/// otherwise to standard error.
void write_import(const boost::program_options::variables_map& values, const std::string& text,
                  const std::string& words);

/// Imports a Chakra trace, given the file of one of its ranks.
bool is_chakra_trace(const std::string& path);
void import_chakra_trace(const boost::program_options::variables_map& values, const std::string& file);

/// Imports launch arguments of a framework as the layout of a network.
void import_launch(const boost::program_options::variables_map& values, const std::string& file,
                   const std::string& framework, const std::string& text);

/// Imports logs of NVIDIA FLARE's clients, or of a Flower server.
void import_federation_logs(const boost::program_options::variables_map& values, const std::vector<std::string>& files);

}  // namespace dadsim::cli
