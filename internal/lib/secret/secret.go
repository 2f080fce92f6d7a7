// Package secret holds values that must not be shown: tokens, keys and passwords. A Value prints, logs and encodes
// itself as SET or NOT SET, so that callers cannot leak it by mistake. Package secretscan searches for secrets in
// other text.
package secret

import (
	"fmt"
	"log/slog"
	"strings"
	"unique"
)

// Value is one secret. Only Reveal returns it. The zero value holds no secret. Equal secrets are equal Values.
type Value struct {
	// A handle is used because fmt prints unexported fields without calling their methods. Here it only finds an address.
	text unique.Handle[string]
}

// New wraps a secret unchanged.
func New(text string) Value {
	if text == "" {
		return Value{}
	}
	return Value{unique.Make(text)}
}

// Trimmed wraps a secret without surrounding white space: a newline from `export KEY=$(cat file)` would make a header
// invalid.
func Trimmed(text string) Value { return New(strings.TrimSpace(text)) }

// Set reports whether there is a secret.
func (v Value) Set() bool { return v != Value{} }

// Reveal returns the secret itself, for the code that sends it.
func (v Value) Reveal() string {
	if !v.Set() {
		return ""
	}
	return v.text.Value()
}

// Redact replaces the secret in a text that came from elsewhere, because servers repeat what they received in their
// errors.
func (v Value) Redact(text string) string {
	if !v.Set() {
		return text
	}
	return strings.ReplaceAll(text, v.Reveal(), "[key]")
}

// String hides the secret.
func (v Value) String() string {
	if v.Set() {
		return "SET"
	}
	return "NOT SET"
}

// Format hides the secret for every verb. %d would bypass String.
func (v Value) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(v.String())) }

// LogValue hides the secret from slog.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.String()) }

// MarshalText hides the secret from encoders (JSON, YAML).
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }
