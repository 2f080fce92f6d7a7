package forge

import (
	"fmt"
	"io"
	"net/http"

	"company/internal/company"
)

// MaxReplyBytes limits how much of a forge's reply is read, in bytes, so that an endless reply cannot fill the
// memory.
const MaxReplyBytes = 64 << 20

// maxReplyValues limits the JSON values in one reply. Three bytes ("{},") become a kilobyte when they are decoded
// into a comment, so a byte limit does not limit the memory. Gitea returns all comments of a pull request in one
// reply, with some forty values each.
const maxReplyValues = 1 << 19

// LimitReplies returns a transport whose replies fail after MaxReplyBytes bytes or maxReplyValues values.
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
	host   string
	left   int
	values valueCounter
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, company.E(company.EForge, fmt.Sprintf("a reply of %s is longer than %d MiB", b.host, MaxReplyBytes>>20))
	}
	if b.values.add(p[:n]) > maxReplyValues {
		return 0, company.E(company.EForge, fmt.Sprintf("a reply of %s has more than %d values", b.host, maxReplyValues))
	}
	return n, err
}

// valueCounter counts the JSON values outside of strings. A text that begins with neither a list nor an object, such
// as a job's log, has none.
type valueCounter struct {
	values           int
	begun, text      bool
	inString, escape bool
}

func (c *valueCounter) add(p []byte) int {
	for _, b := range p {
		if c.text {
			break
		}
		switch {
		case c.escape:
			c.escape = false
		case c.inString:
			c.escape, c.inString = b == '\\', b != '"'
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
			continue
		case b == '{' || b == '[' || b == ',' && c.begun:
			c.values++
		case b == '"' && c.begun:
			c.inString = true
		}
		c.text, c.begun = !c.begun && c.values == 0, true
	}
	return c.values
}
