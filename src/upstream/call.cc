#include "upstream/call.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "http/message.h"

namespace margin::upstream {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// After a stream's [DONE] its connection is worth a short wait for the end of the reply, so that it can be used again.
constexpr milliseconds kPatienceAfterDone{250};

bool is_type(std::string_view content_type, std::string_view type) {
  const std::string_view name = content_type.substr(0, content_type.find(';'));
  return http::same_name(name.substr(0, name.find(' ')), type);
}

// Some upstreams repeat the key when they refuse it.
void redact(std::string& text, const std::string& secret) {
  if (secret.empty()) return;
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) text.replace(at, secret.size(), "...");
}

bool asks_for_usage(JsonParser& parser, std::string_view body) {
  const Result<const Json*> request = parser.parse(body);
  const Json* const options = request.ok() ? (*request)->find("stream_options") : nullptr;
  const Json* const usage = options != nullptr ? options->find("include_usage") : nullptr;
  return usage != nullptr && usage->type() == Json::Type::kFlag && usage->flag();
}

}  // namespace

Call::Impl::Impl(std::shared_ptr<Upstream::Impl> of, Ask ask, Upstream::Done on_done, Upstream::OnEvent on_event)
    : upstream_(std::move(of)),
      done_(std::move(on_done)),
      on_event_(std::move(on_event)),
      stream_(ask.stream),
      exchange_(*this, upstream_->origin, upstream_->settings.reply_bytes_max) {
  started_ = attempt_started_ = Clock::now();
  const Settings& settings = upstream_->settings;
  deadline_ = started_ + (ask.timeout > milliseconds(0) ? std::min(ask.timeout, settings.timeout) : settings.timeout);
  if (settings.dialect == Dialect::kOllama) {
    if (stream_) ollama_.start(asks_for_usage(upstream_->parser, ask.body));
    Result<std::string> translated = ollama_request(upstream_->parser, ask.body);
    if (translated.ok()) {
      ask.body = std::move(*translated);
    } else {
      note_failure(Failure::kMalformed, "the request cannot be put to Ollama: " + translated.error().message);
    }
  }
  head_ = upstream_->head;
  head_ += stream_ ? "Accept: text/event-stream, application/json\r\n" : "Accept: application/json\r\n";
  for (const auto& [name, value] : ask.headers) {
    if (!is_header(name, value)) {
      note_failure(Failure::kMalformed, "the header '" + internal::printable(name) + "' cannot be sent");
    }
    head_.append(name).append(": ").append(value).append("\r\n");
  }
  head_.append("Content-Length: ").append(std::to_string(ask.body.size())).append("\r\n\r\n");
  body_ = std::make_shared<const std::string>(std::move(ask.body));
}

void Call::Impl::begin() {
  if (outcome_.failure) return finish_later();
  deadline_timer_ = upstream_->loop.after(std::chrono::ceil<milliseconds>(deadline_ - started_), [this] { on_deadline(); });
  if (upstream_->in_flight < upstream_->settings.concurrency_max && upstream_->waiting.empty()) {
    enter();
  } else if (upstream_->waiting.size() < upstream_->settings.queue_max) {
    state_ = State::kWaiting;
    place_ = upstream_->waiting.insert(upstream_->waiting.end(), this);
  } else {
    fail_later(Failure::kBusy, std::to_string(upstream_->in_flight) + " calls are under way and " +
                                   std::to_string(upstream_->waiting.size()) + " wait in line");
  }
}

void Call::Impl::enter() {
  state_ = State::kNew;
  holds_slot_ = true;
  ++upstream_->in_flight;
  try_once();
}

void Call::Impl::try_once() {
  attempt_started_ = Clock::now();
  const Breaker::Verdict verdict = upstream_->breaker.ask(attempt_started_);
  if (verdict == Breaker::Verdict::kRefuse) {
    // A call that was under way when it opened ends with what it had.
    if (outcome_.attempts > 0) return finish();
    return fail_later(Failure::kBreaker, "it failed " + std::to_string(upstream_->settings.breaker_failures) +
                                             " times in a row and is left alone for a while");
  }
  trial_ = verdict == Breaker::Verdict::kTrial;
  state_ = State::kTrying;
  const int attempts = outcome_.attempts + 1;
  outcome_ = {};
  outcome_.attempts = attempts;
  asked_pause_.reset();
  location_.clear();
  may_retry_ = stream_done_ = false;
  body_kind_ = Body::kWhole;
  exchange_.start(std::shared_ptr<Exchange>(shared_from_this(), &exchange_), head_, body_);
}

