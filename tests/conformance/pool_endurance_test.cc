// A pool that has seen much, most of it unlike what it saw first: its snapshot is one that it can be restored from, whatever faded on the
// way.
#include <gtest/gtest.h>

#include <string>

#include "margin/pool.h"
#include "margin/random.h"

namespace margin {
namespace {

// Enough for a sum that keeps 1 - 1/130 of itself per outcome, and its square, to fall below the smallest number.
constexpr int kTasks = 130'000;

class Life {
 public:
  explicit Life(PoolConfigured config) { apply(std::move(config)); }

  // At first everybody is unsure and wrong, in words of source "first"; later sure, in those of "second".
  void task(bool at_first) {
    Question question{.kind = AnswerKind::kChoice};
    for (const char* model : {"ada", "bob", "cyd"}) {
      question.responses.push_back({.model = model,
                                    .answer = std::string(1, static_cast<char>('A' + random_.below(at_first ? 4 : 2))),
                                    .confidence = at_first ? 0.3 * random_.uniform() : 0.9 + 0.1 * random_.uniform()});
    }
    const Uuid decision = apply(pool_.decide(question).value());
    OutcomeObserved outcome{.decision = decision, .source = at_first ? "first" : "second"};
    if (random_.chance(0.5)) {
      outcome.gold = at_first ? "D" : "A";
    } else {
      outcome.selected = random_.chance(at_first ? 0.1 : 0.9) ? 1.0 : 0.0;
    }
    apply(std::move(outcome));
  }
  [[nodiscard]] const Pool& pool() const { return pool_; }

 private:
  Uuid apply(EventBody body) {
    now_ += 1000;
    const Event event{.id = Uuid::make(now_, random_), .time_ms = now_, .body = std::move(body)};
    EXPECT_NE(pool_.apply(event).status, ApplyStatus::kRefused);
    return event.id;
  }

  Pool pool_;
  Random random_{11};
  std::int64_t now_ = 1'700'000'000'000;
};

void expect_restorable(PoolConfigured config) {
  config.decisions_max = 100;
  config.remembered_events_max = 100;
  Life life(std::move(config));
  for (int i = 0; i < 200; ++i) life.task(true);
  for (int i = 0; i < kTasks; ++i) {
    life.task(false);
    if (i % 5'000 != 0) continue;
    const auto restored = Pool::restore(life.pool().snapshot());
    ASSERT_TRUE(restored.ok()) << "after " << i << " tasks: " << restored.error().message;
    ASSERT_EQ(restored->digest(), life.pool().digest());
  }
}

TEST(PoolEndurance, IsRestoredAtAnyTimeOfALongLife) { expect_restorable({.calibrator = "margin", .vote = "sum", .remedy = "implied"}); }

TEST(PoolEndurance, IsRestoredAtAnyTimeOfALongLifeWithWhatAdapts) {
  expect_restorable({.calibrator = "margin_adaptive", .calibrator_version = 2, .vote = "stacked", .remedy = "estimated"});
}

}  // namespace
}  // namespace margin
