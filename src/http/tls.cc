#include "http/tls.h"

#include <openssl/ssl.h>
#include <unistd.h>

#include <string>

namespace margin::http {
namespace ssl = boost::asio::ssl;
namespace {

// HTTP/1.1 is all we speak; a client that insists on another protocol is told so in the handshake.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered, unsigned offered_size,
                    void*) {
  static constexpr unsigned char kOurs[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, chosen_size, kOurs, sizeof kOurs, offered, offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

// OpenSSL would ask the terminal, and the server would wait for whoever sits there.
int no_password(char*, int, int, void*) { return -1; }

}  // namespace

Status check_certificates(const ListenOptions& options) {
  if (options.certificate_file.empty()) return {};
  const auto loaded = load_tls(options);
  return loaded ? Status() : Status(loaded.error());
}

Result<std::shared_ptr<ssl::context>> load_tls(const ListenOptions& options) {
  for (const auto& [name, file] : {std::pair("certificate_file", &options.certificate_file), std::pair("key_file", &options.key_file)}) {
    if (file->empty()) return Error{ErrorCode::kNotFound, std::string(name) + " is not set, but TLS needs certificate and key"};
    if (::access(file->c_str(), R_OK) != 0) return Error{ErrorCode::kNotFound, std::string(name) + " '" + *file + "' cannot be read"};
  }
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  SSL_CTX_set_default_passwd_cb(native, no_password);
  boost::system::error_code error;
  context->use_certificate_chain_file(options.certificate_file, error);
  if (error)
    return Error{ErrorCode::kCorrupt, "certificate_file '" + options.certificate_file + "' holds no PEM certificate: " + error.message()};
  context->use_private_key_file(options.key_file, ssl::context::pem, error);
  if (error) {
    return Error{ErrorCode::kCorrupt, "key_file '" + options.key_file + "' holds no PEM key of the certificate: " + error.message()};
  }
  return context;
}

}  // namespace margin::http
