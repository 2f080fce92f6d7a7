package app

import (
	"slices"
	"strings"

	"company/internal/config"
	"company/internal/leak"
)

// ownSecrets are the values of the variables that an office reads secrets
// from: those that its config names, and those that forges' and models' tools
// have by themselves.
func ownSecrets(c config.Config, env func(string) (string, bool)) []leak.Own {
	names := []string{c.Forge.TokenEnv, c.Forge.PrivateKeyEnv, c.Forge.WebhookEnv, c.Notify.WebhookEnv, c.Serve.TokenEnv, "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_API_KEY"}
	names = append(append(names, tokenNames()...), c.Container.SetupEnv...)
	for _, m := range c.Models {
		names = append(names, m.APIKeyEnv)
	}
	slices.Sort(names)
	var out []leak.Own
	for _, name := range slices.Compact(names) {
		if value, ok := env(name); ok && name != "" && !isPlainValue(value) {
			out = append(out, leak.Own{Name: name, Value: value})
		}
	}
	return out
}

// isPlainValue says that a value is no secret: a variable may hold a path or a
// plain setting as well.
func isPlainValue(value string) bool {
	if strings.HasPrefix(value, "/") || strings.Contains(value, "://") && !strings.Contains(value, "@") {
		return true
	}
	for _, r := range value {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_' {
			return false
		}
	}
	return true
}
