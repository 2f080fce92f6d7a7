package forge

import (
	"errors"
	"log/slog"
	"time"
)

// Secret is a token or key. It shows itself nowhere but through Reveal.
type Secret struct{ s string }

// NewSecret wraps a secret.
func NewSecret(s string) Secret { return Secret{s} }

// Reveal is the secret itself, for the one place that sends it.
func (s Secret) Reveal() string { return s.s }

// Empty reports whether there is none.
func (s Secret) Empty() bool { return s.s == "" }

// String hides the secret.
func (s Secret) String() string {
	if s.s == "" {
		return "NOT SET"
	}
	return "SET"
}

// GoString hides the secret.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON hides the secret.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// Credential is a login of the operator's for one host.
type Credential struct {
	Host    string
	User    string // what git sends as the user
	Secret  Secret
	Expires time.Time // zero: not known
	Source  string    // where it comes from, for people: GITHUB_TOKEN, gh, app 123
}

// ErrNoLogin says that the operator has no login for a host.
var ErrNoLogin = errors.New("no login for this forge")
