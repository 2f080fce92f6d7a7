package depproxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Failure is what a registry failed at, for the operator alone: it names his host.
type Failure struct {
	Why   string
	Fix   string
	Lasts bool // every try ends alike
}

// explainFailure makes a Failure of an error that was answered with "bad gateway".
func explainFailure(err error, patience time.Duration) Failure {
	host := "the registry"
	if u := (*url.Error)(nil); errors.As(err, &u) {
		if at, perr := url.Parse(u.URL); perr == nil && at.Host != "" {
			host += " " + at.Host
		}
	}
	switch {
	case diskFull(err):
		return Failure{Why: "the host's disk is full", Fix: "free some space on the disk of the office's cache of packages, and the task goes on"}
	case isOwnFault(err):
		return Failure{Why: "the office's cache of packages cannot be used: " + err.Error(), Fix: "mend that (its folder must be writable), and the task goes on"}
	}
	const reach = "see that this machine reaches the registry, and the task goes on; or go on without its packages, with container.deps: off"
	if h := (*httpError)(nil); errors.As(err, &h) {
		f := Failure{Why: fmt.Sprintf("the registry %s answers with status %d", h.host, h.status), Fix: reach}
		if h.status == http.StatusUnauthorized || h.status == http.StatusForbidden {
			f.Fix, f.Lasts = "give the client on this machine a login that the registry accepts", true
		}
		return f
	}
	for _, lasting := range []error{errTooLarge, errDigestMismatch, errPrivateAddress, errWrongKind} {
		if errors.Is(err, lasting) {
			return Failure{Why: lasting.Error(), Fix: "find out why the registry serves this, and mend it there; or lock another version", Lasts: true}
		}
	}
	if errors.Is(err, errSilent) {
		return Failure{Why: fmt.Sprintf("%s accepts requests and does not answer within %s", host, patience), Fix: reach}
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return Failure{Why: fmt.Sprintf("%s cannot be reached: %v", host, err), Fix: reach}
}
