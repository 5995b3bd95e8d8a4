#include "log/codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <variant>

#include "event_samples.h"
#include "log/left_out.h"
#include "log/wire_decision.h"
#include "margin/pool.h"
#include "margin/random.h"

namespace margin::internal {
namespace {

std::string encoded(const Record& record) {
  std::string bytes;
  encode(record.event, record.mark, record.note, bytes);
  return bytes;
}

Record decoded(const std::string& bytes, std::uint64_t offset = 0) {
  Result<Record> record = decode(bytes, "p", offset);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().message);
  return record ? std::move(record).value() : Record{};
}

TEST(Codec, EveryFieldOfEveryEventComesBack) {
  for (const Event& event : full_events()) {
    const Record record{.offset = 7, .event = event, .mark = RequestMark{{1, 2}, {3, 4}}, .note = "a note"};
    EXPECT_EQ(decoded(encoded(record), 7), record) << "type " << event.body.index();
  }
}

TEST(Codec, EmptyEventsComeBackToo) {
  for (const Event& event : empty_events()) EXPECT_EQ(decoded(encoded({.event = event})).event, event) << "type " << event.body.index();
}

TEST(Codec, RandomEventsComeBack) {
  Random random(20240601);
  for (int i = 0; i < 20'000; ++i) {
    const Record record = random_record(random);
    const std::string bytes = encoded(record);
    ASSERT_EQ(decoded(bytes, record.offset), record) << "number " << i;
    ASSERT_EQ(encoded(decoded(bytes)), bytes) << "number " << i;
  }
}

// Field 1 of the envelope, which stands first.
int format_of(const std::string& bytes) { return bytes.starts_with('\x08') ? bytes[1] : 0; }

// An older margin would take such a pool for one that never abstains, and refuse such a state.
TEST(Codec, WhatOnlyANewerMarginUnderstandsIsOfANewerFormat) {
  Event event{.id = {1, 2}, .time_ms = 3, .body = PoolConfigured{}};
  EXPECT_EQ(format_of(encoded({.event = event})), 1);
  event.body = PoolConfigured{.max_error = 0.25};
  EXPECT_EQ(format_of(encoded({.event = event})), 3);
  EXPECT_EQ(decoded(encoded({.event = event})).event, event);

  Pool pool;
  event.body = StateImported{.state = pool.snapshot()};
  EXPECT_EQ(format_of(encoded({.event = event})), 1);
  pool.apply({.id = {4, 5}, .time_ms = 6, .body = PoolConfigured{.max_error = 0.25}});
  event.body = StateImported{.state = pool.snapshot()};
  EXPECT_EQ(format_of(encoded({.event = event})), 3);
  EXPECT_EQ(decoded(encoded({.event = event})).event, event);
}

// Each is left out of all responses or of none: one that differs costs what it did in the first format, for all of them.
TEST(Codec, ADecisionLeavesOutWhatTheRestOfItTells) {
  Random random(3);
  Event event = typical_decision(10, random);
  const auto bytes = [&] { return encoded({.event = event}).size(); };
  EXPECT_EQ(format_of(encoded({.event = event})), 2);
  EXPECT_EQ(decoded(encoded({.event = event})).event, event);
  auto& responses = std::get<DecisionMade>(event.body).responses;

  std::size_t before = bytes();
  responses[9].channel = "other";
  EXPECT_EQ(bytes(), before + 8 * (2 + std::string("verbalized").size()) + 2 + std::string("other").size());
  EXPECT_EQ(decoded(encoded({.event = event})).event, event);

  before = bytes();
  responses[3].factor = std::nextafter(responses[3].factor, 2.0);
  EXPECT_EQ(bytes(), before + 10 * 9);
  EXPECT_EQ(decoded(encoded({.event = event})).event, event);

  before = bytes();
  responses[4].weight = std::nextafter(responses[4].weight, 2.0);
  EXPECT_EQ(bytes(), before + 10 * 9 - 3) << "and the number that said what is left out";
  EXPECT_EQ(format_of(encoded({.event = event})), 2) << "the confidences";
  EXPECT_EQ(decoded(encoded({.event = event})).event, event);

  responses[5].confidence = 1.0 / 3.0;
  EXPECT_EQ(format_of(encoded({.event = event})), 1);
  EXPECT_EQ(decoded(encoded({.event = event})).event, event);
}

TEST(Codec, EveryConfidenceComesBackToTheBit) {
  Random random(4);
  const auto comes_back = [&](const std::optional<double>& confidence) {
    Event event = typical_decision(2, random);
    std::get<DecisionMade>(event.body).responses[1].confidence = confidence;
    const Event back = decoded(encoded({.event = event})).event;
    const auto& found = std::get<DecisionMade>(back.body).responses[1].confidence;
    return found.has_value() == confidence.has_value() &&
           (!found || std::bit_cast<std::uint64_t>(*found) == std::bit_cast<std::uint64_t>(*confidence));
  };
  for (int i = 0; i <= 10'000; ++i) ASSERT_TRUE(comes_back(i / 10'000.0)) << i;
  for (const double odd : {-0.0, 0.99995, 1.00005, 1.5, -0.5, 1e300, std::numeric_limits<double>::denorm_min(), 0.1 + 0.2,
                           std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(comes_back(odd)) << odd;
  }
  EXPECT_TRUE(comes_back(std::nullopt));
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(comes_back(random.uniform()));
}

// A list of confidences that is not one of this decision's, and a bit that this binary does not know.
TEST(Codec, WhatIsLeftOutMustFit) {
  Random random(5);
  const std::string bytes = encoded({.event = typical_decision(3, random)});
  // The last bytes: field 19 (7), field 20 (three numbers of two bytes at most).
  const std::size_t place = bytes.rfind(std::string("\x98\x01\x07\xa2\x01", 5));
  ASSERT_NE(place, std::string::npos);
  std::string unknown_bit = bytes;
  unknown_bit[place + 2] = '\x0f';
  EXPECT_EQ(decode(unknown_bit, "p", 1).error().code, ErrorCode::kCorrupt);
  std::string all_single = bytes;  // numbers without their first bytes' marks are more of them
  for (std::size_t at = place + 6; at < all_single.size(); ++at) all_single[at] = static_cast<char>(all_single[at] & 0x7f);
  EXPECT_EQ(decode(all_single, "p", 1).error().code, ErrorCode::kCorrupt);
}

// A record of some kilobytes must not ask for gigabytes.
TEST(Codec, WhatIsPutBackIsBounded) {
  Random random(6);
  Event event = typical_decision(1, random);
  auto& responses = std::get<DecisionMade>(event.body).responses;
  responses[0].channel.assign(100'000, 'c');
  responses.resize(1'000, responses[0]);
  EXPECT_GT(encoded({.event = event}).size(), kRecordBytesMax) << "which an append refuses";
  DecisionMade decision{.responses = std::vector<RecordedResponse>(1'000)};
  decision.responses[0].channel.assign(100'000, 'c');
  EXPECT_FALSE(LeftOut::put_back(1, {}, decision));
  decision.responses[0].channel.assign(1'000, 'c');
  EXPECT_TRUE(LeftOut::put_back(1, {}, decision));
  EXPECT_EQ(decision.responses[999].channel, decision.responses[0].channel);
}

// Field 15 of the envelope, which nobody knows: after it a record is read by Protocol Buffers.
const std::string kUnknownField("\x78\x05", 2);

// Decisions are read without Protocol Buffers, which says the same.
TEST(Codec, EveryDecisionIsReadAsProtocolBuffersReadsIt) {
  Random random(20240602);
  std::uint64_t decisions = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Record record = random_record(random);
    const std::string bytes = encoded(record);
    const std::optional<Record> read = read_decision(bytes);
    ASSERT_EQ(read.has_value(), std::holds_alternative<DecisionMade>(record.event.body));
    if (!read) continue;
    ++decisions;
    ASSERT_FALSE(read_decision(bytes + kUnknownField).has_value());
    ASSERT_EQ(*read, decoded(bytes + kUnknownField)) << "number " << i;
  }
  EXPECT_GT(decisions, 1'000U);
}

// What is left to its default where models were not chosen by chance, and nothing else is out of the ordinary.
TEST(Codec, AUsualDecisionComesBackEitherWay) {
  Random random(20240604);
  for (std::size_t responses = 0; responses < 20; ++responses) {
    const Record record{.event = typical_decision(responses, random)};
    const std::string bytes = encoded(record);
    EXPECT_EQ(std::get<DecisionMade>(record.event.body).propensity, 1.0);
    EXPECT_EQ(read_decision(bytes), record);
    EXPECT_EQ(decoded(bytes + kUnknownField), record);
  }
}

TEST(Codec, WhateverIsReadAsADecisionProtocolBuffersReadsToo) {
  Random random(20240603);
  std::uint64_t changed = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Record record = random_record(random);
    if (!std::holds_alternative<DecisionMade>(record.event.body)) continue;
    std::string bytes = encoded(record);
    const std::string before = bytes;
    for (std::uint64_t edits = 1 + random.below(3); edits > 0; --edits) {
      const std::size_t place = random.below(bytes.size());
      switch (random.below(4)) {
        case 0: bytes[place] = static_cast<char>(bytes[place] ^ (1 << random.below(8))); break;
        case 1: bytes[place] = static_cast<char>(random.below(256)); break;
        case 2: bytes.insert(place, 1, static_cast<char>(random.below(256))); break;
        default: bytes.erase(place, 1); break;
      }
      if (bytes.empty()) bytes = "x";
    }
    const std::optional<Record> read = read_decision(bytes);
    if (!read) continue;
    changed += bytes != before ? 1U : 0U;
    // Encoded again, since not-a-number is not equal to itself.
    ASSERT_EQ(encoded(*read), encoded(decoded(bytes + kUnknownField))) << "number " << i;
  }
  EXPECT_GT(changed, 1'000U);
}

TEST(Codec, DoublesSurviveToTheBit) {
  for (const double value : {-0.0, 5e-324, std::nextafter(1.0, 2.0), 0.1, std::numeric_limits<double>::infinity(),
                             std::bit_cast<double>(std::uint64_t{0x7ff8'0000'dead'beef})}) {
    const Event event{.body = FactorPinned{.model = "a", .factor = value}};
    const double back = std::get<FactorPinned>(decoded(encoded({.event = event})).event.body).factor;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(value));
  }
}

TEST(Codec, ANewerFormatIsRefusedByName) {
  // Field 1 of the envelope, as protoc would write it.
  const Result<Record> record = decode("\x08\x63", "p", 12);
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(record.error().message, "event 12 of pool p has format 99, this binary reads up to 3: it needs a newer margin");
}

TEST(Codec, AnUnknownTypeIsRefusedByName) {
  const Result<Record> record = decode(std::string_view("\x08\x01\xfa\x07\x00", 5), "p", 12);  // field 127, an empty message
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(record.error().message, "event 12 of pool p is of the unknown type 127: it needs a newer margin");
}

TEST(Codec, AnUnknownFieldOfAKnownTypeIsPassedOver) {
  std::string bytes = encoded({.event = {.body = ModelLeft{.model = "a"}}});
  bytes += std::string("\x78\x05", 2);  // field 15 of the envelope
  EXPECT_EQ(std::get<ModelLeft>(decoded(bytes).event.body).model, "a");
}

TEST(Codec, BytesThatAreNoRecordAreCorrupt) {
  for (const std::string_view bytes :
       {std::string_view(""), std::string_view("\x08\x01", 2), std::string_view("\xff\xff\xff"), std::string_view("hello")}) {
    const Result<Record> record = decode(bytes, "p", 0);
    ASSERT_FALSE(record.ok());
    EXPECT_EQ(record.error().code, ErrorCode::kCorrupt);
  }
}

TEST(Codec, AnyCutOrChangeIsDecodedOrRefusedButNeverMore) {
  Random random(3);
  for (int i = 0; i < 3'000; ++i) {
    std::string bytes = encoded(random_record(random));
    if (random.chance(0.5)) bytes.resize(random.below(bytes.size() + 1));
    for (std::uint64_t flips = random.below(4); flips > 0 && !bytes.empty(); --flips) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    const Result<Record> record = decode(bytes, "p", 0);
    if (record) {
      std::string again;
      encode(record->event, record->mark, record->note, again);
      EXPECT_TRUE(decode(again, "p", 0).ok());
    }
  }
}

}  // namespace
}  // namespace margin::internal
