#include "support/fact_table.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

/// Returns whether the text is a date like 2024, 2024-05 or 2024-05-01.
bool is_date(std::string_view text) {
  const std::vector<std::string_view> parts = split_at(text, '-');
  const auto is_between = [&](std::size_t part, std::size_t digits, int least, int most) {
    const std::optional<int> value = parse_whole<int>(parts[part]);
    return parts[part].size() == digits && value && *value >= least && *value <= most;
  };
  return parts.size() <= 3 && is_between(0, 4, 1900, 2100) && (parts.size() < 2 || is_between(1, 2, 1, 12)) &&
         (parts.size() < 3 || is_between(2, 2, 1, 31));
}

}  // namespace

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && line.substr(i + 1, 1) == "\"") {
      cells.back() += c;
      ++i;
    } else if (quoted && c == '"') {
      quoted = false;
      if (i + 1 < line.size() && line[i + 1] != ',') throw std::invalid_argument("text after a closing quote");
    } else if (!quoted && c == '"') {
      if (!cells.back().empty()) throw std::invalid_argument("a quote inside an unquoted cell");
      quoted = true;
    } else if (!quoted && c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  if (quoted) throw std::invalid_argument("a quote is not closed");
  return cells;
}

FactTable::FactTable(const TableText& file, std::vector<std::string> columns, std::size_t keys)
    : file_(file.file), columns_(std::move(columns)) {
  bool named = false;
  int line = 0;
  for (const std::string_view text : lines_of(file.text)) {
    ++line;
    if (text.starts_with('#')) continue;
    std::vector<std::string> cells;
    try {
      cells = csv_cells(text);
    } catch (const std::invalid_argument& error) {
      wrong(line, error.what(), "use cells of a CSV file (RFC 4180)");
    }
    if (!named) {
      named = true;
      if (cells != columns_) wrong(line, "the columns are " + listed(cells), listed(columns_));
      continue;
    }
    if (cells.size() != columns_.size())
      wrong(line, std::to_string(cells.size()) + " cells", "use one cell for each of " + listed(columns_));
    const Row row(*this, line, std::move(cells));
    check(row, keys);
    rows_.push_back(row);
  }
  if (rows_.empty()) wrong(line, "no rows", "facts");
}

void FactTable::wrong(int line, std::string what, std::string remedy) const {
  throw std::logic_error(to_string(Diagnostic{file_, line, std::move(what), std::move(remedy)}));
}

void FactTable::check(const Row& row, std::size_t keys) const {
  if (std::ranges::find(columns_, "source") != columns_.end()) {
    static_cast<void>(row.text("source"));
    if (!is_date(row.text("date")))
      row.wrong("'" + row.text("date") + "' as date", "use the date of the source, as 2024, 2024-05 or 2024-05-01");
  }
  const auto same = std::ranges::find_if(rows_, [&](const Row& other) {
    return std::equal(other.cells_.begin(), other.cells_.begin() + static_cast<std::ptrdiff_t>(keys),
                      row.cells_.begin());
  });
  if (same != rows_.end())
    row.wrong("'" + row.cells_.front() + "' is there twice",
              "use one row (see line " + std::to_string(same->line_) + ")");
}

void FactTable::Row::wrong(std::string what, std::string remedy) const {
  table_->wrong(line_, std::move(what), std::move(remedy));
}

const std::string& FactTable::Row::optional_text(std::string_view column) const {
  const auto found = std::ranges::find(table_->columns_, column);
  if (found == table_->columns_.end()) wrong("no column " + std::string(column), "one of " + listed(table_->columns_));
  return cells_[static_cast<std::size_t>(found - table_->columns_.begin())];
}

const std::string& FactTable::Row::text(std::string_view column) const {
  const std::string& cell = optional_text(column);
  if (cell.empty()) wrong("no " + std::string(column), "fill the cell in every row");
  return cell;
}

const FactTable::Row& FactTable::Row::row_of(std::string_view column, const FactTable& other) const {
  std::vector<std::string> names;
  for (const Row& row : other.rows_) {
    if (row.cells_.front() == text(column)) return row;
    names.push_back(row.cells_.front());
  }
  wrong("'" + text(column) + "' as " + std::string(column), suggestion(text(column), names) + ", of " + other.file_);
}

double FactTable::Row::number(std::string_view column) const { return number_of(text(column), column); }

double FactTable::Row::number_of(std::string_view part, std::string_view column) const {
  const std::vector<std::string_view> parts = split_at(part, '/');
  const std::optional<double> above = parse_whole<double>(parts[0]);
  const std::optional<double> below = parts.size() == 1 ? 1.0 : parse_whole<double>(parts[1]);
  if (parts.size() > 2 || !above || !below || !(*below > 0))
    wrong("'" + std::string(part) + "' as " + std::string(column), "use a number, or a quotient such as 16/36");
  return *above / *below;
}

double FactTable::Row::number_or(std::string_view column, double otherwise) const {
  return optional_text(column).empty() ? otherwise : number(column);
}

std::int64_t FactTable::Row::integer(std::string_view column) const {
  const std::optional<std::int64_t> value = parse_whole<std::int64_t>(text(column));
  if (!value) wrong("'" + text(column) + "' as " + std::string(column), "a whole number");
  return *value;
}

bool FactTable::Row::yes(std::string_view column) const { return one_of<bool>(column, {{"yes", true}, {"no", false}}); }

}  // namespace dadsim
