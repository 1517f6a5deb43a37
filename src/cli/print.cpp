#include "cli/print.hpp"

#include "support/atomic_file.hpp"

namespace dadsim::cli {

void print(std::string_view text) { write_file_atomically("-", text); }

}  // namespace dadsim::cli
