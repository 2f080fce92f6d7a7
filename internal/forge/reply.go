package forge

import (
	"fmt"
	"io"
	"net/http"

	"company/internal/company"
)

// MaxReply is the most that is read of one reply of a forge, in bytes: a server
// that never comes to an end must not fill the memory.
const MaxReply = 64 << 20

// Bounded is a transport whose replies end with an error after MaxReply bytes.
func Bounded(next http.RoundTripper) http.RoundTripper { return bounded{next} }

type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = &boundedBody{ReadCloser: resp.Body, host: r.URL.Hostname(), left: MaxReply}
	}
	return resp, err
}

type boundedBody struct {
	io.ReadCloser
	host string
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, company.E(company.EForge, fmt.Sprintf("a reply of %s is longer than %d MiB", b.host, MaxReply>>20))
	}
	return n, err
}
