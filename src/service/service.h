// Service: pools served from an event log. Everything that changes a pool is first an event in the log; when the log has it for good, it is
// applied, in order, and only then does the caller hear of it. Knows neither HTTP nor JSON; src/server speaks those.
//
// Threads: all functions are called on one thread, the loop's; callbacks come on it too, never before the call that asked for them has
// returned. The log's thread only hands acknowledgements over; long work (folding again, keeping snapshots) runs on one thread of the
// service's own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "log/event_log.h"
#include "margin/event.h"
#include "margin/pool.h"
#include "margin/random.h"
#include "margin/result.h"
#include "service/background.h"
#include "service/erasures.h"
#include "service/horizons.h"
#include "service/pool_changes.h"
#include "service/served_pool.h"
#include "service/turns.h"

namespace margin::service {

// Always exists.
inline constexpr std::string_view kDefaultPool = "default";

// What a reload may change.
struct ServiceBounds {
  std::size_t pools_max = 256;
  std::size_t requests_max = 100'000;      // remembered by Idempotency-Key, in each pool
  std::uint64_t snapshot_every = 100'000;  // events
};

struct ServiceOptions {
  PoolConfigured pool_defaults;                 // of a pool that is made without settings
  std::map<std::string, PoolConfigured> pools;  // the operator's, by name: each exists and is as it says here
  // What the operator means for one of them that runs already: where no version of a method is named, the one that runs stays. Empty: what
  // `pools` says.
  std::function<PoolConfigured(const std::string& pool, const PoolConfigured& running)> continued;
  ServiceBounds bounds;
  std::function<std::int64_t()> clock_ms;           // since 1970
  std::uint64_t seed = 0;                           // of ids
  std::function<void(std::function<void()>)> post;  // runs something on the loop's thread, soon; callable from any thread
  // The same when so much time has passed; called on the loop's thread. Empty: as `post`.
  std::function<void(std::chrono::microseconds, std::function<void()>)> post_after;
  // What an operator should know: a refold that failed, a snapshot that could not be kept.
  std::function<void(std::string)> complain;
  // One of `pools` ran otherwise, and is changed. May be empty.
  std::function<void(const std::string& pool, const PoolChanges& changes)> reconfigured;
};

// An event that has been made and not yet written.
struct Prepared {
  ServedPool* pool = nullptr;
  Event event;
  std::optional<RequestMark> mark{};
  std::string note{};
  RevertPermit permit{};  // of can_revert, where this is the revert that was asked about
};

struct Applied {
  std::uint64_t offset = 0;
  ApplyResult result;
};

class Service {
 public:
  using Done = std::function<void(Result<Applied>&&)>;
  // Called for each event after it was applied; for what waits for a fold after that, with what became of it: whoever then asks for a
  // decision finds it as it is told.
  struct Happened {
    const ServedPool& pool;
    std::uint64_t offset = 0;
    const Event& event;
    const ApplyResult& result;
  };
  using Listener = std::function<void(const Happened&)>;

