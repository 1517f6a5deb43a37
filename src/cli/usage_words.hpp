#pragma once

#include <boost/program_options/options_description.hpp>
#include <string>
#include <vector>

namespace dadsim::cli {

/// Prints the options of a usage text.
std::string words_of_options(const boost::program_options::options_description& options);

/// An option in a usage text.
struct OptionWords {
  std::string name;   ///< name with dashes, e.g. "--json"
  std::string value;  ///< "FILE"; empty: the option takes no value
  std::string help;
};

/// Returns the options of a usage text: lines that begin with two blanks and "--", and lines indented below them.
std::vector<OptionWords> options_in(const std::string& usage);

/// Returns the text before the options, without the title of the options.
std::string before_options(const std::string& usage);

}  // namespace dadsim::cli
