// Simulates a server around a pool: a log, snapshots, crashes, a slow background fold after reverts, events delivered twice and out of
// order. Whatever happened, the live pool must equal a replay of its log, to the bit. Each life prints its seed first; MARGIN_SEED=N
// replays it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "margin/pool.h"
#include "margin/remedy.h"

namespace margin {
namespace {

constexpr std::int64_t kHour = 3'600'000;

// Events as clients and operators would cause them, legal and not.
class World {
 public:
  explicit World(Random& random) : random_(random) {}

  void sleep() { now_ += static_cast<std::int64_t>(random_.below(random_.chance(0.02) ? 60 * kHour : kHour / 4)); }

  Event next(const Pool& pool) {
    if (!held_.empty() && random_.chance(0.3)) return take(held_);
    const double kind = random_.uniform();
    if (kind < 0.40) {
      Event made = decision(pool);
      decisions_.push_back(made.id);
      if (!random_.chance(0.2)) return made;
      held_.push_back(std::move(made));  // its feedback may overtake it
      return outcome(decisions_.back());
    }
    if (kind < 0.85) return outcome(recent(decisions_));
    if (kind < 0.91) return revert();
    return administration();
  }

  // Some decision's probability rested on the outcomes of others.
  [[nodiscard]] bool taught() const { return taught_; }

 private:
  static constexpr const char* kModels[] = {"ada", "bob", "cyd", "dan", "eve", "fay"};
  static constexpr const char* kSegments[] = {"", "", "law", "physics"};
  static constexpr const char* kSources[] = {"", "alice", "bob", "mallory"};

  template <class T, std::size_t N>
  const T& any(const T (&choices)[N]) {
    return choices[random_.below(N)];
  }
  Event event(EventBody body) { return {.id = Uuid::make(now_, random_), .time_ms = now_, .body = std::move(body)}; }
  static Event take(std::vector<Event>& events) {
    Event first = std::move(events.front());
    events.erase(events.begin());
    return first;
  }
  // Mostly one of the last ones, sometimes any, sometimes unheard of.
  Uuid recent(const std::vector<Uuid>& ids) {
    if (ids.empty() || random_.chance(0.02)) return Uuid::make(now_ - static_cast<std::int64_t>(random_.below(400 * kHour)), random_);
    const std::size_t window = random_.chance(0.8) ? std::min<std::size_t>(ids.size(), 6) : ids.size();
    return ids[ids.size() - 1 - random_.below(window)];
  }

  Event decision(const Pool& pool) {
    Question question{.segment = any(kSegments)};
    if (random_.chance(0.3)) question.max_error = 0.1 + 0.5 * random_.uniform();
    for (const char* model : kModels) {
      if (random_.chance(0.5)) continue;
      Response response{.model = model};
      if (!random_.chance(0.1)) response.answer = std::string(1, static_cast<char>('A' + random_.below(3)));
      if (!random_.chance(0.1)) response.confidence = static_cast<double>(random_.below(21)) / 20.0;
      if (random_.chance(0.2)) response.channel = "consistency";
      response.abstained = random_.chance(0.05);
      question.responses.push_back(std::move(response));
    }
    auto made = pool.decide(question);
    if (!made.ok()) return event(ModelJoined{.model = ""});  // nobody answered, or a bound was reached
    for (const RecordedResponse& response : made->responses) EXPECT_TRUE(response.calibrated >= 0.0 && response.calibrated <= 1.0);
    const Sureness& sure = made->sure;
    EXPECT_TRUE(0.0 <= sure.low && sure.low <= sure.p_correct && sure.p_correct <= sure.high && sure.high <= 1.0);
    EXPECT_EQ(made->abstained, made->max_error && 1.0 - sure.p_correct > *made->max_error);
    taught_ |= sure.effective_n > 0.0;
    return event(std::move(*made));
  }

  Event outcome(Uuid decision) {
    OutcomeObserved observed{.decision = decision, .weight = random_.chance(0.8) ? 1.0 : 0.3, .source = any(kSources)};
    const double form = random_.uniform();
    if (form < 0.5)
      observed.gold = std::string(1, static_cast<char>('A' + random_.below(3)));
    else if (form < 0.7)
      observed.selected = random_.chance(0.5) ? 1.0 : 0.0;
    else {
      for (const char* model : kModels) {
        if (random_.chance(0.2)) observed.grades.push_back({.model = model, .outcome = static_cast<double>(random_.below(3)) / 2.0});
      }
    }
    Event made = event(std::move(observed));
    feedbacks_.push_back(made.id);
    return made;
  }

  Event revert() {
    if (random_.chance(0.15)) return event(OutcomeReverted{.source = any(kSources)});
    if (random_.chance(0.2)) {  // of feedback that is still to come
      Event late = outcome(recent(decisions_));
      held_.push_back(late);
      return event(OutcomeReverted{.feedback = late.id});
    }
    return event(OutcomeReverted{.feedback = recent(feedbacks_)});
  }

  Event administration() {
    const std::string model = any(kModels);
    switch (random_.below(8)) {
      case 0: return event(ModelJoined{model, random_.chance(0.3) ? any(kModels) : ""});
      case 1: return event(ModelLeft{model});
      case 2: return event(ModelJoined{model});
      case 3: return event(LearningFrozen{});
      case 4:
      case 5: return event(LearningResumed{});
      case 6: return event(FactorPinned{model, random_.uniform() * 3.0});
      default:
        if (random_.chance(0.8)) return event(FactorUnpinned{model});
        return event(configuration());
    }
  }

