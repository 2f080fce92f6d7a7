package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"company/internal/lib/retry"
	"company/internal/lib/safetext"
	"company/internal/lib/secret"
)

// Bell rings the bell of a terminal.
type Bell struct{ Terminal io.Writer }

// Name returns the name of this way in the config.
func (Bell) Name() string { return "bell" }

// Deliver rings the bell.
func (b Bell) Deliver(context.Context, Message) error {
	_, err := b.Terminal.Write([]byte{'\a'})
	return err
}

// Desktop shows a message as a desktop notification, with notify-send, or osascript on macOS.
type Desktop struct {
	Environ []string // environment of the program
}

// Name returns the name of this way in the config.
func (Desktop) Name() string { return "desktop" }

// Deliver runs the desktop's notification program. Untrusted text is an argument and never markup.
func (d Desktop) Deliver(ctx context.Context, m Message) error {
	argv := desktopCommand(runtime.GOOS, m)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("%s is not installed: install libnotify-bin, or remove desktop from notify.by", argv[0])
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Env, cmd.WaitDelay = d.Environ, time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", argv[0], err, safetext.EscapeLine(string(out), 200))
	}
	return nil
}

// desktopCommand returns the command that shows a message. By the specification of desktop notifications, the body of
// notify-send is markup. Before that, notify-send interprets C escapes in it (g_strcompress): \074 would become <, and
// \377 would make it refuse the message.
func desktopCommand(system string, message Message) []string {
	body := message.Body
	if message.Link != "" {
		body += "\nsee it with: company open"
	}
	if system == "darwin" {
		quote := func(s string) string {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
		}
		return []string{"osascript", "-e", "display notification " + quote(body) + " with title " + quote(message.Title)}
	}
	return []string{"notify-send", "--app-name=company", "--", message.Title,
		strings.NewReplacer(`\`, `\\`, "&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(body)}
}

// Webhook posts a message as JSON to a URL that the president configured.
type Webhook struct {
	URL    string
	Secret secret.Value

	firstWait time.Duration // before the second attempt; a second if it is 0
}

const (
	// SignatureHeader holds sha256= and the HMAC-SHA256 of "<timestamp>.<body>" in hex.
	SignatureHeader = "Company-Signature"
	// TimestampHeader holds the signing time in seconds since 1970. An old one indicates a replay.
	TimestampHeader = "Company-Timestamp"
	// DeliveryHeader has the same value for each attempt to post a message.
	DeliveryHeader = "Company-Delivery"
)

// maxAttempts limits how often a message is posted.
const maxAttempts = 4

// Name returns the name of this way in the config.
func (Webhook) Name() string { return "webhook" }

// Deliver posts the message. It retries after 408, 429, 5xx and lost connections.
func (w Webhook) Deliver(ctx context.Context, message Message) error {
	body, err := json.Marshal(struct {
		SchemaVersion int `json:"schema_version"`
		Message
	}{1, message})
	if err != nil {
		return err
	}
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: 10 * time.Second}
	defer t.CloseIdleConnections()
	client := &http.Client{Transport: t, Timeout: 15 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	sum := sha256.Sum256(body)
	delivery := hex.EncodeToString(sum[:16])
	wait := retry.Doubling(cmp.Or(w.firstWait, time.Second), 8*time.Second)
	for n := 0; ; n++ {
		again, err := w.postOnce(ctx, client, body, delivery)
		if err == nil || !again || n == maxAttempts-1 || retry.Sleep(ctx, wait(n)) != nil {
			return err
		}
	}
}

// postOnce posts the body once. again reports whether another attempt may succeed.
func (w Webhook) postOnce(
	ctx context.Context, client *http.Client, body []byte, delivery string,
) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(DeliveryHeader, delivery)
	r.Header.Set(TimestampHeader, at)
	r.Header.Set(SignatureHeader, Sign(w.Secret, at, body))
	resp, err := client.Do(r)
	if err != nil {
		// drop the URL, which may contain a key
		return true, fmt.Errorf("cannot reach the webhook's server: %w", errors.Unwrap(err))
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be reused
	if resp.StatusCode/100 == 2 {
		return false, nil
	}
	again = resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests ||
		resp.StatusCode == http.StatusRequestTimeout
	return again, fmt.Errorf("the webhook's server answered %d", resp.StatusCode)
}

// Sign returns the signature of a body for a timestamp.
func Sign(key secret.Value, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
