#pragma once

#include <algorithm>
#include <vector>

#include "models/matrix.hpp"

namespace dadsim::algorithms {

/// Finds rows in messages by their numbers alone: a message contains a row if one of its rows is as near as the
/// encoding error allows. Rows of zeros are never found: every message would contain them.
class RowFinder {
 public:
  /// A message to search, shared by all searches of it. The length and the largest column of each of its rows are
  /// computed on demand.
  class FoundMessage {
   public:
    /// Refers to the first `columns` numbers of each row, or all if there are fewer. The rows must stay in place.
    FoundMessage(const models::ConstBlock& rows, Eigen::Index columns)
        : rows_(rows), columns_(std::min(columns, rows.cols())) {}

    Eigen::Index rows() const { return rows_.rows(); }
    Eigen::Index columns() const { return columns_; }
    const float* row(Eigen::Index k) const { return rows_.data() + k * rows_.outerStride(); }

    struct RowSize {
      double norm = -1;
      Eigen::Index largest = 0;
    };
    const RowSize& size(Eigen::Index k);

   private:
    models::ConstBlock rows_;
    Eigen::Index columns_;
    std::vector<RowSize> of_rows_;
  };

  /// Refers to the rows to search for, which must stay in place.
  explicit RowFinder(const models::ConstBlock& rows);

  std::size_t rows() const { return zero_.size(); }
  bool is_zero(std::size_t row) const;

  /// Sets found[i] to 1 for each row i that is row i of `block` in memory: data sent bit for bit needs no comparison.
  /// Returns whether all nonzero rows are.
  bool find_in_place(const models::ConstBlock& block, std::vector<char>& found) const;

  /// Sets found[i] to 1 for each row contained in `message`, which is as wide as the rows, within `tolerance` × the
  /// norm of the row. `guess`: row i is first compared with row guess + i.
  void find(FoundMessage& message, double tolerance, Eigen::Index guess, std::vector<char>& found) const;

 private:
  const float* own(std::size_t row) const {
    return rows_.data() + static_cast<Eigen::Index>(row) * rows_.outerStride();
  }
  double norm(std::size_t row) const;
  /// Returns whether `row` is within the tolerance of row k of the message.
  bool is_near(std::size_t row, FoundMessage& message, Eigen::Index k, double tolerance) const;
  void find_by_pairs(FoundMessage& message, double tolerance, std::vector<char>& found) const;
  void find_sorted(FoundMessage& message, double tolerance, std::vector<char>& found) const;

  models::ConstBlock rows_;
  // Computed on demand; below 0: not yet computed. A finder belongs to one thread.
  mutable std::vector<signed char> zero_;
  mutable std::vector<double> norms_;
};

/// Returns the tolerance for a relative encoding error: at least that of fp32 (2⁻²²), and 1.5 times the error, which is
/// a mean over rows. Returns −1 if more than 1/16 is lost. Then no row counts as revealed, and the span covers what
/// remains.
double tolerance_of(double error);

}  // namespace dadsim::algorithms
