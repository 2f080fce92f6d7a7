package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"company/internal/company"
	"company/internal/gitindex"
)

// CheckoutTrust is what the president lets one checkout's repository do, beyond what
// its files say. The zero value lets it do nothing.
type CheckoutTrust struct {
	list     Trust
	checkout string
}

// ForCheckout is the trust in the repository of a checkout.
func (t Trust) ForCheckout(checkout string) CheckoutTrust { return CheckoutTrust{t, checkout} }

// CoversDockerfile reports whether the president has read the texts with this hash, and
// lets the repository have its image built from them. It fails closed.
func (c CheckoutTrust) CoversDockerfile(ctx context.Context, texts company.Hash) bool {
	if c.checkout == "" || texts == "" {
		return false
	}
	hash, err := hashCheckout(ctx, c.checkout, "dockerfile", string(texts))
	return err == nil && c.list.Trusted(hash)
}

// AddDockerfile lets the repository have its image built from the texts with this hash.
func (c CheckoutTrust) AddDockerfile(ctx context.Context, texts company.Hash) error {
	hash, err := hashCheckout(ctx, c.checkout, "dockerfile", string(texts))
	if err != nil {
		return err
	}
	return c.list.Add(hash, c.checkout)
}

// MayUseLogins reports whether the president lets the repository of a checkout use
// the logins to package registries. It fails closed.
func (t Trust) MayUseLogins(ctx context.Context, checkout string) bool {
	hash, err := hashCheckout(ctx, checkout, "logins")
	return err == nil && t.Trusted(hash)
}

// AllowLogins lets the repository of a checkout use the logins to package
// registries from now on.
func (t Trust) AllowLogins(ctx context.Context, checkout string) error {
	hash, err := hashCheckout(ctx, checkout, "logins")
	if err != nil {
		return err
	}
	return t.Add(hash, checkout)
}

// hashCheckout stands for a leave of a repository in the list: its folder, and where it
// comes from. Another one that is put in its place has to be let anew; so has
// it itself when it gets another origin.
func hashCheckout(ctx context.Context, checkout, leave string, more ...string) (company.Hash, error) {
	dir, err := filepath.EvalSymlinks(checkout)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", company.E(company.ENotFound, "there is no checkout at "+checkout).Wrap(err)
	}
	// An address that is not set is no error: git lists nothing.
	origin, err := gitindex.Ask(ctx, dir, "config", "--local", "--default", "", "--get", "remote.origin.url")
	if err != nil {
		return "", err
	}
	text := leave + "\x00" + dir + "\x00" + origin
	for _, m := range more {
		text += "\x00" + m
	}
	sum := sha256.Sum256([]byte(text))
	return company.Hash(hex.EncodeToString(sum[:])), nil
}
