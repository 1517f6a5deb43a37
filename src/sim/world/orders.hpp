#pragma once

#include <cstdint>

namespace dadsim::sim {

/// What the parent orders in a World: the first byte of each order in a message. Orders come in batches; the child
/// carries out a batch, lets time go on until something has happened, and answers with that.
enum class Order : std::uint8_t {
  compute,  ///< activity, node, seconds
  send,     ///< activity, from, to, bytes
  timer,    ///< activity, seconds
  cancel,   ///< activity
  host,     ///< node, up
  link,     ///< name, up
  links,    ///< the only one of its batch: no event is wanted, but the names of the links
  finish,   ///< the last: no event is wanted, but what the network was
};
constexpr Order last_of(Order /*type*/) { return Order::finish; }

/// What an answer of the child is about: its first byte.
enum class OrderAnswer : std::uint8_t {
  events,   ///< count, then kind, activity, node, date of each
  links,    ///< count, names
  network,  ///< the last
  failure,  ///< in words: the last
};
constexpr OrderAnswer last_of(OrderAnswer /*type*/) { return OrderAnswer::failure; }

}  // namespace dadsim::sim
