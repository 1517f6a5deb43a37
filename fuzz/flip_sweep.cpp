// Reads a sweep's file again and again, with one byte changed or cut short. Everything that is read must equal the
// whole file's content, or be refused.
//   flip_sweep FILE FIRST COUNT FOLDER
// Prints how many files were read and refused. A read that takes longer than 20 s ends the program by SIGALRM. After a
// fault, prints its number and leaves the changed file in FOLDER.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "study/sweep/flips.hpp"

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "flip_sweep FILE FIRST COUNT FOLDER\n");
    return 2;
  }
  constexpr unsigned kLongest = 20;  // seconds
  const std::string file = argv[1];
  const auto first = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const auto count = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
  const std::string changed = std::string(argv[4]) + "/changed.sqlite";
  std::ifstream in(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  const std::optional<std::string> csv = dadsim::test::csv_unless_refused(file);
  if (!csv) {
    std::fprintf(stderr, "%s: is refused as it is\n", file.c_str());
    return 2;
  }
  std::uint32_t same = 0;
  std::uint32_t refused = 0;
  for (std::uint32_t number = first; number < first + count; ++number) {
    dadsim::test::overwrite(changed, dadsim::test::flipped(content, number));
    ::alarm(kLongest);
    try {
      const std::optional<std::string> read = dadsim::test::csv_unless_refused(changed);
      if (read && *read != *csv) {
        std::printf("%u: another CSV\n", number);
        return 1;
      }
      ++(read ? same : refused);
    } catch (const std::exception& error) {
      std::printf("%u: %s\n", number, error.what());
      return 1;
    }
    ::alarm(0);
  }
  std::printf("%u changes: %u read the same, %u refused, 0 faults\n", count, same, refused);
  return 0;
}
