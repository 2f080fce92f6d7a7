package exchange

import (
	"encoding/json"
	"errors"
	"io"
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
		got := kindOfStatus(c.status, ParseServerError([]byte(c.body)))
		if c.status == http.StatusOK {
			got = kindInStream(ParseServerError([]byte(c.body)))
		}
		if got != c.want {
			t.Errorf("%d %s: %s, want %s", c.status, c.body, got, c.want)
		}
	}
}

type failingTransport struct{ err error }

func (f failingTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// TestNoSuchHost: a name that DNS does not know is told from a network that fails.
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
		c.http.Transport = failingTransport{&net.OpError{Op: "dial", Err: x.err}}
		err := c.Ask(t.Context(), "http://"+host+"/v1/models", nil, nil, nil)
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
		said := ParseServerError(body)
		if said == nil || len(Clip(said.Message)) > maxMessage {
			t.Fatalf("%+v", said)
		}
		_ = kindOfStatus(400, said)
		_ = kindInStream(said)
		_ = findError(body)
	})
}

// A size that is too much is the context, whatever the words. Limits of a time, of an account or of another thing are
// not. The words are those of servers, as users quote them.
func TestContextIsFull(t *testing.T) {
	for _, text := range []string{
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3474 `inputs` tokens and 60 `max_new_tokens`",
		"Input length (700001 tokens) exceeds the maximum allowed length (536826 tokens). Use a shorter input or enable --allow-auto-truncate.",
		"The input (12345 tokens) is longer than the model's context length (8192 tokens).",
		"This model's maximum context length is 4097 tokens. However, your messages resulted in 5747 tokens.",
		"This model's maximum context length is 262144 tokens. However, you requested 128000 output tokens and your prompt contains at least 134145 input tokens, for a total of at least 262145 tokens.",
		"Your request exceeded model token limit: 8192 (requested: 8200)",
		"Reached context length of 4096 tokens with model (arch: x) that does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat.",
		"Range of input length should be [1, 30720]",
		"too many total text bytes: 25000000 > 20000000",
		"The input token count is 1100000 but model only supports up to 1048576",
		"The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
		"Prompt has too many tokens.",
		"Prompt exceeds max length",
	} {
		if got := kindOfStatus(400, ParseServerError(encodeError(text))); got != adapters.TooLong {
			t.Errorf("%q: %s", text, got)
		}
	}
	for text, want := range map[string]adapters.Kind{
		"max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for x":                 adapters.BadRequest,
		"Invalid 'tools[3].function.description': string too long. Expected a string with maximum length 1024": adapters.BadRequest,
		"messages.0.content.1.image: image exceeds 5 MB maximum: 6912312 bytes > 5242880 bytes":                adapters.BadRequest,
		"Invalid 'tools': array too long. Expected an array with maximum length 128, but got 129 instead.":     adapters.BadRequest,
		"This request contains more than one system message":                                                   adapters.BadRequest,
		"The number of function declarations in the request exceeds the limit of 128":                          adapters.BadRequest,
		"'name': maximum length 64 exceeded":                                                                   adapters.BadRequest,
		"Too many tools: at most 128 are allowed in one request":                                               adapters.BadRequest,
		"Request would exceed your monthly credit limit; your credit balance is too low":                       adapters.Quota,
	} {
		if got := kindOfStatus(400, ParseServerError(encodeError(text))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func encodeError(text string) []byte {
	data, err := json.Marshal(map[string]any{"error": map[string]string{"message": text}})
	if err != nil {
		panic(err)
	}
	return data
}

// Refusals for a time tell how long, in a header, a member or words, and are told from those for good.
func TestWaitsAndQuotas(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   adapters.Kind
		wait   time.Duration
	}{
		{429, `{"error":{"message":"Please try again in 6.5s."}}`, adapters.Overloaded, 6500 * time.Millisecond},
		{429, `{"error":{"message":"Limit 100, Used 99, Requested 5. Please try again in 7m12.5s"}}`, adapters.Overloaded,
			7*time.Minute + 12500*time.Millisecond},
		{429, `{"error":{"message":"retry after 20 seconds"}}`, adapters.Overloaded, 20 * time.Second},
		{429, `[{"error":{"message":"You exceeded your current quota","details":[{"retryDelay":"31s"}]}}]`,
			adapters.Overloaded, 31 * time.Second},
		{429, `{"error":{"message":"You exceeded your current quota, in all"}}`, adapters.Quota, 0},
		{429, `{"message":"slow","retry_after_ms":250}`, adapters.Overloaded, 250 * time.Millisecond},
		{429, `{"error":{"message":"Request too large on tokens per min (TPM): Limit 30,000, Requested 31,538."}}`,
			adapters.TooLong, 0},
		{403, `{"error":{"message":"Your account a-1 is not active","type":"exceeded_current_quota_error"}}`,
			adapters.Quota, 0},
		{400, `{"error":{"message":"{\"error\":{\"message\":\"prompt is too long\",\"code\":\"x\"}}"}}`, adapters.TooLong, 0},
		{400, `{"error":{"message":"no call","code":"tool_use_failed","failed_generation":"<f>"}}`, adapters.MalformedReply, 0},
		{500, `{"error":{"message":"Jinja: conversation roles must alternate user/assistant"}}`, adapters.BadRequest, 0},
		{500, `{"error":{"message":"wait a moment and try again"}}`, adapters.Overloaded, 0},
	} {
		said := ParseServerError([]byte(c.body))
		if got := kindOfStatus(c.status, said); got != c.want || said.Wait != c.wait {
			t.Errorf("%d %s: %s after %s, want %s after %s", c.status, c.body, got, said.Wait, c.want, c.wait)
		}
	}
}

// The work on an incomplete document is bounded, however its lines are cut.
func TestEndlessDocuments(t *testing.T) {
	for name, read := range map[string]func(*Exchange, io.Reader) error{
		"events": func(ex *Exchange, r io.Reader) error {
			return ex.ReadEvents(r, func([]byte, bool) bool { return true })
		},
		"lines": func(ex *Exchange, r io.Reader) error { return ex.ReadLines(r, func([]byte) bool { return true }) },
	} {
		_, ex := NewClient(Config{}).Begin(t.Context())
		line := ",[1]\n"
		if name == "events" {
			line = "data: " + line
		}
		body := strings.NewReader(strings.Replace(line, ",", "[", 1) + strings.Repeat(line, 200_000))
		if err := read(ex, body); !errors.Is(err, errTooBig) {
			t.Errorf("%s: %v", name, err)
		}
		ex.End()
	}
}

func TestCausesHaveOneFile(t *testing.T) {
	files := map[string]bool{}
	c := NewClient(Config{Store: func(name string, _ []byte) (string, error) {
		files[name] = true
		return "/logs/" + name, nil
	}})
	for i := range 3 {
		_, ex := c.Begin(t.Context())
		ex.host, ex.Said = "host:1", &ServerError{}
		ex.raw.WriteString("what came")
		err := ex.KeepUnread(&adapters.Error{Kind: adapters.MalformedReply,
			Message: strings.Repeat("failure ", 200) + string(rune('0'+i))}, nil)
		if text := err.Error(); !strings.HasSuffix(text, ".txt") {
			t.Errorf("the error does not name the file: %s", text[len(text)-80:])
		}
		ex.End()
	}
	if len(files) != 1 || !files["reply-host-1-e3b0c442.txt"] {
		t.Errorf("files %v", files)
	}
}
