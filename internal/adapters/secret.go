package adapters

import (
	"fmt"
	"log/slog"
	"strings"
)

// Secret is a key. It shows itself as SET or NOT SET in every way of printing,
// logging and encoding there is; only Reveal gives it away.
type Secret struct{ value string }

// NewSecret takes a key as it stands in the environment, less the white space
// around it: a newline from `export KEY=$(cat file)` would spoil the header.
func NewSecret(value string) Secret { return Secret{value: strings.TrimSpace(value)} }

// Set reports whether there is a key.
func (s Secret) Set() bool { return s.value != "" }

// Reveal is the key itself, for the one line that sends it.
func (s Secret) Reveal() string { return s.value }

// Redact takes the key out of a text that came from elsewhere: servers echo
// what they were sent in their errors.
func (s Secret) Redact(text string) string {
	if s.value == "" {
		return text
	}
	return strings.ReplaceAll(text, s.value, "[key]")
}

// String hides the key.
func (s Secret) String() string {
	if s.Set() {
		return "SET"
	}
	return "NOT SET"
}

// Format hides the key from every verb; %d would look past String.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue hides the key from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the key from encoders (JSON, YAML).
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
