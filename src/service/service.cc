#include "service/service.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <set>

#include "base/check.h"
#include "log/recovery.h"

namespace margin::service {
namespace {

// Records read at a time.
constexpr std::size_t kPage = 4096;

// Beyond the events that are recalled anyway, the search for requests may take so long at a start.
constexpr std::chrono::seconds kRecallPatience{1};

// With every parameter spelled out, as a pool that was configured so says it.
PoolConfigured resolved(const PoolConfigured& config) {
  Pool probe;
  probe.apply({.id = {0, 1}, .time_ms = 0, .body = config});
  return probe.config();
}

}  // namespace

Service::Service(EventLog& log, ServiceOptions options)
    : log_(log),
      options_(std::move(options)),
      random_(options_.seed),
      alive_(std::make_shared<bool>(true)),
      turns_(options_.post),
      erasures_(log_, background_, options_.post, alive_) {
  log_.on_commit([this, alive = alive_] {
    if (uncorking_ == std::this_thread::get_id()) return;
    options_.post([this, alive] {
      if (*alive) drain();
    });
  });
}

Service::~Service() {
  *alive_ = false;
  log_.flush();
  log_.on_commit([] {});
}

Result<std::unique_ptr<Service>> Service::open(EventLog& log, ServiceOptions options) {
  std::unique_ptr<Service> service(new Service(log, std::move(options)));
  if (Status recovered = service->recover(); !recovered) return recovered.error();
  service->reconfigure(service->options_.pools, service->options_.pool_defaults);
  service->take_over_recovered();
  service->settle_all();
  return service;
}

Status Service::recover() {
  auto positions = log_.pools();
  if (!positions) return positions.error();
  for (const PoolPosition& position : *positions) {
    auto recovered = margin::recover(log_, position.pool);
    if (!recovered) return Error{recovered.error().code, "pool " + position.pool + ": " + recovered.error().message};
    for (const std::string& finding : recovered->findings) options_.complain(finding);
    add_pool(position.pool, std::move(recovered->pool), recovered->next);
    // Requests are remembered from the log, as many as may be kept.
    ServedPool& pool = *pools_.find(position.pool)->second;
    const std::uint64_t span = std::min<std::uint64_t>(options_.bounds.requests_max, recovered->next - position.first);
    for (std::uint64_t from = recovered->next - span; from < recovered->next;) {
      auto records = log_.read(position.pool, from, kPage);
      if (!records) return records.error();
      if (records->empty()) break;
      for (const Record& record : *records) pool.recall(record);
      from = records->back().offset + 1;
    }
    pool.recalled();
    if (Status recalled = recall_requests(pool, position.first, recovered->next - span); !recalled) return recalled;
  }
  return {};
}

// Those of before `from`: where few requests carry a key, as many of them reach further back than as many events.
Status Service::recall_requests(ServedPool& pool, std::uint64_t first, std::uint64_t from) {
  const auto began = std::chrono::steady_clock::now();
  while (from > first) {
    if (std::chrono::steady_clock::now() - began > kRecallPatience) {
      if (pool.requests().size() > 0) {
        options_.complain("pool " + pool.name() + ": Idempotency-Keys from before event " + std::to_string(from) +
                          " are forgotten, though fewer than limits.idempotency_keys have come since: the start would take too long");
      }
      return {};
    }
    const std::uint64_t begin = from - std::min<std::uint64_t>(kPage, from - first);
    std::vector<Record> page;
    while (begin + page.size() < from) {
      auto records = log_.read(pool.name(), begin + page.size(), from - begin - page.size());
      if (!records) return records.error();
      if (records->empty()) return {};
      std::move(records->begin(), records->end(), std::back_inserter(page));
    }
    for (auto record = page.rbegin(); record != page.rend(); ++record) {
      if (record->mark && !pool.requests().recall_earlier(*record->mark, record->event.id)) return {};
    }
    from = begin;
  }
  return {};
}

void Service::add_pool(const std::string& name, Pool pool, std::uint64_t next_offset) {
  auto made = std::make_unique<ServedPool>(name, std::move(pool), next_offset, ServedPool::Limits{options_.bounds.requests_max});
  made->next_snapshot = next_offset + options_.bounds.snapshot_every;
  pools_.emplace(name, std::move(made));
}

void Service::reconfigure(std::map<std::string, PoolConfigured> pools, PoolConfigured defaults) {
  options_.pools = std::move(pools);
  options_.pool_defaults = std::move(defaults);
  unwritten_pools_ = false;
  for (const auto& [name, wanted] : options_.pools) {
    const ServedPool* running = find(name);
    const bool goes_on = running != nullptr && running->next_offset() > 0 && options_.continued;
    configure(name, goes_on ? options_.continued(name, running->pool().config()) : wanted);
  }
  const std::string own(kDefaultPool);
  if (const auto stated = options_.pools.find(own); stated != options_.pools.end()) {
    for (const auto& [name, pool] : pools_) {
      if (pool->next_offset() == 0 || options_.pools.contains(name) || name != std::string(pool->tenant()) + "/" + own) continue;
      PoolConfigured wanted = pool->pool().config();
      wanted.max_error = stated->second.max_error;
      configure(name, wanted);
    }
    return;
  }
  const ServedPool* running = find(own);
  const bool made = running != nullptr && running->next_offset() > 0;
  configure(own, made ? with_bounds_of(running->pool().config(), options_.pool_defaults) : options_.pool_defaults);
}

void Service::configure(const std::string& name, const PoolConfigured& wanted) {
  if (find(name) == nullptr) add_pool(name, Pool(), 0);
  ServedPool& pool = *find(name);
  if (pool.next_offset() > 0) {
    const PoolChanges changes = pool_changes(pool.pool().config(), resolved(wanted));
    if (changes.keys.empty()) return;
    if (options_.reconfigured) options_.reconfigured(name, changes);
  }
  const auto unwritten = [this, name](const Error& why) {
    unwritten_pools_ = true;
    options_.complain("pool " + name + ": its configuration could not be written: " + why.message);
  };
  Status written = commit(prepare(pool, wanted), [this, name, unwritten](const Result<Applied>& applied) {
    if (!applied) {
      unwritten(applied.error());
    } else if (applied->result.error) {
      options_.complain("pool " + name + ": its configuration was refused: " + applied->result.error->message);
    }
  });
  if (!written) unwritten(written.error());
}

void Service::set_bounds(const ServiceBounds& bounds) {
  options_.bounds = bounds;
  for (const auto& [name, pool] : pools_) pool->requests().set_count_max(bounds.requests_max);
}

ServedPool* Service::find(std::string_view pool) {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? nullptr : found->second.get();
}

Result<ServedPool*> Service::find_or_make(const std::string& pool) {
  ServedPool* made = find(pool);
  if (made != nullptr && made->next_offset() > 0) return made;
  const bool is_new = made == nullptr;
  if (is_new && pools_.size() >= options_.bounds.pools_max) {
    return {ErrorCode::kLimit,
            "pool: " + std::to_string(pools_.size()) + " exist, expected at most " + std::to_string(options_.bounds.pools_max)};
  }
  if (is_new) {
    add_pool(pool, Pool(), 0);
    made = find(pool);
  }
  const auto refuse = [&](const std::string& why) -> Error {
    if (is_new) pools_.erase(pool);
    return {ErrorCode::kUnavailable, why};
  };
  // Nobody may decide before the pool is what it was made as; it is rare enough to wait for the disk. One of the file may be on its way.
  settle_all();
  if (made->next_offset() > 0) return made;
  const auto stated = options_.pools.find(pool);
  const PoolConfigured& wanted = stated == options_.pools.end() ? options_.pool_defaults : stated->second;
  if (Status written = commit(prepare(*made, wanted), [](const Result<Applied>&) {}); !written) return refuse(written.error().message);
  settle_all();
  if (made->next_offset() == 0) return refuse("pool: could not be written");
  return made;
}

std::vector<ServedPool*> Service::pools_seen_by(std::string_view tenant) const {
  std::vector<ServedPool*> seen;
  for (const auto& [name, pool] : pools_) {
    if (tenant.empty() || pool->tenant() == tenant) seen.push_back(pool.get());
  }
  std::stable_partition(seen.begin(), seen.end(), [&](const ServedPool* pool) { return pool->tenant() == tenant; });
  return seen;
}

// For every feedback, so without a list of pools.
ServedPool* Service::find_decision(Uuid decision, std::string_view tenant) const {
  ServedPool* of_another = nullptr;
  for (const auto& [name, pool] : pools_) {
    const bool own = pool->tenant() == tenant;
    if ((!own && (!tenant.empty() || of_another != nullptr)) || !pool->pool().knows(decision)) continue;
    if (own) return pool.get();
    of_another = pool.get();
  }
  return of_another;
}

Result<ServedPool*> Service::find_forgotten(Uuid decision, const std::vector<ServedPool*>& pools) {
  for (ServedPool* pool : pools) {
    if (pool->pool().knows(decision)) continue;
    auto record = log_.find(pool->name(), decision);
    if (!record) return record.error();
    // What is in the log and has not been applied yet is about to be known.
    const bool applied = *record && (*record)->offset < pool->next_offset();
    if (applied && std::holds_alternative<DecisionMade>((*record)->event.body)) return pool;
  }
  return nullptr;
}

Uuid Service::new_id(std::int64_t now_ms) {
  // Never back, also within a millisecond and when the clock steps, so that ids sort as they were made.
  if (now_ms > last_id_.time_ms() || last_id_ == Uuid()) return last_id_ = Uuid::make(now_ms, random_);
  return last_id_ = last_id_.later(random_);
}

EventLog::Acknowledge Service::acknowledge(AllWaiting::iterator waiting) {
  return [this, waiting](Result<std::uint64_t> offset) {
    waiting->acknowledged = std::move(offset);
    const std::lock_guard lock(mutex_);
    acknowledged_.push_back(waiting);
  };
}

Status Service::commit(Prepared&& prepared, Done done) {
  if (const auto* made = std::get_if<DecisionMade>(&prepared.event.body); made != nullptr && prepared.pool->pool().early_outcomes() > 0) {
    ServedPool& pool = *prepared.pool;
    std::vector<Prepared> all;
    const auto take_back = [&](const std::vector<Uuid>& feedbacks, const char* why) {
      for (const Uuid feedback : feedbacks) {
        options_.complain("pool " + pool.name() + ": feedback " + feedback.text() + " waited " + why + ", and is taken back: decision " +
                          prepared.event.id.text());
        all.push_back(prepare(pool, OutcomeReverted{.feedback = feedback, .source = ""}));
      }
    };
    // They could be compared with nothing, and would grade everybody wrong.
    if (!answers_are_kept(made->answers)) {
      take_back(pool.pool().waiting_golds(prepared.event.id), "with a right answer for a decision whose answers are not kept");
    }
    // It would grade all of them alike.
    take_back(pool.pool().waiting_ambiguous(prepared.event.id, *made), "with an outcome of a model that gave different answers");
    if (!all.empty()) {
      all.push_back(std::move(prepared));
      return commit_together(std::move(all), std::move(done));
    }
  }
  gather();
  const auto waiting = waiting_.emplace(waiting_.end(), std::move(prepared), std::move(done));
  Status taken = log_.append(waiting->entry, acknowledge(waiting));
  if (!taken) {
    waiting_.erase(waiting);
    return taken;
  }
  // The acknowledgement may be here already, but nobody reads it before drain(), which runs on this thread.
  if (const auto& mark = waiting->entry.mark) waiting->pool.requests().begin(*mark, waiting->entry.event.id);
  return {};
}

Status Service::commit_together(std::vector<Prepared>&& prepared, Done done) {
  gather();
  AllWaiting group;
  std::vector<EventLog::Grouped> entries;
  for (Prepared& one : prepared) {
    group.emplace_back(std::move(one), Done([](const Result<Applied>&) {}));
    entries.push_back({&group.back().entry, acknowledge(std::prev(group.end()))});
  }
  group.back().done = std::move(done);
  // Each stays where it is when it is taken over by another list.
  const auto first = group.begin();
  waiting_.splice(waiting_.end(), group);
  if (Status taken = log_.append_together(entries); !taken) {
    waiting_.erase(first, waiting_.end());
    return taken;
  }
  for (auto waiting = first; waiting != waiting_.end(); ++waiting) {
    if (const auto& mark = waiting->entry.mark) waiting->pool.requests().begin(*mark, waiting->entry.event.id);
  }
  return {};
}

void Service::gather() {
  if (std::exchange(gathering_, true)) return;
  log_.cork();
  const auto uncork = [this, alive = alive_] {
    if (!*alive) return;
    gathering_ = false;
    uncorking_ = std::this_thread::get_id();
    log_.uncork();
    uncorking_ = std::thread::id();
    drain();
  };
  // Round the loop twice: who came while these were served joins them.
  options_.post([this, alive = alive_, uncork] {
    if (*alive) options_.post(uncork);
  });
}

void Service::settle_all() {
  log_.flush();
  drain();
}

void Service::drain() {
  std::vector<AllWaiting::iterator> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(acknowledged_);
  }
  for (const auto waiting : batch) {
    AllWaiting settled;
    settled.splice(settled.end(), waiting_, waiting);
    settle(*waiting);
  }
}

