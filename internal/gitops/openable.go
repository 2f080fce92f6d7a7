package gitops

import (
	"context"
	"errors"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// judgeUnopened marks the error of a remote that was refused before git was asked. The address is at fault, so a
// person must fix it.
func judgeUnopened(err error) error {
	var fault *company.Error
	if errors.As(err, &fault) && (fault.Code == company.ENotFound || fault.Code == company.EInvalid ||
		fault.Code == company.EAuth) {
		return fault.NeedsPerson()
	}
	return err
}

// git's messages about a missing repository, and ssh's about refused keys. git ends each failure with "Could not read
// from remote repository", even if the network is down.
var (
	noRepositoryRE = lazyregexp.New(
		`(?i)repository '[^']*' not found|does not appear to be a git repository|returned error: 404`)
	keysRefusedRE = lazyregexp.New(`(?i)Permission denied|Repository not found|Permission to .* denied`)
)

// judgeUnread marks the error of a remote that git could not read. An unknown host does not need a person: the
// machine may be offline or outside of a private network.
func (a *remoteEndpoint) judgeUnread(ctx context.Context, err error) error {
	var fault *company.Error
	if err == nil || ctx.Err() != nil || !errors.As(err, &fault) {
		return err
	}
	if a.ssh != nil && fault.Code == company.EAuth && !keysRefusedRE.MatchString(fault.Why) {
		return company.E(company.EGit, fault.Message).Because(fault.Why) // it may be the network
	}
	switch {
	case company.NeedsPerson(err):
		return err
	case noRepositoryRE.MatchString(fault.Why):
		found := *fault
		found.Code, found.Message = company.ENotFound, "the remote "+Mask(a.url)+" is not there, or this login may not see it"
		return found.Fix("see where the remote is: git remote -v").NeedsPerson()
	case a.host == "": // a folder of this machine
		return fault.NeedsPerson()
	}
	return err
}
