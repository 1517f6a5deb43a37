#pragma once

#include <Eigen/QR>

#include "models/matrix.hpp"

namespace dadsim::algorithms {

/// Returns an orthonormal basis of the columns, by Householder reflections.
inline models::MatrixOf<double> orthonormal(const models::MatrixOf<double>& columns) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns);
  return qr.householderQ() * Eigen::MatrixXd::Identity(columns.rows(), columns.cols());
}

}  // namespace dadsim::algorithms
