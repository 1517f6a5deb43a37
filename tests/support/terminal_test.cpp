#include "support/terminal.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace dadsim {
namespace {

TEST(Terminal, WhatCanBeReadStays) {
  for (const char* text :
       {"", "plain", "two\nlines\tand a tab", "Zürich, 東京, Ωμέγα, été", "\xf0\x9f\x8c\xb3", "- + = @"})
    EXPECT_EQ(for_terminal(text), text);
  EXPECT_FALSE(has_hidden_characters("gpu-[0-3] Zürich"));
}

// Control characters are escaped before they reach a terminal.
TEST(Terminal, WhatATerminalObeysIsWrittenOut) {
  EXPECT_EQ(for_terminal("\x1b[31mred\x1b]0;title\x07"), "\\x1b[31mred\\x1b]0;title\\x07");
  EXPECT_EQ(for_terminal("a\rb\x7f"), "a\\x0db\\x7f");
  EXPECT_EQ(for_terminal("\xc2\x9b"
                         "2J"),
            "\\x9b2J")
      << "CSI as one character";
  EXPECT_EQ(for_terminal("\x9b"
                         "2J"),
            "\\x9b2J")
      << "and as a byte that is no UTF-8";
  EXPECT_EQ(for_terminal("\xe2\x80\xae"
                         "fdp.exe"),
            "\\u{202e}fdp.exe");
  EXPECT_EQ(for_terminal("a\xe2\x81\xa6"
                         "b\xe2\x80\x8b\xef\xbb\xbf"),
            "a\\u{2066}b\\u{200b}\\u{feff}");
  EXPECT_EQ(for_terminal("\xf3\xa0\x81\x81"), "\\u{e0041}") << "tags";
  EXPECT_EQ(for_terminal("\xc0\x9b\xed\xa0\x80\xf4\x90\x80\x80"), "\\xc0\\x9b\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80")
      << "overlong forms, surrogates and what is beyond Unicode";
  EXPECT_EQ(for_terminal("\xe2\x80"), "\\xe2\\x80") << "cut off";
  EXPECT_EQ(with_hidden_characters_shown("a\nb\tc"), "a\\x0ab\\x09c");
  for (const char* hidden : {"a\nb", "\t", "\x1b", "\xc2\x85", "\xe2\x80\xa9", "\xff"})
    EXPECT_TRUE(has_hidden_characters(hidden));
}

TEST(Terminal, NothingThatItGivesIsHidden) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  for (int high = 0xC0; high < 0xF5; ++high)
    for (int low = 0x80; low < 0xC0; ++low)
      all += std::string{static_cast<char>(high), static_cast<char>(low), '\x80', '\xbf'};
  EXPECT_FALSE(has_hidden_characters(with_hidden_characters_shown(all)));
}

TEST(Terminal, SomebodyElseMayBeToldWhatIsSaidInPlace) {
  std::string told;
  testing::internal::CaptureStderr();
  tell_instead([&told](std::string_view text) { told += text; });
  say_in_place("half of it");
  tell_instead([](std::string_view) { throw std::runtime_error("lost"); });
  say_in_place("the other half");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(told, "half of it");
  tell_instead({});
  testing::internal::CaptureStderr();
  say_in_place("on the terminal");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("on the terminal"), std::string::npos);
}

}  // namespace
}  // namespace dadsim
