package config

import (
	"encoding/json"
	"strings"
	"testing"

	"company/internal/office/config/configtest"
)

// TestNotifyByWebhook: a webhook needs an address, TLS beyond this machine, and a secret.
func TestNotifyByWebhook(t *testing.T) {
	for text, want := range map[string]string{
		"notify: {by: [webhook]}": "notify.webhook_url is not set",
		"notify: {by: [webhook], webhook_url: 'http://hooks.example/x', webhook_secret_env: HOOK}":  "is not encrypted",
		"notify: {by: [webhook], webhook_url: 'https://hooks.example/x'}":                           "notify.webhook_secret_env is not set",
		"notify: {by: [webhook], webhook_url: 'https://hooks.example/x', webhook_secret_env: HOOK}": "",
		"notify: {by: [webhook], webhook_url: 'http://127.0.0.1:8/x', webhook_secret_env: HOOK}":    "",
		"notify: {by: [pigeon]}": "is not a way to tell you",
	} {
		dir := t.TempDir()
		configtest.WriteFile(t, dir+"/"+ConfigName, text+"\n")
		_, err := Load(t.Context(), LoadOptions{OfficeDir: dir, trial: anyTrust})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Whoever has the address of a webhook of Slack's kind can post there: what shows a config
// shows its scheme and host, and a report of a change neither what it was nor what it is.
func TestWebhookIsMasked(t *testing.T) {
	const quoted = `"https://hooks.example.com/…"`
	for value, want := range map[string]string{
		`""`:                           `""`,
		`"https://hooks.example.com"`:  `"https://hooks.example.com"`,
		`"https://hooks.example.com/"`: `"https://hooks.example.com/"`,
		`"https://hooks.example.com/services/a/b/k"`: quoted,
		`"https://hooks.example.com?key=k"`:          quoted,
		`"https://hooks.example.com/#k"`:             quoted,
		`"https://me:k@hooks.example.com"`:           quoted,
		`https://hooks.example.com/k`:                `https://hooks.example.com/…`,
		`'https://hooks.example.com/k'`:              `https://hooks.example.com/…`,
		`"k:%zz"`:                                    `"(hidden)"`,
		``:                                           ``,
	} {
		if got := maskValue(webhookKey, value); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
	c := Config{Notify: Notify{WebhookURL: "https://hooks.example.com/services/k1"}}
	if v := c.ShownValues(); v[webhookKey] != quoted || v["forge.url"] != c.Values()["forge.url"] {
		t.Errorf("shown: %s", v[webhookKey])
	}
	next := Config{Notify: Notify{WebhookURL: "https://hooks.example.com/services/k2"}}
	section := Changed{Was: "{by: [webhook], webhook_url: https://hooks.example.com/services/k1}",
		Now: `{webhook_url: "https://hooks.example.com/services/k2"}`, Before: &Loaded{Config: c},
		After: Loaded{Config: next}}
	if text := must(json.Marshal(section.Report(Change{Key: "notify"}, 0, nil))); strings.Contains(text, "services") {
		t.Errorf("the report of a section tells the key: %s", text)
	}
	for _, now := range []string{"https://hooks.example.com/services/k2", "https://hooks.example.com/services/k1"} {
		changed := Changed{Was: "https://hooks.example.com/services/k1", Now: now, Before: &Loaded{Config: c},
			After: Loaded{Config: next, Origin: map[string]string{webhookKey: "elsewhere"}}}
		r := changed.Report(Change{File: "company.yaml", Key: webhookKey}, 0, nil)
		text := r.RenderText() + must(json.Marshal(r))
		if strings.Contains(text, "services") || !strings.Contains(text, "hooks.example.com") {
			t.Errorf("the report tells the key: %s", text)
		}
		if strings.Contains(text, "nothing is written") != (changed.Was == changed.Now) {
			t.Errorf("a change is told from none: %s", text)
		}
	}
}

func must(b []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(b)
}
