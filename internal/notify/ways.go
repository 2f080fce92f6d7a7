package notify

import (
	"bytes"
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

	"company/internal/retry"
	"company/internal/safetext"
	"company/internal/secret"
)

// Bell rings the bell of a terminal.
type Bell struct{ Terminal io.Writer }

// Name is that in the config.
func (Bell) Name() string { return "bell" }

// Deliver rings.
func (b Bell) Deliver(context.Context, Message) error {
	_, err := b.Terminal.Write([]byte{'\a'})
	return err
}

// Desktop shows a message by the notifications of the desktop: notify-send, or osascript on
// macOS.
type Desktop struct {
	Environ []string // of the program that shows it
}

// Name is that in the config.
func (Desktop) Name() string { return "desktop" }

// Deliver runs the desktop's own program. A text of others is an argument of it, and no
// markup.
func (d Desktop) Deliver(ctx context.Context, m Message) error {
	argv := desktopCommand(runtime.GOOS, m)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("%s is not there: install libnotify-bin, or leave desktop out of notify.by", argv[0])
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

// desktopCommand is the command that shows a message. The body of notify-send is markup by
// the specification of the desktop's notifications, and notify-send reads C escapes in it
// before (g_strcompress): \074 would become <, and \377 would make it refuse the message.
func desktopCommand(system string, m Message) []string {
	body := m.Body
	if m.Link != "" {
		body += "\nsee it with: company open"
	}
	if system == "darwin" {
		quote := func(s string) string {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
		}
		return []string{"osascript", "-e", "display notification " + quote(body) + " with title " + quote(m.Title)}
	}
	return []string{"notify-send", "--app-name=company", "--", m.Title, strings.NewReplacer(`\`, `\\`, "&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(body)}
}

// Webhook posts a message as JSON to an address of the president's.
type Webhook struct {
	URL    string
	Secret secret.Value
}

const (
	// SignatureHeader is sha256= and the HMAC-SHA256 of "<timestamp>.<body>" in hex.
	SignatureHeader = "Company-Signature"
	// TimestampHeader is when it was signed, in seconds since 1970: an old one is a replay.
	TimestampHeader = "Company-Timestamp"
	// DeliveryHeader is the same for a repeat of the same message.
	DeliveryHeader = "Company-Delivery"
)

// maxAttempts is how often a message is posted at most.
const maxAttempts = 4

// Name is that in the config.
func (Webhook) Name() string { return "webhook" }

// Deliver posts the message, again after 408, 429, 5xx and a lost connection.
func (w Webhook) Deliver(ctx context.Context, m Message) error {
	body, err := json.Marshal(struct {
		SchemaVersion int `json:"schema_version"`
		Message
	}{1, m})
	if err != nil {
		return err
	}
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: 10 * time.Second}
	defer t.CloseIdleConnections()
	client := &http.Client{Transport: t, Timeout: 15 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	sum := sha256.Sum256(body)
	delivery := hex.EncodeToString(sum[:16])
	wait := retry.Doubling(time.Second, 8*time.Second)
	for n := 0; ; n++ {
		again, err := w.postOnce(ctx, client, body, delivery)
		if err == nil || !again || n == maxAttempts-1 || retry.Sleep(ctx, wait(n)) != nil {
			return err
		}
	}
}

// postOnce sends the body once. again: another attempt may help.
func (w Webhook) postOnce(ctx context.Context, client *http.Client, body []byte, delivery string) (again bool, err error) {
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
		return true, fmt.Errorf("the webhook's server cannot be reached: %w", errors.Unwrap(err)) // without its address, which may hold a key
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	if resp.StatusCode/100 == 2 {
		return false, nil
	}
	again = resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout
	return again, fmt.Errorf("the webhook's server answered %d", resp.StatusCode)
}

// Sign is the signature of a body that is sent at a time.
func Sign(key secret.Value, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
