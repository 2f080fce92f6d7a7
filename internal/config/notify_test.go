package config

import (
	"strings"
	"testing"

	"company/internal/config/configtest"
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
		_, err := Load(t.Context(), LoadOptions{OfficeDir: dir, Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": t.TempDir()})})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
