package app

import (
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
	"company/internal/lib/secretscan"
	"company/internal/office/config"
)

// ownSecrets returns the values of the environment variables from which an office reads secrets:
// those that its config names, and the standard ones of tools for forges and models.
func ownSecrets(cfg config.Config, env func(string) (string, bool)) []secretscan.Own {
	var out []secretscan.Own
	for _, name := range secretNames(cfg) {
		if value, ok := env(name); ok && name != "" && !isPlainValue(value) {
			out = append(out, secretscan.Own{Name: name, Value: value})
		}
	}
	return out
}

// maskedSecrets returns the own secrets that are masked everywhere. A variable of container.setup_env counts if its
// name sounds like a secret. Others, such as GOFLAGS, may be plain settings, and are only kept out of pushes.
func maskedSecrets(cfg config.Config, env func(string) (string, bool)) []secretscan.Own {
	return slices.DeleteFunc(ownSecrets(cfg, env), func(own secretscan.Own) bool {
		return slices.Contains(cfg.Container.SetupEnv, own.Name) && !secretNameRE.MatchString(own.Name)
	})
}

var secretNameRE = lazyregexp.New(`(?i)token|secret|pass|key|auth|cred|login`)

// secretNames lists the environment variables that may hold secrets of an office.
func secretNames(cfg config.Config) []string {
	names := []string{cfg.Forge.TokenEnv, cfg.Forge.PrivateKeyEnv, cfg.Forge.WebhookEnv, cfg.Notify.WebhookEnv,
		cfg.Serve.TokenEnv,
		"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_API_KEY"}
	names = append(append(names, tokenNames()...), cfg.Container.SetupEnv...)
	for _, m := range cfg.Models {
		names = append(names, m.APIKeyEnv)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isPlainValue reports whether a value is no secret, because a variable may also hold a path or a
// plain setting.
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