  PoolConfigured configuration() {
    PoolConfigured config{.calibrator = random_.chance(0.5) ? "margin" : "margin_adaptive",
                          .vote = random_.chance(0.5) ? "stacked" : "discounted"};
    config.pending_ms_max = random_.chance(0.5) ? 24 * kHour : 240 * kHour;
    config.decisions_max = random_.chance(0.5) ? 20 : 1000;
    config.early_max = random_.chance(0.5) ? 4 : 1000;
    config.cells_max = random_.chance(0.3) ? 3 : 100;
    config.models_max = random_.chance(0.3) ? 4 : 100;
    if (config.calibrator == "margin" && random_.chance(0.5)) config.calibrator_parameters["target"] = "pool_band";
    if (random_.chance(0.3)) config.trust = "margin", config.trust_version = 1;
    config.remedy = kRemedyNames[random_.below(kRemedyNames.size())];
    config.audit_rate = random_.chance(0.5) ? 0.3 : 0.0;
    return config;
  }

  Random& random_;
  std::int64_t now_ = 1'700'000'000'000;
  std::vector<Uuid> decisions_;
  std::vector<Uuid> feedbacks_;
  std::vector<Event> held_;
  bool taught_ = false;
};

// What the log and snapshot layers will do around a pool.
class Server {
 public:
  explicit Server(Random& random) : random_(random) { snapshots_.push_back({0, pool_.snapshot()}); }

  [[nodiscard]] const Pool& pool() const { return pool_; }
  [[nodiscard]] const std::vector<Event>& log() const { return log_; }
  [[nodiscard]] int folds() const { return folds_; }
  [[nodiscard]] bool fold_is_due() const { return fold_from_.has_value(); }

  void append(const Event& event) {
    log_.push_back(event);
    const ApplyResult result = pool_.apply(event);
    EXPECT_EQ(result.error.has_value(), result.status == ApplyStatus::kRefused || result.status == ApplyStatus::kConflict);
    if (result.status != ApplyStatus::kRefold) return;
    for (const Uuid feedback : result.reverted) {
      const auto first = std::find_if(log_.begin(), log_.end(), [&](const Event& each) { return each.id == feedback; });
      const auto position = static_cast<std::size_t>(first - log_.begin());
      fold_from_ = std::min(fold_from_.value_or(position), position);
    }
  }

  // The background fold that a revert called for.
  void fold_back() {
    std::erase_if(snapshots_, [&](const Snapshot& snapshot) { return snapshot.position > *fold_from_; });
    fold_from_.reset();
    recover();
    EXPECT_FALSE(pool_.needs_fold());
    ++folds_;
  }

  void keep_snapshot() {
    if (!fold_is_due()) snapshots_.push_back({log_.size(), pool_.snapshot()});
  }

  void crash() {
    const Digest before = pool_.digest();
    recover();
    EXPECT_EQ(pool_.digest(), before) << "after a crash at " << log_.size();
  }

 private:
  struct Snapshot {
    std::size_t position = 0;
    std::string bytes;
  };

  void recover() {
    const Snapshot& snapshot = snapshots_[random_.below(snapshots_.size())];
    auto restored = Pool::restore(snapshot.bytes);
    ASSERT_TRUE(restored.ok()) << restored.error().message;
    pool_ = fold(std::move(*restored), std::span(log_).subspan(snapshot.position));
  }

  Random& random_;
  Pool pool_;
  std::vector<Event> log_;
  std::vector<Snapshot> snapshots_;
  std::optional<std::size_t> fold_from_;
  int folds_ = 0;
};

// Counted one by one, where the pool keeps a number.
std::size_t counted_pending(const Pool& pool) {
  std::size_t pending = 0;
  for (const Uuid id : pool.latest_decisions(std::numeric_limits<std::size_t>::max())) {
    const auto decision = pool.decision(id);
    pending += std::any_of(decision->responses.begin(), decision->responses.end(),
                           [](const ResponseView& response) { return response.usable && !response.outcome; });
  }
  return pending;
}

// How often the pool was folded again.
int live(std::uint64_t seed) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  World world(random);
  Server server(random);
  std::vector<Event> distinct;
  for (int step = 0; step < 400; ++step) {
    world.sleep();
    const Event event = world.next(server.pool());
    server.append(event);
    distinct.push_back(event);
    if (random.chance(0.15)) server.append(distinct[random.below(distinct.size())]);  // delivered again
    if (server.fold_is_due() && random.chance(0.3)) server.fold_back();
    if (random.chance(0.03)) server.keep_snapshot();
    if (random.chance(0.01) && !server.fold_is_due()) server.crash();
    if (step % 8 == 0) {
      EXPECT_EQ(server.pool().pending_decisions(), counted_pending(server.pool())) << "after step " << step;
    }
  }
  if (server.fold_is_due()) server.fold_back();
  EXPECT_EQ(fold(Pool(), server.log()).digest(), server.pool().digest()) << "replay of the log";
  EXPECT_EQ(fold(Pool(), distinct).digest(), server.pool().digest()) << "replay without the second deliveries";
  EXPECT_TRUE(world.taught());
  return server.folds();
}

TEST(PoolSimulation, ReplayedDigestEqualsLiveDigest) {
  if (const char* seed = std::getenv("MARGIN_SEED")) {
    live(std::strtoull(seed, nullptr, 10));
    return;
  }
  int folds = 0;
  for (std::uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) folds += live(seed);
  EXPECT_GT(folds, 200) << "lives in which nothing is reverted prove little";
}

}  // namespace
}  // namespace margin
