#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace dadsim::cli {

/// The content of a file that is imported; `form` is what it has to be. Throws InputError.
std::string content_to_import(const std::string& path, const char* form);

/// Throws UsageError where one of the options is given that are not among `allowed`: of `what` they mean nothing.
void refuse_other_options(const boost::program_options::variables_map& values, const std::vector<std::string>& allowed,
                          const char* what);

/// Writes what was made of files to --out, or to standard output, and `words` beside it, unless --quiet.
void write_import(const boost::program_options::variables_map& values, const std::string& text,
                  const std::string& words);

/// A Chakra trace, by the file of one of its ranks.
bool is_chakra_trace(const std::string& path);
void import_chakra_trace(const boost::program_options::variables_map& values, const std::string& file);

/// Logs of NVIDIA FLARE's clients, or of a server of Flower.
void import_federation_logs(const boost::program_options::variables_map& values, const std::vector<std::string>& files);

}  // namespace dadsim::cli
