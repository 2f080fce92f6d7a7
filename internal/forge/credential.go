package forge

import (
	"company/internal/secret"
	"errors"
	"time"
)

// Credential is a login of the operator's for one host.
type Credential struct {
	Host    string
	User    string // what git sends as the user
	Secret  secret.Value
	Expires time.Time // zero: not known
	Source  string    // where it comes from, for people: GITHUB_TOKEN, gh, app 123
}

// ErrNoLogin says that the operator has no login for a host.
var ErrNoLogin = errors.New("no login for this forge")
