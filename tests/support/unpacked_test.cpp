#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <string>

#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"
#include "support/whole_file.hpp"

namespace dadsim {
namespace {

std::string packed(const std::string& text) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.gz").string();
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Unpacked, GivesWhatWasPackedAndTheRestAsItIs) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += std::to_string(i * i);
  EXPECT_EQ(unpacked("a.gz", packed(text), 1U << 20U), text);
  EXPECT_EQ(unpacked("a.gz", packed("one") + packed("two"), 100), "onetwo");
  EXPECT_EQ(unpacked("a.gz", packed(text), 100), text.substr(0, 100));
  EXPECT_EQ(unpacked("a.gz", packed(""), 100), "");
  for (const std::string plain : {"", "\x1f", "plain text", "{}"}) EXPECT_EQ(unpacked("a", plain, 100), plain);
}

TEST(Unpacked, WhatIsNoWholeFileIsRefused) {
  std::string bytes = packed("some text that is packed by gzip");
  EXPECT_THROW(unpacked("a.gz", bytes.substr(0, bytes.size() - 6), 100), InputError);
  EXPECT_THROW(unpacked("a.gz", bytes.substr(0, 3), 100), InputError);
  bytes[bytes.size() - 5] ^= 1;  // corrupts the checksum
  EXPECT_THROW(unpacked("a.gz", bytes, 100), InputError);
}

}  // namespace
}  // namespace dadsim