  // Recovers every pool of the log and makes those of the options. Errors are recovery's.
  [[nodiscard]] static Result<std::unique_ptr<Service>> open(EventLog& log, ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void on_applied(Listener listener) { listener_ = std::move(listener); }

  // nullptr: no such pool.
  [[nodiscard]] ServedPool* find(std::string_view pool);
  [[nodiscard]] const std::map<std::string, std::unique_ptr<ServedPool>, std::less<>>& pools() const { return pools_; }
  // A pool with the defaults, made when it does not exist, or when the log did not take the configuration that the options have for it,
  // which is its first event. kLimit: too many; kUnavailable: the log does not take it. Making one waits for the disk.
  [[nodiscard]] Result<ServedPool*> find_or_make(const std::string& pool);
  // Where an id is looked for, in this order: a tenant's own pools; for who is of no tenant all of them, those of no tenant first. Clients
  // choose ids of decisions, and a tenant that chooses one of somebody else's must not take what is meant for that.
  [[nodiscard]] std::vector<ServedPool*> pools_seen_by(std::string_view tenant) const;
  // The first of those pools that knows a decision.
  [[nodiscard]] ServedPool* find_decision(Uuid decision, std::string_view tenant) const;

  // The pool in which early feedback waits for a decision.
  [[nodiscard]] ServedPool* find_awaiting(Uuid decision, std::string_view tenant) const;
  // The one of `pools` that made this decision and remembers it no longer; nullptr: none did. Asks the log of each. Errors are the log's.
  [[nodiscard]] Result<ServedPool*> find_forgotten(Uuid decision, const std::vector<ServedPool*>& pools);

  // An event for `pool` with a new id and the time, or the caller's.
  template <class Body>
  [[nodiscard]] Prepared prepare(ServedPool& pool, Body&& body, std::optional<Uuid> id = {}, std::optional<std::int64_t> now_ms = {}) {
    const std::int64_t now = now_ms ? *now_ms : options_.clock_ms();
    return {.pool = &pool, .event = {.id = id ? *id : new_id(now), .time_ms = pool.stamp(now), .body = std::forward<Body>(body)}};
  }
  // A new id, by the clock.
  [[nodiscard]] Uuid new_id() { return new_id(options_.clock_ms()); }
  [[nodiscard]] Uuid new_id(std::int64_t now_ms);

  // Writes it; `done` hears how it was applied, or why it could not be written. A revert that calls for a new fold is done when the folded
  // state is in place. kLimit: the log's queue is full (overload); then `done` is not called.
  [[nodiscard]] Status commit(Prepared&& prepared, Done done);
  // Several, at least one, all of them or none; `done` hears of the last. Errors as above.
  [[nodiscard]] Status commit_together(std::vector<Prepared>&& prepared, Done done);
  // Those who say something of one decision, in their order.
  [[nodiscard]] Turns& turns() { return turns_; }
  // A revert that could not be carried out is not to be written; one that is, with the permit, or retention could come between. kNotFound:
  // the pool's log has no such feedback; kUnsupported: it was taken into the state before the earliest that is kept, or that retention is
  // about to keep.
  [[nodiscard]] Result<RevertPermit> can_revert(ServedPool& pool, Uuid feedback);
  // The same of all feedback of a source. Where events are compacted away the earliest state may have to be read, on the side: `answer` is
  // called at once, or in a later turn of the loop.
  using Permitted = std::function<void(Result<RevertPermit>)>;
  void can_revert(ServedPool& pool, std::string source, Permitted answer);

  // The event by its id, from the log.
  [[nodiscard]] Result<std::optional<Record>> look_up(ServedPool& pool, Uuid id) { return log_.find(pool.name(), id); }

  [[nodiscard]] EventLog& log() { return log_; }
  [[nodiscard]] std::int64_t now_ms() const { return options_.clock_ms(); }
  // For work that is better done in several turns of the loop.
  void later(std::function<void()> work) { options_.post(std::move(work)); }
  [[nodiscard]] std::size_t in_flight() const { return waiting_.size(); }
  // The settings that new pools get, and those of the operator's pools, from now on (a reload). Writes what changed. A pool that is not
  // among them stays what it was made or PUT as; the bounds of `defaults` reach kDefaultPool, which is made where there is none, and the
  // max_error of an operator's kDefaultPool reaches the pools of that name that tenants have.
  void reconfigure(std::map<std::string, PoolConfigured> pools, PoolConfigured defaults);
  // Whether the log did not take some of that: to be asked for again when it takes events.
  [[nodiscard]] bool has_unwritten_pools() const { return unwritten_pools_; }

  // Pools beyond a smaller number stay, requests beyond it are forgotten.
  void set_bounds(const ServiceBounds& bounds);

  // Takes the texts of a decision that was applied out of the log, and out of what is remembered here; docs/event_log.md says what stays.
  void erase(ServedPool& pool, Uuid decision, std::string note, Erasures::Done done) {
    erasures_.add(pool, decision, std::move(note), std::move(done));
  }

  // Takes events from before `horizon_ms` out of the log, on the side, behind a snapshot that stands for them. A pool that has a revert on
  // its way to the log is left for the next time.
  void retain(std::int64_t horizon_ms, AuditKept audit);

  // Keeps a snapshot of every pool that has moved since its last one; blocks. For the end of a server's life.
  void keep_snapshots();

 private:
  // An event that the log has been given, and who waits for it.
  struct Waiting {
    Waiting(Prepared&& prepared, Done&& by)
        : pool(*prepared.pool),
          entry{.pool = pool.name(), .event = std::move(prepared.event), .mark = prepared.mark, .note = std::move(prepared.note)},
          done(std::move(by)),
          permit(std::move(prepared.permit)) {}

    ServedPool& pool;
    Entry entry;
    Done done;
    RevertPermit permit;
    std::optional<Result<std::uint64_t>> acknowledged;
  };
  using AllWaiting = std::list<Waiting>;

  Service(EventLog& log, ServiceOptions options);
  Status recover();
  Status recall_requests(ServedPool& pool, std::uint64_t first, std::uint64_t from);
  void add_pool(const std::string& name, Pool pool, std::uint64_t next_offset);
  // Writes `wanted` for a pool that is not so yet, or is not there.
  void configure(const std::string& name, const PoolConfigured& wanted);
  // What is committed in this turn of the loop shares a transaction.
  void gather();
  [[nodiscard]] EventLog::Acknowledge acknowledge(AllWaiting::iterator waiting);
  void drain();
  // Waits for the disk.
  void settle_all();
  void settle(const Waiting& waiting);
  Status catch_up(ServedPool& pool, std::uint64_t offset);
  // Somebody who waits for a pool to be folded again.
  struct AwaitingFold {
    Done done;
    Applied applied;
    Event event;  // a revert, or an outcome that repeats or contradicts what the fold may take back
  };
  void finish(ServedPool& pool, const Event& event, Result<Applied> applied, const Done& done);
  // Pools with early feedback are looked at when a decision is made in another pool of their tenant.
  void note_early(ServedPool& pool);
  [[nodiscard]] bool awaited_elsewhere(const ServedPool& pool, Uuid decision);
  // Early feedback that waits in other pools of the tenant is written to the pool that made its decision, under its own id, and taken back
  // where it waited. `then` hears what became of the last of it in that pool, nothing when there was none.
  using Then = std::function<void(std::optional<Applied>)>;
  void take_over(ServedPool& pool, Uuid decision, Then then);
  void take_over_recovered();
  // `permit` was got when nothing moved the earliest state, or that has ended.
  void permit_source(ServedPool& pool, std::string source, RevertPermit permit, Permitted answer);
  void fold_again(ServedPool& pool, AwaitingFold awaiting);
  struct Folding;
  void adopt(ServedPool& pool, const std::shared_ptr<Folding>& folding);
  // Who has waited for it.
  [[nodiscard]] std::vector<AwaitingFold> end_fold(ServedPool& pool);
  // For reverts that no retained state reaches: an answer for those whose feedback the folded state holds still.
  void answer_out_of_reach(ServedPool& pool, std::vector<AwaitingFold> waiting);
  void answer(ServedPool& pool, AwaitingFold awaiting);
  void tell_if_revert(ServedPool& pool, const AwaitingFold& awaiting);
  // Tells and counts what became of an event.
  void tell(ServedPool& pool, const Event& event, const Applied& applied);
  void snapshot_when_due(ServedPool& pool);
  void continue_snapshot(ServedPool& pool, std::uint64_t offset, std::chrono::microseconds rest);
  void keep_snapshot(ServedPool& pool, std::uint64_t offset, std::vector<std::string> pieces);
  // On the side, a pool at a time, so that others who wait for it have their turn in between.
  struct Retention {
    std::int64_t horizon_ms = 0;
    AuditKept audit = AuditKept::kEverything;
    std::vector<PoolPosition> pools{};  // that are left
    std::string problem{};              // the last
  };
  void retain_next(const std::shared_ptr<Retention>& retention);
  Status compact_before(const PoolPosition& position, std::int64_t horizon_ms, AuditKept audit, const Pause& pause);

  EventLog& log_;
  ServiceOptions options_;
  Random random_;
  std::map<std::string, std::unique_ptr<ServedPool>, std::less<>> pools_;
  std::map<std::string, std::vector<AwaitingFold>> awaiting_fold_;
  std::vector<ServedPool*> early_;  // pools that had early feedback when last seen
  Listener listener_;
  AllWaiting waiting_;  // each stays where it is, for the log's thread to find
  bool gathering_ = false;
  bool unwritten_pools_ = false;
  std::atomic<std::thread::id> uncorking_;  // who drains what is committed meanwhile
  Uuid last_id_;

  std::mutex mutex_;
  std::vector<AllWaiting::iterator> acknowledged_;  // guarded by mutex_
  std::shared_ptr<bool> alive_;                     // false once the service is gone: posted work then does nothing
  Turns turns_;
  Erasures erasures_;
  Horizons horizons_;
  // Up to where the logs of pools were searched for reverts, and behind the last of them; for retain(), on the side.
  struct Searched {
    std::uint64_t end = 0;
    std::uint64_t after_last = 0;
  };
  std::map<std::string, Searched> searched_;
  Background background_;  // last: it stops before the rest goes
};

}  // namespace margin::service
