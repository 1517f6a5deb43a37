#pragma once

#include <vector>

#include "models/matrix.hpp"

namespace dadsim::algorithms {

/// Finds rows in messages, by their numbers alone: a row stands in a message where one of its rows is as near as the
/// error of the encoding allows. Rows of zeros stand nowhere: they would stand in everything.
class RowFinder {
 public:
  /// Rows that are looked for, as they lie in memory; they are to stay there.
  explicit RowFinder(const models::ConstBlock& rows);

  std::size_t rows() const { return zero_.size(); }
  bool is_zero(std::size_t row) const { return zero_[row] != 0; }

  /// Sets found[i] to 1 for each row that stands in `message`, whose first columns are as wide as the rows, within
  /// `tolerance` × its norm. `guess`: row i may well be row guess + i there, which is looked at first.
  void find(const models::ConstBlock& message, double tolerance, Eigen::Index guess, std::vector<char>& found) const;

 private:
  const float* own(std::size_t row) const {
    return rows_.data() + static_cast<Eigen::Index>(row) * rows_.outerStride();
  }
  double norm(std::size_t row) const;
  bool is_near(std::size_t row, const float* numbers, double tolerance) const;
  void find_by_pairs(const models::ConstBlock& message, double tolerance, std::vector<char>& found) const;
  void find_sorted(const models::ConstBlock& message, double tolerance, std::vector<char>& found) const;

  models::ConstBlock rows_;
  std::vector<char> zero_;
  // Worked out where a row is not found to the bit; below 0: not yet. A finder is one thread's own.
  mutable std::vector<double> norms_;
  mutable std::vector<Eigen::Index> largest_;  ///< per row, the column of its largest number, once its norm is there
};

/// The tolerance for what arrived with this relative error of its encoding: that of fp32 (2⁻²²) at least, and 1.5 times
/// the error, since that is a mean over rows. Where more than 1/16 is lost no row is handed over: what is left of it is
/// the span's affair, and −1 is returned.
double tolerance_of(double error);

}  // namespace dadsim::algorithms
