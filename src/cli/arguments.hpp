#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace dadsim::cli {

/// Reads `arguments` as options of `options` and operands, which are kept under "positional". Nothing is
/// abbreviated but --help, as -h. A colour that is chosen is chosen for the process. Throws UsageError, with the option
/// that was meant where one is near.
boost::program_options::variables_map read_arguments(const std::vector<std::string>& arguments,
                                                     const boost::program_options::options_description& options);

/// --color, which read_arguments() obeys.
void add_colour_option(boost::program_options::options_description& description);

/// What stands beside the options, as POSIX calls it.
std::vector<std::string> operands_of(const boost::program_options::variables_map& values);

/// The one operand. Throws UsageError where there is none, or another: `none` says what is not named, `what` what one
/// is.
std::string only_operand(const boost::program_options::variables_map& values, const char* none, const char* what,
                         const char* command);

/// The text of an option, or an empty one. Throws UsageError if the option is there and its text empty.
std::string text_of(const boost::program_options::variables_map& values, const std::string& option);

}  // namespace dadsim::cli
