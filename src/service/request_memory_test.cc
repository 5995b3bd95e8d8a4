// Requests by key: bounded, the oldest forgotten first, a failed one forgotten at once.
#include "service/request_memory.h"

#include <gtest/gtest.h>

namespace margin::service {
namespace {

RequestMark mark(std::uint64_t key) { return {.key = {0, key}, .body = {7, key}}; }

TEST(RequestMemory, TheOldestIsForgottenFirst) {
  RequestMemory memory(3);
  for (std::uint64_t key = 1; key <= 4; ++key) memory.settle(mark(key), {0, key});
  EXPECT_EQ(memory.size(), 3U);
  EXPECT_EQ(memory.find({0, 1}), nullptr);
  EXPECT_EQ(memory.find({0, 4})->event, (Uuid{0, 4}));
}

TEST(RequestMemory, ASmallerBoundForgetsTheOldestAtOnce) {
  RequestMemory memory(5);
  for (std::uint64_t key = 1; key <= 5; ++key) memory.settle(mark(key), {0, key});
  memory.set_count_max(2);
  EXPECT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory.find({0, 3}), nullptr);
  EXPECT_NE(memory.find({0, 4}), nullptr);
  memory.set_count_max(3);
  memory.settle(mark(6), {0, 6});
  EXPECT_EQ(memory.size(), 3U);
}

TEST(RequestMemory, AFailedRequestMayBeTriedAgain) {
  RequestMemory memory(3);
  memory.begin(mark(1), {0, 1});
  EXPECT_FALSE(memory.find({0, 1})->settled);
  memory.forget({0, 1});
  EXPECT_EQ(memory.find({0, 1}), nullptr);
  memory.begin(mark(1), {0, 2});
  memory.settle(mark(1), {0, 2});
  EXPECT_TRUE(memory.find({0, 1})->settled);
}

TEST(RequestMemory, StaysBoundedWhenRequestsFailForEver) {
  RequestMemory memory(3);
  for (std::uint64_t key = 1; key <= 10'000; ++key) {
    memory.begin(mark(key), {0, key});
    memory.forget({0, key});
  }
  EXPECT_EQ(memory.size(), 0U);
  for (std::uint64_t key = 1; key <= 3; ++key) memory.settle(mark(key), {0, key});
  EXPECT_EQ(memory.size(), 3U) << "names of forgotten ones take nobody's place";
}

}  // namespace
}  // namespace margin::service
