// Answer: one request's answer, sent once, now or later. Keeps what /metrics and the log want to know of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/message.h"
#include "http/server.h"
#include "json/json.h"
#include "margin/result.h"

namespace margin::server {

// Which HTTP answer an error is. The one place that knows.
[[nodiscard]] http::Response refusal(const Error& error);
[[nodiscard]] http::Response refusal(const Fault& fault);
[[nodiscard]] http::Response refusal(int status, std::string_view code, std::string_view message, std::string_view param = {});
// 429: the same request may come again after `wait_ms`.
[[nodiscard]] http::Response too_early(std::int64_t wait_ms, std::string_view code, std::string_view message);

class Answer {
 public:
  struct Sent {
    int status = 0;
    std::chrono::nanoseconds took{0};
    std::string_view key;  // whose request it was; empty: nobody's
  };
  // Called when the answer goes out, while the request still is there.
  using OnSent = std::function<void(const Sent&)>;
  Answer(http::Reply reply, OnSent on_sent)
      : reply_(std::move(reply)), on_sent_(std::move(on_sent)), began_(std::chrono::steady_clock::now()) {}

  // Sending twice changes nothing: whoever began a stream may find it closed by the client, and must not answer anew.
  void send(http::Response&& response);
  void json(std::string body, int status = 200);
  void refuse(const Error& error) { send(refusal(error)); }
  void refuse(const Fault& fault) { send(refusal(fault)); }
  // Closed from the start when the client has left or there are too many.
  [[nodiscard]] http::Stream stream(http::Response head);

  // See http::Reply; meaningless once it was sent.
  void on_disconnect(std::function<void()> gone) { reply_.on_disconnect(std::move(gone)); }

  // How long the request has been here.
  [[nodiscard]] std::chrono::nanoseconds age() const { return std::chrono::steady_clock::now() - began_; }

  // The public part of the key that came with the request.
  void belongs_to(std::string key) { key_ = std::move(key); }

  // So long the request waited for models. The rest of its time goes with the answer as x-margin-overhead-ms.
  void waited_for_models(std::chrono::nanoseconds waited) { waited_ = waited; }

  // Goes with the answer, whatever it will be. `name` is a constant.
  void add_header(std::string_view name, std::string value) { headers_.emplace_back(name, std::move(value)); }

 private:
  void note(int status, std::chrono::nanoseconds took);
  void add_overhead(std::chrono::nanoseconds took);

  http::Reply reply_;
  OnSent on_sent_;
  std::string key_;
  std::chrono::steady_clock::time_point began_;
  std::optional<std::chrono::nanoseconds> waited_;
  std::vector<std::pair<std::string_view, std::string>> headers_;
  bool over_ = false;
};

// Handlers that answer later keep it in a callback, which must be copyable.
using SharedAnswer = std::shared_ptr<Answer>;

}  // namespace margin::server
