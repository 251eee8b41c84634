// TryConnection: the beginning of a connection as gRPC would make it, by hand.
#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "absl/strings/match.h"
#include "distributed/certificates.h"
#include "distributed/rpc.h"
#include "headrace/clock.h"

namespace headrace {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr int kPollMs = 100;

struct Free {
  void operator()(SSL* s) const { SSL_free(s); }
  void operator()(SSL_CTX* c) const { SSL_CTX_free(c); }
  void operator()(addrinfo* a) const { freeaddrinfo(a); }
};

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

// OpenSSL writes to sockets whose peer may be gone; the signal of that would
// end the process.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec now = {};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &now) == -1 &&
           errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

class Attempt {
 public:
  Attempt(const std::string& address, const std::function<bool()>& stop)
      : address_(address), stop_(stop), end_(Now() + kPatience) {}

  StatusOr<bool> Plain(int fd);
  StatusOr<bool> Encrypted(int fd, const std::string& host,
                           const TlsFiles& files);
  // False: time is up or the caller stops.
  bool Wait(int fd, short events) const {
    while (!stop_() && Now() < end_) {
      pollfd p = {fd, events, 0};
      const int n = poll(&p, 1, kPollMs);
      if (n > 0) return true;
      if (n < 0 && errno != EINTR) return false;
    }
    return false;
  }
  bool Connect(int fd, const addrinfo& to) const {
    if (connect(fd, to.ai_addr, to.ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS || !Wait(fd, POLLOUT)) return false;
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
           error == 0;
  }

 private:
  Status Refused(SSL* ssl, int result, const TlsFiles& files) const;

  const std::string& address_;
  const std::function<bool()>& stop_;
  const absl::Time end_;
};

// HTTP/2 begins with a sentence and settings, of both sides. A server that
// wants TLS takes the sentence for nonsense: it sends an alert, or hangs up.
StatusOr<bool> Attempt::Plain(int fd) {
  constexpr absl::string_view kHello(
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  if (!Wait(fd, POLLOUT)) return false;
  if (send(fd, kHello.data(), kHello.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(kHello.size())) {
    return false;
  }
  if (!Wait(fd, POLLIN)) return false;
  unsigned char first[9];
  const ssize_t n = recv(fd, first, sizeof first, 0);
  constexpr int kAlert = 0x15, kSettings = 4;
  if (n == sizeof first && first[3] == kSettings) return true;
  if (n < 0 && errno != ECONNRESET) return false;
  if (n > 0 && first[0] != kAlert) {
    return errors::Unavailable("the server at ", address_,
                               " does not speak HTTP/2");
  }
  return errors::Unauthenticated(
      "the server at ", address_,
      " hangs up on a connection without encryption; if it has certificates, "
      "set HEADRACE_TLS_DIR to the folder of the client's");
}

Status Attempt::Refused(SSL* ssl, int result, const TlsFiles& files) const {
  const long verified = SSL_get_verify_result(ssl);
  const int kind = SSL_get_error(ssl, result);
  const unsigned long code = ERR_peek_error();
  const char* const text = ERR_reason_error_string(code);
  const std::string reason = text == nullptr ? "" : text;
  ERR_clear_error();
  if (verified != X509_V_OK) {
    return errors::Unauthenticated(
        "the certificate of the server at ", address_,
        " is not accepted: ", X509_verify_cert_error_string(verified), " (CA ",
        files.ca, ")");
  }
  if (absl::StrContains(reason, "wrong version number")) {
    return errors::Unauthenticated(
        "the server at ", address_,
        " does not encrypt; start it with HEADRACE_TLS_DIR");
  }
  if (kind == SSL_ERROR_SSL && !reason.empty()) {
    return errors::Unauthenticated("the server at ", address_,
                                   " refuses the certificate ", files.cert,
                                   ": ", reason);
  }
  return errors::Unauthenticated(
      "the server at ", address_,
      " hangs up on the encrypted connection: it refuses the certificate ",
      files.cert, ", or it does not encrypt");
}

StatusOr<bool> Attempt::Encrypted(int fd, const std::string& host,
                                  const TlsFiles& files) {
  ERR_clear_error();
  const std::unique_ptr<SSL_CTX, Free> context(
      SSL_CTX_new(TLS_client_method()));
  if (context == nullptr ||
      SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
      SSL_CTX_load_verify_file(context.get(), files.ca.c_str()) != 1 ||
      SSL_CTX_use_certificate_chain_file(context.get(), files.cert.c_str()) !=
          1 ||
      SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(),
                                  SSL_FILETYPE_PEM) != 1) {
    ERR_clear_error();
    return errors::FailedPrecondition("cannot use ", files.ca, ", ", files.cert,
                                      " and ", files.key);
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const std::unique_ptr<SSL, Free> ssl(SSL_new(context.get()));
  constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  if (ssl == nullptr || SSL_set_fd(ssl.get(), fd) != 1 ||
      SSL_set_alpn_protos(ssl.get(), kHttp2, sizeof kHttp2) != 0) {
    ERR_clear_error();
    return errors::Internal("OpenSSL cannot begin a connection");
  }
  X509_VERIFY_PARAM* const param = SSL_get0_param(ssl.get());
  if (X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str()) != 1) {
    ERR_clear_error();
    SSL_set1_host(ssl.get(), host.c_str());
    SSL_set_tlsext_host_name(ssl.get(), host.c_str());
  }
  // With TLS 1.3 the server looks at our certificate after our handshake: its
  // first bytes say that all is well.
  bool connected = false;
  while (true) {
    char byte = 0;
    const int n =
        connected ? SSL_read(ssl.get(), &byte, 1) : SSL_connect(ssl.get());
    if (n == 1) {
      if (connected) return true;
      connected = true;
      continue;
    }
    const int kind = SSL_get_error(ssl.get(), n);
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
      if (!Wait(fd, kind == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT)) {
        return false;
      }
      continue;
    }
    return Refused(ssl.get(), n, files);
  }
}

}  // namespace

StatusOr<bool> TryConnection(const std::string& address, const TlsFiles* files,
                             const std::function<bool()>& stop) {
  std::string host;
  int port = 0;
  HR_RETURN_IF_ERROR(SplitAddress(address, &host, &port));
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(host.c_str(), StrCat(port).c_str(), &hints, &list) != 0) {
    return false;
  }
  const std::unique_ptr<addrinfo, Free> found(list);
  const NoSigpipe no_sigpipe;
  Attempt attempt(address, stop);
  for (const addrinfo* a = list; a != nullptr; a = a->ai_next) {
    const Socket s(socket(a->ai_family,
                          a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                          a->ai_protocol));
    if (s.fd() < 0 || !attempt.Connect(s.fd(), *a)) continue;
    return files == nullptr ? attempt.Plain(s.fd())
                            : attempt.Encrypted(s.fd(), host, *files);
  }
  return false;
}

}  // namespace headrace
