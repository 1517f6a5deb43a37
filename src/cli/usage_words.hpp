#pragma once

#include <boost/program_options/options_description.hpp>
#include <string>
#include <vector>

namespace dadsim::cli {

/// What a usage text says of its options.
std::string words_of_options(const boost::program_options::options_description& options);

/// An option as a usage text tells it.
struct OptionWords {
  std::string name;   ///< "--json"
  std::string value;  ///< "FILE"; empty: it takes none
  std::string help;
};

/// The options of a usage text: lines that begin with two blanks and "--", and what is indented below them.
std::vector<OptionWords> options_in(const std::string& usage);

/// The text in front of the options, without the title above them.
std::string before_options(const std::string& usage);

}  // namespace dadsim::cli
