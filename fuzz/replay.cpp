// Runs a target without libFuzzer, on given files, and on mutations of a folder's files, which are the same in every
// run.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "target.hpp"
#include "xml_mutation.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMutations = 4000;  // number of mutations of all files together

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

/// Makes one to four changes: changes a byte, or removes, doubles or inserts a piece, which may come from another file.
std::string mutated(std::string input, const std::vector<std::string>& corpus, std::uint32_t number) {
  dadsim::RandomStream random(1, dadsim::Purpose::test, number);
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  constexpr std::string_view kBytes = ",:;?@#\"'<>&=/.-+eE019aN\n\r\t \x7f\xff";
  for (std::size_t change = 1 + below(4); change > 0; --change) {
    const std::size_t at = below(input.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(input.size() - at, 40) + 1);
    switch (below(6)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(random());
        break;
      case 1:
        if (at < input.size()) input[at] = kBytes[below(kBytes.size())];
        break;
      case 2:
        input.insert(at, 1, below(8) == 0 ? '\0' : kBytes[below(kBytes.size())]);
        break;
      case 3:
        input.erase(at, length);
        break;
      case 4:
        input.insert(at, input.substr(at, length));
        break;
      default: {
        const std::string& other = corpus[below(corpus.size())];
        input.insert(at, other.substr(below(other.size() + 1), below(60)));
      }
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> corpus;
  bool mutate = false;
  for (int i = 1; i < argc; ++i) {
    std::vector<fs::path> files;
    if (fs::is_directory(argv[i])) {
      mutate = true;
      for (const auto& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
    } else {
      files.emplace_back(argv[i]);
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) corpus.push_back(content_of(file));
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "no files\n");
    return 1;
  }
  for (const std::string& input : corpus) run(input);
  const std::uint32_t mutations = mutate ? kMutations : 0;
  for (std::uint32_t i = 0; i < mutations; ++i) {
    std::string input = corpus[i % corpus.size()];
#ifdef DADSIM_XML
    // The parser refuses most changes of bytes. Most mutations therefore keep the document well-formed, to test the
    // code after the parser.
    if (i % 4 != 0) {
      for (std::uint32_t change = 0; change <= i % 3; ++change)
        input = dadsim::fuzz::changed_xml(std::move(input), 3 * i + change);
      run(input);
      continue;
    }
#endif
    run(mutated(std::move(input), corpus, i));
  }
  std::printf("%zu files, %u mutations\n", corpus.size(), mutations);
  return 0;
}
