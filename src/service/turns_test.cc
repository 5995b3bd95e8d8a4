#include "service/turns.h"

#include <gtest/gtest.h>

#include <vector>

namespace margin::service {
namespace {

class TurnsTest : public ::testing::Test {
 protected:
  bool take(int number, Uuid decision = {0, 1}, std::size_t waiting_max = 10) {
    return turns_.take({"", decision}, waiting_max, [this, number](const Turns::Turn& turn) {
      begun_.push_back(number);
      held_ = turn;
    });
  }
  void end() {
    held_.reset();
    while (!posted_.empty()) {
      const std::function<void()> next = std::move(posted_.front());
      posted_.pop_front();
      next();
    }
  }

  std::deque<std::function<void()>> posted_;
  Turns turns_{[this](std::function<void()> work) { posted_.push_back(std::move(work)); }};
  std::vector<int> begun_;
  Turns::Turn held_;
};

TEST_F(TurnsTest, OfOneDecisionComeOneAfterAnotherInTheirOrder) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(take(i));
  EXPECT_EQ(begun_, std::vector<int>({0}));
  EXPECT_EQ(turns_.waiting(), 2U);
  end();
  EXPECT_EQ(begun_, std::vector<int>({0, 1}));
  EXPECT_TRUE(take(3));
  end();
  end();
  EXPECT_EQ(begun_, std::vector<int>({0, 1, 2, 3}));
  EXPECT_EQ(turns_.waiting(), 0U);
}

TEST_F(TurnsTest, OfOtherDecisionsDoNotWait) {
  EXPECT_TRUE(take(0));
  const Turns::Turn first = held_;
  EXPECT_TRUE(take(1, {0, 2}));
  EXPECT_EQ(begun_, std::vector<int>({0, 1}));
}

TEST_F(TurnsTest, NoMoreWaitThanMay) {
  EXPECT_TRUE(take(0, {0, 1}, 1));
  EXPECT_TRUE(take(1, {0, 1}, 1));
  EXPECT_FALSE(take(2, {0, 1}, 1));
  end();
  EXPECT_TRUE(take(3, {0, 1}, 1));
}

TEST_F(TurnsTest, ThatEndWhenNobodyKeepsThemAreFreeAtOnce) {
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(turns_.take({"", {0, 1}}, 10, [&](const Turns::Turn&) { begun_.push_back(i); }));
  EXPECT_EQ(begun_, std::vector<int>({0, 1}));
}

}  // namespace
}  // namespace margin::service
