// Work on the side: it sleeps between its pieces while nobody waits, and goes on when somebody does.
#include "service/background.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>

#include "log/background_priority.h"

namespace margin::service {
namespace {

using namespace std::chrono_literals;

void work_for(std::chrono::nanoseconds length) {
  using internal::processor_time;
  for (const auto end = processor_time() + length; processor_time() < end;) {
  }
}

// Works a little, then takes breath; whether it slept. By the system's count of who gave the processor away, which no load changes.
bool sleeps(Background& background) {
  const auto given_away = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  work_for(1ms);
  const auto before = given_away();
  background.breathe();
  return given_away() > before;
}

TEST(Background, SleepsBetweenPiecesOfWorkThreeTimesAsLongAsTheyTook) {
  Background background;
  std::atomic<bool> done = false;
  std::chrono::nanoseconds slept{0};
  background.run([&] {
    work_for(20ms);
    const auto began = std::chrono::steady_clock::now();
    background.breathe();
    slept = std::chrono::steady_clock::now() - began;
    done = true;
  });
  while (!done) std::this_thread::sleep_for(1ms);
  EXPECT_GE(slept, 60ms);
}

// These would go on for ever if they went on sleeping.
TEST(Background, GoesOnWhenSomebodyWaits) {
  Background background;
  background.run([&] {
    while (sleeps(background)) {
    }
  });
  background.wait();
}

TEST(Background, GoesOnWhenThereIsMoreToDo) {
  Background background;
  std::atomic<bool> done = false;
  background.run([&] {
    while (sleeps(background)) {
    }
  });
  background.run([&] { done = true; });
  while (!done) std::this_thread::sleep_for(1ms);
}

TEST(Background, GoesOnWhenToldToHurryAndTheNextPieceDoesNot) {
  Background background;
  std::atomic<bool> begun = false;
  std::atomic<bool> done = false;
  std::atomic<bool> next_slept = false;
  background.run([&] {
    begun = true;
    while (sleeps(background)) {
    }
    done = true;
  });
  while (!begun) std::this_thread::sleep_for(1ms);
  background.hurry();
  while (!done) std::this_thread::sleep_for(1ms);
  std::atomic<bool> over = false;
  background.run([&] {
    next_slept = sleeps(background);
    over = true;
  });
  while (!over) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(next_slept);
}

TEST(Background, GoesOnWhenItIsToEnd) {
  std::atomic<bool> begun = false;
  Background background;
  background.run([&] {
    begun = true;
    while (sleeps(background)) {
    }
  });
  while (!begun) std::this_thread::sleep_for(1ms);
}

}  // namespace
}  // namespace margin::service
