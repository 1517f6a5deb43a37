#include "models/data/text.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "models/data/refused.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

models::TextSymbols parsed(const std::string& content, double share) {
  models::SourceBytes bytes("t.txt", content);
  return models::read_text(bytes, share);
}

TEST(Text, NumbersTheCharactersOfTheTrainingPart) {
  // There are 8 training characters, 4 of them different, and 2 held-back characters, one of them new.
  const models::TextSymbols text = parsed(
      "\xef\xbb\xbf"
      "bäabb\naacb",
      0.2);
  EXPECT_EQ(text.train, 8);
  EXPECT_EQ(text.vocabulary, 5);
  EXPECT_EQ(text.symbols, (std::vector<std::uint16_t>{2, 3, 1, 2, 2, 0, 1, 1, 4, 2}));
  EXPECT_EQ(parsed("abab", 0.5).vocabulary, 2);
}

TEST(Text, TakesTwoBytesForACharacterAndUnpacksUpToALimit) {
  const models::TextSymbols text = parsed(std::string(5000, 'a') + "b", 0.1);
  EXPECT_EQ(text.symbols.capacity(), 5001U);
  const TemporaryFolder folder;
  const std::string path = folder.path("t.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  const std::string content(4'000'000, 'a');
  ASSERT_EQ(gzwrite(file, content.data(), static_cast<unsigned>(content.size())), static_cast<int>(content.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
  constexpr std::int64_t kMost = 1 << 20;
  EXPECT_EQ(refused([&] { models::SourceBytes::open(path, "a text").rest(kMost); }),
            path + ": holds more than 1048576 bytes once it is unpacked; use a smaller file, at most 1 MiB");
  EXPECT_EQ(models::SourceBytes::open(path, "a text").rest(4 * kMost).capacity(), content.size());
}

TEST(Text, LabelsAreTheNextCharacters) {
  const TemporaryFolder folder;
  spec::TextSource source;
  source.file = folder.write("t", "abcabcabcabcabcabcabcabcabcabca");  // 31 characters
  source.length = 4;
  source.test_share = 0.3;  // 9 characters are held back
  const spec::DataFacts facts = models::inspect_text(source);
  EXPECT_EQ(facts.train, 5);  // (22 − 1) / 4 samples
  EXPECT_EQ(facts.test, 2);
  EXPECT_EQ(facts.labels_per_sample, 4);
  EXPECT_EQ(facts.classes, 3);
  EXPECT_EQ(facts.shape, (spec::SampleShape{1, 4, 1, 3}));
  source.train = 5;
  source.test = 2;
  const models::Dataset data = models::read_text(source);
  ASSERT_EQ(data.train.size(), 5);
  EXPECT_EQ(data.train.labels_per_sample, 4);
  ASSERT_EQ(data.train.labels.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(data.train.features.data()[i], static_cast<float>(i % 3));
    EXPECT_EQ(data.train.labels[i], static_cast<std::int32_t>((i + 1) % 3));
  }
  EXPECT_EQ(data.test.features(0, 0), 1.0F) << "character 22";
  source.train = 6;
  EXPECT_TRUE(holds(refused([&] { models::read_text(source); }), "holds 5 training and 2 test samples"));
  source.length = 30;
  EXPECT_TRUE(holds(refused([&] { models::inspect_text(source); }), "22 training and 9 held-back characters"));
}

TEST(Text, RefusesWhatIsNoUtf8) {
  const auto message = [](const std::string& content) { return refused([&] { parsed(content, 0.1); }); };
  const std::string two = message(
      "ab\nc\xff"
      "d\n\xc3(");
  EXPECT_TRUE(holds(two, "t.txt:2: byte 4 is not UTF-8 (0xff); ")) << two;
  EXPECT_TRUE(holds(two, "t.txt:3: byte 7 is not UTF-8 (0xc3); ")) << two;
  EXPECT_TRUE(holds(message(std::string("a\0b", 3)), "t.txt:1: byte 1 is NUL; "));
  for (const char* wrong :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x80\x80\x80", "\xe2\x82"}) {
    EXPECT_TRUE(holds(message(wrong), "byte 0 is not UTF-8")) << wrong;
  }
  EXPECT_EQ(parsed("\xf4\x8f\xbf\xbf\xe2\x82\xac\xed\x9f\xbf", 0).vocabulary, 3);
}

TEST(Text, RefusesTooManyDifferentCharacters) {
  std::string content;
  for (unsigned point = 0x4e00; point < 0x4e00 + 5000; ++point) {
    content += static_cast<char>(0xe0U | point >> 12U);
    content += static_cast<char>(0x80U | (point >> 6U & 0x3fU));
    content += static_cast<char>(0x80U | (point & 0x3fU));
  }
  EXPECT_TRUE(holds(refused([&] { parsed(content, 0.1); }), "t.txt: has 4500 different characters; "));
}

TEST(Text, OfNothingHoldsNoWindow) {
  EXPECT_EQ(parsed("", 0.1).vocabulary, 0);
  EXPECT_EQ(models::windows_in(0, 5), 0);
  EXPECT_EQ(models::windows_in(5, 5), 0);
  EXPECT_EQ(models::windows_in(6, 5), 1);
}

}  // namespace
}  // namespace dadsim::test