void Service::settle(const Waiting& waiting) {
  ServedPool& pool = waiting.pool;
  const Event& event = waiting.entry.event;
  const std::optional<RequestMark>& mark = waiting.entry.mark;
  if (!waiting.acknowledged->ok()) {
    if (mark) pool.requests().forget(mark->key);
    waiting.done(waiting.acknowledged->error());
    return;
  }
  const std::uint64_t offset = waiting.acknowledged->value();
  if (Status caught_up = catch_up(pool, offset); !caught_up) {
    options_.complain("pool " + pool.name() + ": what was written could not be read: " + caught_up.error().message);
    if (mark) pool.requests().forget(mark->key);
    return waiting.done(caught_up.error());
  }
  if (mark) pool.requests().settle(*mark, event.id);
  finish(pool, event, Applied{offset, pool.apply(offset, event)}, waiting.done);
  snapshot_when_due(pool);
}

// Events that the log took, and then could not say so: the disk failed. They stand before what it took later.
Status Service::catch_up(ServedPool& pool, std::uint64_t offset) {
  while (pool.next_offset() < offset) {
    auto records = log_.read(pool.name(), pool.next_offset(), std::min<std::uint64_t>(kPage, offset - pool.next_offset()));
    if (!records) return records.error();
    if (records->empty()) return {ErrorCode::kCorrupt, "event " + std::to_string(pool.next_offset()) + " is missing from the log"};
    for (const Record& record : *records) {
      if (record.mark) pool.requests().settle(*record.mark, record.event.id);
      finish(pool, record.event, Applied{record.offset, pool.apply(record.offset, record.event)}, [](const Result<Applied>&) {});
    }
  }
  return {};
}

