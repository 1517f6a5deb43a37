#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace dadsim::cli {

/// Throws UsageError where one of the options is given that are not among `allowed`: of `what` they mean nothing.
void refuse_other_options(const boost::program_options::variables_map& values, const std::vector<std::string>& allowed,
                          const char* what);

/// A file that `option` names, as the document of --out names it: from the folder of that document. Throws UsageError
/// where the option is missing, is standard output, or has a name that no document can hold.
std::string name_in_document(const boost::program_options::variables_map& values, const std::string& option);

/// Writes `text` to --out, or to standard output. Unless --quiet, prints `words`: to standard output after a file,
/// otherwise to standard error.
void write_import(const boost::program_options::variables_map& values, const std::string& text,
                  const std::string& words);

/// A Chakra trace, by the file of one of its ranks.
bool is_chakra_trace(const std::string& path);
void import_chakra_trace(const boost::program_options::variables_map& values, const std::string& file);

/// Launch arguments of a framework that trains divided networks: the layout that they say.
void import_launch(const boost::program_options::variables_map& values, const std::string& file,
                   const std::string& framework, const std::string& text);

/// Logs of NVIDIA FLARE's clients, or of a server of Flower.
void import_federation_logs(const boost::program_options::variables_map& values, const std::vector<std::string>& files);

}  // namespace dadsim::cli
