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

// HostKeys are the keys that an ssh server shows, and those that an office has
// accepted of it.
type HostKeys struct {
	Host     string
	folder   string
	shown    []gitops.HostKey
	accepted []gitops.HostKey
}

// HostKey is a key as people compare it.
type HostKey struct {
	Fingerprint string `json:"fingerprint"`
	Type        string `json:"type"`
}

// ScanHostKeys asks a server for its keys.
func ScanHostKeys(ctx context.Context, p office.Paths, host string) (*HostKeys, error) {
	shown, err := gitops.ScanHost(ctx, host)
	if err != nil {
		return nil, err
	}
	accepted, err := gitops.Known(p.Git, host)
	return &HostKeys{Host: host, folder: p.Git, shown: shown, accepted: accepted}, err
}

// AreAccepted reports whether every accepted key of the server is among those that it shows.
func (k *HostKeys) AreAccepted() bool {
	return len(k.accepted) > 0 && !slices.ContainsFunc(k.accepted, func(old gitops.HostKey) bool {
		return !slices.ContainsFunc(k.shown, func(now gitops.HostKey) bool { return now.Key == old.Key })
	})
}

// CheckUnchanged refuses a server that shows another key than the accepted one.
func (k *HostKeys) CheckUnchanged() error {
	if len(k.accepted) == 0 || k.AreAccepted() {
		return nil
	}
	return company.E(company.EHostKey, fmt.Sprintf("%s has another key than the one that was accepted", k.Host)).
		Because("accepted was " + joinFingerprints(k.accepted) + ", it shows " + joinFingerprints(k.shown)).
		Fix("ask the server's operator; only if the change is theirs: company git trust-host --replace " + k.Host)
}

// Choose leaves the key with a fingerprint, and refuses a server that shows none.
func (k *HostKeys) Choose(fingerprint string) error {
	k.shown = slices.DeleteFunc(k.shown, func(key gitops.HostKey) bool { return key.Fingerprint() != fingerprint })
	if len(k.shown) == 0 {
		return company.E(company.EHostKey, fmt.Sprintf("%s shows no key with the fingerprint %s", k.Host, fingerprint)).
			Fix("do not go on before you know why: compare with what the server's operator publishes")
	}
	return nil
}

// Accept makes the shown keys those of the server, for this office.
func (k *HostKeys) Accept() error { return gitops.AcceptHost(k.folder, k.Host, k.shown) }

// Shown lists the keys that the server shows.
func (k *HostKeys) Shown() []HostKey {
	var out []HostKey
	for _, key := range k.shown {
		out = append(out, HostKey{Type: key.Type, Fingerprint: key.Fingerprint()})
	}
	return out
}

// RenderText lists their fingerprints with the kinds of the keys.
func (k *HostKeys) RenderText() string { return joinFingerprints(k.shown) }

func joinFingerprints(keys []gitops.HostKey) string {
	var out []string
	for _, k := range keys {
		out = append(out, k.Fingerprint()+" ("+strings.TrimPrefix(k.Type, "ssh-")+")")
	}
	return strings.Join(out, ", ")
}
