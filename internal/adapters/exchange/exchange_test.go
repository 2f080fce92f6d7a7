package exchange

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, " 1.5 ": 1500 * time.Millisecond, "-1": 0, "soon": 0, "": 0, "1e300": 7 * 24 * time.Hour,
		"Fri, 31 Dec 9999 23:59:59 GMT":              7 * 24 * time.Hour,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

// A date is compared with the server's own clock: one of us whose clock is a day
// off must not wait for a day.
func TestRetryAfterOfAnotherClock(t *testing.T) {
	theirs := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := http.Header{"Date": {theirs.Format(http.TimeFormat)},
		"Retry-After": {theirs.Add(7 * time.Second).Format(http.TimeFormat)}}
	for _, off := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		if got := retryAfter(h, theirs.Add(off)); got != 7*time.Second {
			t.Errorf("off by %s: %s, want 7s", off, got)
		}
	}
}

// What servers say decides what is done; each line was said by a real one.
func TestKindOfStatus(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   adapters.Kind
	}{
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, adapters.TooLong},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 199000 + 8192 > 200000"}}`, adapters.TooLong},
		{400, `{"error":"input length exceeds the context length"}`, adapters.TooLong},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size","type":"exceed_context_size_error"}}`, adapters.TooLong},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, adapters.Quota},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, adapters.Overloaded},
		{503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, adapters.Overloaded},
		{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, adapters.Auth},
		{404, `{"error":"model 'llama3' not found"}`, adapters.BadRequest},
		{418, ``, adapters.BadRequest},
		{500, `{"error":"unable to load model: /root/.ollama/models/blobs/sha256-33f4"}`, adapters.BadRequest},
		{500, `{"error":"llama runner process has terminated: error loading model: missing tensor 'blk.1.ffn_up.weight'"}`,
			adapters.BadRequest},
		{500, `{"error":"llama runner process has terminated: error loading model: unknown model architecture: 'x'"}`,
			adapters.BadRequest},
		{503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, adapters.Overloaded},
		{200, `{"error":{"message":"Failed to load model","code":500}}`, adapters.BadRequest},
	} {
		got := KindOfStatus(c.status, Parse([]byte(c.body)))
		if c.status == http.StatusOK {
			got = kindInStream(Parse([]byte(c.body)))
		}
		if got != c.want {
			t.Errorf("%d %s: %s, want %s", c.status, c.body, got, c.want)
		}
	}
}

type failingTransport struct{ err error }

func (f failingTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// TestNoSuchHost: a name that DNS does not know is told from a network that fails, also
// behind an SDK that keeps only the text of errors.
func TestNoSuchHost(t *testing.T) {
	const host = "nohost.invalid"
	for name, x := range map[string]struct {
		err  error
		kind adapters.Kind
		says string
	}{
		"no such host": {&net.DNSError{Err: "no such host", Name: host, IsNotFound: true}, adapters.UnknownHost,
			"no DNS server knows the host " + host},
		"no DNS server": {&net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}, adapters.Unreachable,
			"server misbehaving"},
		"refused at once": {syscall.ECONNREFUSED, adapters.Unreachable, "refused"},
	} {
		c := NewClient(Config{})
		c.HTTP.Transport = &recorder{next: failingTransport{&net.OpError{Op: "dial", Err: x.err}}, cfg: c.cfg}
		err := c.Question(t.Context(), func(ctx context.Context) error {
			reply, err := c.sendRequest(ctx, "http://"+host+"/v1/models", nil, nil)
			if err == nil {
				return reply.Body.Close()
			}
			return errors.New(err.Error())
		})
		var e *adapters.Error
		if !errors.As(err, &e) || e.Kind != x.kind || !strings.Contains(e.Message, x.says) || e.Unanswered {
			t.Errorf("%s: %+v", name, err)
		}
		if got := company.NeedsPerson(adapters.Explain(err, adapters.Info{})); got != (x.kind == adapters.UnknownHost) {
			t.Errorf("%s: only a person can mend it: %v", name, got)
		}
	}
}

func TestBase(t *testing.T) {
	if base, err := Base("http://[::1]:11434//", "x"); err != nil || base != "http://[::1]:11434" {
		t.Errorf("%q, %v", base, err)
	}
	for _, address := range []string{"", "localhost:1", "file:///etc/passwd", "https://me:hunter2@h",
		"https://h?k=hunter2", "https://h#hunter2", "http://\x00"} {
		if _, err := Base(address, "x"); company.CodeOf(err) != company.EConfig || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","code":"c"}}`, `{"error":"m"}`, `<html>`, `{"detail":[1]}`, "\xff",
		`{"error":null,"object":"error"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		said := Parse(body)
		if said == nil || len(Clip(said.Message)) > maxMessage {
			t.Fatalf("%+v", said)
		}
		_ = KindOfStatus(400, said)
		_ = kindInStream(said)
		_ = ErrorIn(body)
	})
}
