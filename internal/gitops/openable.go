package gitops

import (
	"context"
	"errors"

	"company/internal/company"
	"company/internal/lazyregexp"
)

// judgeUnopened judges the error of a remote that git was not even asked for: it is the address.
func judgeUnopened(err error) error {
	var e *company.Error
	if errors.As(err, &e) && (e.Code == company.ENotFound || e.Code == company.EInvalid || e.Code == company.EAuth) {
		return e.NeedsPerson()
	}
	return err
}

// What git says of a repository that is not there, and ssh of keys that are refused: it ends each failure with
// "Could not read from remote repository", also where the network is down.
var (
	noRepositoryRE = lazyregexp.New(`(?i)repository '[^']*' not found|does not appear to be a git repository|returned error: 404`)
	keysRefusedRE  = lazyregexp.New(`(?i)Permission denied|Repository not found|Permission to .* denied`)
)

// judgeUnread judges the error of a remote that git could not read. A host that is not found is no
// reason to refuse work: the machine may be offline, or outside of a private network.
func (a *remoteEndpoint) judgeUnread(ctx context.Context, err error) error {
	var e *company.Error
	if err == nil || ctx.Err() != nil || !errors.As(err, &e) {
		return err
	}
	if a.ssh != nil && e.Code == company.EAuth && !keysRefusedRE.MatchString(e.Why) {
		return company.E(company.EGit, e.Message).Because(e.Why) // it may be the network
	}
	switch {
	case company.NeedsPerson(err):
		return err
	case noRepositoryRE.MatchString(e.Why):
		found := *e
		found.Code, found.Message = company.ENotFound, "the remote "+Mask(a.url)+" is not there, or this login may not see it"
		return found.Fix("see where the remote is: git remote -v").NeedsPerson()
	case a.host == "": // a folder of this machine
		return e.NeedsPerson()
	}
	return err
}
