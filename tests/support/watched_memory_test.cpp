#include "support/watched_memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <thread>

namespace dadsim {
namespace {

int take(void (*)(void*), void* (*allocate)(std::size_t), void* (*)(void*, std::size_t), char* (*)(const char*)) {
  std::free(allocate(16));
  return 0;
}

// libxml2 called a scenario not well-formed, and dadsim its own schema none, where memory was denied.
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

}  // namespace
}  // namespace dadsim