void Call::Impl::on_head(const ReplyHead& head) {
  outcome_.status = head.status;
  outcome_.content_type = head.content_type;
  outcome_.first_byte = Clock::now() - attempt_started_;
  may_retry_ = may_retry(head);
  asked_pause_ = retry_after(head, std::chrono::system_clock::now());
  if (asked_pause_) outcome_.retry_after = std::chrono::ceil<std::chrono::seconds>(*asked_pause_);
  if (head.status / 100 == 3) location_ = head.location;
  if (!stream_ || head.status / 100 != 2) return;
  if (is_type(head.content_type, "text/event-stream")) body_kind_ = Body::kEvents;
  if (upstream_->settings.dialect == Dialect::kOllama && is_type(head.content_type, "application/x-ndjson")) body_kind_ = Body::kLines;
}

void Call::Impl::on_body(std::string_view piece) {
  if (body_kind_ == Body::kEvents) {
    events_.feed(piece);
    read_events(false);
  } else if (body_kind_ == Body::kLines) {
    lines_.feed(piece);
    read_lines(false);
  } else {
    outcome_.body += piece;
  }
}

void Call::Impl::give_event(std::string_view json) {
  if (!on_event_) return;
  calling_ = true;
  on_event_(json);
  calling_ = false;
  if (state_ == State::kEnded) on_event_ = nullptr;
}

void Call::Impl::read_events(bool to_the_end) {
  while (state_ == State::kTrying && !stream_done_) {
    std::optional<std::string_view> event = events_.next();
    if (!event && to_the_end) event = events_.last();
    if (!event) return;
    if (*event == "[DONE]") return stream_ended();
    give_event(*event);
  }
}

void Call::Impl::read_lines(bool to_the_end) {
  while (state_ == State::kTrying && !stream_done_) {
    std::optional<std::string_view> line = lines_.next();
    if (!line && to_the_end) line = lines_.last();
    if (!line) return;
    if (line->empty()) continue;
    const Result<std::vector<std::string>> chunks = ollama_.add(upstream_->parser, *line);
    if (!chunks.ok()) return fail(Failure::kMalformed, "it does not speak Ollama's protocol: " + chunks.error().message);
    for (const std::string& chunk : *chunks) {
      if (state_ == State::kTrying) give_event(chunk);
    }
    if (ollama_.done()) return stream_ended();
  }
}

void Call::Impl::stream_ended() {
  if (state_ != State::kTrying) return;
  stream_done_ = true;
  deadline_timer_ = upstream_->loop.after(kPatienceAfterDone, [this] {
    exchange_.cancel();
    on_end({});
  });
}

void Call::Impl::on_end(Exchange::End end) {
  if (!end.failure && !stream_done_ && body_kind_ == Body::kEvents) read_events(true);
  if (!end.failure && !stream_done_ && body_kind_ == Body::kLines) read_lines(true);
  if (state_ != State::kTrying) return;  // cancelled by who heard an event
  const bool complete = stream_done_ || (body_kind_ == Body::kEvents && end.framed);
  if (stream_done_) end.failure.reset();
  if (!end.failure && body_kind_ != Body::kWhole && !complete) {
    end.failure = Failure::kCut;
    end.why = "the stream ended before it was complete";
  }
  if (!end.failure && outcome_.status / 100 != 2) {
    end.failure = Failure::kStatus;
    end.why = "it answered " + std::to_string(outcome_.status) + " " + std::string(http::reason_of(outcome_.status));
    if (!location_.empty()) end.why += "; redirects are not followed, this one leads to '" + internal::printable(location_, 200) + "'";
    redact(outcome_.body, upstream_->settings.key);
    redact(end.why, upstream_->settings.key);
  } else if (!end.failure && upstream_->settings.dialect == Dialect::kOllama && body_kind_ == Body::kWhole) {
    Result<std::string> translated = openai_reply(upstream_->parser, outcome_.body);
    if (translated.ok()) {
      outcome_.body = std::move(*translated);
    } else {
      end.failure = Failure::kMalformed;
      end.why = "it does not speak Ollama's protocol: " + translated.error().message;
    }
  }
  if (!end.failure) {
    upstream_->breaker.succeeded();
    return finish();
  }
  const bool again =
      end.failure == Failure::kConnect || (end.failure == Failure::kCut && !end.began) || (end.failure == Failure::kStatus && may_retry_);
  const auto pause = pause_before(outcome_.attempts + 1, upstream_->settings.backoff, asked_pause_, upstream_->jitter);
  if (again && outcome_.attempts <= upstream_->settings.retries_max && Clock::now() + pause < deadline_) {
    note_failure(*end.failure, end.why);
    return try_again(pause);
  }
  fail(*end.failure, end.why);
}

