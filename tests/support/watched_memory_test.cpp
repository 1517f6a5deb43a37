#include "support/watched_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

namespace dadsim {
namespace {

int take(void (*)(void*), void* (*allocate)(std::size_t), void* (*)(void*, std::size_t), char* (*)(const char*)) {
  std::free(allocate(16));
  return 0;
}

// Without memory, libxml2 once called a scenario not well-formed, and dadsim its own schema invalid.
TEST(WatchedMemory, TellsWhatWasDeniedToTheLibrary) {
  WatchedMemory memory = WatchedMemory::of(&take);
  EXPECT_NO_THROW(memory.check());
  volatile std::size_t beyond = std::size_t{1} << 62;  // bytes
  EXPECT_EQ(WatchedMemory::allocate(beyond), nullptr);
  EXPECT_THROW(memory.check(), std::bad_alloc);
  std::thread([] { EXPECT_NO_THROW(WatchedMemory::check()); }).join();
  memory = WatchedMemory::of(&take);
  EXPECT_NO_THROW(memory.check());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers have their own allocators
// Without memory, libxml2 once crashed the process, or wrote documents without an element.
TEST(WatchedMemory, TheLibraryComesToItsEndOutOfAReserve) {
  const auto in_want = [] {
    WatchedMemory::of(&take);
    constexpr std::size_t kLarge = 300 * 1024;  // bytes; large enough to get pages of its own
    const auto is_denied = [] {
      try {
        WatchedMemory::check();
      } catch (const std::bad_alloc&) {
        return true;
      }
      return false;
    };
    char* const before = WatchedMemory::duplicate("of the system");
    const rlimit none{0, 0};
    setrlimit(RLIMIT_AS, &none);
    while (std::malloc(kLarge) != nullptr) {  // uses up all memory that the process already has
    }
    if (is_denied()) _exit(1);
    auto* const large = static_cast<char*>(WatchedMemory::allocate(kLarge));
    if (large == nullptr || !is_denied()) _exit(2);
    std::memset(large, 'x', kLarge);
    auto* const larger = static_cast<char*>(WatchedMemory::reallocate(large, kLarge + 1));
    if (larger == nullptr || larger == large || larger[0] != 'x' || larger[kLarge - 1] != 'x') _exit(3);
    auto* const moved = static_cast<char*>(WatchedMemory::reallocate(before, kLarge));
    if (moved == nullptr || std::strcmp(moved, "of the system") != 0) _exit(4);
    WatchedMemory::release(larger);
    WatchedMemory::release(moved);
    if (WatchedMemory::allocate(kLarge) != nullptr) _exit(5);  // the reserve has a limit
    _exit(0);
  };
  EXPECT_EXIT(in_want(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace dadsim
