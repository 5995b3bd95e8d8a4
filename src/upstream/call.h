// The inside of Upstream and Call: what the calls of an upstream share, and one call's life: in line, attempts, pauses, its end.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "http/loop.h"
#include "json/json.h"
#include "margin/random.h"
#include "upstream/events.h"
#include "upstream/exchange.h"
#include "upstream/ollama.h"
#include "upstream/retry.h"
#include "upstream/upstream.h"

namespace margin::upstream {

using Moment = std::chrono::steady_clock::time_point;

// Whether both may stand in a request's head.
[[nodiscard]] bool is_header(std::string_view name, std::string_view value);

struct Upstream::Impl {
  Impl(http::Loop& event_loop, Settings all_settings, std::uint64_t seed);

  // Starts the calls in line for which there is room.
  void advance();
  void refresh_counters();

  http::Loop& loop;
  const Settings settings;
  std::shared_ptr<Origin> origin;
  std::string head;  // of every request, but for what differs
  Breaker breaker;
  Random jitter;
  JsonParser parser;
  std::list<Call::Impl*> waiting;  // first come, first served; those in it are alive and leave it when they end
  std::size_t in_flight = 0;
  Counters counters;
};

struct Call::Impl final : Exchange::Owner, std::enable_shared_from_this<Call::Impl> {
  Impl(std::shared_ptr<Upstream::Impl> of, Ask ask, Upstream::Done on_done, Upstream::OnEvent on_event);

  // Once, after making it shared.
  void begin();
  // Its turn has come: there is room for it.
  void enter();
  void cancel();

 private:
  enum class State { kNew, kWaiting, kTrying, kPausing, kEnding, kEnded };

  void try_once();
  void try_again(std::chrono::milliseconds pause);
  void on_deadline();
  // The outcome says so, and the breaker hears of it when an attempt was under way.
  void note_failure(Failure failure, const std::string& why);
  void fail(Failure failure, const std::string& why);
  // From the loop instead of at once.
  void fail_later(Failure failure, const std::string& why);
  // Leaves the line, the connection and the slot as they are no longer needed.
  void leave();
  void finish();
  void finish_later();
  void count(std::string_view outcome);
  void give_event(std::string_view json);
  void read_events(bool to_the_end);
  void read_lines(bool to_the_end);
  void stream_ended();

  void on_head(const ReplyHead& head) override;
  void on_body(std::string_view piece) override;
  void on_end(Exchange::End end) override;

  const std::shared_ptr<Upstream::Impl> upstream_;
  State state_ = State::kNew;
  Upstream::Done done_;
  Upstream::OnEvent on_event_;
  const bool stream_;
  std::string head_;
  std::shared_ptr<const std::string> body_;
  Exchange exchange_;
  http::Timer deadline_timer_;
  http::Timer pause_;
  Moment started_;
  Moment attempt_started_;
  Moment deadline_;
  std::list<Call::Impl*>::iterator place_;  // in line

  Outcome outcome_;
  std::optional<std::chrono::milliseconds> asked_pause_;
  std::string location_;
  bool may_retry_ = false;  // by what the reply's head says
  bool trial_ = false;      // the breaker waits for this attempt
  bool holds_slot_ = false;
  bool calling_ = false;  // on_event_ is running

  enum class Body { kWhole, kEvents, kLines };
  Body body_kind_ = Body::kWhole;
  EventSplitter events_;
  LineSplitter lines_;
  OllamaStream ollama_;
  bool stream_done_ = false;  // its own mark of the end was seen
};

}  // namespace margin::upstream
