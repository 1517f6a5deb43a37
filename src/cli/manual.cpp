#include "cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ranges>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/listings.hpp"
#include "cli/options.hpp"
#include "cli/usage_words.hpp"
#include "support/split.hpp"
#include "support/version.hpp"

namespace dadsim::cli {
namespace {

/// As groff takes it for text: no escapes, and no requests at the start of lines.
std::string roff(const std::string& text) {
  std::string result;
  bool start = true;
  for (const char c : text) {
    if (start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    start = c == '\n';
  }
  return result;
}

std::string options_section(const std::string& usage) {
  std::string text;
  for (const OptionWords& option : options_in(usage)) {
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option.name),
                        option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR", roff(option.help));
  }
  return text;
}

/// What a usage text says before its options: paragraphs, of which those with indented lines stay as they are.
std::string description_of(const std::string& usage) {
  const std::string words = before_options(usage);
  std::string text;
  bool verbatim = false;
  for (const std::string_view line : lines_of(words) | std::views::drop(1)) {  // the command itself
    const bool as_is = line.starts_with("  ") || (verbatim && !line.empty());
    if (as_is != verbatim && !line.empty()) {
      text += as_is ? ".PP\n.nf\n" : ".fi\n.PP\n";
      verbatim = as_is;
    }
    text += line.empty() ? (verbatim ? "" : ".PP\n") : roff(std::string(line)) + "\n";
  }
  return text + (verbatim ? ".fi\n" : "");
}

}  // namespace

std::string manual_page() {
  std::string text = fmt::format(
      ".TH DADSIM 1 \"\" \"dadsim {0}\" \"User Commands\"\n.SH NAME\ndadsim \\- time to accuracy of distributed "
      "training, simulated\n.SH SYNOPSIS\n.B dadsim\n[\\fIoptions\\fR] \\fIscenario.xml\\fR\n",
      kVersion);
  for (const Command& command : commands()) {
    text +=
        fmt::format(".br\n.B dadsim {}\n[\\fIoptions\\fR] \\fI{}\\fR\n", roff(command.name), roff(command.synopsis));
  }
  for (const Listing& listing : listings()) text += fmt::format(".br\n.B dadsim {}\n[\\fIwords\\fR]\n", listing.name);
  const std::string all = usage();
  text += ".SH DESCRIPTION\n" + roff(all.substr(0, all.find("\n\n"))) + "\n";
  text += ".SH OPTIONS\n" + options_section(all);
  text += ".SH COMMANDS\n";
  for (const Command& command : commands()) {
    const std::string words = usage_of(command);
    text += fmt::format(".SS dadsim {}\n{}.\n.PP\n{}{}", roff(command.name), roff(command.summary),
                        description_of(words), options_section(words));
  }
  text += ".SS Lists\n";
  for (const Listing& listing : listings()) {
    text += fmt::format(".TP\n\\fBdadsim {}\\fR\n{}; with words, the entries that hold them\n", listing.name,
                        roff(listing.summary));
  }
  const std::size_t codes = all.find("Exit codes:");
  text += ".SH EXIT STATUS\n" + roff(all.substr(codes, all.find("\n\n", codes) - codes)) + "\n";
  text +=
      ".SH FILES\nThe scenarios, platforms and documentation that are shipped lie in share/dadsim and share/doc/dadsim "
      "below the\nprefix of the installation, the schema of scenarios in share/dadsim/scenario.xsd.\n"
      ".SH ENVIRONMENT\n.TP\n.B DADSIM_DATA\nA folder in which files of data are looked for that do not lie beside the "
      "scenario.\n";
  return text;
}

}  // namespace dadsim::cli