void Call::Impl::try_again(milliseconds pause) {
  ++upstream_->counters.retries;
  state_ = State::kPausing;
  pause_ = upstream_->loop.after(pause, [this] { try_once(); });
}

void Call::Impl::note_failure(Failure failure, const std::string& why) {
  outcome_.failure = failure;
  outcome_.message = "upstream '" + upstream_->settings.name + "': " + why;
  if (state_ != State::kTrying) return;
  const Moment now = Clock::now();
  const bool answered = (failure == Failure::kStatus && outcome_.status < 500) || failure == Failure::kTooLarge;
  // A caller in a hurry says nothing about the upstream.
  const bool hasty = failure == Failure::kTimeout && now - attempt_started_ < upstream_->settings.connect_timeout;
  if (answered) {
    upstream_->breaker.succeeded();
  } else if (hasty) {
    upstream_->breaker.abandoned(trial_);
  } else {
    upstream_->breaker.failed(now, trial_);
  }
  trial_ = false;
}

void Call::Impl::on_deadline() {
  const auto waited = std::chrono::round<milliseconds>(deadline_ - started_);
  std::string why = "no complete reply within " + std::to_string(waited.count()) + " ms";
  if (state_ == State::kWaiting) why += ", all of it spent waiting in line";
  if (outcome_.attempts > 1) why += " and " + std::to_string(outcome_.attempts) + " attempts";
  fail(Failure::kTimeout, why);
}

void Call::Impl::fail(Failure failure, const std::string& why) {
  note_failure(failure, why);
  finish();
}

void Call::Impl::fail_later(Failure failure, const std::string& why) {
  note_failure(failure, why);
  leave();
  finish_later();
}

void Call::Impl::finish_later() {
  state_ = State::kEnding;
  upstream_->loop.post([self = shared_from_this()] { self->finish(); });
}

void Call::Impl::leave() {
  if (state_ == State::kWaiting) upstream_->waiting.erase(place_);
  exchange_.cancel();
  deadline_timer_.cancel();
  pause_.cancel();
  if (std::exchange(trial_, false)) upstream_->breaker.abandoned(true);
  if (std::exchange(holds_slot_, false)) --upstream_->in_flight;
}

void Call::Impl::count(std::string_view outcome) { ++upstream_->counters.outcomes[std::string(outcome)]; }

void Call::Impl::finish() {
  if (state_ == State::kEnded) return;
  const auto self = shared_from_this();
  leave();
  state_ = State::kEnded;
  outcome_.took = Clock::now() - started_;
  count(outcome_.failure ? name_of(*outcome_.failure) : "ok");
  on_event_ = nullptr;
  if (const Upstream::Done done = std::exchange(done_, nullptr)) done(std::move(outcome_));
  upstream_->advance();
}

void Call::Impl::cancel() {
  if (state_ == State::kEnded) return;
  const auto self = shared_from_this();
  leave();
  state_ = State::kEnded;
  count("cancelled");
  done_ = nullptr;
  if (!calling_) on_event_ = nullptr;
  upstream_->advance();
}

}  // namespace margin::upstream
