#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "support/statement_bytes.hpp"

namespace dadsim {
namespace {

Statement sample_statement() {
  return Statement{"kind", {"a", "b"}}
      .with("yes", true)
      .with("number", 0.1)
      .with("text", std::string("t"))
      .with("numbers", std::vector<double>{1, 2})
      .with("texts", std::vector<std::string>{"x"})
      .with(Statement{"part"}.with(Statement{"part of a part"}));
}

std::string bytes_of(const Statement& statement) {
  WireWriter writer;
  writer << statement;
  return writer.bytes();
}

Statement read_back(const std::string& bytes) { return WireReader(bytes).read<Statement>(); }

TEST(Statement, ComesBackFromBytesAsItWas) {
  const Statement statement = sample_statement();
  EXPECT_EQ(read_back(bytes_of(statement)), statement);
  const std::string bytes = bytes_of(statement);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(read_back(bytes.substr(0, size)), std::out_of_range) << size;
}

TEST(Statement, BytesOfNoneAreRefused) {
  Statement deep{"deepest"};
  for (int i = 0; i < 6; ++i) deep = Statement{"around"}.with(deep);
  EXPECT_THROW(read_back(bytes_of(deep)), std::out_of_range);
  std::string twice = bytes_of(Statement{"k"}.with("a", true).with("b", true));
  twice[twice.find('b')] = 'a';
  EXPECT_THROW(read_back(twice), std::out_of_range);
}

TEST(Statement, WhatItDoesNotSayIsABug) {
  const Statement statement = sample_statement();
  EXPECT_TRUE(statement.is("yes"));
  EXPECT_FALSE(statement.is("no"));
  EXPECT_EQ(statement.part().part().kind, "part of a part");
  EXPECT_THROW(static_cast<void>(statement.number("text")), std::logic_error);
  EXPECT_THROW(static_cast<void>(statement.text("other")), std::logic_error);
  EXPECT_THROW(static_cast<void>(statement.part(1)), std::logic_error);
  EXPECT_THROW(static_cast<void>(Statement{"of nothing"}.subject()), std::logic_error);
}

}  // namespace
}  // namespace dadsim
