#include "log/stored_row.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/store_format.h"
#include "margin/random.h"

namespace margin::internal {
namespace {

constexpr std::uint64_t kBefore = 77;  // the chain before the row

struct Row {
  std::string content;
  std::uint64_t chain = kBefore;
  std::uint64_t count = 0;  // as its place among the others tells
};

Row row_of_records(const std::vector<std::string>& records) {
  Row row;
  RowContent content;
  for (const std::string& record : records) {
    row.chain = chain_next(row.chain, record);
    content.add(row.chain, record);
  }
  row.content = content.bytes();
  row.count = records.size();
  return row;
}

// As readers do: what does not follow the chain ends it.
std::vector<std::string> intact_records(const Row& row) {
  std::vector<std::string> records;
  RowRecords stored(row.content, row.chain);
  if (stored.count() != row.count) return records;
  std::uint64_t chain = kBefore;
  for (std::uint64_t i = 0; i < stored.count(); ++i) {
    const auto record = stored.next();
    if (!record || chain_next(chain, record->bytes) != record->chain) break;
    chain = record->chain;
    records.emplace_back(record->bytes);
  }
  return records;
}

// The first byte of a record is never zero.
std::vector<std::string> random_records(std::uint64_t count, Random& random) {
  std::vector<std::string> records(count);
  for (std::string& record : records) {
    record = "r";
    for (std::uint64_t i = random.below(40); i > 0; --i) record += static_cast<char>(random.below(256));
  }
  return records;
}

TEST(StoredRow, OneRecordIsStoredAsItIs) {
  const Row row = row_of_records({"a record"});
  EXPECT_EQ(row.content, "a record");
  EXPECT_EQ(intact_records(row), std::vector<std::string>{"a record"});
}

TEST(StoredRow, SeveralComeBackAsTheyWere) {
  Random random(1);
  for (std::uint64_t count = 1; count < 100; ++count) {
    const std::vector<std::string> records = random_records(count, random);
    const Row row = row_of_records(records);
    EXPECT_EQ(RowRecords(row.content, row.chain).count(), count);
    ASSERT_EQ(intact_records(row), records);
  }
}

TEST(StoredRow, ItsBytesAreBounded) {
  RowContent content;
  const std::string large(2 * kRowBytesMax, 'x');
  EXPECT_TRUE(content.takes(large));  // alone
  content.add(1, "small");
  EXPECT_FALSE(content.takes(large));
  std::size_t count = 1;
  for (const std::string record(1000, 'x'); content.takes(record); ++count) content.add(1, record);
  EXPECT_LE(content.bytes().size(), kRowBytesMax + 100);
  EXPECT_GT(count, 60U);
  content.clear();
  EXPECT_TRUE(content.empty());
  content.add(1, "again");
  EXPECT_EQ(content.bytes(), "again");
}

TEST(StoredRow, NoFlippedBitGoesUnnoticedAndThoseBeforeItAreRead) {
  Random random(2);
  const std::vector<std::string> records = random_records(5, random);
  const Row row = row_of_records(records);
  for (std::size_t place = 0; place < row.content.size(); ++place) {
    for (int bit = 0; bit < 8; ++bit) {
      Row damaged = row;
      damaged.content[place] = static_cast<char>(damaged.content[place] ^ (1 << bit));
      const std::vector<std::string> left = intact_records(damaged);
      ASSERT_LT(left.size(), records.size()) << place;
      for (std::size_t i = 0; i < left.size(); ++i) ASSERT_EQ(left[i], records[i]);
    }
  }
  Row elsewhere = row;
  elsewhere.chain ^= 1;
  EXPECT_EQ(intact_records(elsewhere).size(), records.size() - 1);
}

TEST(StoredRow, NoCutGoesUnnoticed) {
  Random random(3);
  const std::vector<std::string> records = random_records(5, random);
  const Row row = row_of_records(records);
  for (std::size_t size = 0; size < row.content.size(); ++size) {
    ASSERT_LT(intact_records({row.content.substr(0, size), row.chain, row.count}).size(), records.size()) << size;
  }
  EXPECT_LT(intact_records({row.content + "x", row.chain, row.count}).size(), records.size());
}

TEST(StoredRow, AnyBytesAreSafe) {
  Random random(4);
  for (int round = 0; round < 100'000; ++round) {
    std::string content(random.below(60), '\0');
    for (char& byte : content) byte = random.chance(0.5) ? '\0' : static_cast<char>(random.below(256));
    if (!content.empty()) content.front() = '\0';
    RowRecords stored(content, random.bits());
    ASSERT_LE(stored.count(), content.size() + 1);
    for (std::uint64_t i = 0; i < stored.count(); ++i) {
      if (!stored.next()) break;
    }
  }
}

}  // namespace
}  // namespace margin::internal
