#include "cli/server_flags.h"

#include "base/text.h"
#include "cli/command.h"
#include "cli/config_flags.h"
#include "client/words.h"
#include "file/file.h"

namespace margin::cli {
namespace {

constexpr std::size_t kKeyBytesMax = 4096;
constexpr std::size_t kBodyBytesMax = 64 << 20;
constexpr const char* kKeyVariable = "MARGIN_KEY";

// The key to send; empty: none.
Result<std::string> find_key(const std::string& file) {
  if (file.empty()) {
    const config::Environment variables = environment();
    const auto found = variables.find(kKeyVariable);
    return found == variables.end() ? std::string() : found->second;
  }
  Result<std::string> key = file::read(file, kKeyBytesMax);
  if (!key) return key.error();
  while (key->ends_with('\n') || key->ends_with('\r')) key->pop_back();
  if (key->empty()) return Error{ErrorCode::kInvalidArgument, internal::printable(file, 400) + ": has no key"};
  return key;
}

int exit_code(int status) {
  constexpr int kUnauthorized = 401;
  constexpr int kForbidden = 403;
  constexpr int kTooMany = 429;
  const bool ours = status >= 400 && status < 500 && status != kUnauthorized && status != kForbidden && status != kTooMany;
  return ours ? kBadInput : kFailed;
}

}  // namespace

void ServerFlags::add_to(CLI::App& app) {
  app.add_option("--server", server, "Where it listens")->type_name("URL")->capture_default_str();
  app.add_option("--key-file", key_file, "The file that holds the key; without it the variable MARGIN_KEY")->type_name("FILE");
  app.add_option("--certificates", certificates, "PEM file of the certificates to trust, instead of the system's")->type_name("FILE");
  app.add_option("--timeout", timeout_s, "Seconds to wait for an answer")->check(CLI::Range(1, 3600))->capture_default_str();
  app.add_flag("--json", json, "Print the server's answer as it is");
}

int ServerFlags::ask(client::HttpRequest request, const std::function<std::string(std::string_view json)>& words) const {
  const Result<client::Endpoint> endpoint = client::parse_endpoint(server);
  if (!endpoint) return complain("--server: " + endpoint.error().message);
  const Result<std::string> key = find_key(key_file);
  if (!key) return complain(key.error().message);
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  if (!key->empty()) request.headers.emplace_back("Authorization", "Bearer " + *key);
  const Result<client::HttpReply> reply = client::ask(*endpoint, request, {.certificates = certificates, .timeout_s = timeout_s});
  if (!reply) return complain(reply.error().message, reply.error().code == ErrorCode::kInvalidArgument ? kBadInput : kFailed);
  constexpr int kOk = 200;
  constexpr int kRedirect = 300;
  if (reply->status < kOk || reply->status >= kRedirect)
    return complain("the server says " + std::to_string(reply->status) + ": " + client::error_words(reply->body), exit_code(reply->status));
  if (json) return print(reply->body.ends_with('\n') ? reply->body : reply->body + "\n");
  const std::string text = words(reply->body);
  return text.empty() ? complain("the server's answer is not understood: " + internal::printable(reply->body, 400), kFailed) : print(text);
}

Result<std::string> read_body(const std::string& path) { return file::read(path == "-" ? "/dev/stdin" : path, kBodyBytesMax); }

}  // namespace margin::cli
