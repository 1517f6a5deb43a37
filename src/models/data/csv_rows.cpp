#include "models/data/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/data/number_text.hpp"
#include "support/split.hpp"
#include "support/utf8.hpp"

namespace dadsim::models {
namespace {

constexpr std::size_t kMaxColumns = 10000;
constexpr std::array<char, 3> kSeparators = {',', ';', '\t'};

const char* name_of(char separator) {
  switch (separator) {
    case ',':
      return "comma";
    case ';':
      return "semicolon";
    case '\t':
      return "tab";
    default:
      return "blank";
  }
}

}  // namespace

std::string shown_field(std::string_view text) {
  constexpr std::size_t kCharacters = 40;
  std::string result;
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == kCharacters) return result + "…";
    const Utf8Character first = first_character(text);
    result += first.bytes == 0 || first.code < 0x20 || first.code == 0x7f ? "?" : text.substr(0, first.bytes);
    text.remove_prefix(std::max<std::size_t>(first.bytes, 1));
  }
  return result;
}

CsvRows::CsvRows(const CsvText& table, char separator, LineErrors& errors)
    : rest_(table.content), separator_(separator), errors_(errors) {
  if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);  // removes the byte order mark
}

bool CsvRows::next() {
  while (!rest_.empty()) {
    line_ = next_line_;
    if (!read_row()) return false;
    if (fields_.size() > 1 || !fields_[0].empty()) return true;
  }
  return false;
}

std::size_t CsvRows::end_of_field() const {
  // If blanks separate fields, tabs do so too.
  const std::array<char, 3> ends = {separator_, '\n', separator_ == ' ' ? '\t' : '\n'};
  return std::min(rest_.find_first_of(std::string_view(ends.data(), ends.size())), rest_.size());
}

bool CsvRows::read_row() {
  fields_.clear();
  while (true) {
    if (fields_.size() == kMaxColumns + 1) {
      errors_.add(line_, fmt::format("more than {} fields", kMaxColumns), fmt::format("at most {}", kMaxColumns));
      return false;
    }
    std::string& field = fields_.emplace_back();
    const std::string_view blanks = rest_.substr(0, rest_.find_first_not_of(separator_ == '\t' ? " " : " \t"));
    if (separator_ == ' ') rest_.remove_prefix(blanks.size());
    const std::size_t before = separator_ == ' ' ? 0 : blanks.size();
    if (rest_.substr(before).starts_with('"')) {
      rest_.remove_prefix(before + 1);
      if (!read_quoted(field)) return false;
    } else {
      const std::size_t end = end_of_field();
      field = trimmed(rest_.substr(0, end));
      rest_.remove_prefix(end);
    }
    if (pass_separator()) continue;
    if (rest_.starts_with('\n')) rest_.remove_prefix(1);
    ++next_line_;
    return true;
  }
}

bool CsvRows::pass_separator() {
  if (separator_ != ' ') {
    const bool more = rest_.starts_with(separator_);
    if (more) rest_.remove_prefix(1);
    return more;
  }
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size()));
  return !rest_.empty() && rest_.front() != '\n';
}

/// Reads a field after its opening quote. Inner quotes are doubled.
bool CsvRows::read_quoted(std::string& field) {
  while (true) {
    const std::size_t end = rest_.find('"');
    if (end == std::string_view::npos) {
      errors_.add(line_, "a quote is not closed", kCsvForm);
      return false;
    }
    field += rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (!rest_.starts_with('"')) break;
    field += '"';
    rest_.remove_prefix(1);
  }
  next_line_ += std::count(field.begin(), field.end(), '\n');
  const std::size_t end = end_of_field();
  if (!trimmed(rest_.substr(0, end)).empty()) {
    errors_.add(
        line_, fmt::format("'{}' follows a closing quote", shown_field(trimmed(rest_.substr(0, end)))),
        fmt::format("put a {} or the end of the line there, or double a quote inside quotes", name_of(separator_)));
    return false;
  }
  rest_.remove_prefix(end);
  return true;
}

char separator_of(const CsvText& table, const std::string& target) {
  char likeliest = kSeparators[0];
  std::size_t most = 0;
  for (const char separator : kSeparators) {
    LineErrors unsaid(table.name);
    CsvRows rows(table, separator, unsaid);
    if (!rows.next()) continue;
    if (std::ranges::find(rows.fields(), target) != rows.fields().end()) return separator;
    if (rows.fields().size() > most) {
      most = rows.fields().size();
      likeliest = separator;
    }
  }
  if (most > 1) return likeliest;
  LineErrors unsaid(table.name);
  CsvRows rows(table, ' ', unsaid);
  return rows.next() && rows.fields().size() > 1 ? ' ' : likeliest;
}

std::optional<double> number_of_field(std::string_view field, char separator) {
  const std::size_t comma = separator == ',' ? std::string_view::npos : field.find(',');
  if (comma == std::string_view::npos) return number_in(field);
  if (field.find('.') != std::string_view::npos) return std::nullopt;
  std::string with_point(field);
  with_point[comma] = '.';
  return number_in(with_point);
}

}  // namespace dadsim::models
