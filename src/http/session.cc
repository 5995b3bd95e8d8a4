#include "http/session.h"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <charconv>
#include <utility>

#include "base/same_text.h"
#include "base/write_plain.h"

namespace margin::http {
namespace asio = boost::asio;
namespace {

using std::chrono::milliseconds;

// A body larger than this is not copied behind its head but written from where it is.
constexpr std::size_t kCopiedBodyBytesMax = 16 << 10;
// A pipelining client that does not read its answers is not served further than this.
constexpr std::size_t kBacklogBytesMax = 64 << 10;
// Output storage up to this size stays with the connection.
constexpr std::size_t kKeptBytes = 16 << 10;
// After the last answer the client's remaining bytes are read and dropped for a while: closing at once would reset the connection, and
// the client might lose the answer.
constexpr milliseconds kLingerTimeout{2000};
constexpr std::size_t kLingerBytesMax = 4 << 20;
// So many answers leave together at most: the first of them should not wait long for the last.
constexpr std::size_t kLeavingMax = 32;

// These write to where there is room, and return where they ended.
char* write(char* to, std::string_view text) { return std::copy(text.begin(), text.end(), to); }

constexpr std::size_t kNumberMax = 20;
char* write_number(char* to, std::size_t number, int base = 10) { return std::to_chars(to, to + kNumberMax, number, base).ptr; }

// A line break in a value would let it forge headers.
char* write_value(char* to, std::string_view value) {
  if (char* const end = internal::write_plain(to, value)) return end;
  return std::replace_copy_if(
      value.begin(), value.end(), to, [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
}

// The status and what stands before all other headers.
std::string start_of(int status, std::string_view date, std::string_view content_type) {
  std::string start = "HTTP/1.1 " + std::to_string(status) + ' ';
  start += reason_of(status);
  start += "\r\nDate: ";
  start += date;
  if (content_type.empty()) return start;
  start += "\r\nContent-Type: ";
  const std::size_t type = start.size();
  start.resize(type + content_type.size());
  write_value(start.data() + type, content_type);
  return start;
}

}  // namespace

void Host::add(std::shared_ptr<Session> session) {
  session->index = sessions.size();
  sessions.push_back(std::move(session));
  counters.connections_open = sessions.size();
}

void Host::remove(Session& session) {
  sessions.back()->index = session.index;
  std::swap(sessions[session.index], sessions.back());
  sessions.pop_back();
  counters.connections_open = sessions.size();
  if (on_session_closed) on_session_closed();
}

void Host::go_on_later(std::shared_ptr<Session> session) {
  leaving.push_back(std::move(session));
  if (going_on) return;  // its turn comes
  if (!loop.in_turn()) {
    if (leaving.size() == 1) loop.post([] {});  // the end of that turn is this one's
    return;
  }
  if (leaving.size() - sent < kLeavingMax) return;
  while (sent < leaving.size()) leaving[sent++]->flush();
}

void Host::go_on() {
  going_on = true;
  // Who has sent may have more to answer, and comes again at the end.
  for (std::size_t i = 0; i < leaving.size(); ++i) std::exchange(leaving[i], nullptr)->go_on();
  leaving.clear();
  sent = 0;
  going_on = false;
}

void Host::set_date(std::string now) {
  date = std::move(now);
  json_head = start_of(200, date, Response::kJson);
}

Session::Session(Host& host, std::unique_ptr<Transport> transport, std::string peer, bool peer_is_loopback)
    : host_(host), transport_(std::move(transport)), reader_(host.limits), peer_(std::move(peer)) {
  reader_.request().peer = peer_;
  reader_.request().peer_is_loopback = peer_is_loopback;
}

void Session::set_state(State state, milliseconds patience) {
  state_ = state;
  patience_ = patience;
  deadline_ = Moment::max();
}

void Session::set_state(State state) { set_state(state, milliseconds::max()); }

void Session::start() {
  set_state(State::kHandshake, host_.limits.header_timeout);
  transport_->handshake(*this);
}

void Session::turn_away() {
  close_after_ = true;
  append_answer(error_response(
      503, {.message = "all " + std::to_string(host_.limits.connections_max) + " connections are in use", .code = "too_many_connections"}));
  set_state(State::kClosing);
  flush();
}

void Session::on_handshake(const boost::system::error_code& error) {
  if (state_ == State::kClosed) return;
  if (error) {
    ++host_.counters.tls_failures;
    abort();
    return;
  }
  set_state(State::kIdle, host_.limits.idle_timeout);
  read();
}

void Session::on_read(const boost::system::error_code& error, std::size_t bytes) {
  reading_ = false;
  if (state_ == State::kClosed) return;
  if (error) {
    read_ended_ = true;
    const bool clean = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
    if (!clean || state_ == State::kStreaming || state_ == State::kLingering) {
      if (state_ == State::kHead || state_ == State::kBody) ++host_.counters.refused[Counters::kCut];
      abort();
    } else if (state_ == State::kHandling) {
      notify_gone();
    } else if (parsing()) {
      process();
    }
    return;
  }
  host_.counters.bytes_in += bytes;
  if (state_ == State::kLingering) {
    lingered_bytes_ += bytes;
    if (lingered_bytes_ > kLingerBytesMax) return abort();
    return read();
  }
  if (state_ == State::kClosing) return;
  reader_.received(bytes);
  if (parsing()) {
    process();
  } else {
    read();
  }
}

bool Session::room() const { return queued_->body.empty() && backlog() <= kBacklogBytesMax; }

void Session::go_on() {
  if (state_ == State::kClosed) return;
  flush();
  process();
}

// Serves all requests that are there; their answers leave in one write, or as many as fit into the backlog.
void Session::process() {
  bool more = true;
  do {
    processing_ = true;
    while (more && parsing() && room()) more = serve_next();
    processing_ = false;
    if (queued_->size() > 0 && active_->size() == 0 && host_.loop.in_turn()) return host_.go_on_later(shared_from_this());
    flush();  // may make room again
  } while (more && parsing() && room());
  read();
}

bool Session::serve_next() {
  switch (reader_.next()) {
    case RequestReader::Step::kNeedMore:
      if (read_ended_) {
        if (!reader_.empty()) ++host_.counters.refused[Counters::kCut];
        set_state(State::kClosing);
      } else if (state_ == State::kIdle && !reader_.empty()) {
        set_state(State::kHead, host_.limits.header_timeout);
      } else if (state_ == State::kBody && reader_.expects_continue() && !std::exchange(continued_, true)) {
        queued_->bytes.append("HTTP/1.1 100 Continue\r\n\r\n");
      }
      return false;
    case RequestReader::Step::kHead:
      set_state(State::kBody, host_.limits.body_timeout);
      reader_.accept_body(host_.handler.body_bytes_max(reader_.request(), host_.limits.body_bytes_max));
      return true;
    case RequestReader::Step::kRequest: dispatch(); return true;
    case RequestReader::Step::kRefused: refuse(reader_.refused()); return true;
  }
  return false;
}

void Session::dispatch() {
  set_state(State::kHandling);
  ++host_.counters.requests;
  ++requests_;
  const Request& request = reader_.request();
  close_after_ = !request.keep_alive || host_.draining || requests_ >= host_.limits.requests_per_connection_max;
  try {
    host_.handler.handle(request, Reply(shared_from_this()));
  } catch (...) {
    // Its Reply was destroyed unsent: the client has its 500, and the counter tells.
  }
}

void Session::refuse(const Refused& refused) {
  ++host_.counters.refused[refused.kind];
  close_after_ = true;
  append_answer(error_response(refused.status, {.message = refused.message, .code = refused.code}));
  set_state(State::kClosing);
}

void Session::reply(Response&& response) {
  if (state_ != State::kHandling) return;
  append_answer(std::move(response));
  finish_request();
}

void Session::forget_reply() {
  if (state_ != State::kHandling) return;
  ++host_.counters.replies_forgotten;
  reply(error_response(500, {.message = "the server failed to answer this request", .code = "internal_error"}));
}

void Session::finish_request() {
  gone_ = nullptr;
  continued_ = false;
  reader_.finish();
  if (close_after_ || host_.draining) {  // a stream may have begun before
    set_state(State::kClosing);
  } else {
    set_state(State::kIdle, host_.limits.idle_timeout);
  }
  if (processing_) return;
  if (!host_.loop.in_turn()) flush();
  host_.go_on_later(shared_from_this());
}

void Session::append_head(const Response& response, Framing framing) {
  const bool usual = response.status == 200 && internal::same_text(response.content_type, Response::kJson);
  const std::string start = usual ? std::string() : start_of(response.status, host_.date, response.content_type);
  constexpr std::size_t kRestMax = 96;  // framing, with a number, and what becomes of the connection
  std::size_t most = (usual ? host_.json_head : start).size() + kRestMax;
  for (const auto& [name, value] : response.headers) most += name.size() + value.size() + 4;
  char* to = write(queued_->bytes.begin(most), usual ? host_.json_head : start);
  for (const auto& [name, value] : response.headers) {
    to = write(to, "\r\n");
    to = write(to, name);
    to = write_value(write(to, ": "), value);
  }
  if (framing == Framing::kLength) {
    to = write_number(write(to, "\r\nContent-Length: "), response.body.size());
  } else if (framing == Framing::kChunks) {
    to = write(to, "\r\nTransfer-Encoding: chunked");
  }
  if (close_after_) {
    to = write(to, "\r\nConnection: close");
  } else if (reader_.request().http_1_0) {
    to = write(to, "\r\nConnection: keep-alive");
  }
  queued_->bytes.end(write(to, "\r\n\r\n"));
}

void Session::append_answer(Response&& response) {
  const bool never_has_body = response.status == 204 || response.status == 304;
  append_head(response, never_has_body ? Framing::kNone : Framing::kLength);
  if (never_has_body || reader_.request().method == "HEAD") return;
  if (response.body.size() > kCopiedBodyBytesMax) {
    queued_->body = std::move(response.body);
  } else {
    queued_->bytes.append(response.body);
  }
}

Stream Session::start_stream(const Response& head) {
  if (state_ != State::kHandling) return Stream();
  Counters& counters = host_.counters;
  if (streams_are_full()) {
    ++counters.streams_refused;
    reply(error_response(
        503, {.message = "all " + std::to_string(host_.limits.streams_max) + " streams are in use", .code = "too_many_streams"}));
    return Stream();
  }
  chunked_ = !reader_.request().http_1_0;
  if (!chunked_) close_after_ = true;  // the end of the connection is the end of the answer
  append_head(head, chunked_ ? Framing::kChunks : Framing::kNone);
  if (reader_.request().method == "HEAD") {
    finish_request();
    return Stream();
  }
  ++counters.streams_open;
  gone_ = nullptr;
  set_state(State::kStreaming);
  stream_write(head.body);
  if (!processing_) flush();
  return Stream(shared_from_this());
}

bool Session::stream_write(std::string_view bytes) {
  if (state_ != State::kStreaming) return false;
  if (bytes.empty()) return true;
  if (chunked_) {
    char* const to = queued_->bytes.begin(kNumberMax + 2);
    queued_->bytes.end(write(write_number(to, bytes.size(), 16), "\r\n"));
  }
  queued_->bytes.append(bytes);
  if (chunked_) queued_->bytes.append("\r\n");
  if (!processing_) flush();
  if (backlog() > host_.limits.stream_buffer_bytes_max) {
    ++host_.counters.slow_readers;
    abort();
  }
  return state_ == State::kStreaming;
}

void Session::stream_end() {
  gone_ = nullptr;  // may be on its way already, to somebody who is no longer there
  if (state_ != State::kStreaming) return;
  if (chunked_) queued_->bytes.append("0\r\n\r\n");
  --host_.counters.streams_open;
  finish_request();
}

void Session::read() {
  if (reading_ || read_ended_ || state_ == State::kClosed || state_ == State::kClosing) return;
  if (parsing() && !room()) return;
  if (space().empty()) return;
  reading_ = true;
  transport_->read(*this);
}

void Session::flush() {
  if (state_ == State::kClosed) return;  // what was queued has nobody to go to
  while (active_->size() == 0 && queued_->size() > 0) {
    std::swap(queued_, active_);
    written_ = 0;
    write_active();
  }
  if (active_->size() == 0 && state_ == State::kClosing) linger();
}

void Session::write_active() {
  const std::array<std::string_view, 2> whole = {active_->bytes.str(), active_->body};
  std::array<std::string_view, 2> rest;
  const auto skip_written = [&] {
    std::size_t skip = written_;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const std::size_t here = std::min(skip, whole[i].size());
      rest[i] = whole[i].substr(here);
      skip -= here;
    }
  };
  skip_written();
  const std::size_t bytes = transport_->write_now(rest);
  host_.counters.bytes_out += bytes;
  written_ += bytes;
  if (written_ < active_->size()) {
    skip_written();
    write_deadline_ = std::chrono::steady_clock::now() + host_.limits.write_timeout;
    transport_->write(*this, rest);
    return;
  }
  active_->bytes.clear(kKeptBytes);
  if (!active_->body.empty()) active_->body = {};
  written_ = 0;
  write_deadline_ = Moment::max();
  if (queued_->size() == 0) std::swap(queued_, active_);  // the next answer is put where this one was: the processor has it at hand
}

void Session::on_written(const boost::system::error_code& error, std::size_t bytes) {
  if (state_ == State::kClosed) return;
  if (error) return abort();
  host_.counters.bytes_out += bytes;
  written_ += bytes;
  write_active();
  if (active_->size() > 0) return;
  process();
}

void Session::linger() {
  if (read_ended_) return abort();
  set_state(State::kLingering, kLingerTimeout);
  transport_->shut_down_sending(*this);
  read();
}

void Session::check_deadline(Moment now) {
  if (now >= write_deadline_) {
    ++host_.counters.slow_readers;
    return abort();
  }
  if (state_ == State::kIdle && backlog() > 0) {  // not yet idle: the write's deadline counts
    deadline_ = Moment::max();
    return;
  }
  if (deadline_ == Moment::max() && patience_ != milliseconds::max()) deadline_ = now + patience_;
  if (now < deadline_) return;
  if (state_ == State::kHead || state_ == State::kBody) {
    const bool head = state_ == State::kHead;
    const auto limit = head ? host_.limits.header_timeout : host_.limits.body_timeout;
    refuse({Counters::kTooSlow, 408, head ? "header_timeout" : "body_timeout",
            std::string("the request's ") + (head ? "head" : "body") + " did not come within " + std::to_string(limit.count()) + " ms"});
    flush();
  } else {
    abort();
  }
}

void Session::drain() {
  if (state_ == State::kIdle && backlog() > 0) {
    set_state(State::kClosing);  // once the answer on its way has left
  } else if (state_ == State::kHandshake || state_ == State::kIdle) {
    abort();
  } else if (state_ == State::kHandling) {
    close_after_ = true;
  }
}

void Session::abort() {
  if (state_ == State::kClosed) return;
  if (state_ == State::kStreaming) --host_.counters.streams_open;
  set_state(State::kClosed);
  write_deadline_ = Moment::max();
  transport_->close();
  notify_gone();
  host_.remove(*this);
}

void Session::notify_gone() {
  if (!gone_) return;
  host_.loop.post([self = shared_from_this()] {
    if (const auto gone = std::exchange(self->gone_, nullptr)) gone();
  });
}

Reply& Reply::operator=(Reply&& other) noexcept {
  if (this != &other) {
    if (session_ != nullptr) session_->forget_reply();
    session_ = std::move(other.session_);
  }
  return *this;
}

Reply::~Reply() {
  if (session_ != nullptr) session_->forget_reply();
}

void Reply::send(Response&& response) && { std::exchange(session_, nullptr)->reply(std::move(response)); }

bool Reply::streams_are_full() const { return session_->streams_are_full(); }
Stream Reply::start_stream(const Response& head) && { return std::exchange(session_, nullptr)->start_stream(head); }

void Reply::on_disconnect(std::function<void()> gone) { session_->on_disconnect(std::move(gone)); }

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this != &other) {
    if (open()) session_->abort();
    session_ = std::move(other.session_);
  }
  return *this;
}

Stream::~Stream() {
  if (open()) session_->abort();
}

bool Stream::open() const { return session_ != nullptr && session_->stream_open(); }

bool Stream::write(std::string_view bytes) { return session_ != nullptr && session_->stream_write(bytes); }

std::size_t Stream::backlog() const { return open() ? session_->backlog() : 0; }

void Stream::close() {
  if (const auto session = std::exchange(session_, nullptr)) session->stream_end();
}

void Stream::on_disconnect(std::function<void()> gone) {
  if (open()) session_->on_disconnect(std::move(gone));
}

std::size_t Handler::body_bytes_max(const Request&, std::size_t standard) const { return standard; }

}  // namespace margin::http
