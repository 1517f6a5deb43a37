#include "cli/compose_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/arguments.hpp"
#include "cli/composition_text.hpp"
#include "cli/output_files.hpp"
#include "cli/print.hpp"
#include "cli/study_options.hpp"
#include "cli/usage_error.hpp"
#include "cli/usage_words.hpp"
#include "support/atomic_file.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {
namespace {

namespace po = boost::program_options;

po::options_description compose_options() {
  po::options_description options("Options");
  options.add_options()  //
      ("page", po::value<std::string>()->value_name("FILE"),
       "write all of it as a page (docs/composition.md); - is standard output")  //
      ("threads", po::value<std::string>()->value_name("N"),
       "threads for checking; the result does not depend on it")  //
      ("quiet", "no progress")                                    //
      ("help", "this text");
  return options;
}

}  // namespace

std::string usage_of_compose() {
  return "dadsim compose [options] [WORD [WORD]]\n"
         "says which features go together in one scenario: how many pairs answer, and with parts of the names of one\n"
         "or two (dp-sgd, drift, top-k) what becomes of each such pair (docs/composition.md).\n\n" +
         words_of_options(compose_options());
}

void run_compose_command(const std::vector<std::string>& arguments) {
  const po::variables_map values = read_arguments(arguments, compose_options());
  if (values.contains("help")) return print(usage_of_compose());
  const std::vector<std::string> words = operands_of(values);
  if (words.size() > 2) throw UsageError(fmt::format("'{}' is one word too many; two features", words[2]));
  const std::string page = text_of(values, "page");
  const OutputFiles outputs({{"--page", page}}, {});
  outputs.check_writable();
  const std::size_t threads = values.contains("threads") ? parse_threads(values["threads"].as<std::string>()) : 0;
  const ThreadLimit limit(threads_to_use(threads));
  const bool show_progress = !values.contains("quiet");
  if (words.empty()) {
    const study::Composition composition = study::compose_all(show_progress);
    if (!page.empty()) write_file_atomically(page, page_of(composition));
    if (!outputs.take_standard_output()) print(table_of(composition));
    return;
  }
  if (!page.empty()) throw UsageError("--page is of all features; without words");
  const study::Composition composition = study::compose_all(
      show_progress, [&](const study::Feature& a, const study::Feature& b) { return are_named(words, a, b); });
  if (composition.pairs.empty()) {
    throw UsageError(
        fmt::format("no two features of different axes are called '{}'; docs/composition.md has all of them",
                    fmt::join(words, "' and '")));
  }
  print(pairs_in_words(composition));
}

}  // namespace dadsim::cli
