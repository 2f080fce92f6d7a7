package forge

import (
	"company/internal/lib/secret"
	"errors"
	"time"
)

// Credential is a login of the operator for one host.
type Credential struct {
	Host    string
	User    string // the user name that git sends
	Secret  secret.Value
	Expires time.Time // zero if unknown
	Source  string    // its origin, for people: GITHUB_TOKEN, gh, app 123
}

// ErrNoLogin means that the operator has no login for a host.
var ErrNoLogin = errors.New("no login for this forge")
