package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/office"
)

// HostKeys holds the keys that an ssh server offers, and the keys of it that an office has
// accepted.
type HostKeys struct {
	Host     string
	folder   string
	shown    []gitops.HostKey
	accepted []gitops.HostKey
}

// HostKey describes a key for people to compare.
type HostKey struct {
	Fingerprint string `json:"fingerprint"`
	Type        string `json:"type"`
}

// ScanHostKeys reads the keys of a server.
func ScanHostKeys(ctx context.Context, paths office.Paths, host string) (*HostKeys, error) {
	shown, err := gitops.ScanHost(ctx, host)
	if err != nil {
		return nil, err
	}
	accepted, err := gitops.Known(paths.Git, host)
	return &HostKeys{Host: host, folder: paths.Git, shown: shown, accepted: accepted}, err
}

// AreAccepted reports whether the server has accepted keys and still offers all of them.
func (k *HostKeys) AreAccepted() bool {
	return len(k.accepted) > 0 && !slices.ContainsFunc(k.accepted, func(old gitops.HostKey) bool {
		return !slices.ContainsFunc(k.shown, func(now gitops.HostKey) bool { return now.Key == old.Key })
	})
}

// CheckUnchanged returns an error if the server offers a key other than the accepted one.
func (k *HostKeys) CheckUnchanged() error {
	if len(k.accepted) == 0 || k.AreAccepted() {
		return nil
	}
	return company.E(company.EHostKey, fmt.Sprintf("the key of %s differs from the accepted one", k.Host)).
		Because("accepted is " + joinFingerprints(k.accepted) + ", offered is " + joinFingerprints(k.shown)).
		Fix("ask the server's operator; only if the change is theirs: company git trust-host --replace " + k.Host)
}

// Choose keeps only the key with a fingerprint. It returns EHostKey if the server offers no such
// key.
func (k *HostKeys) Choose(fingerprint string) error {
	k.shown = slices.DeleteFunc(k.shown, func(key gitops.HostKey) bool { return key.Fingerprint() != fingerprint })
	if len(k.shown) == 0 {
		return company.E(company.EHostKey, fmt.Sprintf("%s has no key with the fingerprint %s", k.Host, fingerprint)).
			Fix("do not continue: compare with the fingerprints that the server's operator publishes")
	}
	return nil
}

// Accept stores the offered keys as the server's accepted keys for this office.
func (k *HostKeys) Accept() error { return gitops.AcceptHost(k.folder, k.Host, k.shown) }

// Shown lists the keys that the server offers.
func (k *HostKeys) Shown() []HostKey {
	var out []HostKey
	for _, key := range k.shown {
		out = append(out, HostKey{Type: key.Type, Fingerprint: key.Fingerprint()})
	}
	return out
}

// RenderText lists the fingerprints and key types.
func (k *HostKeys) RenderText() string { return joinFingerprints(k.shown) }

func joinFingerprints(keys []gitops.HostKey) string {
	var out []string
	for _, k := range keys {
		out = append(out, k.Fingerprint()+" ("+strings.TrimPrefix(k.Type, "ssh-")+")")
	}
	return strings.Join(out, ", ")
}
