#include "cli/print.hpp"

#include "support/atomic_file.hpp"
#include "support/terminal.hpp"

namespace dadsim::cli {

void print(std::string_view text) { write_file_atomically("-", for_terminal(text)); }

}  // namespace dadsim::cli
