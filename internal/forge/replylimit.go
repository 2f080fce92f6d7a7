package forge

import (
	"fmt"
	"io"
	"net/http"

	"company/internal/company"
)

// MaxReplyBytes is the most that is read of one reply of a forge, in bytes: a server
// that never comes to an end must not fill the memory.
const MaxReplyBytes = 64 << 20

// LimitReplies is a transport whose replies end with an error after MaxReplyBytes bytes.
func LimitReplies(next http.RoundTripper) http.RoundTripper { return replyLimiter{next} }

type replyLimiter struct{ next http.RoundTripper }

func (b replyLimiter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = &limitedBody{ReadCloser: resp.Body, host: r.URL.Hostname(), left: MaxReplyBytes}
	}
	return resp, err
}

type limitedBody struct {
	io.ReadCloser
	host string
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, company.E(company.EForge, fmt.Sprintf("a reply of %s is longer than %d MiB", b.host, MaxReplyBytes>>20))
	}
	return n, err
}
