#include "log/erasure.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "log/codec.h"
#include "log/limits.h"
#include "log/store_format.h"
#include "log/stored_row.h"

namespace margin::internal {
namespace {

// Rows held in memory at a time: they are changed only after they have been read.
constexpr std::int64_t kRowsAtOnce = 50;

struct Row {
  std::int64_t number = 0;
  std::uint64_t checksum = 0;
  std::string record;
};

struct PoolRows {
  std::int64_t number = 0;
  std::string name;
  std::uint64_t base = 0;
};

class StoreEraser {
 public:
  StoreEraser(Database& database, TextEraser& texts) : database_(database), texts_(texts) {}

  Status run() {
    Result<std::vector<PoolRows>> pools = all_pools();
    if (!pools) return pools.error();
    for (const PoolRows& pool : *pools) {
      if (!texts_.concerns(pool.name)) continue;
      if (Status status = in_events(pool); !status) return status;
      if (Status status = in_audit(pool); !status) return status;
    }
    return {};
  }

 private:
  Result<std::vector<PoolRows>> all_pools() {
    Statement select;
    if (Status status = database_.prepare(select, "SELECT pool, name, base FROM pools"); !status) return status.error();
    std::vector<PoolRows> pools;
    Execution row = select();
    while (true) {
      const Result<bool> more = row.next();
      if (!more) return more.error();
      if (!*more) return pools;
      pools.push_back({row.integer(0), std::string(row.bytes(1)), row.bits(2)});
    }
  }

  static Result<std::vector<Row>> some_rows(Statement& select, std::int64_t from, std::int64_t end) {
    std::vector<Row> rows;
    Execution row = select(from, end, kRowsAtOnce);
    while (true) {
      const Result<bool> more = row.next();
      if (!more) return more.error();
      if (!*more) return rows;
      rows.push_back({row.integer(0), row.bits(1), std::string(row.bytes(2))});
    }
  }

  // The rows of a pool in their order, so many at a time.
  template <class Visit>
  Status each_row(const char* select_sql, const PoolRows& pool, const Visit& visit) {
    Statement select;
    if (Status status = database_.prepare(select, select_sql); !status) return status;
    const std::int64_t end = row_of(pool.number + 1, 0);
    for (std::int64_t from = row_of(pool.number, 0);;) {
      Result<std::vector<Row>> rows = some_rows(select, from, end);
      if (!rows) return rows.error();
      if (rows->empty()) return {};
      from = rows->back().number + 1;
      for (Row& row : *rows) {
        if (Status status = visit(row); !status) return status;
      }
    }
  }

  Status in_events(const PoolRows& pool) {
    Statement update;
    Statement update_head;
    Status status = database_.prepare(update, "UPDATE events SET chain = ?2, record = ?3 WHERE row = ?1");
    if (status.ok()) status = database_.prepare(update_head, "UPDATE pools SET head = ?2 WHERE pool = ?1");
    if (!status) return status;
    std::uint64_t before = pool.base;
    std::uint64_t after = pool.base;
    status = each_row("SELECT row, chain, record FROM events WHERE row >= ?1 AND row < ?2 ORDER BY row LIMIT ?3", pool,
                      [&](const Row& row) -> Status {
                        RowContent content;
                        if (Status erased = in_row(pool, row, content, before, after); !erased) return erased;
                        return after == before ? Status() : update(row.number, after, content.bytes()).finish();
                      });
    if (!status || after == before) return status;
    return update_head(pool.number, after).finish();
  }

  // `content` becomes what the row is to hold; `before` and `after` are the chains, as they were and as they become.
  Status in_row(const PoolRows& pool, const Row& row, RowContent& content, std::uint64_t& before, std::uint64_t& after) {
    RowRecords records(row.record, row.checksum);
    std::uint64_t offset = offset_of(row.number) + 1 - records.count();
    for (std::uint64_t i = 0; i < records.count(); ++i, ++offset) {
      const std::optional<RowRecords::Stored> stored = records.next();
      if (!stored || chain_next(before, stored->bytes) != stored->chain) return damaged(pool, offset);
      before = stored->chain;
      std::string record(stored->bytes);
      const Result<bool> erased = texts_.erase(record, pool.name, offset, TextEraser::Folded::kStill);
      if (!erased) return erased.error();
      after = chain_next(after, record);
      content.add(after, record);
    }
    return {};
  }

  Status in_audit(const PoolRows& pool) {
    Statement update;
    if (Status status = database_.prepare(update, "UPDATE audit SET checksum = ?2, record = ?3 WHERE row = ?1"); !status) return status;
    return each_row("SELECT row, checksum, record FROM audit WHERE row >= ?1 AND row < ?2 ORDER BY row LIMIT ?3", pool,
                    [&](Row& row) -> Status {
                      const auto seed = static_cast<std::uint64_t>(row.number);
                      if (chain_next(seed, row.record) != row.checksum) return damaged(pool, offset_of(row.number));
                      const Result<bool> erased = texts_.erase(row.record, pool.name, offset_of(row.number), TextEraser::Folded::kNoLonger);
                      if (!erased) return erased.error();
                      return *erased ? update(row.number, chain_next(seed, row.record), std::string_view(row.record)).finish() : Status();
                    });
  }

  static Error damaged(const PoolRows& pool, std::uint64_t offset) {
    return {ErrorCode::kCorrupt,
            "event " + std::to_string(offset) + " of pool " + printable(pool.name) + " is damaged: its bytes do not match their checksum"};
  }

  Database& database_;
  TextEraser& texts_;
};

// Whose texts the event may have.
std::optional<Uuid> decision_of(const Event& event) {
  if (std::holds_alternative<DecisionMade>(event.body)) return event.id;
  if (const auto* outcome = std::get_if<OutcomeObserved>(&event.body)) return outcome->decision;
  return std::nullopt;
}

}  // namespace

TextEraser::TextEraser(std::span<const ErasureWanted> wanted) : wanted_(wanted), erased_(wanted.size()) {
  for (std::size_t i = 0; i < wanted.size(); ++i) places_.emplace(wanted[i].decision, i);
}

bool TextEraser::concerns(std::string_view pool) const {
  return std::any_of(wanted_.begin(), wanted_.end(), [&](const ErasureWanted& one) { return one.pool.empty() || one.pool == pool; });
}

Result<bool> TextEraser::erase(std::string& record, std::string_view pool, std::uint64_t offset, Folded folded) {
  Result<Record> decoded = decode(record, pool, offset);
  if (!decoded) return decoded.error();
  EventBody& body = decoded->event.body;
  const std::optional<Uuid> decision = decision_of(decoded->event);
  const auto [first, last] = decision ? places_.equal_range(*decision) : std::pair(places_.end(), places_.end());
  if (first == last) return false;
  const auto* outcome = std::get_if<OutcomeObserved>(&body);
  // As this binary writes it, whichever did.
  std::string whole;
  encode(decoded->event, decoded->mark, decoded->note, whole);
  // The fold compares the right answer with the answers when the decision comes after it.
  const bool needed = outcome != nullptr && outcome->gold && folded == Folded::kStill;
  if (auto* made = std::get_if<DecisionMade>(&body)) made->task.clear();
  if (!needed) forget_answers(body);
  std::string rest;
  encode(decoded->event, decoded->mark, decoded->note, rest);
  const bool texts = rest != whole;
  bool changed = false;
  for (auto place = first; place != last; ++place) {
    const ErasureWanted& wanted = wanted_[place->second];
    if (!wanted.pool.empty() && wanted.pool != pool) continue;
    Erasure& erasure = erased_[place->second];
    erasure.found = true;
    if (needed) erasure.needed.push_back(decoded->event.id);
    if (!texts) continue;
    ++erasure.records;
    if (!std::exchange(changed, true) && !wanted.note.empty()) decoded->note += (decoded->note.empty() ? "" : "; ") + wanted.note;
  }
  if (!changed) return false;
  decoded->note.resize(std::min(decoded->note.size(), kNoteBytesMax));
  record.clear();
  encode(decoded->event, decoded->mark, decoded->note, record);
  return true;
}

Status erase_texts(Database& database, TextEraser& eraser) { return StoreEraser(database, eraser).run(); }

}  // namespace margin::internal
