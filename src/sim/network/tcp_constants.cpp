#include <utility>

#include "sim/network/tcp.hpp"
#include "sim/network/tcp_constants.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::sim::tcp {
namespace {

Fitted read() {
  const FactTable table(tables::kTcpConstants, {"name", "value", "unit", "words", "date", "source"});
  Fitted result;
  std::size_t read = 0;
  for (const FactTable::Row& row : table.rows()) {
    using Member = double Fitted::*;
    result.*row.one_of<Member>("name", {{"software", &Fitted::software},
                                        {"kept window", &Fitted::kept_window},
                                        {"cold window", &Fitted::cold_window},
                                        {"cold burst", &Fitted::cold_burst},
                                        {"grown window", &Fitted::grown_window},
                                        {"opposite filling", &Fitted::opposite_filling},
                                        {"corner", &Fitted::corner},
                                        {"recovery", &Fitted::recovery},
                                        {"cushion", &Fitted::cushion},
                                        {"overflow width", &Fitted::overflow_width},
                                        {"matching loss", &Fitted::matching_loss}}) = row.number("value");
    ++read;
  }
  if (read != sizeof(Fitted) / sizeof(double)) table.rows().back().wrong("the last row", "a row for every constant");
  return result;
}

}  // namespace

const Fitted& fitted() {
  static const Fitted kFitted = read();
  return kFitted;
}

}  // namespace dadsim::sim::tcp
