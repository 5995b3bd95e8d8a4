// Snapshots of either layout of decisions: what an older margin kept gives the same pool, and no byte may be another without being noticed.
#include "pool/record_encoding.h"

#include <gtest/gtest.h>

#include <limits>

#include "pool/id_encoding.h"
#include "pool/pool_fixture.h"
#include "pool/state.h"

namespace margin {
namespace {

using internal::Decoder;
using internal::Encoder;

// The layout of MPL2, as that margin wrote it.
void save_fixed(const internal::DecisionRecord& record, Encoder& out) {
  encode(record.id, out);
  out.integer(record.time_ms);
  out.integer(static_cast<std::uint8_t>(record.kind));
  out.integer(record.selected);
  out.real(record.p_correct);
  out.flag(record.share.has_value());
  if (record.share) out.real(*record.share);
  out.real(record.audit_rate);
  out.integer(static_cast<std::uint64_t>(record.answers.size()));
  for (const Digest& answer : record.answers) encode(answer, out);
  out.integer(static_cast<std::uint64_t>(record.later->feedbacks.size()));
  for (const internal::FeedbackMark& mark : record.later->feedbacks) {
    encode(mark.id, out);
    out.text(mark.source);
    out.flag(mark.reverted);
    out.integer(mark.time_ms);
    out.flag(mark.heard);
  }
  out.integer(static_cast<std::uint64_t>(record.responses.size()));
  for (const internal::DecisionRecord::Response& response : record.responses) {
    out.integer(response.model);
    out.integer(response.cell);
    out.integer(response.answer);
    out.flag(response.usable);
    out.flag(response.part);
    out.real(response.confidence);
    out.real(response.calibrated);
    out.real(record.audit_of(response));
    out.integer(static_cast<std::uint8_t>(response.standing));
    if (response.standing == internal::Standing::kOpen) continue;
    const internal::DecisionRecord::Outcome& outcome = record.outcome_of(response);
    out.real(outcome.value);
    out.flag(response.learned);
    if (!response.graded()) continue;
    out.real(outcome.weight);
    out.integer(outcome.feedback);
  }
  out.flag(record.watched);
  out.integer(static_cast<std::uint64_t>(record.later->opinions.size()));
  for (const internal::Opinion& opinion : record.later->opinions) {
    out.integer(opinion.response);
    out.integer(opinion.source);
    out.real(opinion.outcome);
  }
}

// The pool's snapshot in that layout.
std::string fixed(Pool& pool) {
  const auto state = internal::PoolState::load(pool.snapshot());
  EXPECT_TRUE(state.ok());
  pool.begin_snapshot();
  const auto pieces = *pool.continue_snapshot(std::numeric_limits<std::size_t>::max());  // what is before the decisions, they, and the rest
  Encoder decisions;
  decisions.integer(static_cast<std::uint64_t>((*state)->decisions.size()));
  for (const internal::DecisionRecord& record : (*state)->decisions) save_fixed(record, decisions);
  std::string bytes = pieces.front() + decisions.bytes() + pieces.back();
  EXPECT_EQ(bytes.front(), '3');  // MPL3, the least byte first
  bytes.front() = '2';
  return bytes;
}

class RecordEncodingTest : public PoolTest {
 protected:
  // Decisions with everything that one can have: audits, outcomes of all standings, opinions beside them, reverts, missing answers.
  void live(std::uint64_t seed) {
    Random random(seed);
    pool_ = Pool();
    configure({.remedy = "implied", .audit_rate = seed % 3 == 0 ? 0.0 : 0.4});
    std::vector<Uuid> made;
    std::vector<Uuid> feedbacks;
    for (int i = 0; i < 80; ++i) {
      advance(static_cast<std::int64_t>(random.below(3)));
      const std::uint64_t what = random.below(100);
      if (what < 45 || made.empty()) {
        const auto answer = [&] { return std::string(random.chance(0.15) ? "" : random.chance(0.5) ? "x" : "y"); };
        made.push_back(decide({{"a", answer()},
                               {"b", answer(), random.uniform(), random.chance(0.5) ? "verbalized" : "consistency"},
                               {"c", answer(), random.chance(0.8) ? std::optional(random.uniform()) : std::nullopt},
                               {.model = "d", .answer = "x", .abstained = random.chance(0.3)}},
                              random.chance(0.3) ? "law" : ""));
      } else if (what < 92) {
        const std::string model(1, "abcd"[random.below(4)]);
        const Event said = event(OutcomeObserved{.decision = made[random.below(made.size())],
                                                 .grades = {{model, random.chance(0.5) ? 1.0 : random.uniform()}},
                                                 .weight = random.chance(0.5) ? 1.0 : 0.5,
                                                 .source = "s" + std::to_string(what % 3)});
        feedbacks.push_back(said.id);
        apply(said);
      } else if (!feedbacks.empty() &&
                 apply(OutcomeReverted{.feedback = feedbacks[random.below(feedbacks.size())]}).status == ApplyStatus::kRefold) {
        pool_ = fold(Pool(), log_since_configured());
      }
    }
  }
  [[nodiscard]] std::vector<Event> log_since_configured() const {
    auto begin = log_.end();
    while (!std::holds_alternative<PoolConfigured>((--begin)->body)) {
    }
    return {begin, log_.end()};
  }
};

TEST_F(RecordEncodingTest, WhatAnOlderMarginKeptGivesTheSamePool) {
  std::size_t audited = 0;
  std::size_t heard = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    live(seed);
    const std::string packed = pool_.snapshot();
    const std::string wide = fixed(pool_);
    EXPECT_LT(packed.size(), wide.size());
    const auto restored = Pool::restore(wide);
    ASSERT_TRUE(restored.ok()) << "seed " << seed << ": " << restored.error().message;
    EXPECT_EQ(restored->snapshot(), packed) << "seed " << seed;
    const auto state = internal::PoolState::load(packed);
    ASSERT_TRUE(state.ok());
    for (const auto& record : (*state)->decisions) {
      audited += record.later->audits.size();
      heard += record.later->opinions.size();
    }
  }
  EXPECT_GT(audited, 0u);
  EXPECT_GT(heard, 0u);
}

TEST_F(RecordEncodingTest, EqualRecordsHaveEqualBytes) {
  // Every flipped bit is refused, or read as another record: never as the same one.
  live(4);
  const auto state = internal::PoolState::load(pool_.snapshot());
  ASSERT_TRUE(state.ok());
  const internal::Decisions::Bounds bounds{(*state)->members.size(), (*state)->cells.size(), (*state)->watch.sources()};
  std::size_t refused = 0;
  std::size_t others = 0;
  for (const internal::DecisionRecord& record : (*state)->decisions) {
    Encoder out;
    save_record(record, out);
    const std::string bytes = out.take();
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      Decoder in(flipped);
      const internal::DecisionRecord read = load_record(in, internal::RecordLayout::kPacked, bounds);
      if (!in.finish("record").ok()) {
        ++refused;
        continue;
      }
      ++others;
      Encoder again;
      save_record(read, again);
      EXPECT_EQ(again.bytes(), flipped) << "bit " << bit;
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(others, 1000u);
}

TEST_F(RecordEncodingTest, WhatIsSaidToBeThereMustBeSomething) {
  configure({});
  const Uuid id = decide({{"a", "x"}});
  const auto state = internal::PoolState::load(pool_.snapshot());
  ASSERT_TRUE(state.ok());
  Encoder out;
  save_record(*(*state)->decisions.find(id), out);
  // Id, time, what it has, kind, selected, p_correct, share; one answer; one response.
  const std::string bytes = out.take();
  constexpr std::size_t kHas = 16 + 8;
  constexpr std::size_t kAnswers = kHas + 1 + 1 + 1 + 8 + 8;
  constexpr std::size_t kResponses = kAnswers + 1 + 16;
  ASSERT_EQ(bytes.size(), kResponses + 1 + 4 + 2 * 8);
  const auto reads = [&](char more, std::size_t at, std::string_view inserted) {
    std::string changed = bytes;
    changed[kHas] = static_cast<char>(changed[kHas] | more);
    changed.insert(at, inserted);
    Decoder in(changed);
    static_cast<void>(load_record(in, internal::RecordLayout::kPacked, {1, 1, 0}));
    return in.finish("record").ok();
  };
  const std::string nothing(8, '\0');
  const std::string half("\0\0\0\0\0\0\xe0\x3f", 8);
  EXPECT_TRUE(reads(0, 0, ""));
  EXPECT_TRUE(reads(4, kAnswers, half)) << "an audit rate";
  EXPECT_FALSE(reads(4, kAnswers, nothing));
  EXPECT_TRUE(reads(8, bytes.size(), half)) << "an audit";
  EXPECT_FALSE(reads(8, bytes.size(), nothing));
  EXPECT_FALSE(reads(16, kResponses, nothing.substr(0, 1))) << "no feedbacks";
  EXPECT_FALSE(reads(32, bytes.size(), nothing.substr(0, 1))) << "no opinions";
  EXPECT_FALSE(reads(64, 0, "")) << "something unknown";
}

}  // namespace
}  // namespace margin