// `applied` is no error.
void Service::finish(ServedPool& pool, const Event& event, Result<Applied> applied, const Done& done) {
  const ApplyResult& result = applied->result;
  const auto* outcome = std::get_if<OutcomeObserved>(&event.body);
  const bool contradicts = outcome != nullptr && (result.status == ApplyStatus::kConflict || result.status == ApplyStatus::kDuplicate);
  // What came while a fold is under way is part of that fold; who must know the effective result waits for it.
  const bool waits = result.status == ApplyStatus::kRefold || (pool.folding && contradicts);
  if (!waits) tell(pool, event, *applied);
  for (const Uuid feedback : result.dropped) {
    options_.complain("pool " + pool.name() + ": feedback " + feedback.text() + " came before its decision " + event.id.text() +
                      " and does not fit it: it counts nowhere");
  }
  if (std::holds_alternative<DecisionMade>(event.body) && awaited_elsewhere(pool, event.id)) {
    const Turns::Key key{std::string(pool.tenant()), event.id};
    const auto join = [this, &pool, done, made = std::move(*applied), id = event.id](const Turns::Turn& turn) {
      take_over(pool, id, [done, made, turn](const std::optional<Applied>&) { done(Applied(made)); });
    };
    // Who waits are few: as many as decisions with early feedback in another pool.
    static_cast<void>(turns_.take(key, std::numeric_limits<std::size_t>::max(), join));
    return;
  }
  if (outcome != nullptr && result.status == ApplyStatus::kPendingDecision) {
    note_early(pool);
    // Its decision was made in another pool while it was on its way.
    for (const auto& [name, other] : pools_) {
      if (other.get() == &pool || other->tenant() != pool.tenant() || !other->pool().knows(outcome->decision)) continue;
      return take_over(*other, outcome->decision, [done, waits = std::move(*applied)](std::optional<Applied> joined) mutable {
        done(joined ? std::move(*joined) : std::move(waits));
      });
    }
  }
  if (!waits) return done(std::move(applied));
  fold_again(pool, {done, std::move(*applied), event});
}

void Service::tell(ServedPool& pool, const Event& event, const Applied& applied) {
  if (std::holds_alternative<OutcomeObserved>(event.body)) pool.count_feedback(applied.result.status);
  if (listener_) listener_({pool, applied.offset, event, applied.result});
}

}  // namespace margin::service
