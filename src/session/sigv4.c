/* "Signature Version 4 signing process" of the AWS General Reference. */
#include "session/sigv4.h"

#include "base/cleanup.h"
#include "base/sha256.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define DIGEST_BYTES 32
#define BLOCK_BYTES 64
#define DATE_BYTES 8 /* of `time` */

void sigv4_encode(struct buf *out, const char *text, bool is_path)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (isalnum(*p) || strchr("-._~", *p) || (is_path && *p == '/'))
			buf_addc(out, (char)*p);
		else
			buf_addf(out, "%%%02X", *p);
	}
}

static void digest(const void *one, size_t n, const void *other, size_t m, unsigned char out[DIGEST_BYTES])
{
	char text[SHA256_TEXT_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, one, n);
	sha256_add(&s, other, m);
	sha256_text(&s, text);
	for (size_t i = 0; i < DIGEST_BYTES; i++)
		sscanf(text + 2 * i, "%2hhx", &out[i]);
}

/* RFC 2104. */
static void hmac(const void *key, size_t key_bytes, const char *text, unsigned char out[DIGEST_BYTES])
{
	unsigned char inner[BLOCK_BYTES] = { 0 }, outer[BLOCK_BYTES], middle[DIGEST_BYTES];

	if (key_bytes > BLOCK_BYTES)
		digest(key, key_bytes, "", 0, inner);
	else
		memcpy(inner, key, key_bytes);
	for (size_t i = 0; i < BLOCK_BYTES; i++) {
		outer[i] = inner[i] ^ 0x5c;
		inner[i] ^= 0x36;
	}
	digest(inner, sizeof(inner), text, strlen(text), middle);
	digest(outer, sizeof(outer), middle, sizeof(middle), out);
}

static void add_hex(struct buf *out, const unsigned char bytes[DIGEST_BYTES])
{
	for (size_t i = 0; i < DIGEST_BYTES; i++)
		buf_addf(out, "%02x", bytes[i]);
}

static const char empty_digest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static void canonical(struct buf *out, const struct sigv4_key *key, const struct sigv4_request *r, const char *names)
{
	buf_adds(out, "GET\n");
	sigv4_encode(out, r->path, true);
	buf_addf(out, "\n\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n", r->host, empty_digest, r->time);
	if (key->token)
		buf_addf(out, "x-amz-security-token:%s\n", key->token);
	buf_addf(out, "\n%s\n%s", names, empty_digest);
}

static void derive(const struct sigv4_key *key, const char *date, unsigned char out[DIGEST_BYTES])
{
	CLEANUP(buf_release) struct buf first = BUF_INIT;

	buf_addf(&first, "AWS4%s", key->secret);
	hmac(first.data, first.len, date, out);
	hmac(out, DIGEST_BYTES, key->region, out);
	hmac(out, DIGEST_BYTES, key->service, out);
	hmac(out, DIGEST_BYTES, "aws4_request", out);
}

void sigv4_headers(struct buf *out, const struct sigv4_key *key, const struct sigv4_request *r)
{
	CLEANUP(buf_release) struct buf request = BUF_INIT, text = BUF_INIT, scope = BUF_INIT;
	const char *names = key->token ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
				       : "host;x-amz-content-sha256;x-amz-date";
	unsigned char hash[DIGEST_BYTES], signer[DIGEST_BYTES];
	char date[DATE_BYTES + 1];

	snprintf(date, sizeof(date), "%s", r->time);
	buf_addf(&scope, "%s/%s/%s/aws4_request", date, key->region, key->service);
	canonical(&request, key, r, names);
	digest(request.data, request.len, "", 0, hash);
	buf_addf(&text, "AWS4-HMAC-SHA256\n%s\n%s\n", r->time, scope.data);
	add_hex(&text, hash);
	derive(key, date, signer);
	hmac(signer, sizeof(signer), text.data, hash);
	buf_addf(out, "header x-amz-content-sha256: %s\nheader x-amz-date: %s\n", empty_digest, r->time);
	if (key->token)
		buf_addf(out, "header x-amz-security-token: %s\n", key->token);
	buf_addf(out, "header Authorization: AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=", key->id,
			scope.data, names);
	add_hex(out, hash);
	buf_addc(out, '\n');
}
