// Package secret holds values that must not be shown: tokens, keys and
// passwords. It promises that a Value shows itself as SET or NOT SET in every
// way of printing, logging and encoding, so that no log line has to remember.
// It does not look for secrets in the text of others: package leak does.
package secret

import (
	"fmt"
	"log/slog"
	"strings"
	"unique"
)

// Value is one secret. Only Reveal gives it away. The zero value is no secret;
// equal secrets are equal Values.
type Value struct {
	// A handle, because fmt looks into unexported fields without asking them
	// how they want to be shown: it finds an address here.
	text unique.Handle[string]
}

// New wraps a secret as it stands.
func New(text string) Value {
	if text == "" {
		return Value{}
	}
	return Value{unique.Make(text)}
}

// Trimmed wraps a secret less the white space around it: a newline from
// `export KEY=$(cat file)` would spoil a header.
func Trimmed(text string) Value { return New(strings.TrimSpace(text)) }

// Set reports whether there is a secret.
func (v Value) Set() bool { return v != Value{} }

// Reveal is the secret itself, for the one line that sends it.
func (v Value) Reveal() string {
	if !v.Set() {
		return ""
	}
	return v.text.Value()
}

// Redact takes the secret out of a text that came from elsewhere: servers echo
// what they were sent in their errors.
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

// Format hides the secret from every verb; %d would look past String.
func (v Value) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(v.String())) }

// LogValue hides the secret from slog.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.String()) }

// MarshalText hides the secret from encoders (JSON, YAML).
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }
