#include "log/erasure.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "log/codec.h"
#include "log/limits.h"
#include "log/store_format.h"

namespace margin::internal {
namespace {

// Rows held in memory at a time: they are changed only after they have been read.
constexpr std::int64_t kRowsAtOnce = 500;

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

class Eraser {
 public:
  Eraser(Database& database, const Uuid& decision) : database_(database), decision_(decision) {}

  Result<Erasure> run() {
    Result<std::vector<PoolRows>> pools = all_pools();
    if (!pools) return pools.error();
    for (const PoolRows& pool : *pools) {
      if (Status status = in_events(pool); !status) return status.error();
      if (Status status = in_audit(pool); !status) return status.error();
    }
    if (found_) return std::move(erased_);
    return {ErrorCode::kNotFound, "decision: no event of " + decision_.text() + " is in the store"};
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
    std::uint64_t before = pool.base;  // the chain as it was, and as it becomes
    std::uint64_t after = pool.base;
    status =
        each_row("SELECT row, chain, record FROM events WHERE row >= ?1 AND row < ?2 ORDER BY row LIMIT ?3", pool, [&](Row& row) -> Status {
          before = chain_next(before, row.record);
          if (before != row.checksum) return damaged(pool, row);
          if (Status erased = erase(pool, row, Folded::kStill); !erased) return erased;
          after = chain_next(after, row.record);
          return after == before ? Status() : update(row.number, after, std::string_view(row.record)).finish();
        });
    if (!status || after == before) return status;
    return update_head(pool.number, after).finish();
  }

  Status in_audit(const PoolRows& pool) {
    Statement update;
    if (Status status = database_.prepare(update, "UPDATE audit SET checksum = ?2, record = ?3 WHERE row = ?1"); !status) return status;
    return each_row(
        "SELECT row, checksum, record FROM audit WHERE row >= ?1 AND row < ?2 ORDER BY row LIMIT ?3", pool, [&](Row& row) -> Status {
          const auto seed = static_cast<std::uint64_t>(row.number);
          if (chain_next(seed, row.record) != row.checksum) return damaged(pool, row);
          const std::uint64_t records = erased_.records;
          if (Status erased = erase(pool, row, Folded::kNoLonger); !erased) return erased;
          return erased_.records == records ? Status()
                                            : update(row.number, chain_next(seed, row.record), std::string_view(row.record)).finish();
        });
  }

  enum class Folded { kStill, kNoLonger };

  // Takes the texts out of the row's record if it is about the decision.
  Status erase(const PoolRows& pool, Row& row, Folded folded) {
    Result<Record> record = decode(row.record, pool.name, offset_of(row.number));
    if (!record) return record.error();
    EventBody& body = record->event.body;
    if (auto* decision = std::get_if<DecisionMade>(&body); decision != nullptr && record->event.id == decision_) {
      decision->task.clear();
    } else if (auto* outcome = std::get_if<OutcomeObserved>(&body); outcome != nullptr && outcome->decision == decision_) {
      // The fold compares this text with the answers when the decision comes after it.
      if (folded == Folded::kStill && outcome->gold) erased_.needed.push_back(record->event.id);
      if (folded == Folded::kStill || !outcome->gold) return found();
    } else {
      return {};
    }
    forget_answers(body);
    std::string rest;
    encode(record->event, record->mark, record->note, rest);
    if (rest != row.record) ++erased_.records;
    row.record = std::move(rest);
    return found();
  }

  Status found() {
    found_ = true;
    return {};
  }

  static Error damaged(const PoolRows& pool, const Row& row) {
    return {ErrorCode::kCorrupt, "event " + std::to_string(offset_of(row.number)) + " of pool " + printable(pool.name) +
                                     " is damaged: its bytes do not match their checksum"};
  }

  Database& database_;
  const Uuid decision_;
  Erasure erased_;
  bool found_ = false;
};

}  // namespace

Result<Erasure> erase_texts(Database& database, const Uuid& decision) { return Eraser(database, decision).run(); }

}  // namespace margin::internal
