#include "distributed/certificates.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/random.h"

namespace headrace {
namespace {

// Clocks of machines differ.
constexpr int64_t kBackdatedSeconds = 300;
constexpr int64_t kCaSeconds = int64_t{366} * 24 * 3600;

struct Free {
  void operator()(X509* x) const { X509_free(x); }
  void operator()(EVP_PKEY* k) const { EVP_PKEY_free(k); }
  void operator()(BIO* b) const { BIO_free(b); }
  void operator()(X509_EXTENSION* e) const { X509_EXTENSION_free(e); }
  void operator()(X509_STORE* s) const { X509_STORE_free(s); }
  void operator()(X509_STORE_CTX* c) const { X509_STORE_CTX_free(c); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

// The first reason of this thread's queue.
std::string Why() {
  const unsigned long code = ERR_peek_error();
  const char* const reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "unknown error" : reason;
}

Status Failed(const char* what) {
  return errors::Internal("OpenSSL: ", what, ": ", Why());
}

struct Identity {
  Owned<X509> cert;
  Owned<EVP_PKEY> key;
};

Status AddExtension(X509* cert, X509* issuer, int kind,
                    const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> e(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  if (e == nullptr || X509_add_ext(cert, e.get(), -1) != 1) {
    return Failed(value.c_str());
  }
  return OkStatus();
}

struct Wanted {
  const char* name;   // in the subject
  const char* usage;  // extendedKeyUsage; null: a CA
  std::string hosts;  // subjectAltName; "": none
  int64_t seconds;
};

// `ca` is null for a CA, which signs itself.
Status Make(const Wanted& wanted, const Identity* ca, Identity* out) {
  out->key.reset(EVP_EC_gen("P-256"));
  out->cert.reset(X509_new());
  if (out->key == nullptr || out->cert == nullptr) return Failed("new key");
  X509* const x = out->cert.get();
  X509* const issuer = ca == nullptr ? x : ca->cert.get();
  X509_set_version(x, 2);
  // Random and positive.
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), RandomSeed64() >> 1 | 1);
  const std::time_t now = std::time(nullptr);
  const std::time_t end = now + wanted.seconds;
  const std::time_t begin = std::min(now, end) - kBackdatedSeconds;
  ASN1_TIME_set(X509_getm_notBefore(x), begin);
  ASN1_TIME_set(X509_getm_notAfter(x), end);
  X509_NAME* const name = X509_get_subject_name(x);
  if (X509_NAME_add_entry_by_txt(
          name, "CN", MBSTRING_ASC,
          reinterpret_cast<const unsigned char*>(wanted.name), -1, -1,
          0) != 1 ||
      X509_set_issuer_name(x, X509_get_subject_name(issuer)) != 1 ||
      X509_set_pubkey(x, out->key.get()) != 1) {
    return Failed("certificate");
  }
  const bool is_ca = wanted.usage == nullptr;
  HR_RETURN_IF_ERROR(
      AddExtension(x, issuer, NID_basic_constraints,
                   is_ca ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE"));
  HR_RETURN_IF_ERROR(AddExtension(
      x, issuer, NID_key_usage,
      is_ca ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature"));
  HR_RETURN_IF_ERROR(
      AddExtension(x, issuer, NID_subject_key_identifier, "hash"));
  HR_RETURN_IF_ERROR(
      AddExtension(x, issuer, NID_authority_key_identifier, "keyid"));
  if (!is_ca) {
    HR_RETURN_IF_ERROR(
        AddExtension(x, issuer, NID_ext_key_usage, wanted.usage));
  }
  if (!wanted.hosts.empty()) {
    HR_RETURN_IF_ERROR(
        AddExtension(x, issuer, NID_subject_alt_name, wanted.hosts));
  }
  EVP_PKEY* const signer = ca == nullptr ? out->key.get() : ca->key.get();
  if (X509_sign(x, signer, EVP_sha256()) == 0) return Failed("signature");
  return OkStatus();
}

StatusOr<std::string> Text(BIO* bio) {
  char* data = nullptr;
  const long n = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(n));
}

// A key is for its owner alone from the moment it is there.
Status WriteFile(const std::string& path, const std::string& text,
                 mode_t mode) {
  const std::string next = path + ".new";
  unlink(next.c_str());
  const int fd =
      open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) return ErrnoToStatus(errno, StrCat("cannot create ", next));
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const Status s = ErrnoToStatus(errno, StrCat("cannot write ", next));
      close(fd);
      return s;
    }
    done += static_cast<size_t>(n);
  }
  if (close(fd) != 0 || rename(next.c_str(), path.c_str()) != 0) {
    return ErrnoToStatus(errno, StrCat("cannot write ", path));
  }
  return OkStatus();
}

Status Write(const Identity& identity, const std::string& stem) {
  const Owned<BIO> cert(BIO_new(BIO_s_mem())), key(BIO_new(BIO_s_mem()));
  if (cert == nullptr || key == nullptr ||
      PEM_write_bio_X509(cert.get(), identity.cert.get()) != 1 ||
      PEM_write_bio_PrivateKey(key.get(), identity.key.get(), nullptr, nullptr,
                               0, nullptr, nullptr) != 1) {
    return Failed("PEM");
  }
  HR_ASSIGN_OR_RETURN(const std::string key_text, Text(key.get()));
  HR_ASSIGN_OR_RETURN(const std::string cert_text, Text(cert.get()));
  HR_RETURN_IF_ERROR(WriteFile(stem + ".key", key_text, 0600));
  return WriteFile(stem + ".pem", cert_text, 0644);
}

Owned<BIO> Memory(const std::string& text) {
  return Owned<BIO>(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// No password is asked for.
int NoPassword(char*, int, int, void*) { return 0; }

StatusOr<Owned<X509>> ReadCert(const std::string& path, std::string* text) {
  HR_RETURN_IF_ERROR(Env::Default()->ReadFile(path, text));
  Owned<X509> cert(
      PEM_read_bio_X509(Memory(*text).get(), nullptr, NoPassword, nullptr));
  if (cert == nullptr) {
    return errors::FailedPrecondition(path,
                                      " is no certificate in PEM: ", Why());
  }
  return cert;
}

StatusOr<Owned<EVP_PKEY>> ReadKey(const std::string& path, std::string* text) {
  HR_RETURN_IF_ERROR(Env::Default()->ReadFile(path, text));
  Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(Memory(*text).get(), nullptr,
                                              NoPassword, nullptr));
  if (key == nullptr) {
    return errors::FailedPrecondition(path,
                                      " is no private key in PEM: ", Why());
  }
  return key;
}

std::string DateOf(const ASN1_TIME* time) {
  const Owned<BIO> bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || ASN1_TIME_print(bio.get(), time) != 1) return "?";
  const StatusOr<std::string> text = Text(bio.get());
  return text.ok() ? *text : "?";
}

// "DNS:a,IP:127.0.0.1". A name goes into OpenSSL's syntax, so it is checked.
StatusOr<std::string> AltNames(const std::vector<std::string>& hosts) {
  std::vector<std::string> names;
  for (const std::string& host : hosts) {
    const bool is_ip =
        host.find(':') != std::string::npos ||
        host.find_first_not_of("0123456789.") == std::string::npos;
    for (const char c : host) {
      if (absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
          absl::StrContains(is_ip ? ".:" : ".-_*", c)) {
        continue;
      }
      return errors::InvalidArgument("'", host, "' is no name of a host");
    }
    if (host.empty()) return errors::InvalidArgument("a host has no name");
    names.push_back(StrCat(is_ip ? "IP:" : "DNS:", host));
  }
  return absl::StrJoin(names, ",");
}

}  // namespace

Status MakeCertificateFiles(const CertificateOptions& options) {
  HR_ASSIGN_OR_RETURN(const std::string names, AltNames(options.hosts));
  if (names.empty()) {
    return errors::InvalidArgument("no host for the server's certificate");
  }
  Env* const env = Env::Default();
  HR_RETURN_IF_ERROR(env->CreateDirRecursively(options.folder));
  const std::string ca_stem = JoinPath(options.folder, "ca");
  Identity ca;
  if (env->FileExists(ca_stem + ".key").ok()) {
    std::string text;
    HR_ASSIGN_OR_RETURN(ca.cert, ReadCert(ca_stem + ".pem", &text));
    HR_ASSIGN_OR_RETURN(ca.key, ReadKey(ca_stem + ".key", &text));
    if (X509_check_private_key(ca.cert.get(), ca.key.get()) != 1) {
      ERR_clear_error();
      return errors::FailedPrecondition(ca_stem, ".key is no key of ", ca_stem,
                                        ".pem");
    }
  } else {
    HR_RETURN_IF_ERROR(Make(
        {"headrace CA", nullptr, "", std::max(kCaSeconds, options.seconds)},
        nullptr, &ca));
    HR_RETURN_IF_ERROR(Write(ca, ca_stem));
  }
  Identity server, client;
  HR_RETURN_IF_ERROR(
      Make({"headrace server", "serverAuth,clientAuth", names, options.seconds},
           &ca, &server));
  HR_RETURN_IF_ERROR(Make(
      {"headrace client", "clientAuth", "", options.seconds}, &ca, &client));
  HR_RETURN_IF_ERROR(Write(server, JoinPath(options.folder, "server")));
  return Write(client, JoinPath(options.folder, "client"));
}

StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files) {
  TlsMaterial out;
  HR_ASSIGN_OR_RETURN(const Owned<X509> ca, ReadCert(files.ca, &out.ca));
  HR_ASSIGN_OR_RETURN(const Owned<X509> cert, ReadCert(files.cert, &out.cert));
  HR_ASSIGN_OR_RETURN(const Owned<EVP_PKEY> key, ReadKey(files.key, &out.key));
  if (X509_check_private_key(cert.get(), key.get()) != 1) {
    ERR_clear_error();
    return errors::FailedPrecondition(files.key, " is no key of ", files.cert);
  }
  for (const auto& [x, path] :
       {std::pair<X509*, const std::string&>(ca.get(), files.ca),
        {cert.get(), files.cert}}) {
    const ASN1_TIME* const end = X509_get0_notAfter(x);
    if (X509_cmp_current_time(end) < 0) {
      return errors::FailedPrecondition("the certificate ", path,
                                        " has expired at ", DateOf(end),
                                        "; 'headrace certs' makes a new one");
    }
    const ASN1_TIME* const begin = X509_get0_notBefore(x);
    if (X509_cmp_current_time(begin) > 0) {
      return errors::FailedPrecondition("the certificate ", path,
                                        " is not valid before ", DateOf(begin));
    }
  }
  const Owned<X509_STORE> store(X509_STORE_new());
  const Owned<X509_STORE_CTX> context(X509_STORE_CTX_new());
  if (store == nullptr || context == nullptr ||
      X509_STORE_add_cert(store.get(), ca.get()) != 1 ||
      X509_STORE_CTX_init(context.get(), store.get(), cert.get(), nullptr) !=
          1) {
    return Failed("certificate store");
  }
  if (X509_verify_cert(context.get()) != 1) {
    const int error = X509_STORE_CTX_get_error(context.get());
    ERR_clear_error();
    return errors::FailedPrecondition("the certificate ", files.cert,
                                      " was not signed by ", files.ca, ": ",
                                      X509_verify_cert_error_string(error));
  }
  return out;
}

}  // namespace headrace
