#include "upstream/retry.h"

#include <gtest/gtest.h>

namespace margin::upstream {
namespace {

using namespace std::chrono_literals;

// 784111777 s after 1970 is RFC 9110's example, Sun, 06 Nov 1994 08:49:37 GMT.
constexpr auto kExample = std::chrono::system_clock::time_point(784'111'777s);

std::optional<std::chrono::milliseconds> after(std::string value, std::string ms = "") {
  ReplyHead head;
  head.retry_after = std::move(value);
  head.retry_after_ms = std::move(ms);
  return retry_after(head, kExample - 90s);
}

TEST(RetryAfter, IsSecondsMillisecondsOrADate) {
  EXPECT_EQ(after("20"), 20s);
  EXPECT_EQ(after("0.5"), 500ms);
  EXPECT_EQ(after("20", "1500"), 1500ms) << "the finer one wins";
  EXPECT_EQ(after("20", "nonsense"), 20s);
  EXPECT_EQ(after("Sun, 06 Nov 1994 08:49:37 GMT"), 90s);
  EXPECT_EQ(after("Sun, 06 Nov 1994 08:00:00 GMT"), 0s) << "passed";
}

TEST(RetryAfter, NonsenseSaysNothing) {
  for (const char* const text :
       {"", "soon", "-1", "1e99", "nan", "inf", "20 s", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Xxx 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(after(text), std::nullopt) << text;
  }
  EXPECT_GT(after("99999999999999999999"), 1000h) << "large, but no overflow";
}

TEST(RetryPause, DoublesWithJitterOfAtMostAHalf) {
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    int factor = 1;
    for (int attempt = 2; attempt <= 6; ++attempt, factor *= 2) {
      const auto pause = pause_before(attempt, 100ms, std::nullopt, random);
      EXPECT_GE(pause, 50ms * factor);
      EXPECT_LE(pause, 100ms * factor);
    }
    const auto asked = pause_before(2, 100ms, 3s, random);
    EXPECT_GE(asked, 3000ms) << "never earlier than asked for";
    EXPECT_LE(asked, 3050ms);
  }
  EXPECT_GT(pause_before(1000, 1h, std::nullopt, random), 0ms);
}

TEST(Retry, IsForTimeoutsLimitsAndServerErrorsUnlessTheServerSaysOtherwise) {
  const auto retried = [](int status, std::string should = "") {
    ReplyHead head;
    head.status = status;
    head.should_retry = std::move(should);
    return may_retry(head);
  };
  for (const int status : {408, 429, 500, 502, 503, 504, 529}) EXPECT_TRUE(retried(status)) << status;
  for (const int status : {400, 401, 403, 404, 409, 422, 301}) EXPECT_FALSE(retried(status)) << status;
  EXPECT_FALSE(retried(503, "false"));
  EXPECT_TRUE(retried(409, "true"));
}

class BreakerTest : public testing::Test {
 protected:
  using Verdict = Breaker::Verdict;
  void open() {
    for (int i = 0; i < 3; ++i) breaker_.failed(start_, false);
  }
  Breaker breaker_{3, 10s};
  Breaker::Moment start_{1000s};
};

TEST_F(BreakerTest, OpensOnlyAfterFailuresInARow) {
  breaker_.failed(start_, false);
  breaker_.failed(start_, false);
  breaker_.succeeded();
  breaker_.failed(start_, false);
  breaker_.failed(start_, false);
  EXPECT_EQ(breaker_.ask(start_), Verdict::kPass);
  breaker_.failed(start_, false);
  EXPECT_TRUE(breaker_.open());
  EXPECT_EQ(breaker_.ask(start_ + 9s), Verdict::kRefuse);
}

TEST_F(BreakerTest, LetsOneTrialThroughAfterThePause) {
  open();
  EXPECT_EQ(breaker_.ask(start_ + 10s), Verdict::kTrial);
  EXPECT_EQ(breaker_.ask(start_ + 10s), Verdict::kRefuse) << "one at a time";
  breaker_.succeeded();
  EXPECT_EQ(breaker_.ask(start_ + 10s), Verdict::kPass);
}

TEST_F(BreakerTest, AFailedTrialStartsThePauseAgain) {
  open();
  EXPECT_EQ(breaker_.ask(start_ + 10s), Verdict::kTrial);
  breaker_.failed(start_ + 11s, true);
  EXPECT_EQ(breaker_.ask(start_ + 20s), Verdict::kRefuse);
  EXPECT_EQ(breaker_.ask(start_ + 21s), Verdict::kTrial);
}

TEST_F(BreakerTest, AnAbandonedTrialLeavesTheNextOneToTry) {
  open();
  EXPECT_EQ(breaker_.ask(start_ + 10s), Verdict::kTrial);
  breaker_.abandoned(true);
  EXPECT_EQ(breaker_.ask(start_ + 10s), Verdict::kTrial);
}

TEST_F(BreakerTest, FailuresOfAttemptsFromBeforeDoNotProlongThePause) {
  open();
  breaker_.failed(start_ + 9s, false);
  EXPECT_EQ(breaker_.ask(start_ + 10s), Verdict::kTrial);
}

}  // namespace
}  // namespace margin::upstream
