#include "namespaces.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace testbed {
namespace {

constexpr const char* kDevice = "wire";
constexpr int kFrames = 100000;  // queue of the device; the shaper reads frames at once

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

ifreq request(const char* device) {
  ifreq result{};
  std::strncpy(result.ifr_name, device, IFNAMSIZ - 1);
  return result;
}

sockaddr ip(std::uint32_t address) {
  sockaddr_in typed{};
  typed.sin_family = AF_INET;
  typed.sin_addr.s_addr = htonl(address);
  sockaddr result{};
  std::memcpy(&result, &typed, sizeof result);
  return result;
}

void switch_off(int socket, std::uint32_t what) {
  ethtool_value value{what, 0};
  ifreq device = request(kDevice);
  device.ifr_data = reinterpret_cast<char*>(&value);
  ioctl(socket, SIOCETHTOOL, &device);  // an error is ignored: a device without this offload needs no change
}

void bring_up(int socket, const char* device) {
  ifreq up = request(device);
  check(ioctl(socket, SIOCGIFFLAGS, &up) == 0, "reading flags");
  up.ifr_flags = static_cast<short>(up.ifr_flags | IFF_UP | IFF_RUNNING);
  check(ioctl(socket, SIOCSIFFLAGS, &up) == 0, "bringing a device up");
}

}  // namespace

int enter_namespace(std::int32_t host) {
  check(unshare(CLONE_NEWNET) == 0, "a network namespace");
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  check(device >= 0, "/dev/net/tun");
  ifreq tun = request(kDevice);
  tun.ifr_flags = IFF_TUN | IFF_NO_PI;
  check(ioctl(device, TUNSETIFF, &tun) == 0, "a TUN device");

  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  check(socket >= 0, "a socket");
  ifreq one = request(kDevice);
  one.ifr_addr = ip((10U << 24) | (77U << 16) | static_cast<std::uint32_t>(host + 1));
  check(ioctl(socket, SIOCSIFADDR, &one) == 0, "an address");
  one.ifr_netmask = ip(0xffffff00U);
  check(ioctl(socket, SIOCSIFNETMASK, &one) == 0, "a netmask");
  one = request(kDevice);
  one.ifr_mtu = 1500;
  check(ioctl(socket, SIOCSIFMTU, &one) == 0, "an MTU");
  one = request(kDevice);
  one.ifr_qlen = kFrames;
  check(ioctl(socket, SIOCSIFTXQLEN, &one) == 0, "the length of a queue");
  switch_off(socket, ETHTOOL_STSO);
  switch_off(socket, ETHTOOL_SGSO);
  switch_off(socket, ETHTOOL_SGRO);
  bring_up(socket, "lo");
  bring_up(socket, kDevice);
  close(socket);
  return device;
}

bool become_real_time(int priority) {
  const sched_param wanted{priority};
  return sched_setscheduler(0, SCHED_FIFO, &wanted) == 0;
}

}  // namespace testbed
