#include "agent.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include "shaper.hpp"

namespace testbed {
namespace {

constexpr std::uint16_t kPort = 5077;
constexpr std::size_t kBuffer = 1 << 18;

sockaddr_in address_of(std::int32_t rank) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  address.sin_addr.s_addr = htonl((10U << 24) | (77U << 16) | static_cast<std::uint32_t>(rank + 1));
  return address;
}

[[noreturn]] void fail(const char* what) { throw std::runtime_error(std::string(what) + ": " + std::strerror(errno)); }

void control(int socket, const std::string& congestion_control) {
  if (setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, congestion_control.data(),
                 static_cast<socklen_t>(congestion_control.size())) != 0) {
    fail(("congestion control " + congestion_control).c_str());
  }
}

}  // namespace

Agent::Agent(std::int32_t rank, std::int32_t ranks)
    : rank_(rank), peers_(static_cast<std::size_t>(ranks)), events_(epoll_create1(EPOLL_CLOEXEC)), buffer_(kBuffer) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = address_of(rank);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind");
  if (listen(listener_, 64) != 0) fail("listen");
}

Agent::~Agent() {
  close_all();
  close(listener_);
  close(events_);
}

void Agent::add(std::int32_t peer, int socket) {
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  peers_[static_cast<std::size_t>(peer)].socket = socket;
  watch(peers_[static_cast<std::size_t>(peer)], peer, EPOLL_CTL_ADD);
}

void Agent::listen_with(const std::string& congestion_control) { control(listener_, congestion_control); }

void Agent::connect_to(const std::vector<std::int32_t>& peers, const std::string& congestion_control) {
  for (const std::int32_t peer : peers) {
    if (peer <= rank_) continue;
    const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    control(one, congestion_control);
    const timeval limit{10, 0};
    setsockopt(one, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const sockaddr_in address = address_of(peer);
    if (connect(one, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("connect");
    add(peer, one);
  }
}

void Agent::accept_from(const std::vector<std::int32_t>& peers) {
  const auto lower = std::ranges::count_if(peers, [this](std::int32_t peer) { return peer < rank_; });
  const timeval limit{10, 0};
  setsockopt(listener_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  for (std::int64_t i = 0; i < lower; ++i) {
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const int one = accept4(listener_, reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC);
    if (one < 0) fail("accept");
    add(static_cast<std::int32_t>(ntohl(from.sin_addr.s_addr) & 0xff) - 1, one);
  }
}

void Agent::close_all() {
  for (Peer& peer : peers_) {
    if (peer.socket < 0) continue;
    const linger at_once{1, 0};
    setsockopt(peer.socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(peer.socket);
    peer = Peer{};
  }
}

void Agent::watch(const Peer& peer, std::int32_t number, int operation) const {
  epoll_event event{};
  event.events = EPOLLIN | (peer.waits ? EPOLLOUT : 0U);
  event.data.u32 = static_cast<std::uint32_t>(number);
  epoll_ctl(events_, operation, peer.socket, &event);
}

void Agent::push(Peer& peer) {
  const bool waited = peer.waits;
  peer.waits = false;
  while (peer.to_send > 0) {
    const auto most = std::min(peer.to_send, static_cast<std::int64_t>(kBuffer));
    const ssize_t count =
        send(peer.socket, buffer_.data(), static_cast<std::size_t>(most), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count <= 0) {
      peer.waits = true;
      break;
    }
    peer.to_send -= count;
    peer.sent += count;
  }
  if (peer.waits != waited) watch(peer, static_cast<std::int32_t>(&peer - peers_.data()), EPOLL_CTL_MOD);
}

void Agent::attend(double seconds) {
  std::array<epoll_event, 64> ready{};
  const int count =
      epoll_wait(events_, ready.data(), static_cast<int>(ready.size()), static_cast<int>(std::max(0.0, seconds) * 1e3));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    Peer& peer = peers_[event.data.u32];
    if (peer.socket < 0) continue;
    if (event.events & EPOLLOUT) push(peer);
    if (!(event.events & EPOLLIN)) continue;
    const ssize_t got = recv(peer.socket, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got == 0) throw std::runtime_error("a connection was closed");
    if (got > 0) peer.received += got;
  }
}

Outcome Agent::carry_out(const std::vector<Round>& rounds, double start, double deadline) {
  const timespec date{static_cast<time_t>(start),
                      static_cast<long>((start - static_cast<double>(static_cast<time_t>(start))) * 1e9)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &date, nullptr);
  Outcome outcome;
  for (Peer& peer : peers_) peer.received = peer.needed = 0;
  for (const Round& round : rounds) {
    for (const double done = now() + round.computing; now() < done;) attend(done - now());
    for (const Round::Part& part : round.sends) {
      Peer& peer = peers_[static_cast<std::size_t>(part.peer)];
      peer.to_send += part.bytes;
      push(peer);
    }
    for (const Round::Part& part : round.receives) peers_[static_cast<std::size_t>(part.peer)].needed += part.bytes;
    const auto lacking = [&] {
      return std::ranges::any_of(round.receives, [&](const Round::Part& part) {
        const Peer& peer = peers_[static_cast<std::size_t>(part.peer)];
        return peer.received < peer.needed;
      });
    };
    while (lacking()) {
      const double left = deadline - now();
      if (left < 0) {
        outcome.end = -1;
        return outcome;
      }
      attend(left + 1e-3);
    }
  }
  outcome.end = now();
  // Sends the remaining bytes, for which no round of this rank waits.
  while (std::ranges::any_of(peers_, [](const Peer& peer) { return peer.to_send > 0; }) && now() < deadline) {
    attend(10e-3);
  }
  std::int64_t most = 0;
  for (const Peer& peer : peers_) {
    if (peer.socket < 0) continue;
    tcp_info info{};
    socklen_t length = sizeof info;
    getsockopt(peer.socket, IPPROTO_TCP, TCP_INFO, &info, &length);
    outcome.retransmitted += static_cast<std::int32_t>(info.tcpi_total_retrans);
    if (peer.sent <= most) continue;
    most = peer.sent;
    outcome.window = static_cast<std::int32_t>(info.tcpi_snd_cwnd);
    outcome.threshold = static_cast<std::int32_t>(std::min(info.tcpi_snd_ssthresh, 1U << 30));
  }
  return outcome;
}

}  // namespace testbed
